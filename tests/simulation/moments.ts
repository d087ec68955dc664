/**
 * `bun run simulate:moments [--worlds 20] [--seed 1] [--kind outage]`: what pull requests are told, by what really failed their tests, on days
 * with trouble and without, while the default branch runs and while it does not.
 */
import { parseArgs } from 'node:util';
import { ASKED, type MomentCounts, scoreMoments } from './moment-score.ts';
import { type Cause, MOMENT_KINDS, makeMomentWorld } from './moment-worlds.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    kind: { type: 'string', default: '' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const begun = performance.now();

/** Each cause with the verdict that is right, or for changes the one that is wrong. */
const SHOWN: readonly [Cause | 'whole change', 'infrastructure' | 'broken'][] = [
  ['trouble', 'infrastructure'],
  ['change', 'infrastructure'],
  ['whole change', 'infrastructure'],
  ['main', 'broken'],
];

/** In the sum, one day of five has trouble: for each kind of it, four days are quiet. */
const QUIET_DAYS = 4;

function add(sum: MomentCounts, counts: MomentCounts, times = 1): void {
  for (const [cause, byVerdict] of counts) {
    const known = sum.get(cause) ?? new Map();
    sum.set(cause, known);
    for (const [verdict, count] of byVerdict) known.set(verdict, (known.get(verdict) ?? 0) + times * count);
  }
}

function cells(counts: MomentCounts): string {
  return SHOWN.map(([cause, verdict]) => {
    const byVerdict = counts.get(cause);
    if (!byVerdict) return '-';
    const all = byVerdict.values().reduce((sum, count) => sum + count, 0);
    return `${((byVerdict.get(verdict) ?? 0) / all).toFixed(3)} of ${all}`;
  }).join(' | ');
}

say(
  '| world | asked | trouble: infrastructure | tests that a change broke: infrastructure | changes of which any is | main: broken |',
);
say('|---|---|---|---|---|---|');
const sums = new Map(ASKED.map((asked) => [asked, new Map() as MomentCounts]));
for (const kind of MOMENT_KINDS.filter((one) => one.includes(values.kind)))
  for (const runsOnMain of kind === 'main breaks' ? [true] : [true, false])
    for (const asked of ASKED) {
      const counts: MomentCounts = new Map();
      for (let i = 0; i < Number(values.worlds); i++) {
        const seed = Number(values.seed) * 1_000_003 + i;
        add(counts, scoreMoments(makeMomentWorld({ kind, seed, runsOnMain }), asked));
      }
      const sum = sums.get(asked);
      if (sum) add(sum, counts, kind === 'quiet' ? QUIET_DAYS * (MOMENT_KINDS.length - 1) : 1);
      say(`| ${kind}${runsOnMain ? '' : ', main does not run'} | ${asked} | ${cells(counts)} |`);
    }
for (const [asked, sum] of sums) say(`| weeks with a day of trouble | ${asked} | ${cells(sum)} |`);
say(`${values.worlds} worlds of each kind, seed ${values.seed}, ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
