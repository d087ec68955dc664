/** Records of commits that large passes of the evaluation leave for later (src/evaluation/late-records.ts). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { CommitRecorder } from '../../src/evaluation/commit-recorder.ts';
import { lateRecordSteps } from '../../src/evaluation/late-records.ts';
import { lockEvaluation } from '../../src/evaluation/lock.ts';
import { leaveCommits } from '../../src/postgres/commit-records.ts';
import { commitRecords, lateCommits } from '../../src/postgres/schema.ts';
import { setUpApp } from '../support/ingest.ts';
import { at, InsightsFixture } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';
import { emptyStores } from '../support/stores.ts';

const ingest = setUpApp();
// What is late stays so until a test wants it recorded.
beforeAll(() => ingest.driver.lateWork.loop.stop());
beforeEach(() => emptyStores(ingest.stores));
afterAll(() => emptyStores(ingest.stores));

const fixtureOf = () => new InsightsFixture(ingest.stores, ingest.driver);

/** So many tests beside these make the pass a large one. */
const MANY = Array.from({ length: 1_001 }, (_, i): TestExecution => ({ name: `beside ${i}`, at: at(1) }));
const failing = (name: string, hoursAgo = 2): TestExecution => ({
  name,
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'Error', message: 'no' }],
});
const passing = (name: string, hoursAgo = 2): TestExecution => ({ name, at: at(hoursAgo) });

const recorded = async ({ id }: InsightsFixture): Promise<string[]> => {
  const rows = await ingest.stores.postgres.db.select().from(commitRecords).where(eq(commitRecords.repositoryId, id));
  return rows.map(({ commitSha }) => commitSha).sort();
};
const late = async ({ id }: InsightsFixture): Promise<string[]> => {
  const rows = await ingest.stores.postgres.db.select().from(lateCommits).where(eq(lateCommits.repositoryId, id));
  return rows.map(({ commitSha }) => commitSha).sort();
};
async function recordLate(): Promise<void> {
  const { postgres, clickhouse } = ingest.stores;
  for await (const _ of lateRecordSteps({ db: postgres.db, clickhouse }));
}
const failuresOf = (fixture: InsightsFixture, commit: string) =>
  ingest.app.get<{ runs: number; total: number }>(`${fixture.base}/commits/${commit}/failures`);

describe('a large pass', () => {
  test('leaves the records of its commits, whose failures are answered meanwhile', async () => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run([failing('a'), passing('b')], { commit: 'one' }));
    expect(await recorded(fixture)).toEqual(['one']);

    await fixture.ingest(
      fixture.run([failing('b'), ...MANY], { commit: 'one' }),
      fixture.run([failing('c')], { commit: 'two' }),
      fixture.run([passing('c')], { commit: 'three' }),
    );
    expect(await recorded(fixture)).toEqual([]);
    expect(await late(fixture)).toEqual(['one', 'two']);
    await ingest.driver.verify();
    const commits = ['one', 'two', 'three'];
    const answered = await Promise.all(commits.map((commit) => failuresOf(fixture, commit)));
    expect(answered.map(({ runs, total }) => [runs, total])).toEqual([
      [2, 2],
      [1, 1],
      [1, 0],
    ]);

    await recordLate();
    expect(await recorded(fixture)).toEqual(['one', 'two']);
    expect(await late(fixture)).toEqual([]);
    await ingest.driver.verify();
    expect(await Promise.all(commits.map((commit) => failuresOf(fixture, commit)))).toEqual(answered);
  });

  test('leaves the record of a commit that failed before, when it only brings passes', async () => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run([failing('a')], { commit: 'one' }));
    await fixture.ingest(fixture.run([passing('a', 1), ...MANY], { commit: 'one' }));
    expect(await late(fixture)).toEqual(['one']);
    expect(await recorded(fixture)).toEqual([]);
    await recordLate();
    expect(await recorded(fixture)).toEqual(['one']);
    expect(await failuresOf(fixture, 'one')).toMatchObject({ runs: 2, total: 1 });
    await ingest.driver.verify();
  });
});

test('a small pass writes the record of a late commit at once', async () => {
  const fixture = fixtureOf();
  await fixture.ingest(fixture.run([failing('a'), ...MANY], { commit: 'one' }));
  expect(await recorded(fixture)).toEqual([]);
  await fixture.ingest(fixture.run([failing('b')], { commit: 'one' }));
  expect(await recorded(fixture)).toEqual(['one']);
  expect(await failuresOf(fixture, 'one')).toMatchObject({ runs: 2, total: 2 });
  await recordLate();
  expect(await late(fixture)).toEqual([]);
  await ingest.driver.verify();
});

test('a late commit of which nothing is stored any more is forgotten', async () => {
  const fixture = fixtureOf();
  await fixture.ingest(fixture.run([failing('a')], { commit: 'one' }));
  const { db } = ingest.stores.postgres;
  await leaveCommits(db, [{ repositoryId: fixture.id, commit: 'gone', hasFailed: true }]);
  await recordLate();
  expect(await late(fixture)).toEqual([]);
  expect(await recorded(fixture)).toEqual(['one']);
});

test('late commits of many repositories are recorded, however many and in whatever steps', async () => {
  const first = fixtureOf();
  const fixtures = [first, first.another(), first.another()];
  const commits = Array.from({ length: 30 }, (_, i) => `commit ${i}`);
  await first.ingest(
    ...fixtures.flatMap((fixture) => commits.map((commit) => fixture.run([failing('a')], { commit }))),
  );
  // How many of them one pass takes is not known.
  const { postgres, clickhouse } = ingest.stores;
  const failed = new Map(commits.map((commit) => [commit, true]));
  await new CommitRecorder({ db: postgres.db, clickhouse }).leave(new Map(fixtures.map(({ id }) => [id, failed])));
  expect(await postgres.db.$count(commitRecords)).toBe(0);

  // Stopped after its first step, as when something large arrives.
  let steps = 0;
  for await (const _ of lateRecordSteps({ db: postgres.db, clickhouse })) if (steps++ === 1) break;
  const counts = await Promise.all([postgres.db.$count(commitRecords), postgres.db.$count(lateCommits)]);
  expect(counts).toEqual([40, 50]);
  await ingest.driver.verify();

  await recordLate();
  for (const fixture of fixtures) {
    expect(await recorded(fixture)).toEqual([...commits].sort());
    expect(await late(fixture)).toEqual([]);
  }
  await ingest.driver.verify();
});

test('whatever passes leave and record in turn, each commit that failed has a record in the end', async () => {
  const fixture = fixtureOf();
  const commits = ['one', 'two', 'three'];
  await fixture.ingest(
    ...commits.slice(0, 2).map((commit) => fixture.run([failing('a')], { commit })),
    fixture.run([passing('a')], { commit: 'three' }),
  );
  const { postgres, clickhouse } = ingest.stores;
  const recorder = new CommitRecorder({ db: postgres.db, clickhouse });
  const some = fc.subarray(commits, { minLength: 1 });
  const touched = (of: readonly string[]) =>
    new Map([[fixture.id, new Map(of.map((commit) => [commit, commit !== 'three']))]]);
  const step = fc.oneof(
    some.map((of) => ({ do: 'leave' as const, of })),
    some.map((of) => ({ do: 'refresh' as const, of })),
    fc.constant({ do: 'record late' as const, of: [] as string[] }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      for (const { do: what, of } of steps) {
        if (what === 'leave') await recorder.leave(touched(of));
        else if (what === 'refresh') await recorder.refresh(touched(of));
        else await recordLate();
        const known = new Set([...(await recorded(fixture)), ...(await late(fixture))]);
        expect([...known].sort()).toEqual(['one', 'two']);
      }
      await recordLate();
      expect(await recorded(fixture)).toEqual(['one', 'two']);
      expect(await late(fixture)).toEqual([]);
    }),
    { numRuns: 20 },
  );
  await ingest.driver.verify();
});

test('waits for the evaluation of a repository', async () => {
  const fixture = fixtureOf();
  await fixture.ingest(fixture.run([failing('a'), ...MANY], { commit: 'one' }));
  const { db } = ingest.stores.postgres;
  expect(await late(fixture)).toEqual(['one']);
  let recording: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await lockEvaluation(tx, fixture.id);
    recording = recordLate();
    await Bun.sleep(200);
    expect(await recorded(fixture)).toEqual([]);
  });
  await recording;
  expect(await recorded(fixture)).toEqual(['one']);
});
