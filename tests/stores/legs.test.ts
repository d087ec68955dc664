/** Legs of CI jobs: each is counted alone, and lists show them added up. */
import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { IdentityTally, type TalliedExecution } from '../../src/domain/identity-tally.ts';
import { ALL_LEGS, legKey } from '../../src/domain/test-identity.ts';
import { isLater, type SummarisedExecution, summaryOf } from '../../src/domain/test-state.ts';
import { addIdentities, replaceIdentities } from '../../src/postgres/count-identities.ts';
import { type IdentityCounts, readIdentities } from '../../src/postgres/identities.ts';
import { readKnownTests } from '../../src/postgres/known-tests.ts';
import { testListings } from '../../src/postgres/schema.ts';
import { listingDifferences } from '../../src/postgres/test-listings.ts';
import { openTestStores } from '../support/stores.ts';
import { tallied } from '../support/tallied.ts';

const { db } = (await openTestStores()).postgres;

const TEST_ID = randomUUID();
const LEGS = ['', '{"os":"linux"}', '{"os":"windows"}', '{"os":"mac","py":"3.13"}'];
const JOBS = ['unit', 'e2e'];

const factsOf = ({ executionId, status, finishedAt }: TalliedExecution): SummarisedExecution => ({
  ...{ executionId, status, finishedAt },
  ...{ framework: '', frameworkVersion: '', language: '', filepath: 'a.ts', function: '' },
});

function newestOf(all: readonly TalliedExecution[]): SummarisedExecution | null {
  let newest: SummarisedExecution | null = null;
  for (const one of all) if (newest === null || isLater(one, newest)) newest = factsOf(one);
  return newest;
}

function countsOf(jobName: string, axes: string, all: readonly TalliedExecution[]): IdentityCounts {
  const tally = new IdentityTally();
  for (const one of all) tally.add(one);
  const identity = { testId: TEST_ID, pipelineName: 'CI', jobName, axes };
  return { ...identity, testName: 'adds', ...tally.totals(), newest: newestOf(all) };
}

interface Part {
  jobName: string;
  axes: string;
  executions: readonly TalliedExecution[];
}

/** Executions with unique ids, cut into passes; in each, some executions of some legs. */
const passes = fc
  .tuple(
    tallied(80),
    fc.array(fc.tuple(fc.nat(5), fc.constantFrom(...JOBS), fc.constantFrom(...LEGS)), { minLength: 80, maxLength: 80 }),
  )
  .map(([executions, places]) => {
    const byPass = new Map<number, Map<string, Part & { executions: TalliedExecution[] }>>();
    for (const [i, execution] of executions.entries()) {
      const [pass = 0, jobName = 'unit', axes = ''] = places[i] ?? [];
      const parts = byPass.get(pass) ?? new Map();
      byPass.set(pass, parts);
      const part = parts.get(`${jobName} ${axes}`) ?? { jobName, axes, executions: [] };
      parts.set(`${jobName} ${axes}`, part);
      part.executions.push(execution);
    }
    return [...byPass.values()].map((parts): Part[] => [...parts.values()]);
  });

const window = { start: 0, end: Number.MAX_SAFE_INTEGER };

async function check(repositoryId: string, parts: readonly Part[]): Promise<void> {
  const byLeg = Map.groupBy(parts, ({ jobName, axes }) => legKey({ pipelineName: 'CI', jobName, axes }));
  const stored = new Map((await readIdentities(db, repositoryId, [TEST_ID])).map((one) => [legKey(one), one]));
  expect([...stored.keys()].sort()).toEqual([...byLeg.keys()].sort());
  for (const [key, group] of byLeg) {
    const all = group.flatMap(({ executions }) => executions);
    const { passes: counted } = countsOf('', '', all);
    expect(stored.get(key)).toMatchObject({ summary: summaryOf(all, newestOf(all)), passes: counted });
  }
  const byJob = Map.groupBy(parts, ({ jobName }) => jobName);
  const known = (await readKnownTests(db, repositoryId, [TEST_ID], window)).get(TEST_ID);
  expect(known?.identities.map(({ jobName }) => jobName).sort()).toEqual([...byJob.keys()].sort());
  expect(known?.legs.map(legKey).sort()).toEqual([...byLeg.keys()].sort());
  for (const [jobName, group] of byJob) {
    const all = group.flatMap(({ executions }) => executions);
    const legs = new Set(group.map(({ axes }) => axes));
    const shown = known?.identities.find((one) => one.jobName === jobName);
    expect(shown).toMatchObject({ summary: summaryOf(all, newestOf(all)), isFolded: false });
    expect(shown?.axes).toBe(legs.size > 1 ? ALL_LEGS : ([...legs][0] ?? ''));
  }
  const [listed] = await db.select().from(testListings).where(sql`repository_id = ${repositoryId}`);
  const most = Math.max(...[...byJob.values()].map((group) => group.flatMap(({ executions }) => executions).length));
  expect(listed).toMatchObject({ executions: most, identities: byJob.size });
  expect(await listingDifferences(db, repositoryId)).toEqual([]);
}

test('legs that come in any order and parts are counted alone, and together they are the CI job', async () => {
  await fc.assert(
    fc.asyncProperty(passes, async (all) => {
      fc.pre(all.length > 0);
      const repositoryId = randomUUID();
      for (const parts of all)
        await addIdentities(
          db,
          parts.map(({ jobName, axes, executions }) => ({ ...countsOf(jobName, axes, executions), repositoryId })),
        );
      await check(repositoryId, all.flat());
      // As a rebuild does it: everything at once.
      const byLeg = Map.groupBy(all.flat(), ({ jobName, axes }) => `${jobName} ${axes}`);
      const rows = [...byLeg.values()].flatMap((group) => {
        const [first] = group;
        return first
          ? [
              countsOf(
                first.jobName,
                first.axes,
                group.flatMap(({ executions }) => executions),
              ),
            ]
          : [];
      });
      await replaceIdentities(db, repositoryId, [TEST_ID], rows);
      await check(repositoryId, all.flat());
    }),
    { numRuns: 20 },
  );
});
