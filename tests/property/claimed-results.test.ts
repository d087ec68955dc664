/** Which result is a resend, which another result of the same test, and which neither: over any order of arrival. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { executionIdOf, sourceKeyOf } from '../../src/domain/identity.ts';
import { type ReportedResult, VARIANT_BITS, variantOf } from '../../src/domain/result-variant.ts';
import { STATUSES } from '../../src/domain/status.ts';
import { ClaimedResults, packIds } from '../../src/ledger/claims.ts';

const REPOSITORY = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
const MAIN = { branch: 'main', baseRef: '', pullRequest: 0, commit: 'c1', axes: '' };
const SOURCE = sourceKeyOf(REPOSITORY, 'report', MAIN);

const failure = fc.tuple(
  fc.integer({ min: 1, max: 3 }),
  fc.option(fc.constantFrom('Error', 'TypeError')),
  fc.option(fc.string({ maxLength: 5 })),
  fc.constant(null),
);
const result: fc.Arbitrary<ReportedResult> = fc.record({
  status: fc.constantFrom(...STATUSES),
  isFlaky: fc.boolean(),
  failures: fc.array(failure, { maxLength: 2 }),
});

describe('variants of results', () => {
  test('no two statuses share a variant, whatever failed', () => {
    fc.assert(
      fc.property(result, result, (one, other) => {
        fc.pre(one.status !== other.status);
        expect(variantOf(one)).not.toBe(variantOf(other));
      }),
    );
  });

  test('the same result has the same variant, within its bits', () => {
    fc.assert(
      fc.property(result, (one) => {
        const variant = variantOf(one);
        expect(variantOf(structuredClone(one))).toBe(variant);
        expect(variant).toBeGreaterThanOrEqual(0);
        expect(variant).toBeLessThan(2 ** VARIANT_BITS);
      }),
    );
  });

  test('failures with other messages are nearly always other variants', () => {
    const variants = Array.from({ length: 200 }, (_, i) =>
      variantOf({ status: 'failed', isFlaky: false, failures: [[1, 'Error', `expected ${i}`, null]] }),
    );
    expect(new Set(variants).size).toBeGreaterThan(170);
  });
});

describe('a source', () => {
  const origin = fc.record({
    branch: fc.constantFrom('', 'main', 'fix'),
    baseRef: fc.constantFrom('', 'main'),
    pullRequest: fc.constantFrom(0, 7),
    commit: fc.constantFrom('', 'c1', 'c2'),
    axes: fc.constantFrom('', '{"os":"linux"}', '{"os":"windows"}'),
  });
  test('is another one for another branch, base branch, pull request, commit or other axes', () => {
    fc.assert(
      fc.property(origin, origin, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(sourceKeyOf(REPOSITORY, 'report', one) === sourceKeyOf(REPOSITORY, 'report', other)).toBe(isSame);
      }),
    );
  });
});

describe('claimed results', () => {
  const upload = fc.array(fc.tuple(fc.nat(5), result), { maxLength: 8 });

  test('each distinct result is claimed once, and it conflicts exactly if another one of its test is claimed', () => {
    fc.assert(
      fc.property(fc.array(upload, { maxLength: 6 }), fc.array(fc.nat(5), { maxLength: 4 }), (uploads, resends) => {
        const sent = [...uploads, ...resends.flatMap((i) => (uploads[i] ? [uploads[i]] : []))];
        const claimed = new ClaimedResults();
        const model = new Map<number, Set<number>>();
        for (const [key, one] of sent.flat()) {
          const variant = variantOf(one);
          const known = model.get(key) ?? new Set();
          model.set(key, known);
          const others = [...known].filter((other) => other !== variant);
          expect(claimed.claim(executionIdOf(SOURCE, String(key), `test ${key}`, variant))).toEqual({
            isNew: !known.has(variant),
            conflicts: others.length > 0,
          });
          known.add(variant);
        }
      }),
    );
  });

  test('they are the same after they were packed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })), (ids) => {
        const claimed = new ClaimedResults();
        claimed.addPacked(packIds(ids));
        for (const id of ids) expect(claimed.claim(id).isNew).toBe(false);
        for (const id of ids) expect(claimed.claim(id ^ (1n << 63n))).toMatchObject({ conflicts: true });
      }),
    );
  });
});
