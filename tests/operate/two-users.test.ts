/**
 * One user of each store migrates, and another runs the service, with exactly the rights that docs/operations.md names: on one
 * ClickHouse server, and on a cluster of two shards.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import pg from 'pg';
import { sentenceOf } from '../../src/cli/sentence.ts';
import { readConfig } from '../../src/config.ts';
import { openDeps } from '../../src/deps.ts';
import { byService } from '../../src/domain/audit.ts';
import { finishDeletions } from '../../src/maintenance/delete-repository.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { createLogger } from '../../src/observability/log.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { startRealCluster } from '../support/clickhouse-real/cluster.ts';
import type { User } from '../support/clickhouse-real/configure.ts';
import { grantedUser, hasRealClickHouse, serviceUser, startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { TEST_NOW, TestClock } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { type TestStores, uniqueRepository } from '../support/stores.ts';

const DAY_MS = 86_400_000;
const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const section = operations.slice(operations.indexOf('## Two users'), operations.indexOf('## A ClickHouse cluster'));
const [making = '', granting = ''] = [...section.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql);
const maintaining = /`(GRANT MAINTAIN [^`]+)`/.exec(section)?.[1] ?? '';

const byTests = byService('a test');

interface Servers {
  url(user: User): string;
  stop(): Promise<void>;
}

describe.skipIf(!hasRealClickHouse).each([
  [
    'one server',
    {
      environment: {},
      ...{ migrating: grantedUser(), serving: serviceUser(), shards: 1 },
      start: (users: [User, User]): Promise<Servers> => startRealClickHouse(users),
    },
  ],
  [
    'a cluster of two shards',
    {
      environment: { CLICKHOUSE_CLUSTER: 'two' },
      ...{ migrating: grantedUser({}, /^$/, true), serving: serviceUser(true), shards: 2 },
      // The servers ask each other as the first: as the one with fewer rights.
      start: ([migrating, serving]: [User, User]): Promise<Servers> => startRealCluster([serving, migrating]),
    },
  ],
])('two users of %s', (_, on) => {
  const folder = makeFolder('two-users');
  let embedded: EmbeddedPostgres;
  let server: Servers;

  beforeAll(async () => {
    embedded = await startEmbeddedPostgres(folder);
    server = await on.start([on.migrating, on.serving]);
    for (const statement of making.split(/;\n/).filter(Boolean)) await ask(embedded.url, statement);
  });
  afterAll(async () => {
    await server.stop();
    await embedded.stop();
    rmSync(folder, { recursive: true });
  });

  async function ask(url: string, sql: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
  const urlOf = (user: string, password: string): string => {
    const url = new URL(embedded.url);
    return Object.assign(url, { username: user, password, pathname: '/insights' }).href;
  };
  const migrating = (): NodeJS.ProcessEnv => ({
    DATABASE_URL: urlOf('ci_insights_migrate', 'first'),
    CLICKHOUSE_URL: server.url(on.migrating),
    ...on.environment,
  });
  const serving = (): NodeJS.ProcessEnv => ({
    DATABASE_URL: urlOf('ci_insights', 'second'),
    CLICKHOUSE_URL: server.url(on.serving),
    ...on.environment,
  });
  const clock = new TestClock(TEST_NOW);
  const open = async (env: NodeJS.ProcessEnv): Promise<TestStores> => ({
    ...(await openDeps(readConfig({ ...env, DATA_DIR: folder }), { clock, log: createLogger('error') })),
    clock,
  });
  const whyNot = async (env: NodeJS.ProcessEnv): Promise<string> =>
    open(env).then(async (stores) => {
      await stores.close();
      return 'it starts';
    }, sentenceOf);

  async function oneOnEachShard(stores: TestStores): Promise<ReturnType<typeof uniqueRepository>[]> {
    const byShard = new Map<number, ReturnType<typeof uniqueRepository>>();
    while (byShard.size < on.shards) {
      const path = uniqueRepository();
      const { id } = await stores.repositories.record(path);
      byShard.set(await stores.clickhouse.shardOf(id), path);
    }
    return [...byShard.values()];
  }

  test('a service on stores that are not migrated says whose turn it is', async () => {
    expect(await whyNot(serving())).toContain('Run `ci-insights migrate` as the role that owns the schemas');
    const { DATABASE_URL } = migrating();
    expect(await whyNot({ ...serving(), DATABASE_URL })).toContain('ClickHouse does not permit what migrations do');
    expect(await whyNot(migrating())).toBe('it starts');
    await ask(urlOf('ci_insights_migrate', 'first'), `${granting}${maintaining}`);
  });

  test('the service ingests, evaluates, rebuilds, drops months and deletes, and finds no problem', async () => {
    const stores = await open(serving());
    const driver = new IngestDriver(stores);
    try {
      const repositories = await oneOnEachShard(stores);
      const executions = ['a', 'b', 'c'].map((name) => ({ name, status: 'failed' as const }));
      const old = TEST_NOW - 60 * DAY_MS;
      for (const repository of repositories)
        await driver.ingest(
          makeJob({ repository, receivedAt: TEST_NOW, source: 'new', executions }),
          makeJob({
            repository,
            receivedAt: old,
            source: 'old',
            executions: executions.map((execution) => ({ ...execution, at: old })),
          }),
        );
      await driver.verify();
      await rebuild(stores);
      await driver.verify();
      clock.set(TEST_NOW + 60 * DAY_MS);
      expect(await driver.retention.run()).not.toEqual([]);
      for (const repository of repositories) await stores.repositories.delete(repository, byTests);
      const { postgres, clickhouse, log } = stores;
      expect(await finishDeletions({ db: postgres.db, clickhouse, clock, log })).toBe(0);
      const findings = await examine(readConfig({ ...serving(), DATA_DIR: folder }));
      const problems = findings.filter(({ check, level }) => level === 'problem' && check !== 'Clock');
      expect(problems.filter(({ check }) => /permissions|PostgreSQL|ClickHouse/.test(check))).toEqual([]);
    } finally {
      clock.set(TEST_NOW);
      await driver.stop();
      await stores.close();
    }
  });

  test.each([
    'CREATE TABLE ci_insights.more (id int)',
    'ALTER TABLE ci_insights.tests ADD COLUMN more int',
    'DROP TABLE bullmq.job',
    'CREATE SCHEMA more',
  ])('in PostgreSQL it may not: %s', async (statement) => {
    await expect(ask(urlOf('ci_insights', 'second'), statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  test.each([
    'CREATE TABLE ci.more (id UInt32) ENGINE = MergeTree ORDER BY id',
    'ALTER TABLE ci.executions ADD COLUMN more UInt32',
    'DROP TABLE ci.executions',
    'TRUNCATE TABLE ci.executions',
    ...(on.shards > 1
      ? [
          'CREATE TABLE ci_shard.more ON CLUSTER two (id UInt32) ENGINE = MergeTree ORDER BY id',
          'ALTER TABLE ci_shard.executions ON CLUSTER two ADD COLUMN more UInt32',
          'DROP TABLE ci_shard.executions ON CLUSTER two',
          'TRUNCATE TABLE ci_shard.executions',
        ]
      : []),
  ])('in ClickHouse it may not: %s', async (statement) => {
    const answer = await fetch(server.url(on.serving), { method: 'POST', body: statement });
    expect(await answer.text()).toContain('ACCESS_DENIED');
  });
});
