/** The tally of an identity (src/domain/identity-tally.ts), against counting again what it was given. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { comparePositions } from '../../src/domain/execution.ts';
import { IdentityTally, type TalliedExecution } from '../../src/domain/identity-tally.ts';
import { monthOf } from '../../src/domain/retention.ts';
import { dayOf } from '../../src/domain/time.ts';
import { tallied } from '../support/tallied.ts';

function tallyOf(all: readonly TalliedExecution[]) {
  const tally = new IdentityTally();
  for (const one of all) tally.add(one);
  return { ...tally.totals(), hasTrouble: tally.hasTrouble };
}

const newestFirst = <T>(groups: ReadonlyMap<number, T>): [number, T][] =>
  [...groups].sort(([one], [other]) => other - one);
const count = (all: readonly TalliedExecution[], status: string) => all.filter((one) => one.status === status).length;

test('counts executions in whatever order they are added', () => {
  fc.assert(
    fc.property(tallied(80), (all) => {
      const times = (status: string) => all.filter((one) => one.status === status).map(({ finishedAt }) => finishedAt);
      const conclusive = all.filter(({ status }) => status !== 'skipped');
      const clean = all.filter((one) => one.status === 'passed' && !one.isFlakyWithinRun).sort(comparePositions);
      const last = clean.at(-1);
      const at = last && {
        finishedAt: last.finishedAt,
        runId: last.runId,
        runAttempt: last.runAttempt,
        executionId: last.executionId,
      };
      expect(tallyOf(all)).toEqual({
        executions: all.length,
        months: newestFirst(Map.groupBy(all, ({ finishedAt }) => monthOf(finishedAt))).flatMap(([month, of]) => [
          month,
          of.length,
          Math.min(...of.map(({ finishedAt }) => finishedAt)),
        ]),
        days: newestFirst(Map.groupBy(conclusive, ({ finishedAt }) => dayOf(finishedAt))).flatMap(([day, of]) => [
          day,
          count(of, 'passed'),
          count(of, 'failed'),
        ]),
        passes: { passes: clean.length, at: at ?? null, commit: last?.commit ?? '' },
        lastSuccessAt: Math.max(0, ...times('passed')),
        lastFailureAt: Math.max(
          0,
          ...all
            .filter(({ status, hasFailures }) => status === 'failed' || hasFailures)
            .map(({ finishedAt }) => finishedAt),
        ),
        hasTrouble: conclusive.length > clean.length,
      });
    }),
  );
});
