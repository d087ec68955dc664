import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import {
  type ClickHouse,
  isPermanentInsertError,
  openClickHouse,
  StatementRefused,
} from '../../src/clickhouse/client.ts';
import { migrateClickHouse, runMigrationStatement } from '../../src/clickhouse/migrate.ts';
import type { Query } from '../../src/clickhouse/query.ts';
import { StoreUnavailable, UserError } from '../../src/errors.ts';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import { until } from '../support/patience.ts';

let server: TestClickHouse;
let clickhouse: ClickHouse;

beforeAll(async () => {
  server = await startClickHouseServer();
  clickhouse = await openClickHouse({ url: server.url, path: '' });
  await migrateClickHouse(clickhouse);
  await clickhouse.command(
    'CREATE TABLE ci.pairs (k UInt32, v String) ENGINE = MergeTree ORDER BY k SETTINGS non_replicated_deduplication_window = 100',
  );
});
afterAll(async () => {
  await clickhouse.close();
  await server.stop();
});
beforeEach(async () => {
  await server.seen();
});

const query = <R>(sql: string, row: z.ZodType<R>): Query<Record<never, never>, R> => ({
  name: 'test/probe',
  sql,
  samples: {},
  params: {},
  row,
});
const one = query('SELECT toUInt8(1) AS one', z.object({ one: z.number() }));

describe('ClickHouse over HTTP', () => {
  test('migrations run once, and again without effect', async () => {
    expect(await migrateClickHouse(clickhouse)).toEqual([]);
  });

  test('a migration leaves out settings of tables that an older server does not know, and nothing else', async () => {
    await runMigrationStatement(clickhouse, 'ALTER TABLE ci.pairs MODIFY SETTING of_a_newer_version = 1');
    for (const wrong of [
      'ALTER TABLE ci.pairs MODIFY SETTING index_granularity_bytes = 8192',
      'SELECT 1 SETTINGS of_a_newer_version = 1',
    ])
      await expect(runMigrationStatement(clickhouse, wrong)).rejects.toBeInstanceOf(StatementRefused);
  });

  test('statements that follow each other share a connection', async () => {
    for (let i = 0; i < 20; i++) await clickhouse.select(one, {});
    const { requests, connections } = await server.seen();
    expect(requests).toBe(20);
    // One of them may be the request of this test.
    expect(connections).toBeLessThanOrEqual(2);
  });

  test('no more than 16 connections are open at once, however many statements wait', async () => {
    await Promise.all(Array.from({ length: 60 }, () => clickhouse.select(one, {})));
    expect((await server.seen()).connections).toBeLessThanOrEqual(17);
  });

  test('a large answer and a large insert arrive complete, compressed both ways', async () => {
    const lines = Array.from({ length: 5_000 }, (_, k) => JSON.stringify({ k, v: `large ${k} `.repeat(20) })).join(
      '\n',
    );
    await clickhouse.insert('ci.pairs', lines, 'large');
    const rows = await clickhouse.rows("SELECT v FROM ci.pairs WHERE startsWith(v, 'large') ORDER BY k");
    expect(rows).toHaveLength(5_000);
    expect(rows[4_999]).toEqual({ v: 'large 4999 '.repeat(20) });
  });

  test('parameters too long for a URL arrive, for reads and for commands', async () => {
    // Two megabytes in a URL.
    const names = Array.from({ length: 40 }, (_, i) => `${i} ${"'\\\t\n☃"} `.padEnd(10_000, 'ä'));
    const [row] = await clickhouse.rows('SELECT {names: Array(String)} AS names', { names });
    expect(row).toEqual({ names });
    await clickhouse.command(
      'ALTER TABLE ci.pairs DELETE WHERE v IN {names: Array(String)} SETTINGS mutations_sync = 2',
      { names },
    );
  });

  test('a missing parameter is refused', async () => {
    await expect(clickhouse.rows('SELECT {a: String}', {})).rejects.toThrow(StatementRefused);
  });

  test('a wrong password is reported at the start, without the password', async () => {
    const wrong = server.url.replace(/:[^:@/]+@/, ':hunter2@');
    const error = await openClickHouse({ url: wrong, path: '' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('a read', () => {
  test.each(['drop', 'drop-after', 'cut', 'idle'] as const)(
    'is resent when its connection breaks (%s)',
    async (kind) => {
      await server.fault({ kind, matching: 'test/probe' });
      for (let i = 0; i < 3; i++) expect(await clickhouse.select(one, {})).toEqual([{ one: 1 }]);
    },
  );

  test('is resent only once', async () => {
    await server.fault({ kind: 'drop', matching: 'test/probe', times: 2 });
    await expect(clickhouse.select(one, {})).rejects.toThrow(StoreUnavailable);
    expect((await server.seen()).requests).toBe(2);
  });

  test('that is aborted throws the reason, and stops in the server', async () => {
    await server.fault({ kind: 'stall', matching: 'test/probe', ms: 60_000 });
    const gone = new AbortController();
    const read = clickhouse.select(one, {}, { owner: 'acme', signal: gone.signal });
    await server.untilSeen('test/probe');
    gone.abort(new Error('the reader is gone'));
    await expect(read).rejects.toThrow('the reader is gone');
    let kills = 0;
    await until(async () => {
      kills += (await server.seen()).statements.filter((statement) => statement.startsWith('KILL QUERY')).length;
      return kills >= 3;
    });
  });

  test.each([
    [241, StoreUnavailable],
    [369, StoreUnavailable],
    [516, StoreUnavailable],
    [62, StatementRefused],
  ])('that ClickHouse answers with error %d is %p, and is not sent again', async (code, kind) => {
    await server.fault({ kind: 'error', matching: 'test/probe', code, message: 'as planned' });
    await expect(clickhouse.select(one, {})).rejects.toThrow(kind);
    expect((await server.seen()).requests).toBe(1);
  });
});

describe('an insert', () => {
  const count = async (token: string): Promise<unknown> =>
    (await clickhouse.rows('SELECT count() AS n FROM ci.pairs WHERE v = {v: String}', { v: token }))[0];
  const lines = (v: string): string => [1, 2, 3].map((k) => JSON.stringify({ k, v })).join('\n');

  test.each(['drop', 'drop-after'] as const)(
    'is resent when its connection breaks (%s), and counts once',
    async (kind) => {
      await server.fault({ kind, matching: 'INSERT INTO ci.pairs' });
      await clickhouse.insert('ci.pairs', lines(kind), kind);
      expect((await server.seen()).requests).toBe(2);
      expect(await count(kind)).toEqual({ n: 3 });
    },
  );

  test('that cannot be parsed is refused permanently, as by the embedded engine', async () => {
    const error = await clickhouse.insert('ci.pairs', '{"k":"x","v":1', 'bad').catch((thrown: unknown) => thrown);
    expect(isPermanentInsertError(error)).toBe(true);
  });
});

describe('a command', () => {
  test('is not resent when its connection breaks', async () => {
    await server.fault({ kind: 'drop-after', matching: 'ALTER TABLE ci.pairs' });
    await expect(clickhouse.command('ALTER TABLE ci.pairs ADD COLUMN w UInt8')).rejects.toThrow(StoreUnavailable);
    expect((await server.seen()).requests).toBe(1);
    await clickhouse.command('ALTER TABLE ci.pairs DROP COLUMN w');
  });
});

// The last one.
test('a server that is gone is reported as unavailable, by its ping too', async () => {
  expect(await clickhouse.ping()).toBe(true);
  await server.stop();
  expect(await clickhouse.ping()).toBe(false);
  await expect(clickhouse.select(one, {})).rejects.toThrow(StoreUnavailable);
});
