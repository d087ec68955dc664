/** A statement of a migration that takes longer than an answer may take, on a real server. */
import { describe, expect, test } from 'bun:test';
import { openClickHouse } from '../../src/clickhouse/client.ts';
import { runMigrationStatement } from '../../src/clickhouse/migrate.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { grantedUser, hasRealClickHouse, startRealClickHouse } from '../support/clickhouse-real/server.ts';

/** A row a second: always longer than the limit, however fast the machine is. */
const slow = (table: string): string => `CREATE TABLE IF NOT EXISTS ci.${table} ENGINE = MergeTree ORDER BY n
  AS SELECT number AS n, sleepEachRow(1) AS slept FROM numbers(4) SETTINGS max_block_size = 1, max_threads = 1`;

describe.skipIf(!hasRealClickHouse)('a slow statement of a migration', () => {
  test('is waited for until it has ended, and has then run once', async () => {
    const user = grantedUser();
    const server = await startRealClickHouse([user]);
    const clickhouse = await openClickHouse({ url: server.url(user), path: '', longMs: 1_000 });
    try {
      await clickhouse.command('CREATE DATABASE ci ENGINE = Atomic');
      await runMigrationStatement(clickhouse, slow('waited_for'));
      expect(await clickhouse.rows('SELECT toUInt32(count()) AS n FROM ci.waited_for')).toEqual([{ n: 4 }]);
      await expect(clickhouse.command(slow('not_waited_for'))).rejects.toThrow(StoreUnavailable);
    } finally {
      await clickhouse.close();
      await server.stop();
    }
  });
});
