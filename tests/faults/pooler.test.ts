/** The queue in PostgreSQL if `DATABASE_URL` leads to a pooler in transaction mode and `DATABASE_DIRECT_URL` to the server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { readConfig } from '../../src/config.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import { abandonable } from '../../src/postgres/abandonable.ts';
import { openPostgres } from '../../src/postgres/client.ts';
import { DeadLetterStore } from '../../src/postgres/dead-letters.ts';
import { migratePostgres } from '../../src/postgres/migrate.ts';
import { migratePostgresQueues, openPostgresQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { hasPooler, type Pooler, startPooler } from '../support/pooler.ts';
import { openTestStores } from '../support/stores.ts';

const ROOT = resolve(import.meta.dir, '../..');
const DATABASE = 'behind_a_pooler';

let pooler: Pooler;
let directUrl: string;
let queues: QueueBackend;
let letters: DeadLetterStore;
let close: () => Promise<void>;

describe.skipIf(!hasPooler)('behind PgBouncer', () => {
  beforeAll(async () => {
    const stores = await openTestStores();
    await stores.postgres.pool.query(`create database ${DATABASE}`);
    const url = new URL(stores.databaseUrl);
    url.pathname = `/${DATABASE}`;
    directUrl = url.href;
    pooler = await startPooler(directUrl);
    const postgres = openPostgres(pooler.url, () => {});
    await migratePostgres(postgres);
    await migratePostgresQueues(directUrl);
    queues = await openPostgresQueues(directUrl, () => {});
    letters = new DeadLetterStore(postgres.db, stores.clock);
    close = async () => {
      await queues.close();
      await postgres.close();
      await pooler.stop();
      await stores.postgres.pool.query(`drop database ${DATABASE} with (force)`);
    };
  });
  afterAll(() => close());

  async function deadLetters(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const child = Bun.spawn([process.execPath, join(ROOT, 'src/cli.ts'), 'dead-letters', ...args], {
      env: { PATH: process.env.PATH ?? '', DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: directUrl },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out, err };
  }

  test('the pooler refuses the session settings that a queue needs', async () => {
    const client = new pg.Client({ connectionString: pooler.url, options: '-c search_path=bullmq' });
    await expect(client.connect()).rejects.toThrow('unsupported startup parameter: options');
  });

  test('a search whose client has gone ends in the server, and one that takes too long', async () => {
    const postgres = openPostgres(pooler.url, () => {});
    try {
      const read = (tag: string, options: { signal?: AbortSignal; secondsMax?: number }) =>
        abandonable(postgres.db, (db) => db.execute(sql.raw(`select pg_sleep(60) /* ${tag} */`)), options);
      await expect(read('gone', { signal: AbortSignal.timeout(200) })).rejects.toThrow('timed out');
      await expect(read('long', { secondsMax: 0.2 })).rejects.toThrow('took longer than 0.2 s');
      const { rows } = await postgres.pool.query(
        `select query from pg_stat_activity where state <> 'idle' and query like 'select pg_sleep%'`,
      );
      expect(rows).toEqual([]);
    } finally {
      await postgres.close();
    }
  });

  test('dead letters are replayed into the queue past the pooler', async () => {
    await letters.add('pr-events', 'replayed', null, { v: 9 }, 'v must be 1');
    expect(await deadLetters('replay', '--all')).toEqual({ code: 0, out: '1 job back in the queue.\n', err: '' });
    const queue = queues.queue('pr-events');
    expect((await queue.getJob('replayed'))?.data).toEqual({ v: 9 });
    await queue.close();
  });

  test('jobs that ran out of attempts are retried past the pooler', async () => {
    expect(await deadLetters('retry-failed')).toEqual({ code: 0, out: '0 jobs back in the queue.\n', err: '' });
  });

  test('doctor reads the queue past the pooler', async () => {
    const config = readConfig({
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: directUrl,
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
    });
    const findings = await examine(config);
    expect(findings.find(({ check }) => check === 'Queue')).toMatchObject({ level: 'ok' });
  });
});
