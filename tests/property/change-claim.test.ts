/** Claims that a change caused a failure: what must hold whatever the evidence. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FLAKY_RATES, newWeights, normalised } from '../../src/domain/belief-weights.ts';
import {
  CLAIM_SURE_FROM,
  type ClaimEvidence,
  claimVerdict,
  explanationsOf,
  rerunsNeeded,
} from '../../src/domain/change-claim.ts';
import { claimOf } from '../../src/domain/claim-words.ts';
import { commitVerdict } from '../../src/domain/commit-verdict.ts';

const count = (max: number) => fc.integer({ min: 0, max });
const trouble = fc.constantFrom('run', 'same_failures', 'same_message', 'rerun').map((sign) => ({
  ...{ sign, changes: 2, isOnDefaultBranch: false },
}));
const states = FLAKY_RATES.length + 2;

/** Weights that lead to this health. */
const weightsOf = {
  healthy: [0.97, 0.012, 0.006, 0.004, 0.002, 0.001, 0.001, 0.004],
  flaky: [0.05, 0.1, 0.2, 0.3, 0.2, 0.05, 0.05, 0.05],
  broken: [0.1, 0.02, 0.02, 0.02, 0.02, 0.01, 0.01, 0.8],
} as const;

const evidence: fc.Arbitrary<ClaimEvidence> = fc
  .record({
    health: fc.constantFrom('healthy' as const, 'flaky' as const, 'broken' as const, null),
    noise: fc.array(fc.double({ min: 0, max: 0.02, noNaN: true }), { minLength: states, maxLength: states }),
    defaultFailures: count(50),
    isNewGroup: fc.boolean(),
    failures: fc.integer({ min: 1, max: 12 }),
    passes: count(6),
    otherLegs: fc.record({ passed: fc.boolean(), failed: count(2) }),
    tests: fc.integer({ min: 1, max: 20_000 }),
    together: fc.integer({ min: 1, max: 400 }),
    trouble: fc.option(trouble, { nil: null }),
    around: fc
      .tuple(count(40), count(40))
      .map(([changes, failing]) => ({ changes, failing: Math.min(changes, failing) })),
    otherPullRequests: fc.option(count(20), { nil: null }),
    base: fc.option(fc.record({ failures: count(3), passes: count(3) }), { nil: null }),
    laterFailures: fc.option(count(8), { nil: null }),
    nearness: fc.double({ min: 0.2, max: 20, noNaN: true }),
  })
  .map(({ noise, ...rest }) => ({
    ...rest,
    weights:
      rest.health === null
        ? newWeights()
        : normalised(weightsOf[rest.health].map((weight, state) => weight + (noise[state] ?? 0))),
  }));

const names = { defaultBranch: 'main', leg: 'unit (CI)', baseCommit: null, healthBeganAt: null, changedFile: null };

test('the explanations are probabilities that add up to 1', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const all = Object.values(explanationsOf(one));
      for (const share of all) expect(share).toBeGreaterThanOrEqual(0);
      expect(all.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    }),
  );
});

test('it is never said to be flaky without a pass of the same code', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      expect(claimVerdict(explanationsOf({ ...one, passes: 0 }), { ...one, passes: 0 })).not.toBe('flaky');
    }),
  );
});

test('a doubt never excuses a failure: what the commit verdict calls new is excused only if the same code has passed', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const verdict = commitVerdict({
        isQuarantined: false,
        isTroubled: one.trouble !== null,
        hasPassedOnDefault: true,
        groups: [{ firstHereAt: 1, firstOnDefaultAt: one.isNewGroup ? null : 0 }],
        health: one.health,
      });
      const said = claimVerdict(explanationsOf(one), one);
      if (verdict === 'new' && one.passes === 0) expect(['change', 'unknown']).toContain(said);
      if (said === 'broken') expect(one.health).toBe('broken');
    }),
  );
});

test('a pass of the same code makes the change no likelier unless the default branch or the base shows a break, nor does a failure of its base', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const { change } = explanationsOf(one);
      // A pass speaks against a break of the default branch, too.
      const isBrokenBefore = one.health === 'broken' || (one.base?.failures ?? 0) > 0;
      if (one.passes === 0 && !isBrokenBefore)
        expect(explanationsOf({ ...one, passes: 1 }).change).toBeLessThanOrEqual(change + 1e-9);
      if (one.passes > 0 || one.defaultFailures > 0) return;
      const based = { ...one, base: { failures: 1, passes: 0 } };
      expect(explanationsOf(based).change).toBeLessThanOrEqual(explanationsOf({ ...one, base: null }).change + 1e-9);
    }),
  );
});

test('what a flaky test did on the base commit says nothing of the change', () => {
  fc.assert(
    fc.property(evidence, fc.nat({ max: 5 }), fc.nat({ max: 3 }), fc.nat({ max: 3 }), (one, rate, failures, passes) => {
      const weights = normalised(one.weights.map((_, state) => (state === rate + 1 ? 1 : 0)));
      const known: ClaimEvidence = { ...one, weights, health: 'flaky' };
      const { change } = explanationsOf({ ...known, base: { failures, passes } });
      expect(change).toBeCloseTo(explanationsOf({ ...known, base: null }).change, 9);
    }),
  );
});

test('a pass on the base commit takes the blame from a default branch that has broken since', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const broken: ClaimEvidence = {
        ...one,
        weights: normalised([0.03, 0, 0, 0.01, 0.01, 0, 0, 0.95]),
        health: 'broken',
      };
      const based = explanationsOf({ ...broken, base: { failures: 0, passes: 1 } });
      expect(based.broken).toBeLessThanOrEqual(explanationsOf({ ...broken, base: null }).broken + 1e-9);
    }),
  );
});

test('the nearer a changed file, the likelier the change', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const nearer = explanationsOf({ ...one, nearness: 2 * one.nearness });
      expect(nearer.change).toBeGreaterThanOrEqual(explanationsOf(one).change - 1e-9);
    }),
  );
});

test('as many reruns as it asks for decide if they all fail, and fewer do not', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const needed = rerunsNeeded(one);
      const verdictAfter = (reruns: number) => {
        const after = { ...one, failures: one.failures + reruns };
        return claimVerdict(explanationsOf(after), after);
      };
      if (needed === null) return;
      expect(verdictAfter(0)).toBe('unknown');
      expect(verdictAfter(needed.reruns - 1)).toBe('unknown');
      expect(verdictAfter(needed.reruns)).toBe(needed.verdict);
    }),
    { numRuns: 300 },
  );
});

test('a claim says what speaks for and against it in sentences, and what would decide if it is open', () => {
  fc.assert(
    fc.property(evidence, (one) => {
      const claim = claimOf(one, names);
      for (const { factor } of claim.for) expect(factor).toBeGreaterThan(1);
      for (const { factor } of claim.against) expect(factor).toBeLessThan(1);
      for (const { sentence } of [...claim.for, ...claim.against]) expect(sentence).toMatch(/^\S.*\.$/u);
      expect(claim.needs === null).toBe(claim.verdict !== 'unknown');
      expect(claim.verdict === 'change').toBe(claim.probability >= CLAIM_SURE_FROM);
    }),
  );
});

const plain: ClaimEvidence = {
  ...{ weights: normalised([0.999, 4e-4, 1e-4, 5e-5, 1e-5, 0, 0, 1e-5]), health: 'healthy', defaultFailures: 0 },
  ...{ isNewGroup: true, failures: 1, passes: 0, otherLegs: { passed: false, failed: 0 }, tests: 300, together: 1 },
  ...{ trouble: null, around: { changes: 0, failing: 0 }, otherPullRequests: null, base: null, laterFailures: null },
  nearness: 1,
};

test('a healthy test that fails twice on a commit is the change, one that passes on the rerun may not be', () => {
  expect(claimOf({ ...plain, failures: 2 }, names).verdict).toBe('change');
  const passed = claimOf({ ...plain, passes: 1 }, names);
  expect(passed.probability).toBeLessThan(0.7);
  expect(passed.verdict).toBe('unknown');
  expect(passed.against[0]).toMatchObject({
    sign: 'same_code',
    sentence: 'The same code passed once and failed once.',
  });
});

test('what is flaky needs reruns, and fails often enough to be the change if it is', () => {
  const flaky: ClaimEvidence = {
    ...plain,
    ...{ weights: normalised([0.01, 0, 0, 0.5, 0.4, 0.05, 0, 0]), health: 'flaky', defaultFailures: 20 },
  };
  const open = claimOf(flaky, names);
  expect(open.verdict).toBe('unknown');
  const reruns = open.needs?.reruns ?? 0;
  expect(reruns).toBeGreaterThan(1);
  expect(open.needs?.sentence).toBe(
    `Hardly the change: one rerun of unit (CI) that passes would show it. ${reruns} reruns in which all fail would show that it is the change after all.`,
  );
  expect(claimOf({ ...flaky, failures: 1 + reruns }, names).verdict).toBe('change');
  expect(claimOf({ ...flaky, passes: 1 }, names).verdict).toBe('flaky');
});
