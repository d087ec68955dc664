import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { migratePostgres } from '../../src/postgres/migrate.ts';
import { RepositoryStore } from '../../src/postgres/repositories.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { prepareChunk } from '../support/prepare.ts';
import { openTestStores } from '../support/stores.ts';

let dataDir: string;
let server: EmbeddedPostgres;
let postgres: Postgres;
const repairs: string[] = [];
beforeAll(async () => {
  dataDir = makeFolder('postgres');
  server = await startEmbeddedPostgres(dataDir, { onRepair: (what) => repairs.push(what) });
  postgres = openPostgres(server.url, () => {});
  await migratePostgres(postgres);
});
afterAll(async () => {
  await postgres.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const postmaster = (folder: string): number =>
  Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Its ledger is another one, so what is left would count as a difference in later tests. */
async function forgetRepository(clickhouse: ClickHouse, id: string): Promise<void> {
  for (const table of ['executions', 'runs', 'commit_runs'])
    await clickhouse.command(
      `ALTER TABLE ci.${table} DELETE WHERE repository_id = {id: UUID} SETTINGS mutations_sync = 2`,
      { id },
    );
}

describe('a new PostgreSQL beside an old ClickHouse', () => {
  test('counts its blocks from 1 again, and ClickHouse mistakes none of them for an old one', async () => {
    const { clickhouse, clock } = await openTestStores();
    const repositoryId = crypto.randomUUID();
    const write = async (on: Postgres, name: string): Promise<void> => {
      const job = makeJob({ repository: { owner: 'acme', name }, receivedAt: TEST_NOW, executions: [{ name }] });
      const options = { repositoryId, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
      await new Ledger({ db: on.db, clickhouse, clock }).write([prepareChunk(job, options)]);
    };
    await write(postgres, 'first');
    const other = makeFolder('postgres');
    const replacement = await startEmbeddedPostgres(other);
    const second = openPostgres(replacement.url, () => {});
    await migratePostgres(second);
    await write(second, 'second');
    await second.close();
    await replacement.stop();
    rmSync(other, { recursive: true, force: true });
    const names = await clickhouse.rows(
      'SELECT test_name FROM ci.executions WHERE repository_id = {id: UUID} ORDER BY test_name',
      {
        id: repositoryId,
      },
    );
    await forgetRepository(clickhouse, repositoryId);
    expect(names).toEqual([{ test_name: 'first' }, { test_name: 'second' }]);
  });
});

describe('the embedded PostgreSQL', () => {
  test('is restarted when it is killed, with everything that was committed, and that is told', async () => {
    const repositories = new RepositoryStore(postgres.db, { now: () => 0 });
    const recorded = await repositories.record({ host: 'github.com', owner: 'acme', name: 'shop' });
    const before = postmaster(dataDir);
    process.kill(before, 'SIGKILL');
    const answers = () => postgres.ping();
    await until(answers, (isThere) => !isThere);
    await until(answers);
    expect(postmaster(dataDir)).not.toBe(before);
    expect(repairs).toEqual([
      expect.stringMatching(/^The embedded PostgreSQL ended \(SIGKILL\) and is started again\./),
    ]);
    expect(await new RepositoryStore(postgres.db, { now: () => 0 }).find('ACME', 'Shop')).toEqual(recorded);
  });

  test('migrations may run again, and several times at once', async () => {
    await Promise.all([migratePostgres(postgres), migratePostgres(postgres), migratePostgres(postgres)]);
  });

  test('is reached through a socket that only its owner can open, with a password that only its owner can read', async () => {
    expect(statSync(join(dataDir, 'postgres')).mode & 0o077).toBe(0);
    expect(statSync(join(dataDir, 'postgres.password')).mode & 0o077).toBe(0);
    expect(readFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'utf8')).not.toMatch(/^\w.*\btrust$/m);
  });

  test('a server left running by a killed service is stopped and restarted, and a stop leaves nothing', async () => {
    const other = makeFolder('postgres');
    const module = new URL('../../src/postgres/embedded.ts', import.meta.url).href;
    const script = `const { startEmbeddedPostgres } = await import(${JSON.stringify(module)});
      await startEmbeddedPostgres(${JSON.stringify(other)});
      process.kill(process.pid, 'SIGKILL');`;
    await Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'ignore' }).exited;
    const left = postmaster(other);
    expect(() => process.kill(left, 0)).not.toThrow();
    const again = await startEmbeddedPostgres(other);
    expect(postmaster(other)).not.toBe(left);
    await again.stop();
    expect(existsSync(join(other, 'postgres', 'postmaster.pid'))).toBe(false);
    rmSync(other, { recursive: true, force: true });
  });
});
