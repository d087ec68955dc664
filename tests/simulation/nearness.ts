/**
 * `bun run simulate:nearness [--worlds 2] [--seeds 1,2] [--breaks 3,20,50]`: what claims are worth when how much nearness counts is
 * learned from earlier breaks, beside what they are worth without a history.
 */
import { parseArgs } from 'node:util';
import { FACTORS_BEFORE, NEARNESS_KINDS, type NearnessFactors } from '../../src/domain/nearness.ts';
import { type Break, factorsFrom } from '../../src/domain/nearness-history.ts';
import { fileOfTest } from './change-files.ts';
import { breaksIn, claimsAbout, failuresIn, isChange, type ScoredClaim, surprise } from './claim-score.ts';
import { MOMENT_KINDS, makeMomentWorld, TESTS } from './moment-worlds.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '2' },
    seeds: { type: 'string', default: '1,2' },
    breaks: { type: 'string', default: '3,20,50' },
  },
});
const numbers = (list: string): number[] => list.split(',').map(Number);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const begun = performance.now();
const WORLD = { flakyVictims: 0.15, legs: 2 } as const;
const ASKED = ['at once', 'after reruns'] as const;
/** As in `simulate:claims`: for each day of trouble, four are quiet. */
const QUIET_DAYS = 4;
const OTHERS = Array.from({ length: TESTS }, (_, test) => fileOfTest(test));

/** The first breaks of other days of another repository for each world. */
function historyOf(seed: number, count: number): Break[] {
  const breaks: Break[] = [];
  for (let day = 0; breaks.length < count; day++)
    breaks.push(
      ...breaksIn(makeMomentWorld({ kind: 'quiet', seed: seed * 1_009 + 500_000 + day, runsOnMain: true, ...WORLD })),
    );
  return breaks.slice(0, count);
}

interface Rule {
  name: string;
  factorsAfter: (history: readonly Break[]) => NearnessFactors;
  learned: NearnessFactors[];
  claims: Record<(typeof ASKED)[number], ScoredClaim[]>;
}
const ruleOf = (name: string, factorsAfter: Rule['factorsAfter']): Rule => ({
  ...{ name, factorsAfter, learned: [] },
  claims: { 'at once': [], 'after reruns': [] },
});
const rules = [
  ruleOf('none', () => FACTORS_BEFORE),
  ...numbers(values.breaks).map((count) =>
    ruleOf(`${count} breaks`, (history) => factorsFrom(history.slice(0, count), OTHERS)),
  ),
];
const longest = Math.max(...numbers(values.breaks));

for (const one of numbers(values.seeds))
  for (let i = 0; i < Number(values.worlds); i++) {
    const seed = one * 1_000_003 + i;
    const history = historyOf(seed, longest);
    const factors = new Map(rules.map((rule) => [rule, rule.factorsAfter(history)]));
    for (const [rule, learned] of factors) rule.learned.push(learned);
    for (const kind of MOMENT_KINDS) {
      const times = kind === 'quiet' ? QUIET_DAYS * (MOMENT_KINDS.length - 1) : 1;
      for (const runsOnMain of kind === 'main breaks' ? [true] : [true, false]) {
        const failures = failuresIn(makeMomentWorld({ kind, seed, runsOnMain, ...WORLD }));
        for (const [{ claims }, learned] of factors)
          for (const asked of ASKED) {
            const found = claimsAbout(failures, asked, { factors: learned });
            for (let time = 0; time < times; time++) for (const claim of found) claims[asked].push(claim);
          }
      }
    }
  }

const share = (some: readonly ScoredClaim[], holds: (claim: ScoredClaim) => boolean): string =>
  some.length === 0 ? '-' : `${(some.filter(holds).length / some.length).toFixed(3)} of ${some.length}`;
say('| asked | history | said change: right | changes: said | surprise |');
say('|---|---|---|---|---|');
for (const asked of ASKED)
  for (const { name, claims } of rules) {
    const said = claims[asked].filter(({ verdict }) => verdict === 'change');
    const changes = claims[asked].filter(isChange);
    const cells = [asked, name, share(said, isChange), share(changes, ({ verdict }) => verdict === 'change')];
    say(`| ${[...cells, surprise(claims[asked]).toFixed(4)].join(' | ')} |`);
  }
say('');
say(`| history | ${NEARNESS_KINDS.join(' | ')} |`);
say('|---|---|---|---|---|');
for (const { name, learned } of rules) {
  const mean = NEARNESS_KINDS.map((kind) => learned.reduce((sum, one) => sum + one[kind], 0) / learned.length);
  say(`| ${[name, ...mean.map((factor) => factor.toFixed(2))].join(' | ')} |`);
}
say('');
say(
  `${values.worlds} worlds of each kind, seeds ${values.seeds}, ${((performance.now() - begun) / 1_000).toFixed(0)} s`,
);
