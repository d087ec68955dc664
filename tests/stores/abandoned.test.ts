/** A read that is no longer waited for ends in the engine, and so does one that takes too much. */
import { beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import type { Query } from '../../src/clickhouse/query.ts';
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
const until = async (name: string, count: number): Promise<void> => {
  for (const end = performance.now() + 5_000; performance.now() < end; await Bun.sleep(20))
    if ((await runningOf(name)) === count) return;
  throw new Error(`${await runningOf(name)} statements of ${name} run, not ${count}`);
};

test('a read whose client has gone ends in the engine', async () => {
  const gone = new AbortController();
  const read = stores.clickhouse.select(slow('tests/gone'), {}, { owner: 'acme', signal: gone.signal });
  await until('tests/gone', 1);
  gone.abort(new Error('the client has gone'));
  expect(read).rejects.toThrow('the client has gone');
  await until('tests/gone', 0);
});

test('a read that needs too much memory is stopped, and its client is told what to do', async () => {
  const query = { ...slow('tests/large'), sql: 'SELECT groupArray(number) FROM numbers(1000000000)' };
  const error = await stores.clickhouse.select(query, {}, { owner: 'acme' }).catch((thrown) => thrown);
  expect(error).toMatchObject({ reason: 'memory', message: expect.stringContaining('Ask for less') });
});
