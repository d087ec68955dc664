/**
 * Keeps the totals of a repository (tests by health, now and day by day) in step with its identities: what a write changes
 * is taken from the tests before and after it. Whatever writes identities or changes of health does so through this.
 */
import { type IdentityDays, RepositoryTotals } from '../domain/repository-stats.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Executor } from '../postgres/client.ts';
import { type HealthChange, readChangesSince } from '../postgres/identity-days.ts';
import { addTotals } from '../postgres/repository-totals.ts';
import type { IdentityRecord, ShownIdentity } from '../postgres/test-states.ts';
import { placeOf } from './news.ts';

/** A test that is written, with all of its identities. */
export interface WrittenTest {
  testId: string;
  before: readonly ShownIdentity[];
  after: readonly ShownIdentity[];
  /** Whether changes of its health are written or forgotten. */
  mayHealthChange: boolean;
}

/** Tests of which some identities are written, beside those that stay as they are. */
export function writtenTests(
  known: ReadonlyMap<string, { known: { records: readonly IdentityRecord[] } }>,
  changed: readonly IdentityRecord[],
  mayHealthChange: (testId: string) => boolean,
): WrittenTest[] {
  return [...Map.groupBy(changed, ({ testId }) => testId)].map(([testId, records]) => {
    const before = known.get(testId)?.known.records ?? [];
    const places = new Set(records.map(placeOf));
    const after = [...before.filter((record) => !places.has(placeOf(record))), ...records];
    return { testId, before, after, mayHealthChange: mayHealthChange(testId) };
  });
}

/**
 * Writes, and adds the difference to the totals. Under the evaluation lock of the repository.
 *
 * @param tests those that are written, each once
 */
export async function keepTotals(
  tx: Executor,
  repositoryId: string,
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
  const difference = new RepositoryTotals();
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
function isCountedAlike({ before, after }: WrittenTest): boolean {
  if (before.length !== after.length) return false;
  const unwritten = new Set(before);
  const written = after.filter((identity) => !unwritten.delete(identity));
  const known = new Map(Array.from(unwritten, (identity) => [placeOf(identity), identity]));
  return written.every((identity) => {
    const was = known.get(placeOf(identity));
    return was?.health === identity.health && haveSameDays(was, identity);
  });
}

function haveSameDays({ summary: { days } }: ShownIdentity, { summary: { days: others } }: ShownIdentity): boolean {
  if (days.length !== others.length) return false;
  return days.every(([day, , failures], i) => day === others[i]?.[0] && failures === others[i][2]);
}

/** The first moment of the days that are counted of any of these tests; milliseconds since the epoch. */
function firstCounted(tests: readonly WrittenTest[]): number {
  let first = Number.MAX_SAFE_INTEGER;
  for (const { before, after } of tests) {
    for (const { summary } of before) first = Math.min(first, summary.days[0]?.[0] ?? first);
    for (const { summary } of after) first = Math.min(first, summary.days[0]?.[0] ?? first);
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
