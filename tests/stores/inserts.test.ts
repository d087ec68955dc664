/** Lines are inserted alike by the embedded engine, which takes bytes, and over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isPermanentInsertError, StatementRefused } from '../../src/clickhouse/client.ts';
import { openOverHttp } from '../support/clickhouse-http.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const TABLE = 'ci.inserts_test';
let stores: TestStores;
let overHttp: Awaited<ReturnType<typeof openOverHttp>>;
beforeAll(async () => {
  stores = await openTestStores();
  overHttp = await openOverHttp();
  await overHttp.clickhouse.command('CREATE DATABASE IF NOT EXISTS ci');
});
afterAll(() => overHttp.stop());

describe.each([
  ['the ClickHouse of the tests', () => stores.clickhouse],
  ['a server', () => overHttp.clickhouse],
] as const)('inserts into %s', (_, clickhouseOf) => {
  beforeAll(async () => {
    await clickhouseOf().command(`DROP TABLE IF EXISTS ${TABLE}`);
    await clickhouseOf().command(
      `CREATE TABLE ${TABLE} (id UInt32, text String) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`,
    );
  });
  afterAll(async () => {
    await clickhouseOf().command(`DROP TABLE IF EXISTS ${TABLE}`);
  });

  test('keep every character, and a repeat under the same token changes nothing', async () => {
    const text = 'ü ✓ 😀 \u0000 \\N \' " \n \t';
    const lines = `${JSON.stringify({ id: 1, text })}\n${JSON.stringify({ id: 2, text: 'y'.repeat(9_000_000) })}\n`;
    await clickhouseOf().insert(TABLE, lines, 'inserts-test-1');
    await clickhouseOf().insert(TABLE, lines, 'inserts-test-1');
    expect(await clickhouseOf().rows(`SELECT id, length(text) AS length FROM ${TABLE} ORDER BY id`)).toEqual([
      { id: 1, length: Buffer.byteLength(text) },
      { id: 2, length: 9_000_000 },
    ]);
    expect(await clickhouseOf().rows(`SELECT text FROM ${TABLE} WHERE id = 1`)).toEqual([{ text }]);
  });

  test('are refused for good if a line cannot be read, and not if a table is missing', async () => {
    const refused = await clickhouseOf()
      .insert(TABLE, '{"id":"none"}\n', 'inserts-test-2')
      .catch((error) => error);
    expect(isPermanentInsertError(refused)).toBe(true);
    const missing = await clickhouseOf()
      .insert('ci.missing', '{"id":1}\n', 'inserts-test-3')
      .catch((error) => error);
    expect(missing).toBeInstanceOf(StatementRefused);
    expect(missing.code).toBe('60');
    expect(isPermanentInsertError(missing)).toBe(false);
  });
});
