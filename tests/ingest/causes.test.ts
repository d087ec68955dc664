/** Causes: derived by a refresh from what is stored, with ids that stay. */
import { beforeEach, expect, test } from 'bun:test';
import { eq, sql } from 'drizzle-orm';
import { DAY_MS } from '../../src/domain/time.ts';
import { deriveCauses } from '../../src/evaluation/derive-causes.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { readCauseDays, readCauseNodes } from '../../src/postgres/causes.ts';
import { causeDays, causeGroups, causeNodes } from '../../src/postgres/schema.ts';
import { readStale } from '../../src/postgres/stale.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
beforeEach(() => emptyStores(ingest.stores));

type Repository = ReturnType<typeof uniqueRepository>;

/** A run at some days before now; `failed`: the message of each failed test. */
function run(
  repository: Repository,
  daysAgo: number,
  failed: Readonly<Record<string, string>>,
  of: Partial<TestRunsJob['run']> = {},
): TestRunsJob {
  const at = TEST_NOW - daysAgo * DAY_MS;
  const name = `run ${daysAgo}`;
  return makeJob({
    repository,
    receivedAt: at,
    source: name,
    run: { run_id: name, commit: `commit ${daysAgo}`, ...of },
    executions: [
      { name: 'fine', status: 'passed', at },
      ...Object.entries(failed).map(([test, message]) => ({
        ...{ name: test, status: 'failed' as const, at },
        failures: [{ type: 'ConnectionError', message }],
      })),
    ],
  });
}

const outage = (host: string): Record<string, string> =>
  Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [
      `test ${name}`,
      `cannot reach '${host}${name}.internal' closed by peer`,
    ]),
  );

const idOf = async (repository: Repository): Promise<string> =>
  (await ingest.stores.repositories.find(repository.owner, repository.name))?.id ?? '';

test('six tests that an outage hits in one run, each with its own host, have one cause', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 20, { old: 'ledger rounding went wrong' }));
  await driver.ingest(run(repository, 3, outage('db-')));
  const nodes = await readCauseNodes(stores.postgres.db, await idOf(repository));
  expect(nodes).toHaveLength(7);
  expect(new Set(nodes.map(({ causeId }) => causeId)).size).toBe(2);
  expect(nodes.every(({ failures }) => failures === 1)).toBe(true);
  await driver.verify();
});

test('an upload that is sent twice, and results that arrive in another order, change no cause', async () => {
  const { driver, stores } = ingest;
  const [one, other] = [uniqueRepository(), uniqueRepository()];
  const runs = (repository: Repository) => [
    run(repository, 20, { old: 'ledger rounding went wrong' }),
    run(repository, 3, outage('db-')),
    run(repository, 2, outage('db-')),
  ];
  await driver.ingest(...runs(one), ...runs(one));
  for (const job of runs(other).reverse()) await driver.ingest(job);
  const described = async (repository: Repository) =>
    (await readCauseNodes(stores.postgres.db, await idOf(repository)))
      .map(({ message, failures, firstAt, lastAt }) => `${message} ${failures} ${firstAt} ${lastAt}`)
      .sort();
  expect(await described(one)).toEqual(await described(other));
  const days = await readCauseDays(stores.postgres.db, await idOf(one));
  expect(days.reduce((sum, { failures }) => sum + failures, 0)).toBe(13);
  await driver.verify();
});

test('a later run adds to a cause, and its id stays, also after a rebuild', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 20, { old: 'ledger rounding went wrong' }), run(repository, 3, outage('db-')));
  const causes = async () => {
    const nodes = await readCauseNodes(stores.postgres.db, await idOf(repository));
    return new Map(nodes.map(({ id, causeId }) => [id, causeId]));
  };
  const before = await causes();
  await driver.ingest(run(repository, 1, { ...outage('db-'), another: "cannot reach 'db-a.internal' closed by peer" }));
  expect(await causes()).toEqual(before);
  await rebuild(stores);
  expect(await causes()).toEqual(before);
  await driver.verify();
});

test('failures of pull requests make no cause', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(
    run(repository, 20, {}),
    run(repository, 3, outage('db-'), { branch: 'feature', base_ref: 'main' }),
  );
  expect(await readCauseNodes(stores.postgres.db, await idOf(repository))).toEqual([]);
  await driver.verify();
});

test('a pass only notes that causes are stale, and not if nothing failed', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 3, outage('db-')));
  const revision = async () => {
    const { rows } = await stores.postgres.db.execute<{ revision: string }>(
      sql`select revision from ci_insights.stale where kind = 'causes' and repository_id = ${await idOf(repository)}`,
    );
    return rows[0]?.revision;
  };
  const before = await revision();
  await driver.ingest(run(repository, 2, {}));
  expect(await revision()).toBe(before);
  expect(
    (await readStale(stores.postgres.db, [await idOf(repository)])).get(await idOf(repository))?.has('causes'),
  ).toBeFalsy();
});

test('where messages are too long together, the newest failures have causes', async () => {
  const { driver, stores } = ingest;
  const { db } = stores.postgres;
  const repository = uniqueRepository();
  const long = (word: string) => `the ${word} gateway refused this order ${'because of what it holds '.repeat(20)}`;
  await driver.ingest(run(repository, 3, { a: long('oldest') }));
  await driver.ingest(
    run(repository, 2, { a: long('newer'), b: long('newer') }),
    run(repository, 1, { c: long('newest') }),
  );
  const place = { tx: db, clickhouse: stores.clickhouse, repositoryId: await idOf(repository) };
  const told = async (characters?: number) =>
    (await deriveCauses(place, characters)).nodes
      .map(({ message, failures }) => `${/the (\w+)/.exec(message)?.[1]} ${failures}`)
      .sort();
  expect(await told()).toEqual(['newer 2', 'newest 1', 'oldest 1']);
  // Room for two: a message that two tests share counts once.
  expect(await told(2 * (500 + long('newest').length))).toEqual(['newer 2', 'newest 1']);
  // The same where none of it is known yet.
  await db.execute(sql`delete from ${causeNodes}`);
  await db.execute(sql`delete from ${causeGroups}`);
  expect(await told(2 * (500 + long('newest').length))).toEqual(['newer 2', 'newest 1']);
});

test('causes of a month that has left are gone with the next refresh', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 60, { old: 'ledger rounding went wrong' }), run(repository, 1, outage('db-')));
  stores.clock.set(TEST_NOW + 45 * DAY_MS);
  try {
    await driver.retention.run();
    await driver.settle();
    const nodes = await readCauseNodes(stores.postgres.db, await idOf(repository));
    expect(nodes.some(({ message }) => message.includes('ledger'))).toBe(false);
    expect(nodes.length).toBe(6);
    await driver.verify();
  } finally {
    stores.clock.set(TEST_NOW);
  }
});

test('verify finds a day that was changed', async () => {
  const { driver, stores } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(run(repository, 3, outage('db-')));
  const { db } = stores.postgres;
  await db
    .update(causeDays)
    .set({ failures: 7 })
    .where(eq(causeDays.repositoryId, await idOf(repository)));
  const { checks } = await verify(stores);
  expect(checks.find(({ name }) => name.startsWith('causes'))?.count).toBe(12);
  await rebuild(stores);
  await driver.verify();
});
