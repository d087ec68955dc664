/** The shard that the code expects a repository on is the one that ClickHouse stores it on. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { cityHashOf, shardAmong } from '../../src/clickhouse/shards.ts';
import { openTestStores } from '../support/stores.ts';

test('the hash of a repository is that of ClickHouse', async () => {
  const { clickhouse } = await openTestStores();
  const ids = fc.sample(fc.uuid(), 500);
  const rows = await clickhouse.rows('SELECT toString(cityHash64(toUUID(arrayJoin({ids: Array(String)})))) AS hash', {
    ids,
  });
  expect(ids.map((id) => ({ hash: String(cityHashOf(id)) }))).toEqual(rows as { hash: string }[]);
});

test('repositories are shared out among the shards by their weights', () => {
  const ids = Array.from({ length: 3_000 }, () => crypto.randomUUID());
  const counts = [0, 0, 0];
  for (const id of ids) {
    const shard = shardAmong([1, 0, 2], id);
    counts[shard] = (counts[shard] ?? 0) + 1;
    const slot = Number(cityHashOf(id) % 3n);
    expect(shard).toBe(slot === 0 ? 0 : 2);
  }
  expect(counts[1]).toBe(0);
  expect(shardAmong([1], ids[0] ?? '')).toBe(0);
});
