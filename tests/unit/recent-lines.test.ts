/** The lines of blocks that were just stored are kept for one evaluation, as values, in a bounded amount of memory. */
import { expect, test } from 'bun:test';
import { valuesOf } from '../../src/ledger/block.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { RecentLines } from '../../src/ledger/recent-lines.ts';
import { makeJob } from '../support/jobs.ts';

test('the values of a line are what parsing it gives', () => {
  const job = makeJob({
    repository: { owner: 'acme', name: 'shop' },
    receivedAt: 0,
    executions: [{ name: 'a' }, { name: 'ü \u{1f600}' }],
  });
  const chunk = prepareChunk(job, {
    repositoryId: crypto.randomUUID(),
    defaultBranch: 'main',
    now: 0,
    retentionDays: 90,
  });
  expect(chunk.executions).toHaveLength(2);
  const values = valuesOf(chunk, chunk.executions);
  expect(values).toStrictEqual(JSON.parse(JSON.stringify(values)));
});

test('lines are taken once', () => {
  const recent = new RecentLines();
  recent.keep(1, ['a'], 10);
  recent.keep(2, ['b'], 10);
  expect(recent.take(2)).toEqual(['b']);
  expect(recent.take(2)).toBeUndefined();
  expect(recent.take(1)).toEqual(['a']);
  expect(recent.take(3)).toBeUndefined();
});

test('what does not fit is not kept, until something is taken', () => {
  const recent = new RecentLines(100);
  recent.keep(1, ['a'], 30);
  recent.keep(2, ['b'], 30);
  expect(recent.take(2)).toBeUndefined();
  recent.keep(3, ['c'], 20);
  expect(recent.take(1)).toEqual(['a']);
  recent.keep(4, ['d'], 30);
  expect(recent.take(4)).toEqual(['d']);
  expect(recent.take(3)).toEqual(['c']);
});
