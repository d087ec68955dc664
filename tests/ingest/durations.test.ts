/** How long tests take is derived from their executions, whatever their order, and leaves with them. */
import { expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { readDurations, readDurationTotals } from '../../src/postgres/durations.ts';
import { testDurations } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob, type TestJob } from '../support/jobs.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
type Repository = ReturnType<typeof uniqueRepository>;
const idOf = ({ host, owner, name }: Repository): string => repositoryIdOf(host, owner, name);

let runs = 0;
const run = (repository: Repository, daysAgo: number, seconds: number, more: TestJob['run'] = {}) => {
  const number = ++runs;
  return makeJob({
    repository,
    executions: [{ name: 'sums', at: TEST_NOW - daysAgo * DAY_MS, durationSeconds: seconds }],
    run: { run_id: String(number), commit: `commit-${number}`, ...more },
    receivedAt: TEST_NOW,
  });
};
const durationsOf = async (repository: Repository) => {
  const id = idOf(repository);
  const found = await readDurations(ingest.stores.postgres.db, id, [testIdOf(id, 'sums')]);
  return found
    .map(({ axes, isFolded, executions, medianUs, totalUs }) => ({ axes, isFolded, executions, medianUs, totalUs }))
    .sort((one, other) => (one.axes < other.axes ? -1 : 1));
};

test('a CI job with several legs has a row for each, and one for all', async () => {
  const { driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 1, 1, { axes: { os: 'linux' } }));
  expect(await durationsOf(repository)).toEqual([
    { axes: '{"os":"linux"}', isFolded: false, executions: 1, medianUs: 1_000_000, totalUs: 1_000_000 },
  ]);
  await driver.ingest(
    run(repository, 1, 3, { axes: { os: 'windows' } }),
    run(repository, 2, 3.5, { axes: { os: 'windows' } }),
  );
  expect(await durationsOf(repository)).toEqual([
    { axes: '*', isFolded: false, executions: 3, medianUs: 3_000_000, totalUs: 7_500_000 },
    { axes: '{"os":"linux"}', isFolded: true, executions: 1, medianUs: 1_000_000, totalUs: 1_000_000 },
    { axes: '{"os":"windows"}', isFolded: true, executions: 2, medianUs: 3_500_000, totalUs: 6_500_000 },
  ]);
  expect(await readDurationTotals(ingest.stores.postgres.db, idOf(repository))).toMatchObject({
    tests: 2,
    totalUs: 7_500_000,
  });
  await driver.verify();
});

test('the days end with the newest result, whatever arrives later', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  const newestDay = Math.floor(TEST_NOW / DAY_MS) - 20;
  await driver.ingest(run(repository, 20, 2));
  await driver.ingest(run(repository, 47, 4), run(repository, 48, 100));
  expect(await readDurationTotals(stores.postgres.db, idOf(repository))).toEqual({
    ...{ startDay: newestDay - 27, endDay: newestDay + 1, tests: 1, grown: 0, totalUs: 6_000_000 },
  });
  await driver.verify();
});

test('verify finds a duration that was changed, and a rebuild puts it right', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 3, 2));
  await stores.postgres.db
    .update(testDurations)
    .set({ medianUs: 1 })
    .where(eq(testDurations.repositoryId, idOf(repository)));
  const { checks } = await verify(stores);
  // One row is not stored, and another does not follow.
  expect(checks.find(({ name }) => name.startsWith('durations'))?.count).toBe(2);
  await rebuild(stores);
  expect((await durationsOf(repository))[0]?.medianUs).toBe(2_000_000);
  await driver.verify();
});

test('durations leave with the month of their executions', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 60, 2));
  expect((await durationsOf(repository)).length).toBe(1);
  stores.clock.set(TEST_NOW + 90 * DAY_MS);
  try {
    await driver.retention.run();
    await driver.settle();
    expect(await durationsOf(repository)).toEqual([]);
    await driver.verify();
  } finally {
    stores.clock.set(TEST_NOW);
  }
});
