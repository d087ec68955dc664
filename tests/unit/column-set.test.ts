import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { ColumnSet } from '../../src/domain/column-set.ts';
import { executionColumns, failureColumns, runColumns } from '../../src/domain/columns.ts';

const columns = new ColumnSet({
  name: { job: 'name', schema: z.array(z.string()), line: 'e_name' },
  shard: { job: 'shard_no', schema: z.array(z.number().nullable()).optional(), line: 'e_shard', empty: 7 },
  owner: {
    job: 'owner',
    schema: z.array(z.string().nullable()).optional(),
    line: 'e_owner',
    clean: (text) => text.slice(0, 3),
    empty: 'none',
  },
  finishedAt: { job: 'finished', schema: z.array(z.number()) },
});
const job = z.object(columns.shape);

describe('a set of columns', () => {
  test('turns rows into the arrays of a job, and these into the columns of a line', () => {
    const arrays = columns.arrays([
      { name: 'a', shard: 1, owner: 'team', finishedAt: 5 },
      { name: 'b', finishedAt: 6 },
    ]);
    expect(arrays).toEqual({ name: ['a', 'b'], shard_no: [1, null], owner: ['team', null], finished: [5, 6] });
    expect(job.parse(arrays)).toEqual(arrays);
    expect(columns.lines(arrays, [1, 0, null])).toEqual({
      e_name: ['b', 'a', undefined],
      e_shard: [7, 1, 7],
      e_owner: ['none', 'tea', 'none'],
    });
  });

  test('accepts a job from a producer that does not know a column yet, and stores the empty value', () => {
    const arrays = job.parse({ name: ['a'], finished: [1] });
    expect(columns.lines(arrays, [0])).toEqual({ e_name: ['a'], e_shard: [7], e_owner: ['none'] });
  });

  test('cuts the texts of a row, and returns the same row if none is too long', () => {
    const short = { name: 'a', owner: 'ab', finishedAt: 1 };
    expect(columns.cleaned(short)).toBe(short);
    expect(columns.cleaned({ name: 'name', owner: 'team', shard: null, finishedAt: 1 })).toEqual({
      name: 'name',
      owner: 'tea',
      shard: null,
      finishedAt: 1,
    });
  });

  test('counts every text, and nothing else, towards the size of a job', () => {
    expect(columns.textLength({ name: 'abc', owner: 'de', shard: 5, finishedAt: 1 })).toBe(5);
    expect(columns.textLength({ name: 'abc', owner: null, finishedAt: 1 })).toBe(3);
  });
});

test('no two columns share a name in the job or in the line', () => {
  const all = [executionColumns, failureColumns, runColumns].map((set) => Object.values(set.columns));
  for (const set of all) expect(new Set(set.map(({ job }) => job)).size).toBe(set.length);
  const lines = all.flat().flatMap((column) => ('line' in column ? [column.line] : []));
  expect(new Set(lines).size).toBe(lines.length);
});
