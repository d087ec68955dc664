/** Blocks are evaluated in the order in which they came, and none is lost or taken twice. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { WaitingBlocks } from '../../workers/waiting-blocks.ts';

const EXECUTIONS_MAX = 100;

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('add'), executions: fc.nat(150), isNew: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('pass', 'failing pass'), arrivals: fc.nat(5) }) },
);

test('a pass takes the first blocks, whatever arrived during the passes before it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const waiting = new WaitingBlocks(EXECUTIONS_MAX);
      let expected: { blockId: number; executions: number }[] = [];
      let last = 0;
      const add = (executions: number, isNew: boolean): void => {
        const block = { blockId: ++last, executions };
        expected.push(block);
        waiting.add(block, isNew ? [] : undefined);
      };
      for (const one of steps) {
        if ('executions' in one) {
          add(one.executions, one.isNew);
          continue;
        }
        const taken = waiting.take();
        const blocks = [...taken.ahead.blocks, ...taken.others];
        expect(blocks).toEqual(expected.slice(0, blocks.length));
        expect(blocks.length > 0).toBe(expected.length > 0);
        const executions = blocks.reduce((sum, block) => sum + block.executions, 0);
        expect(executions <= EXECUTIONS_MAX || blocks.length === 1).toBe(true);
        for (let arrived = 0; arrived < one.arrivals; arrived++) add(10, true);
        if (one.does === 'pass') {
          waiting.done(taken);
          expected = expected.slice(blocks.length);
        } else waiting.putBack(taken);
        expect(waiting.isEmpty).toBe(expected.length === 0);
      }
    }),
  );
});

test('a block that waits or is being evaluated is not added again', () => {
  const waiting = new WaitingBlocks(EXECUTIONS_MAX);
  const block = { blockId: 1, executions: 1 };
  waiting.add(block, []);
  waiting.add(block);
  const taken = waiting.take();
  expect([...taken.ahead.blocks, ...taken.others]).toEqual([block]);
  waiting.add(block);
  expect(waiting.isEmpty).toBe(true);
  expect(waiting.has(1)).toBe(true);
  waiting.done(taken);
  expect(waiting.has(1)).toBe(false);
  waiting.add(block);
  expect(waiting.isEmpty).toBe(false);
});
