import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { explainable, sqlFiles } from '../support/queries.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const names = sqlFiles('queries').map((path) => path.replace('queries/', ''));

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

describe('every query of sql/queries', () => {
  test.each(names)('%s begins with its reason and runs with its sample parameters', async (name) => {
    expect(readFileSync(new URL(`../../sql/queries/${name}.sql`, import.meta.url), 'utf8')).toStartWith('-- ');
    for (const variant of ['forward', 'backward'] as const)
      await stores.clickhouse.rows(explainable(name, { variant }));
  });

  test.each(names.filter((name) => name !== 'insights/search'))('%s reads by the primary key', async (name) => {
    const plan = await stores.clickhouse.rows(`EXPLAIN indexes = 1 ${explainable(name)}`);
    const text = JSON.stringify(plan);
    // Events are looked up by time, runs by day, a run as of a moment by its hours, everything else by test.
    const keys: [RegExp, string][] = [
      [/^events\//, 'received_at'],
      [/run_totals|troubled_runs/, 'day'],
      [/run_as_of/, 'finished_at'],
    ];
    const key = keys.find(([pattern]) => pattern.test(name))?.[1] ?? 'test_id';
    if (text.includes('ReadFromMergeTree')) expect(text).toContain(key);
  });
});
