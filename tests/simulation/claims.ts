/**
 * `bun run simulate:claims [--worlds 20] [--seed 1] [--kind outage]`: claims that a change caused a failure, by their probability, beside how
 * often it did, on days of pull requests of which some break tests, known flaky ones among them.
 */
import { parseArgs } from 'node:util';
import { type ClaimAsked, type ScoredClaim, scoreClaims } from './claim-score.ts';
import { MOMENT_KINDS, makeMomentWorld } from './moment-worlds.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    kind: { type: 'string', default: '' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const begun = performance.now();

/** Claims are counted by their probability, from each of these to the next. */
const FROM = [0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98] as const;
const ASKED: readonly ClaimAsked[] = ['at once', 'after reruns', 'later'];
const FLAKY_VICTIMS = 0.15;
/** In the sum, one day of five has trouble: for each kind of it, four days are quiet. */
const QUIET_DAYS = 4;

const share = (some: readonly ScoredClaim[], holds: (claim: ScoredClaim) => boolean): string =>
  some.length === 0 ? '-' : `${(some.filter(holds).length / some.length).toFixed(3)} of ${some.length}`;
const isChange = ({ cause }: ScoredClaim): boolean => cause === 'change';
const isSaid = ({ verdict }: ScoredClaim): boolean => verdict === 'change';

function row(name: string, claims: readonly ScoredClaim[]): string {
  const ofChanges = claims.filter(isChange);
  const cells = [
    share(claims.filter(isSaid), isChange),
    share(ofChanges, isSaid),
    share(
      ofChanges.filter(({ isKnownFlaky }) => isKnownFlaky),
      isSaid,
    ),
    share(ofChanges, ({ verdict }) => verdict !== 'change' && verdict !== 'unknown'),
    share(claims, ({ verdict }) => verdict === 'unknown'),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}

say(
  '| world, asked | said change: right | changes: said | changes to known flaky tests: said | changes: excused | not enough to say |',
);
say('|---|---|---|---|---|---|');
const sums = new Map(ASKED.map((asked) => [asked, [] as ScoredClaim[]]));
for (const kind of MOMENT_KINDS.filter((one) => one.includes(values.kind)))
  for (const asked of ASKED) {
    const claims: ScoredClaim[] = [];
    for (const runsOnMain of kind === 'main breaks' ? [true] : [true, false])
      for (let i = 0; i < Number(values.worlds); i++) {
        const seed = Number(values.seed) * 1_000_003 + i;
        claims.push(...scoreClaims(makeMomentWorld({ kind, seed, runsOnMain, flakyVictims: FLAKY_VICTIMS }), asked));
      }
    const times = kind === 'quiet' ? QUIET_DAYS * (MOMENT_KINDS.length - 1) : 1;
    for (let i = 0; i < times; i++) for (const claim of claims) sums.get(asked)?.push(claim);
    say(row(`${kind}, ${asked}`, claims));
  }
for (const [asked, claims] of sums) say(row(`weeks with such days, ${asked}`, claims));
say('');
say(`| probability | ${FROM.map((from, i) => `${from * 100}–${(FROM[i + 1] ?? 1) * 100}%`).join(' | ')} |`);
say(`|${'---|'.repeat(FROM.length + 1)}`);
for (const [asked, claims] of sums) {
  const cells = FROM.map((from, i) =>
    share(
      claims.filter(({ probability }) => probability >= from && probability < (FROM[i + 1] ?? 1.01)),
      isChange,
    ),
  );
  say(`| ${asked} | ${cells.join(' | ')} |`);
}
say('');
say(`${values.worlds} worlds of each kind, seed ${values.seed}, ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
