/**
 * `bun run simulate:claims [--worlds 20] [--seed 1] [--kind outage]`: claims that a change caused a failure, by their probability,
 * beside how often it did, on days of pull requests of which some break tests, known flaky ones among them.
 */
import { parseArgs } from 'node:util';
import {
  type ClaimAsked,
  claimsAbout,
  claimsLater,
  failuresIn,
  isChange,
  type ScoredClaim,
  type Sense,
  surprise,
} from './claim-score.ts';
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
const LEGS = 2;
/** What a claim is asked without, to see what that is worth. */
const WITHOUT: readonly (readonly Sense[])[] = [[], ['files'], ['base'], ['legs'], ['files', 'base', 'legs']];
/** In the sum, one day of five has trouble: for each kind of it, four days are quiet. */
const QUIET_DAYS = 4;

const share = (some: readonly ScoredClaim[], holds: (claim: ScoredClaim) => boolean): string =>
  some.length === 0 ? '-' : `${(some.filter(holds).length / some.length).toFixed(3)} of ${some.length}`;
const isSaid = ({ verdict }: ScoredClaim): boolean => verdict === 'change';

type Blind = Record<'at once' | 'after reruns', ScoredClaim[]>;

function addTimes(sum: ScoredClaim[], claims: readonly ScoredClaim[], times: number): void {
  for (let i = 0; i < times; i++) for (const claim of claims) sum.push(claim);
}

function row(name: string, claims: readonly ScoredClaim[]): string {
  const ofChanges = claims.filter(isChange);
  const cells = [
    share(claims.filter(isSaid), isChange),
    share(ofChanges, isSaid),
    share(
      ofChanges.filter(({ isRare }) => !isRare),
      isSaid,
    ),
    share(
      ofChanges.filter(({ isKnownFlaky }) => isKnownFlaky),
      isSaid,
    ),
    share(ofChanges, ({ verdict }) => verdict !== 'change' && verdict !== 'unknown'),
    share(claims, ({ verdict }) => verdict === 'unknown'),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}

say('| day, asked | said change: right | changes: said | always failing: said | known flaky: said | excused | open |');
say('|---|---|---|---|---|---|---|');
const sums = new Map(ASKED.map((asked) => [asked, [] as ScoredClaim[]]));
const blind = new Map(WITHOUT.map((senses) => [senses, { 'at once': [], 'after reruns': [] } as Blind]));
for (const kind of MOMENT_KINDS.filter((one) => one.includes(values.kind))) {
  const claims = new Map(ASKED.map((asked) => [asked, [] as ScoredClaim[]]));
  // Without a day of another kind for each, there are no weeks to add up to.
  const times = kind === 'quiet' ? QUIET_DAYS * (MOMENT_KINDS.length - 1) : 1;
  for (const runsOnMain of kind === 'main breaks' ? [true] : [true, false])
    for (let i = 0; i < Number(values.worlds); i++) {
      const seed = Number(values.seed) * 1_000_003 + i;
      const world = makeMomentWorld({ kind, seed, runsOnMain, flakyVictims: FLAKY_VICTIMS, legs: LEGS });
      const failures = failuresIn(world);
      for (const asked of ['at once', 'after reruns'] as const) {
        claims.get(asked)?.push(...claimsAbout(failures, asked));
        for (const [senses, sum] of blind)
          addTimes(sum[asked], claimsAbout(failures, asked, { without: senses }), times);
      }
      claims.get('later')?.push(...claimsLater(world));
    }
  for (const [asked, some] of claims) {
    addTimes(sums.get(asked) ?? [], some, times);
    say(row(`${kind}, ${asked}`, some));
  }
}
for (const [asked, claims] of sums) say(row(`weeks, ${asked}`, claims));
say('');
say(`| probability | ${ASKED.join(' | ')} |`);
say('|---|---|---|---|');
for (const [i, from] of FROM.entries()) {
  const to = FROM[i + 1];
  const isWithin = ({ probability }: ScoredClaim) => probability >= from && (to === undefined || probability < to);
  const cells = ASKED.map((asked) => share((sums.get(asked) ?? []).filter(isWithin), isChange));
  say(`| ${[`${from * 100}–${(to ?? 1) * 100}%`, ...cells].join(' | ')} |`);
}
say('');
say('| asked, without | said change: right | changes: said | open | surprise |');
say('|---|---|---|---|---|');
for (const asked of ['at once', 'after reruns'] as const) {
  const compared: [string, readonly ScoredClaim[]][] = [...blind].map(([senses, { [asked]: claims }]) => [
    senses.join(', ') || 'nothing',
    claims,
  ]);
  for (const [without, claims] of compared) {
    const cells = [
      share(claims.filter(isSaid), isChange),
      share(claims.filter(isChange), isSaid),
      share(claims, ({ verdict }) => verdict === 'unknown'),
      surprise(claims).toFixed(4),
    ];
    say(`| ${[`${asked}, ${without}`, ...cells].join(' | ')} |`);
  }
}
say('');
say(`${values.worlds} worlds of each kind, seed ${values.seed}, ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
