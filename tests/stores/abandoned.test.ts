/** A read that is no longer waited for ends in its store, and so does one that takes too much. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { z } from 'zod';
import type { Query } from '../../src/clickhouse/query.ts';
import { abandonable, readWhole } from '../../src/postgres/abandonable.ts';
import * as schema from '../../src/postgres/schema.ts';
import { searchTests } from '../../src/postgres/test-search.ts';
import { until } from '../support/patience.ts';
import { randomFrom } from '../support/random.ts';
import { UNFILTERED } from '../support/searches.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

/** Reads numbers for minutes, unless it is stopped. */
const slow = (name: string): Query<Record<string, never>, unknown> => ({
  name,
  params: {},
  row: z.unknown(),
  sql: 'SELECT sum(cityHash64(toString(number))) FROM numbers(20000000000)',
  samples: {},
});

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const runningOf = async (name: string): Promise<number> => {
  const rows = await stores.clickhouse.rows('SELECT query FROM system.processes');
  return z
    .array(z.object({ query: z.string() }))
    .parse(rows)
    .filter(({ query }) => query.startsWith(`/* ${name} `)).length;
};
const untilRunning = (running: () => Promise<number>, count: number): Promise<number> =>
  until(running, (found) => found === count);

test('a read whose client has gone ends in the engine', async () => {
  const gone = new AbortController();
  const read = stores.clickhouse.select(slow('tests/gone'), {}, { owner: 'acme', signal: gone.signal });
  await untilRunning(() => runningOf('tests/gone'), 1);
  gone.abort(new Error('the client has gone'));
  expect(read).rejects.toThrow('the client has gone');
  await untilRunning(() => runningOf('tests/gone'), 0);
});

test('a read that needs too much memory is stopped, and its client is told what to do', async () => {
  const query = { ...slow('tests/large'), sql: 'SELECT groupArray(number) FROM numbers(1000000000)' };
  const error = await stores.clickhouse.select(query, {}, { owner: 'acme' }).catch((thrown) => thrown);
  expect(error).toMatchObject({ reason: 'memory', message: expect.stringContaining('Ask for less') });
});

describe('PostgreSQL', () => {
  const runningOf = async (tag: string): Promise<number> => {
    const { rows } = await stores.postgres.pool.query(
      `select 1 from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and query like '%' || $1 || '%'`,
      [tag],
    );
    return rows.length;
  };
  const slow = (tag: string) => sql.raw(`select pg_sleep(60) /* ${tag} */`);

  test('a search by pattern whose client has gone ends', async () => {
    const holder = await stores.postgres.pool.connect();
    await holder.query('begin; lock table ci_insights.identities in access exclusive mode');
    const gone = new AbortController();
    const search = searchTests(
      stores.postgres.db,
      '01a20185-0000-7000-8000-000000000000',
      {
        ...UNFILTERED,
        ...{ testIds: [], patterns: ['%gone%'], sort: 'test_name', isDescending: false },
        rows: 10,
      },
      gone.signal,
    );
    const outcome = search.catch((error: unknown) => error);
    try {
      await untilRunning(() => runningOf('select identities.test_id'), 1);
      gone.abort(new Error('the client has gone'));
      expect(await outcome).toMatchObject({ message: 'the client has gone' });
      await untilRunning(() => runningOf('select identities.test_id'), 0);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test('a statement that takes too long is stopped, and its client is told what to do', async () => {
    const read = abandonable(stores.postgres.db, (db) => db.execute(slow('long')), { secondsMax: 0.2 });
    const error = await read.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'time', message: expect.stringContaining('Ask for less') });
    expect(await runningOf('/* long */')).toBe(0);
  });

  test('whenever a client leaves, only its statement is cancelled, and its connection stays usable', async () => {
    // Few sessions, which statements of all kinds share one after another, as behind a pooler in transaction mode.
    const pool = new pg.Pool({ connectionString: stores.databaseUrl, max: 3 });
    const db = drizzle(pool, { schema });
    const random = randomFrom(7);
    let others = 0;
    let ended = 0;
    const read = async (): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const gone = new AbortController();
        const leaving = setTimeout(() => gone.abort(new Error('gone')), random() * 8);
        await abandonable(db, (session) => session.execute(sql`select pg_sleep(0.004)`), { signal: gone.signal }).catch(
          (error: Error) => {
            expect(error.message).toBe('gone');
            ended++;
          },
        );
        clearTimeout(leaving);
      }
    };
    const other = async (): Promise<void> => {
      for (let i = 0; i < 120; i++, others++) await pool.query('select pg_sleep(0.003)');
    };
    await Promise.all([read(), read(), other(), other()]);
    expect(others).toBe(240);
    expect(ended).toBeGreaterThan(10);
    await pool.end();
  });
});

test('a verification may read a repository for an hour, as of one moment; nothing else may', async () => {
  const { db } = stores.postgres;
  const shown = async (name: string, on: Pick<typeof db, 'execute'>) =>
    (await on.execute(sql`show ${sql.raw(name)}`)).rows.flatMap((row) => Object.values(row));
  expect(await shown('statement_timeout', db)).toEqual(['30s']);
  await readWhole(db, async (tx) => {
    expect(await shown('statement_timeout', tx)).toEqual(['1h']);
    expect(await shown('transaction_isolation', tx)).toEqual(['repeatable read']);
  });
  expect(await shown('statement_timeout', db)).toEqual(['30s']);
});
