import { expect, test } from 'bun:test';
import type { PreparedChunk } from '../../src/ledger/prepare.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { Batcher, BLOCK_EXECUTIONS_MAX } from '../../workers/batcher.ts';
import { until } from '../support/patience.ts';

/**
 * A batcher whose writes take so long; `blocks` has the number of chunks of each block, `beside` how many others were being
 * written when it began.
 */
function start(writeMs: number) {
  const blocks: number[] = [];
  const beside: number[] = [];
  let writing = 0;
  const batcher = new Batcher(async (chunks) => {
    blocks.push(chunks.length);
    beside.push(writing++);
    await Bun.sleep(writeMs);
    writing--;
    return chunks.map((chunk) => ({ chunk }));
  });
  // Only the number of executions matters here.
  const add = (executions: number): Promise<void> =>
    batcher.add({ executions: Array(executions).fill(null) } as unknown as PreparedChunk, executions * 100);
  return { blocks, beside, add };
}

test('a single chunk is written although no other comes', async () => {
  const { blocks, add } = start(1);
  await add(40);
  await add(40);
  expect(blocks).toEqual([1, 1]);
});

test('what fills a block is written at once, also beside another block', async () => {
  const { blocks, beside, add } = start(50);
  await Promise.all([add(BLOCK_EXECUTIONS_MAX), add(BLOCK_EXECUTIONS_MAX)]);
  expect(blocks).toEqual([1, 1]);
  expect(beside).toEqual([0, 1]);
});

test('small chunks that arrive while a block is written become one block', async () => {
  const { blocks, add } = start(150);
  const first = add(40);
  await until(() => blocks.length > 0);
  await Promise.all([first, ...Array.from({ length: 50 }, () => add(40))]);
  expect(blocks).toEqual([1, 50]);
});

test('a block waits for no more chunks when it has all that a worker has in hand', async () => {
  const { blocks, add } = start(50);
  const inHand = testRuns.concurrencySmall ?? 0;
  for (const written of [[inHand], [inHand, inHand]]) {
    const added = Array.from({ length: inHand }, () => add(1));
    // At once: the second time, a busy batcher would wait.
    expect(blocks).toEqual(written);
    await Promise.all(added);
  }
});

test('a stream of small chunks makes few blocks', async () => {
  const { blocks, add } = start(100);
  const added: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let i = 0; i < 100; i++) {
    added.push(add(40));
    await Bun.sleep(10);
  }
  await Promise.all(added);
  // Each waits 60 ms for others, and 100 ms for the one before it.
  expect(blocks.length).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / 160);
});
