/** Scores as text, as docs/judgements.md shows them. */
import type { Delay, Scores } from './score.ts';

const share = ({ right, of }: { right: number; of: number }): string =>
  of === 0 ? '-' : `${((100 * right) / of).toFixed(1)} % (${right} of ${of})`;

export function describeScores(scores: Scores): string {
  const falsely = Object.entries(scores.falselyBrokenDays).sort(([, a], [, b]) => b - a);
  const made = Object.values(scores.quarantines).reduce((sum, counts) => sum + counts.made, 0);
  return [
    `flaky: precision ${share(scores.flakyPrecision)} of the tests that were ever called flaky`,
    `broken: precision ${share(scores.brokenPrecision)} of the days on which a test was called broken`,
    ...falsely.map(([what, days]) => `  wrong on ${days} days: ${what}`),
    `broken: recall ${share(scores.brokenRecall)} of the days on which a test was broken`,
    'days to detect (a recall: seen of all)',
    ...scores.toDetect.map(line),
    'days to recover, after the fix',
    ...scores.toRecover.map(line),
    `verdicts that got worse on a day on which everything failed: ${scores.changedByOutages}`,
    `auto-quarantines: ${made}, of tests that were neither flaky nor broken: ${scores.falseQuarantines.length}`,
    ...Object.entries(scores.quarantines).map(
      ([kind, counts]) =>
        `  ${kind}: ${counts.made}, of these ${counts.releasedTooEarly} said to have recovered too early`,
    ),
    ...scores.falseQuarantines.slice(0, 10).map(({ test, day, reason }) => `  ${test} on day ${day}: ${reason}`),
  ].join('\n');
}

const line = ({ kind, seen, of, medianDays, p90Days }: Delay): string =>
  `  ${kind}: ${seen} of ${of} (${((100 * seen) / of).toFixed(0)} %), median ${medianDays}, 90th percentile ${p90Days}`;
