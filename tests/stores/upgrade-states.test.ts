/** The state of tests that a version before 0.2.0 kept in ClickHouse comes into PostgreSQL. */
import { beforeAll, expect, test } from 'bun:test';
import { isNull } from 'drizzle-orm';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { upgradeStates } from '../../src/maintenance/upgrade-states.ts';
import { upgradeTotals } from '../../src/maintenance/upgrade-totals.ts';
import { verify } from '../../src/maintenance/verify.ts';
import {
  failureGroups,
  healthCheckpoints,
  identities,
  ingestBlocks,
  repositoryCounts,
  repositoryDays,
  tests,
  upgrades,
} from '../../src/postgres/schema.ts';
import { readTests } from '../../src/postgres/test-states.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { healthsOf, PASSING, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });
const repository = uniqueRepository();
const repositoryId = repositoryIdOf(repository.host, repository.owner, repository.name);
const FORGOTTEN = testIdOf(repositoryId, 'left long ago');
const FAILED_AT = TEST_NOW - 400 * DAY_MS;

/** What a version leaves that never knew the tables. */
async function forgetStates(): Promise<void> {
  const { db } = ingest.stores.postgres;
  const derived = [tests, identities, failureGroups, healthCheckpoints, repositoryCounts, repositoryDays];
  for (const table of [...derived, upgrades]) await db.delete(table);
}

beforeAll(async () => {
  const { stores, driver } = ingest;
  const run = (runId: string, hoursAgo: number, results: Parameters<typeof runOf>[0]['results'], attempt = 1) =>
    runOf({
      repository,
      runId,
      at: TEST_NOW - hoursAgo * HOUR_MS,
      attempt,
      results: { ...PASSING, ...results },
      receivedAt: TEST_NOW,
    });
  await driver.ingest(
    run('1', 60, { a: 'passed', b: 'failed', 'still failing': 'failed' }),
    run('2', 40, { a: 'failed', b: 'passed' }),
    run('2', 39, { a: 'passed' }, 2),
    run('4', 20, { a: 'failed' }),
    run('4', 19, { a: 'passed' }, 2),
  );
  const key = { repository_id: repositoryId, pipeline_name: '', job_name: '' };
  await stores.clickhouse.insert(
    'ci.first_failures',
    JSON.stringify({
      ...key,
      test_id: FORGOTTEN,
      first: {
        failed_at: new Date(FAILED_AT).toISOString().slice(0, -1),
        execution_id: 7,
        commit_sha: 'c0',
        pull_request: 0,
      },
    }),
    'upgrade-failures',
  );
  await forgetStates();
});

test('health and failures follow from the executions, what has left is copied, and an upgrade that is cut off continues', async () => {
  const { stores, driver } = ingest;
  const { db } = stores.postgres;
  const cutOff = {
    ...stores.log,
    info: () => {
      throw new Error('killed');
    },
  } as unknown as typeof stores.log;
  await expect(upgradeStates({ ...stores, log: cutOff })).rejects.toThrow('killed');
  // A block that an older version stores meanwhile, and evaluates without counting it.
  const ledger = new Ledger({ db, clickhouse: stores.clickhouse, clock: stores.clock });
  const job = runOf({
    repository,
    runId: '2',
    at: TEST_NOW,
    attempt: 3,
    results: { b: 'passed' },
    receivedAt: TEST_NOW,
  });
  const options = { repositoryId, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  await ledger.write([prepareChunk(job, options)]);
  await db.update(ingestBlocks).set({ evaluatedAt: new Date(), body: null }).where(isNull(ingestBlocks.countedAt));
  expect((await verify(stores)).pendingBlocks).toBe(1);
  await upgradeStates(stores);
  await upgradeTotals(stores);
  await driver.verify();
  const expected = { a: ['flaky'], b: ['healthy'], 'still failing': ['broken'] };
  expect(await healthsOf(stores, repository)).toMatchObject(expected);
  const [remembered] = await readTests(db, repositoryId, [FORGOTTEN]);
  expect(remembered?.firstFailure).toEqual({ failedAt: FAILED_AT, executionId: 7n, commit: 'c0' });
  expect((await db.select().from(upgrades))[0]?.finishedAt).toBeInstanceOf(Date);

  // The first failure of a test that has been away.
  await driver.ingest(
    runOf({ repository, runId: '3', at: TEST_NOW, results: { 'left long ago': 'failed' }, receivedAt: TEST_NOW }),
  );
  const [known] = await readTests(db, repositoryId, [FORGOTTEN]);
  expect(known).toMatchObject({ name: 'left long ago', firstFailure: { commit: 'c0' } });
  await driver.verify();
});
