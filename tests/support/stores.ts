/**
 * Real stores for tests: embedded PostgreSQL and ClickHouse in a temporary folder, opened once for the whole run and closed
 * with it. Tests stay apart by repository: each gets its own from {@link uniqueRepository}.
 *
 * `TEST_CLICKHOUSE` has the same tests reach another ClickHouse over HTTP: a real server (`real`) or a cluster of two (`shards`),
 * as a user with the rights of the service; the test server (`http`), also as a cluster of one shard (`cluster`).
 */
import { rmSync } from 'node:fs';
import { openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { tableDefinitions } from '../../src/clickhouse/migrations.ts';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { noteNewInstallation } from '../../src/maintenance/regroup-online.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startClickHouseServer } from './clickhouse-http.ts';
import { startRealCluster } from './clickhouse-real/cluster.ts';
import type { User } from './clickhouse-real/configure.ts';
import { grantedUser, type RealClickHouse, serviceUser, startRealClickHouse } from './clickhouse-real/server.ts';
import { TEST_NOW, TestClock } from './clock.ts';
import { makeFolder } from './folder.ts';
import { beginWithTemplate } from './template.ts';

export interface TestStores extends Deps {
  clock: TestClock;
}

/** A user with the rights that the documents name for a service, and those to what only tests do. */
function testUser(isSharded: boolean): User {
  const { grants = [], ...user } = serviceUser(isSharded);
  const ofTests = [
    'TRUNCATE ON ci.*',
    'TRUNCATE ON ci_shard.*',
    'OPTIMIZE ON ci.*',
    'SELECT ON system.*',
    'CREATE TABLE, DROP TABLE ON ci.inserts_test',
  ].map((right) => `GRANT ${right}`);
  return { ...user, grants: [...grants, ...ofTests] };
}

let opened: Promise<TestStores> | undefined;

/** The stores of this run, opened by the first call. */
export function openTestStores(): Promise<TestStores> {
  opened ??= open();
  return opened;
}

async function open(): Promise<TestStores> {
  const dataDir = makeFolder('test');
  beginWithTemplate(dataDir);
  const clock = new TestClock(TEST_NOW);
  const kind = process.env.TEST_CLICKHOUSE;
  const isCluster = kind === 'cluster';
  const server = kind === 'http' || isCluster ? await startClickHouseServer({ isCluster }) : undefined;
  const real = kind === 'real' ? await startRealClickHouse([testUser(false), grantedUser()]) : undefined;
  const shards = kind === 'shards' ? await startRealCluster([testUser(true), grantedUser({}, /^$/, true)]) : undefined;
  const config = readConfig({
    DATA_DIR: dataDir,
    PORT: '0',
    CLICKHOUSE_URL: server?.url ?? real?.url(testUser(false)) ?? shards?.url(testUser(true)),
    CLICKHOUSE_CLUSTER: isCluster ? 'one' : shards?.name,
  });
  // Migrated by another user than the one as whom the tests run.
  for (const url of [real?.url(grantedUser()), shards?.url(grantedUser({}, /^$/, true))])
    if (url !== undefined) await migrated(url, shards?.name);
  const log = createLogger(process.env.TEST_LOG ?? 'error');
  const deps = await openDeps(config, { clock, log });
  const close = async (): Promise<void> => {
    await deps.close();
    await server?.stop();
    for (const one of real ? [real] : (shards?.servers ?? [])) console.error(await workOf(one));
    await real?.stop();
    await shards?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { ...deps, clock, close };
}

async function migrated(url: string, cluster: string | undefined): Promise<void> {
  const clickhouse = await openClickHouse({ url, path: '', cluster });
  await migrateClickHouse(clickhouse);
  await clickhouse.close();
}

/** A line that says how much the tests asked of a server. */
async function workOf(server: RealClickHouse): Promise<string> {
  const [version, statements, inserts] = (
    await server.ask(
      "SELECT version(), sumIf(value, event = 'Query'), sumIf(value, event = 'InsertQuery') FROM system.events FORMAT TSV",
    )
  )
    .trim()
    .split('\t');
  return `ClickHouse server ${version}: ${statements} statements, of these ${inserts} inserts`;
}

/** Called once, when the last test file of the run has ended. */
export async function closeTestStores(): Promise<void> {
  await (await opened)?.close();
}

const isDeadlock = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '40P01';

/** These belong to the installation, not to a repository. */
const KEPT_TABLES = ['installation', 'application_keys', 'partitions', 'outbox_consumers'];

/**
 * Removes every repository with all that belongs to it. For tests of what works on everything at once, such as rebuild and
 * retention: with the repositories of other test files they would take longer the later they run.
 */
export async function emptyStores(stores: TestStores): Promise<void> {
  await emptyPostgres(stores);
  for (const definition of tableDefinitions()) {
    const table = /^CREATE TABLE IF NOT EXISTS (ci\.\w+)/.exec(definition)?.[1];
    if (table && !definition.includes('ENGINE = Null')) await stores.clickhouse.command(`TRUNCATE TABLE ${table}`);
  }
  await noteNewInstallation(stores.postgres.db);
}

/** Removes every repository from PostgreSQL alone. */
export async function emptyPostgres({ postgres }: TestStores): Promise<void> {
  const { rows } = await postgres.pool.query<{ name: string }>(
    `select format('ci_insights.%I', tablename) as name from pg_tables where schemaname = 'ci_insights' and tablename != all($1)`,
    [KEPT_TABLES],
  );
  // A service of another test file may still be reading: then PostgreSQL ends one of the two, which is tried again.
  const truncation = `truncate ${rows.map(({ name }) => name).join(', ')}`;
  for (let left = 5; ; left--)
    try {
      await postgres.pool.query(truncation);
      break;
    } catch (error) {
      if (left === 0 || !isDeadlock(error)) throw error;
    }
}

let repositories = 0;
const run = Math.random().toString(36).slice(2, 8);

/** A repository that no other test uses. */
export function uniqueRepository(): { host: string; owner: string; name: string } {
  repositories++;
  return { host: 'github.com', owner: `owner-${run}`, name: `repo-${repositories}` };
}
