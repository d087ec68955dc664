/** How a repository did day by day, against a recount of every execution and every change. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  failuresByDay,
  type IdentityDays,
  type RepositoryDay,
  RepositoryTotals,
  SERIES_DAYS,
  seriesOf,
  seriesStart,
} from '../../src/domain/repository-stats.ts';
import { HEALTHS, type Health, type Status, worstHealth } from '../../src/domain/status.ts';
import type { SummarisedExecution } from '../../src/domain/test-state.ts';
import { dayCounts } from '../support/counts.ts';
import { summaryOfAll } from '../support/summary.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-21T10:00:00Z');
const RECENT_DAYS = 14;

interface Change {
  at: number;
  before: Health;
  after: Health;
}
interface History {
  executions: readonly SummarisedExecution[];
  /** In order of time. */
  changes: readonly Change[];
}

/** Up to ten minutes ahead, as clocks of CI jobs are, and on both sides of midnight. */
const moment = fc.oneof(
  fc.integer({ min: NOW - 45 * DAY, max: NOW + 600_000 }),
  fc.integer({ min: 0, max: 45 }).map((days) => Math.floor(NOW / DAY) * DAY - days * DAY),
  fc.integer({ min: 0, max: 45 }).map((days) => Math.floor(NOW / DAY) * DAY - days * DAY - 1),
);
const execution = fc
  .record({ status: fc.constantFrom<Status[]>('passed', 'failed', 'skipped'), finishedAt: moment })
  .map(
    (of): SummarisedExecution => ({
      ...of,
      executionId: 1n,
      framework: '',
      frameworkVersion: '',
      language: '',
      filepath: '',
      function: '',
    }),
  );
const changes = fc.array(fc.tuple(moment, fc.constantFrom(...HEALTHS)), { maxLength: 6 }).map((steps) => {
  const listed: Change[] = [];
  for (const [at, after] of steps.sort(([one], [other]) => one - other)) {
    const before = listed.at(-1)?.after ?? 'healthy';
    if (after !== before) listed.push({ at, before, after });
  }
  return listed;
});
const history = fc.record({ executions: fc.array(execution, { maxLength: 12 }), changes });
/** Tests, each with its identities. */
const repository = fc.array(fc.array(history, { minLength: 1, maxLength: 3 }), { maxLength: 5 });

/** The stored form of an identity. */
const identityOf = ({ executions, changes: all }: History): IdentityDays => ({
  days: summaryOfAll(executions).days,
  health: all.at(-1)?.after ?? 'healthy',
  ownFailureAt: 0,
  changes: all,
});

function totalsOf(tests: readonly (readonly IdentityDays[])[]): RepositoryTotals {
  const totals = new RepositoryTotals();
  for (const identities of tests) totals.add(identities);
  return totals;
}

const daysOf = (tests: readonly History[][], now: number): RepositoryDay[] =>
  seriesOf(totalsOf(tests.map((histories) => histories.map(identityOf))).days, now);

/** Counts what happened before the end of a day, from the whole history. */
function recount(tests: readonly History[][], start: number) {
  const end = start + DAY;
  const healths: Record<Health, number> = { healthy: 0, flaky: 0, broken: 0 };
  let failures = 0;
  for (const histories of tests) {
    const ranRecently = histories.filter(({ executions }) =>
      executions.some((one) => hasRun(one) && one.finishedAt < end && one.finishedAt >= end - RECENT_DAYS * DAY),
    );
    const last = ranRecently.map(({ changes: all }) => all.findLast(({ at }) => at < end)?.after ?? 'healthy');
    if (last.length > 0) healths[worstHealth(last)]++;
    failures += histories
      .flatMap(({ executions }) => executions)
      .filter(({ status, finishedAt }) => status === 'failed' && finishedAt >= start && finishedAt < end).length;
  }
  return { start, healths, failures };
}
const hasRun = ({ status }: SummarisedExecution): boolean => status !== 'skipped';

test('every day is what a recount of all executions and changes gives, at any time of the day', () => {
  fc.assert(
    fc.property(repository, fc.integer({ min: 0, max: DAY - 1 }), (tests, since) => {
      const now = Math.floor(NOW / DAY) * DAY + since;
      const days = daysOf(tests, now);
      expect(days).toEqual(days.map(({ start }) => recount(tests, start)));
      expect(days.map(({ start }) => start)).toEqual(
        Array.from({ length: SERIES_DAYS }, (_, i) => Math.floor(now / DAY) * DAY - (SERIES_DAYS - 1 - i) * DAY),
      );
    }),
  );
});

test('the failures of one identity are those of a repository that has no other', () => {
  fc.assert(
    fc.property(fc.array(execution, { maxLength: 12 }), (executions) => {
      const { days } = summaryOfAll(executions);
      const alone = new RepositoryTotals();
      alone.add([{ days, health: 'flaky', ownFailureAt: 0, changes: [] }]);
      expect(failuresByDay(days, NOW)).toEqual(seriesOf(alone.days, NOW).map(({ failures }) => failures));
    }),
  );
});

test('a series counts the same from its first day on as from the beginning', () => {
  fc.assert(
    fc.property(repository, (tests) => {
      const fromTheFirst = new RepositoryTotals(Math.floor(seriesStart(NOW) / DAY));
      for (const histories of tests)
        fromTheFirst.add(
          histories.map(identityOf).map(({ changes: all, ...identity }) => ({
            ...identity,
            changes: all.filter(({ at }) => at >= seriesStart(NOW)),
          })),
        );
      expect(seriesOf(fromTheFirst.days, NOW)).toEqual(daysOf(tests, NOW));
    }),
  );
});

test('a test that stops running leaves after two weeks', () => {
  const last = Math.floor(NOW / DAY) - 20;
  const days = seriesOf(
    totalsOf([[{ days: dayCounts([[last, 1, 0]]), health: 'broken', ownFailureAt: 0, changes: [] }]]).days,
    NOW,
  );
  expect(days.map(({ healths }) => healths.broken)).toEqual([
    ...Array.from({ length: 7 }, () => 1),
    ...Array.from({ length: 7 }, () => 0),
  ]);
});
