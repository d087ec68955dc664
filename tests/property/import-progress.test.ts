/** How far an import is, whatever the command says of itself. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { progressOf, shareOf } from '../../src/domain/import-progress.ts';

const SINCE = 1_000_000;
const BEGUN = 2_000_000;
const span = { since: SINCE, begunAt: BEGUN, shareBefore: 0 };
const moment = fc.integer({ min: SINCE - 500_000, max: BEGUN + 500_000 });

test('the share is between 0 and 1, never less than before, and the time left is never negative', () => {
  fc.assert(
    fc.property(moment, moment, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(100_000), (at, from, before, ms) => {
      const first = { share: Math.max(before, shareOf(from, span)), at: BEGUN };
      const line = { reports: 1, executions: 1, at, waiting: null };
      const found = progressOf(line, { ...span, now: BEGUN + ms, first, shareBefore: before });
      expect(found.share).toBeGreaterThanOrEqual(before);
      expect(found.share).toBeLessThanOrEqual(1);
      expect(found.seconds_left ?? 0).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('what is left takes as long for each day as what was done since the first report', () => {
  const line = { reports: 9, executions: 9, at: SINCE + 750_000, waiting: null };
  const first = { share: 0.5, at: BEGUN + 2_000 };
  expect(progressOf(line, { ...span, now: BEGUN + 12_000, first })).toMatchObject({ share: 0.75, seconds_left: 10 });
  expect(progressOf({ ...line, at: null }, { ...span, now: BEGUN, first: undefined }).seconds_left).toBeNull();
});
