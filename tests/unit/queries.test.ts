import { beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTestStores, type TestStores } from '../support/stores.ts';

const FOLDER = fileURLToPath(new URL('../../sql/queries/', import.meta.url));
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql'));

/** The file as a console would run it: its sample parameters put in. */
function withSamples(text: string): string {
  const samples = new Map(
    [...text.matchAll(/^SET param_(\w+) = (.+);$/gm)].map((match) => [match[1], match[2]] as const),
  );
  const sql = text.replace(/^SET param_.*$/gm, '');
  return sql.replace(/\{(\w+)\s*:\s*([^{}]+)\}/g, (_, name: string, type: string) => {
    const sample = samples.get(name);
    if (sample === undefined) throw new Error(`no sample for ${name}`);
    return `CAST(${sample}, '${type.trim()}')`;
  });
}

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

describe('every query of sql/queries', () => {
  test.each(files)('%s begins with its reason and runs with its sample parameters', async (file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    expect(text).toStartWith('-- ');
    for (const backwards of [false, true]) {
      const sql = backwards ? text.replaceAll('/*order*/ ASC', 'DESC').replaceAll('/*beyond*/ >', '<') : text;
      await stores.clickhouse.rows(withSamples(sql));
    }
  });

  test.each(files.filter((file) => !file.endsWith('search.sql')))('%s reads by the primary key', async (file) => {
    const plan = await stores.clickhouse.rows(
      `EXPLAIN indexes = 1 ${withSamples(readFileSync(join(FOLDER, file), 'utf8'))}`,
    );
    const text = JSON.stringify(plan);
    // Events are looked up by time, runs by day, a run as of a moment by its hours, everything else by test.
    const keys: [RegExp, string][] = [
      [/^events\//, 'received_at'],
      [/run_totals|troubled_runs/, 'day'],
      [/run_as_of/, 'finished_at'],
    ];
    const key = keys.find(([pattern]) => pattern.test(file))?.[1] ?? 'test_id';
    if (text.includes('ReadFromMergeTree')) expect(text).toContain(key);
  });
});
