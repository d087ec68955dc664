/** PostgreSQL is lost for good, and ClickHouse has everything: what is stored is known again after a rebuild. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { checkTogether } from '../../src/operate/doctor/together.ts';
import { repositories } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { emptyPostgres, emptyStores, uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();
beforeEach(() => emptyStores(ingest.stores));
// What is done here must not be found by the tests that come after.
afterAll(() => emptyStores(ingest.stores));

const run = (repository: ReturnType<typeof uniqueRepository>, runId: string, hour: number) => {
  const at = TEST_NOW - (20 - hour) * 3_600_000;
  const sums = hour % 3 === 0 ? 'failed' : 'passed';
  return runOf({ repository, runId, at, receivedAt: at, results: { sums, adds: 'passed' } });
};

test('the doctor says so; uploads are stored, and after a rebuild every test has its history again', async () => {
  const { stores, driver } = ingest;
  const { clickhouse, postgres } = stores;
  const look = () => checkTogether(clickhouse, postgres.db);
  const repository = uniqueRepository();
  for (let hour = 1; hour < 8; hour++) await driver.ingest(run(repository, `before ${hour}`, hour));
  const other = uniqueRepository();
  await driver.ingest(run(other, 'of another', 3));
  expect(await look()).toMatchObject({ level: 'ok' });

  await emptyPostgres(stores);
  expect(await look()).toMatchObject({ level: 'problem', message: expect.stringContaining('2 repositories') });
  for (let hour = 8; hour < 12; hour++) await driver.ingest(run(repository, `after ${hour}`, hour));
  // Of the other one nothing is sent any more: someone who has the list of repositories adds it.
  expect(await look()).toMatchObject({ level: 'problem', message: expect.stringContaining('1 repository') });
  const { id } = await stores.repositories.record(other);
  await stores.postgres.db.update(repositories).set({ defaultBranch: 'main' }).where(eq(repositories.id, id));
  stores.repositories.forget(other);
  await rebuild(stores);
  expect(await look()).toMatchObject({ level: 'ok' });

  // Only that no one knows any more what came from which upload: until its months leave, it is stored and not claimed.
  const failing = (await verify(stores)).checks.filter(({ count }) => count > 0);
  expect(failing.map(({ name, differences }) => [name.split(':')[0], differences.length])).toEqual([['ledger', 1]]);
  expect(failing[0]?.differences[0]).toStartWith('16 executions of 2026-11 are stored, but not claimed');
  const states = await stores.postgres.pool.query(
    `select sum(executions)::int as executions from ci_insights.identities where repository_id = $1`,
    [(await stores.repositories.find(repository.owner, repository.name))?.id],
  );
  expect(states.rows).toEqual([{ executions: 22 }]);
});
