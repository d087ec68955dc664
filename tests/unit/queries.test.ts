import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Glob } from 'bun';
import { z } from 'zod';
import { placeholdersOf } from '../../src/clickhouse/parameters.ts';
import { defineQuery } from '../../src/clickhouse/query.ts';
import { readSqlFile } from '../../src/clickhouse/sql-files.ts';
import { sqlFiles } from '../support/queries.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Modules that define queries, and the names of those. */
const defining = [...new Glob('{src,workers}/**/*.ts').scanSync(ROOT)].flatMap((file) => {
  const text = readFileSync(`${ROOT}${file}`, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const names = Array.from(text.matchAll(/\bdefineQuery\(\s*'([^']+)'/g), ([, name = '']) => name);
  return names.length > 0 ? [{ file, names }] : [];
});
const row = z.object({ fingerprint: z.string() });
const tests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;

describe('queries', () => {
  test.each(defining)('$file declares the parameters of its queries as their files have them', async ({ file }) => {
    // A definition that differs from its file throws.
    await import(`${ROOT}${file}`);
  });

  test('every file of sql/queries is a query of one module', () => {
    const files = sqlFiles('queries').map((path) => path.replace('queries/', ''));
    const owners = Map.groupBy(
      defining.flatMap(({ file, names }) => [...new Set(names)].map((name) => ({ file, name }))),
      ({ name }) => name,
    );
    expect([...owners.keys()].sort()).toEqual(files);
    expect([...owners].filter(([, modules]) => modules.length > 1)).toEqual([]);
  });

  test.each(sqlFiles('queries'))('%s has a sample for each of its parameters and no other', (path) => {
    const { sql, samples } = readSqlFile(path);
    const names = new Set(placeholdersOf(sql).map(([name]) => name));
    expect(Object.keys(samples).sort()).toEqual([...names].sort());
  });

  test('a parameter that is missing, of another type or not in the file is refused when the query is defined', () => {
    const define = (params: Parameters<typeof defineQuery>[1]) => () =>
      defineQuery('evaluation/fingerprints', params, row);
    expect(define({ ...tests, since_ms: 'Int64' })).not.toThrow();
    expect(define(tests)).toThrow('{since_ms: Int64}, declared is nothing');
    expect(define({ ...tests, since_ms: 'UInt32' })).toThrow('{since_ms: Int64}, declared is UInt32');
    expect(define({ ...tests, since_ms: 'Int64', until_ms: 'Int64' })).toThrow('no parameter until_ms');
  });
});
