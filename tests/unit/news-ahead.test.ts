/** What blocks bring that were just stored is added up for the next pass, in a bounded amount of memory. */
import { expect, test } from 'bun:test';
import { NewsAhead } from '../../src/evaluation/news-ahead.ts';
import { valuesOf } from '../../src/ledger/block.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';

import { makeJob } from '../support/jobs.ts';

const repositoryId = crypto.randomUUID();

function lineOf(...names: string[]) {
  const job = makeJob({
    repository: { owner: 'acme', name: 'shop' },
    receivedAt: 0,
    executions: names.map((name) => ({ name })),
  });
  const chunk = prepareChunk(job, { repositoryId, defaultBranch: 'main', now: 0, retentionDays: 90 });
  return valuesOf(chunk, chunk.executions);
}

test('the values of a line are what parsing it gives', () => {
  const values = lineOf('a', 'ü \u{1f600}');
  expect(values.e_test_name).toHaveLength(2);
  expect(values).toStrictEqual(JSON.parse(JSON.stringify(values)));
});

const block = (blockId: number, executions: number) => ({ blockId, executions });

test('blocks are taken once, with all that they bring', () => {
  const ahead = new NewsAhead(100);
  expect(ahead.add(block(1, 2), [lineOf('a', 'b')])).toBe(true);
  expect(ahead.add(block(2, 1), [lineOf('c')])).toBe(true);
  const { blocks, news } = ahead.take();
  expect(blocks.map(({ blockId }) => blockId)).toEqual([1, 2]);
  const names = [...(news?.repositories.get(repositoryId)?.values() ?? [])].map(({ name }) => name);
  expect(names).toEqual(['a', 'b', 'c']);
  expect(ahead.take().blocks).toEqual([]);
});

test('a block for which there is no room is left to PostgreSQL', () => {
  const ahead = new NewsAhead(3);
  expect(ahead.add(block(1, 2), [lineOf('a', 'b')])).toBe(true);
  expect(ahead.add(block(2, 2), [lineOf('c', 'd')])).toBe(false);
  expect(ahead.add(block(3, 1), [lineOf('e')])).toBe(true);
  expect(ahead.take().blocks.map(({ blockId }) => blockId)).toEqual([1, 3]);
  const small = new NewsAhead(100, 1);
  expect(small.add(block(1, 1), [lineOf('a')])).toBe(true);
  expect(small.add(block(2, 1), [lineOf('b')])).toBe(false);
});

test('after a line that cannot be read, all blocks are read from PostgreSQL', () => {
  const ahead = new NewsAhead(100);
  ahead.add(block(1, 1), [lineOf('a')]);
  ahead.add(block(2, 1), [{}]);
  const { blocks, news } = ahead.take();
  expect(blocks.map(({ blockId }) => blockId)).toEqual([1, 2]);
  expect(news).toBeUndefined();
  ahead.add(block(3, 1), [lineOf('b')]);
  expect(ahead.take().news).toBeDefined();
});
