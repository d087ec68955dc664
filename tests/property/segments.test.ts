/** Segments of a test's life: whatever happened, they cover it once and in order. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type CommitResults, outcomeOf, segmentsOf } from '../../src/domain/segments.ts';

const count = fc.nat({ max: 3 });
const commits: fc.Arbitrary<CommitResults[]> = fc
  .array(
    fc.record({
      passed: count,
      failed: count,
      skipped: count,
      flaky: count,
      heldBack: count,
      takes: fc.nat({ max: 9 }),
    }),
    {
      maxLength: 40,
    },
  )
  .map((list) =>
    list.map(({ takes, ...counts }, i) => ({ ...counts, commit: `c${i}`, firstAt: i * 10, lastAt: i * 10 + takes })),
  );

test('segments cover every commit once, in order, and neighbours differ', () => {
  fc.assert(
    fc.property(commits, (list) => {
      const segments = segmentsOf(list);
      expect(segments.reduce((sum, one) => sum + one.commits, 0)).toBe(list.length);
      let next = 0;
      for (const [i, segment] of segments.entries()) {
        const covered = list.slice(next, next + segment.commits);
        next += segment.commits;
        expect(covered.map(outcomeOf)).toEqual(covered.map(() => segment.outcome));
        expect(segment).toMatchObject({
          firstCommit: covered[0]?.commit,
          lastCommit: covered.at(-1)?.commit,
          previousCommit: segments[i - 1]?.lastCommit,
          startedAt: covered[0]?.firstAt,
          endedAt: Math.max(...covered.map(({ lastAt }) => lastAt)),
          failed: covered.reduce((sum, { failed }) => sum + failed, 0),
        });
        expect(segment.outcome).not.toBe(segments[i + 1]?.outcome);
      }
    }),
  );
});

test.each([
  ['passing', { passed: 2 }],
  ['failing', { passed: 1, failed: 1 }],
  ['flaky', { passed: 1, failed: 1, flaky: 2 }],
  ['held_back', { passed: 1, failed: 2, heldBack: 2 }],
  ['failing', { failed: 2, heldBack: 1 }],
  ['skipped', { skipped: 3 }],
] as const)('a commit is %s with %p', (outcome, results) => {
  const none = { commit: 'c', firstAt: 0, lastAt: 0, passed: 0, failed: 0, skipped: 0, flaky: 0, heldBack: 0 };
  expect(outcomeOf({ ...none, ...results })).toBe(outcome);
});
