/**
 * Keeps the totals of a repository (tests by health, now and day by day) in step with its identities: what a write changes
 * is taken from the tests before and after it. Whatever writes identities or changes of health does so through this.
 */
import { areAlike } from '../domain/flat-counts.ts';
import { type IdentityDays, RepositoryTotals } from '../domain/repository-stats.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { Executor } from '../postgres/client.ts';
import { type HealthChange, readChangesSince } from '../postgres/identity-days.ts';
import { addTotals } from '../postgres/repository-totals.ts';
import type { ShownIdentity } from '../postgres/test-states.ts';
import type { TestInHand } from './changed-states.ts';
import { conclusiveOf, placeOf, type TestNews } from './news.ts';

/** A test that is written, with all of its identities. */
export interface WrittenTest {
  testId: string;
  before: readonly ShownIdentity[];
  after: readonly ShownIdentity[];
  /** Whether changes of its health are written or forgotten. */
  mayHealthChange: boolean;
}

/**
 * What tests change of the totals that stay healthy: that follows from the days on which they ran, and from the last one
 * before. Of those that are returned as `uncounted`, every identity matters.
 *
 * @param tests with what is known of the identities that are written
 * @param changed what is written, by test id
 */
export function totalsOfSteady(
  tests: ReadonlyMap<string, TestInHand>,
  changed: ReadonlyMap<string, readonly ShownIdentity[]>,
  isHealthMoved: (testId: string) => boolean,
): { difference: RepositoryTotals; uncounted: string[] } {
  const difference = new RepositoryTotals();
  const uncounted: string[] = [];
  for (const [testId, { news, known }] of tests) {
    const written = changed.get(testId) ?? [];
    const lastDay = known.test?.lastDay;
    const days = news ? daysIn(news) : [];
    const isAhead = lastDay === undefined || (lastDay !== null && (days[0] ?? lastDay) >= lastDay);
    if (isAhead && isHealthy(known.records) && isHealthy(written) && !isHealthMoved(testId)) {
      difference.addRuns(lastDay, days);
      if (news?.hasTrouble)
        for (const { status, finishedAt } of conclusiveOf(news))
          if (status === 'failed') difference.addFailure(dayOf(finishedAt));
    } else if (isHealthMoved(testId) || !isCountedAlike({ before: known.records, after: written }))
      uncounted.push(testId);
  }
  return { difference, uncounted };
}

const isHealthy = (identities: readonly ShownIdentity[]): boolean =>
  identities.every(({ health }) => health === 'healthy');

/** On which it passed or failed, in order: nearly always one. */
function daysIn({ since, until, identities }: TestNews): number[] {
  if (until === 0) return [];
  if (dayOf(since) === dayOf(until)) return [dayOf(until)];
  const days = new Set<number>();
  for (const identity of identities) for (const { finishedAt } of identity.positions()) days.add(dayOf(finishedAt));
  return [...days].sort((one, other) => one - other);
}

/** Where totals are kept. */
export interface TotalsToKeep {
  tx: Executor;
  repositoryId: string;
  /** What else changes; added to. */
  difference: RepositoryTotals;
}

/**
 * Writes, and adds the difference to the totals. Under the evaluation lock of the repository.
 *
 * @param tests those that are written, each once
 */
export async function keepTotals(
  { tx, repositoryId, difference }: TotalsToKeep,
  tests: readonly WrittenTest[],
  write: () => Promise<void>,
): Promise<void> {
  const counted = tests.filter((test) => test.mayHealthChange || !isCountedAlike(test));
  const changesOf = (of: readonly WrittenTest[]) =>
    readChangesSince(tx, repositoryId, { testIds: of.map(({ testId }) => testId), since: firstCounted(counted) });
  const before = changesByTest(await changesOf(counted));
  await write();
  // Of most tests, none is written.
  const judged = counted.filter(({ mayHealthChange }) => mayHealthChange);
  const after = changesByTest(await changesOf(judged));
  for (const test of counted) {
    const known = before.get(test.testId);
    difference.replace(
      daysOf(test.before, known),
      daysOf(test.after, test.mayHealthChange ? after.get(test.testId) : known),
    );
  }
  await addTotals(tx, repositoryId, difference);
}

/** Whether every identity has the health that it had, and ran and failed on the days on which it did. So it is with most. */
function isCountedAlike({ before, after }: Pick<WrittenTest, 'before' | 'after'>): boolean {
  if (before.length !== after.length) return false;
  const unwritten = new Set(before);
  const written = after.filter((identity) => !unwritten.delete(identity));
  const known = new Map(Array.from(unwritten, (identity) => [placeOf(identity), identity]));
  return written.every((identity) => {
    const was = known.get(placeOf(identity));
    return was?.health === identity.health && areAlike(was.summary.days, identity.summary.days);
  });
}

/** The first moment of the days that are counted of any of these tests; milliseconds since the epoch. */
function firstCounted(tests: readonly WrittenTest[]): number {
  let first = Number.MAX_SAFE_INTEGER;
  for (const { before, after } of tests) {
    for (const { summary } of before) first = Math.min(first, summary.days[0] ?? first);
    for (const { summary } of after) first = Math.min(first, summary.days[0] ?? first);
  }
  return Math.min(first * DAY_MS, Number.MAX_SAFE_INTEGER);
}

const changesByTest = (changes: readonly HealthChange[]): ReadonlyMap<string, readonly HealthChange[]> =>
  Map.groupBy(changes, ({ test_id: testId }) => testId);

/** @param changes of the test; of most there are none */
const daysOf = (identities: readonly ShownIdentity[], changes: readonly HealthChange[] = []): IdentityDays[] =>
  identities.map(({ pipelineName, jobName, summary: { days }, health }) => ({
    days,
    health,
    changes: changes
      .filter((change) => change.pipeline_name === pipelineName && change.job_name === jobName)
      .map((change) => ({ at: change.at_ms, before: change.before })),
  }));
