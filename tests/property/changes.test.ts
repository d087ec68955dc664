/** Which runs count as one witness, whatever pull requests there are. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ChangeRun, changesAmong } from '../../src/domain/changes.ts';

/** Each built on the default branch, or on one before it. */
const stacks: fc.Arbitrary<ChangeRun[]> = fc.array(fc.nat(), { minLength: 1, maxLength: 12 }).map((bases) =>
  bases.map((base, i) => ({
    isOnDefaultBranch: false,
    pullRequest: i + 1,
    branch: `b${i}`,
    baseRef: base % 3 === 0 || i === 0 ? 'main' : `b${base % i}`,
  })),
);
const rootOf = (runs: readonly ChangeRun[], run: ChangeRun): ChangeRun => {
  const base = runs.find(({ branch }) => branch === run.baseRef);
  return base ? rootOf(runs, base) : run;
};

test('pull requests have one change if, and only if, they are built on the same one', () => {
  fc.assert(
    fc.property(stacks, (runs) => {
      const changeOf = changesAmong(runs, new Map(), 'main');
      for (const one of runs)
        for (const other of runs)
          expect(changeOf(one) === changeOf(other)).toBe(rootOf(runs, one) === rootOf(runs, other));
    }),
  );
});

test('an author has one change, and the default branch has another', () => {
  fc.assert(
    fc.property(stacks, (runs) => {
      const changeOf = changesAmong(runs, new Map(runs.map(({ pullRequest }) => [pullRequest, 7])), 'main');
      expect(new Set(runs.map(changeOf)).size).toBe(1);
      const onMain = { isOnDefaultBranch: true, pullRequest: 0, branch: 'main', baseRef: '' };
      expect(runs.map(changeOf)).not.toContain(changeOf(onMain));
    }),
  );
});

test('branches that are built on each other in a circle, or on a fork of the default branch, have an change', () => {
  const pull = (pullRequest: number, branch: string, baseRef: string): ChangeRun => ({
    ...{ isOnDefaultBranch: false, pullRequest, branch, baseRef },
  });
  const runs = [pull(1, 'a', 'b'), pull(2, 'b', 'a'), pull(3, 'main', 'main'), pull(4, 'c', 'main')];
  const changeOf = changesAmong(runs, new Map(), 'main');
  for (const run of runs) expect(changeOf(run)).toBeTruthy();
  expect(changeOf(pull(4, 'c', 'main'))).not.toBe(changeOf(pull(3, 'main', 'main')));
});
