/** Conditions that a request does not ask for are no part of its statement. */
import { expect, test } from 'bun:test';
import { withoutTrueGuards } from '../../src/clickhouse/guards.ts';
import { placeholdersOf } from '../../src/clickhouse/parameters.ts';
import { readSqlFile } from '../../src/clickhouse/sql-files.ts';

const SQL = `SELECT 1 FROM t WHERE a
  AND (empty({names: Array(String)}) OR name IN {names: Array(String)} OR (b AND (c)))
  AND ({is_first: Bool} OR (x, y) > ({x: Int64}, {y: Int64}))
ORDER BY a`;

test('a list that is empty and a flag that is true leave their conditions out, and others do not', () => {
  expect(withoutTrueGuards(SQL, { names: [], is_first: true })).toBe('SELECT 1 FROM t WHERE a\nORDER BY a');
  expect(withoutTrueGuards(SQL, { names: ['n'], is_first: false })).toBe(SQL);
  expect(withoutTrueGuards(SQL, { names: ['n'], is_first: true })).toContain('name IN {names: Array(String)}');
  expect(withoutTrueGuards(SQL, { names: ['n'], is_first: true })).not.toContain('is_first');
});

test('a page of the log without filters names none of them', () => {
  const { sql, samples } = readSqlFile('queries/events/log');
  const lists = Object.keys(samples).filter((name) => samples[name]?.startsWith('['));
  const bare = withoutTrueGuards(sql, { ...Object.fromEntries(lists.map((name) => [name, []])), is_first: true });
  expect([...new Set(placeholdersOf(bare).map(([name]) => name))].sort()).toEqual([
    'from_ms',
    'repository_id',
    'rows',
    'to_ms',
  ]);
});
