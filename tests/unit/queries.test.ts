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
/** The modules that define statements, with their files. */
const defining = [...new Glob('{src,workers}/**/*.ts').scanSync(ROOT)].flatMap((file) => {
  const text = readFileSync(`${ROOT}${file}`, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
  const definitions = text.matchAll(/\bdefine(Query|LongQuery|Statement)\(\s*'([^']+)'/g);
  const paths = Array.from(definitions, ([, kind, name = '']) => (kind === 'Statement' ? name : `queries/${name}`));
  return paths.length > 0 ? [{ file, paths }] : [];
});
const files = ['queries', 'derived', 'maintenance', 'repair'].flatMap(sqlFiles);
const included = files.flatMap((path) =>
  Array.from(readFileSync(`${ROOT}sql/${path}.sql`, 'utf8').matchAll(/\/\*include (.+)\*\//g), ([, of = '']) => of),
);
const row = z.object({ status: z.string() });
const tests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;

describe('statements', () => {
  test.each(defining)('$file declares the parameters of its statements as their files have them', async ({ file }) => {
    // A definition that differs from its file throws.
    await import(`${ROOT}${file}`);
  });

  test('every file of sql is defined in one module, or is part of another file', () => {
    const owners = Map.groupBy(
      defining.flatMap(({ file, paths }) => [...new Set(paths)].map((path) => ({ file, path }))),
      ({ path }) => path,
    );
    expect([...new Set([...owners.keys(), ...included])].sort()).toEqual(files.toSorted());
    expect([...owners].filter(([, modules]) => modules.length > 1)).toEqual([]);
  });

  test.each(files)('%s begins with its reason', (path) => {
    expect(readFileSync(`${ROOT}sql/${path}.sql`, 'utf8')).toStartWith('-- ');
  });

  test.each(files)('%s has a sample for each of its parameters and no other', (path) => {
    const { sql, samples } = readSqlFile(path);
    const names = new Set(placeholdersOf(sql).map(([name]) => name));
    expect(Object.keys(samples).sort()).toEqual([...names].sort());
  });

  test('a parameter that is missing, has another type or is not in the file is refused when the query is defined', () => {
    const names = { pipeline_names: 'Array(String)', job_names: 'Array(String)', axes: 'Array(String)' } as const;
    const rest = { ...tests, ...names, to_ms: 'Int64' } as const;
    const define = (params: Parameters<typeof defineQuery>[1]) => () => defineQuery('evaluation/history', params, row);
    expect(define({ ...rest, from_ms: 'Int64' })).not.toThrow();
    expect(define(rest)).toThrow('{from_ms: Int64}, but nothing is declared');
    expect(define({ ...rest, from_ms: 'UInt32' })).toThrow('{from_ms: Int64}, but UInt32 is declared');
    expect(define({ ...rest, from_ms: 'Int64', until_ms: 'Int64' })).toThrow('no parameter until_ms');
  });
});
