/** What is learned about nearness: nothing without history, the true factors with a long one, and one on average. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FACTORS_BEFORE, NEARNESS_KINDS, nearestOf } from '../../src/domain/nearness.ts';
import { type Break, factorsFrom } from '../../src/domain/nearness-history.ts';

/** Twenty folders with five tests each. */
const TESTS = Array.from({ length: 100 }, (_, i) => `src/part${Math.floor(i / 5)}/unit${i}/unit${i}.test.ts`);
const NEAR = (i: number): Break => ({ victims: [TESTS[i] ?? ''], changed: [TESTS[i] ?? ''] });
const FAR = (i: number): Break => ({ victims: [TESTS[(i + 50) % 100] ?? ''], changed: [TESTS[i] ?? ''] });
const OTHER_KINDS = NEARNESS_KINDS.filter((kind) => kind !== 'file');
const place = fc.nat({ max: 99 });
const history = fc.array(
  fc.oneof(
    place.map(NEAR),
    place.map(FAR),
    fc.record({
      victims: fc.array(fc.constantFrom(...TESTS), { minLength: 1, maxLength: 10 }),
      changed: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
    }),
  ),
  { maxLength: 60 },
);

test('without a history, or without tests to compare with, it is what was assumed before', () => {
  expect(factorsFrom([], TESTS)).toEqual(FACTORS_BEFORE);
  fc.assert(fc.property(history, (breaks) => expect(factorsFrom(breaks, [])).toEqual(FACTORS_BEFORE)));
});

test('it is bounded, and the order of breaks does not matter', () => {
  fc.assert(
    fc.property(history, (breaks) => {
      const factors = factorsFrom(breaks, TESTS);
      const reversed = factorsFrom(breaks.toReversed(), TESTS);
      for (const kind of NEARNESS_KINDS) {
        expect(factors[kind]).toBeWithin(0.1, 50.001);
        expect(reversed[kind]).toBeCloseTo(factors[kind], 9);
      }
    }),
  );
});

test('one more break of a test whose file was changed raises that factor beside those of others', () => {
  fc.assert(
    fc.property(history, place, (breaks, i) => {
      const [before, after] = [factorsFrom(breaks, TESTS), factorsFrom([...breaks, NEAR(i)], TESTS)];
      // Unless the history says more than a break of one test of a hundred can.
      if (before.file < 50)
        for (const kind of OTHER_KINDS) expect(after.file / after[kind]).toBeGreaterThan(before.file / before[kind]);
    }),
  );
});

test('over all tests it is one on average: nearness says which tests break, and not how many', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(place.map(NEAR), place.map(FAR)), { minLength: 1, maxLength: 60 }), (breaks) => {
      const factors = factorsFrom(breaks, TESTS);
      const all = breaks.flatMap(({ changed }) =>
        TESTS.map((file) => factors[nearestOf(file, changed)?.kind ?? 'far']),
      );
      // Where none is at its bound.
      if (Object.values(factors).every((factor) => factor > 0.1 && factor < 50))
        expect(all.reduce((sum, factor) => sum + factor, 0) / all.length).toBeCloseTo(1, 9);
    }),
  );
});

test('a break of many tests weighs as much as a break of one', () => {
  const many: Break = { victims: TESTS.slice(50), changed: [TESTS[0] ?? ''] };
  const factors = factorsFrom([many], TESTS);
  const one = factorsFrom([{ ...many, victims: TESTS.slice(50, 51) }], TESTS);
  for (const kind of NEARNESS_KINDS) expect(factors[kind]).toBeCloseTo(one[kind], 9);
});

test('with a long history it comes near what is so: victims without regard to files, or one in five in the changed file', () => {
  const anywhere = Array.from(
    { length: 2_000 },
    (_, i): Break => ({
      victims: [TESTS[(i * 37) % 100] ?? ''],
      changed: [TESTS[Math.floor(i / 100) % 100] ?? ''],
    }),
  );
  expect(factorsFrom(anywhere, TESTS).file).toBeWithin(0.5, 1.6);
  expect(factorsFrom(anywhere, TESTS).far).toBeWithin(0.95, 1.05);
  const oneInFive = Array.from({ length: 2_000 }, (_, i) => (i % 5 === 0 ? NEAR(i % 100) : FAR(i % 100)));
  expect(factorsFrom(oneInFive, TESTS).file).toBeWithin(15, 25);
});
