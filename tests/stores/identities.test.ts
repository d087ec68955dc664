/** Identities store the counts of all executions, whatever the order and the parts in which these are added. */
import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { IdentityTally, type TalliedExecution } from '../../src/domain/identity-tally.ts';
import { monthOf } from '../../src/domain/retention.ts';
import { isLater, type SummarisedExecution, summaryOf } from '../../src/domain/test-state.ts';
import { addIdentities } from '../../src/postgres/count-identities.ts';
import { type IdentityCounts, readIdentities, type StoredIdentity } from '../../src/postgres/identities.ts';
import { testListings } from '../../src/postgres/schema.ts';
import { openTestStores } from '../support/stores.ts';
import { tallied } from '../support/tallied.ts';

const { db } = (await openTestStores()).postgres;

const TEST_ID = randomUUID();
const identity = (number: number) => ({
  testId: TEST_ID,
  pipelineName: 'CI "nightly"',
  jobName: `unit, {${number}}`,
  axes: '',
});

function newestOf(all: readonly TalliedExecution[]): SummarisedExecution | null {
  let newest: SummarisedExecution | null = null;
  for (const { executionId, status, finishedAt, runId } of all) {
    const one = { executionId, status, finishedAt, framework: runId, filepath: 'a.ts' };
    if (newest === null || isLater(one, newest))
      newest = { ...one, frameworkVersion: '', language: '', function: '"f"' };
  }
  return newest;
}

function countsOf(number: number, all: readonly TalliedExecution[]): IdentityCounts {
  const tally = new IdentityTally();
  for (const one of all) tally.add(one);
  return { ...identity(number), testName: 'adds', ...tally.totals(), newest: newestOf(all) };
}

/** The state that is read once all executions are added. */
function storedOf(
  number: number,
  all: readonly TalliedExecution[],
): Omit<StoredIdentity, 'belief' | 'health' | 'ownFailureAt'> {
  const { passes } = countsOf(number, all);
  const months = Map.groupBy(all, ({ finishedAt }) => monthOf(finishedAt));
  const firstExecutions = [...months.values()]
    .map((executions) => Math.min(...executions.map(({ finishedAt }) => finishedAt)))
    .sort((one, other) => one - other);
  return { ...identity(number), passes, isFolded: false, summary: summaryOf(all, newestOf(all)), firstExecutions };
}

/** Several identities, each cut into parts: the more parts, the more often the lists of days and months are joined. */
const identities = fc.array(
  fc
    .record({ executions: tallied(150), size: fc.constantFrom(1, 1, 2, 7, 200) })
    .filter(({ executions: { length } }) => length > 0),
  { minLength: 1, maxLength: 12, size: 'max' },
);

test('an identity that is added in any order and any parts is stored as the counts of all of it', async () => {
  await fc.assert(
    fc.asyncProperty(identities, async (all) => {
      const repositoryId = randomUUID();
      const passes = Math.max(...all.map(({ executions, size }) => Math.ceil(executions.length / size)));
      for (let pass = 0; pass < passes; pass++) {
        const added = all.flatMap(({ executions, size }, number) => {
          const part = executions.slice(pass * size, (pass + 1) * size);
          return part.length === 0 ? [] : [{ ...countsOf(number, part), repositoryId }];
        });
        await addIdentities(db, added);
      }
      const stored = new Map((await readIdentities(db, repositoryId, [TEST_ID])).map((one) => [one.jobName, one]));
      expect(stored.size).toBe(all.length);
      for (const [number, { executions }] of all.entries())
        expect(stored.get(identity(number).jobName)).toMatchObject(storedOf(number, executions));
      const [listed] = await db.select().from(testListings).where(sql`repository_id = ${repositoryId}`);
      const most = Math.max(...all.map(({ executions }) => executions.length));
      expect(listed).toMatchObject({ nameStart: 'adds', executions: most, identities: all.length });
    }),
    { numRuns: 6 },
  );
});
