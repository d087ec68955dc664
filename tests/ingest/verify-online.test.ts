/** A comparison while the service runs: its verdict is that of the offline one, and what is on its way is none. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import type { Status } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { type VerifyReport, verify } from '../../src/maintenance/verify.ts';
import { verifyOnline } from '../../src/maintenance/verify-online.ts';
import { identities } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { setUpIngest } from '../support/ingest.ts';
import { until } from '../support/patience.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
beforeEach(() => emptyStores(ingest.stores));
// The damage done here must not be found by the tests that come after.
afterAll(() => emptyStores(ingest.stores));

const run = (repository: ReturnType<typeof uniqueRepository>, runId: string, hours: number, status: Status) =>
  runOf({
    repository,
    runId,
    at: TEST_NOW - hours * HOUR_MS,
    receivedAt: TEST_NOW,
    results: { sums: status, adds: 'passed' },
  });

async function fill(): Promise<void> {
  for (const repository of [uniqueRepository(), uniqueRepository()])
    await ingest.driver.ingest(
      run(repository, '1', 9, 'passed'),
      run(repository, '2', 8, 'failed'),
      run(repository, '3', 7, 'passed'),
    );
}

const online = () =>
  verifyOnline(ingest.stores, { onProgress: async () => {}, isStopped: () => false, betweenLooksMs: 1 });

/**
 * The parts of a report that do not depend on the order of repositories, or of the executions that are given as examples.
 */
const verdictOf = (report: VerifyReport | undefined) => ({
  ...report,
  checks: report?.checks
    .map(({ name, count, differences }) => ({
      name,
      count,
      differences: differences.map((one) => one.replace(/: [\d, …]+$/, '')).toSorted(),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name)),
});

describe('a comparison while the service runs', () => {
  test('finds nothing where nothing differs', async () => {
    await fill();
    const report = await online();
    expect(report).toMatchObject({ isConsistent: true, isComplete: true, executions: 12, pendingBlocks: 0 });
    expect(verdictOf(report)).toEqual(verdictOf(await verify(ingest.stores)));
  });

  test.each([
    {
      title: 'executions that are lost',
      damage: () =>
        ingest.stores.clickhouse.command(
          "ALTER TABLE ci.executions DELETE WHERE run_id = '2' SETTINGS mutations_sync = 2",
        ),
    },
    {
      title: 'executions that are stored twice',
      damage: () => ingest.stores.clickhouse.command('INSERT INTO ci.executions SELECT * FROM ci.executions'),
    },
    {
      title: 'failures that are lost',
      damage: () => ingest.stores.clickhouse.command('TRUNCATE TABLE ci.failures'),
    },
    {
      title: 'totals of a repository that PostgreSQL does not know',
      damage: () =>
        ingest.stores.clickhouse.command(
          'INSERT INTO ci.runs SELECT * REPLACE (generateUUIDv4() AS repository_id) FROM ci.runs LIMIT 1',
        ),
    },
    {
      title: 'a state of tests that the rules do not give',
      damage: () => ingest.stores.postgres.db.update(identities).set({ executions: 7 }),
    },
    {
      title: 'claims that are lost',
      damage: () => ingest.stores.postgres.pool.query('delete from ci_insights.ingest_claims'),
    },
  ])('gives the verdict of the offline one about $title', async ({ damage }) => {
    await fill();
    await damage();
    const report = await online();
    expect(report?.isConsistent).toBe(false);
    expect(verdictOf(report)).toEqual(verdictOf(await verify(ingest.stores)));
  });

  test('what is stored and evaluated between two looks is no difference', async () => {
    const { stores, driver } = ingest;
    await fill();
    const repository = uniqueRepository();
    let isDone = false;
    let runs = 0;
    const storing = (async () => {
      while (!isDone && runs < 30)
        await driver.ingest(run(repository, `busy ${runs++}`, 1, runs % 3 === 0 ? 'failed' : 'passed'));
    })();
    try {
      for (let looks = 0; looks < 4; looks++) {
        const report = await verifyOnline(stores, {
          onProgress: async () => {},
          isStopped: () => false,
          betweenLooksMs: 200,
        });
        expect(report?.checks.filter(({ count }) => count > 0)).toEqual([]);
      }
    } finally {
      isDone = true;
      await storing;
    }
    expect(runs).toBeGreaterThan(1);
  });

  test('what fails while the runs are read is no difference, and stops no comparison', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    await driver.ingest(run(repository, 'known', 2, 'failed'));
    let late = 0;
    const select: ClickHouse['select'] = async (query, ...rest) => {
      const rows = await stores.clickhouse.select(query, ...rest);
      // No look sees what fails then as a whole.
      if (query.name === 'maintenance/runs' && late < 2) {
        const part = run(repository, 'known', 1, 'failed');
        await driver.ingest(run(repository, `late ${late++}`, 1, 'failed'), { ...part, sources: [`part ${late}`] });
      }
      return rows;
    };
    const busy = new Proxy(stores.clickhouse, {
      get: (clickhouse, name) => {
        const member = Reflect.get(clickhouse, name);
        if (name === 'select') return select;
        return typeof member === 'function' ? member.bind(clickhouse) : member;
      },
    });
    const options = { onProgress: async () => {}, isStopped: () => false, betweenLooksMs: 1 };
    const report = await verifyOnline({ ...stores, clickhouse: busy }, options);
    expect(late).toBeGreaterThan(0);
    expect(report?.checks.filter(({ count }) => count > 0)).toEqual([]);
  });
});

interface Verification {
  id: string;
  status: string;
  repositories: number;
  report: { is_consistent: boolean; executions: number } | null;
}

test('over REST a worker makes one at a time, and its report is kept', async () => {
  await fill();
  const ask = async (path: string, method = 'GET') => {
    const response = await app.request(path, { method });
    return { status: response.status, body: (await response.json()) as Verification };
  };
  const [first, second] = await Promise.all([ask('/v1/verifications', 'POST'), ask('/v1/verifications', 'POST')]);
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(second.body.id).toBe(first.body.id);
  const found = await until(
    async () => (await ask(`/v1/verifications/${first.body.id}`)).body,
    ({ status }) => status !== 'running',
  );
  expect(found).toMatchObject({
    status: 'finished',
    repositories: 2,
    repositories_compared: 2,
    report: { is_consistent: true, executions: 12 },
  });
  expect((await ask(`/v1/verifications/${uniqueId()}`)).status).toBe(404);
  expect((await ask('/v1/verifications', 'POST')).body.id).not.toBe(first.body.id);
});

const uniqueId = (): string => crypto.randomUUID();
