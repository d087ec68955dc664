/** How a test becomes healthy again by passing: when, after how many passes, and what takes it back. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Belief, isSurelyHealthy, newBelief, probabilitiesOf, SURE_FROM } from '../../src/domain/belief.ts';
import { foldBelief } from '../../src/domain/belief-fold.ts';
import { afterPasses, FLAKY_RATES, normalised } from '../../src/domain/belief-weights.ts';
import { PASSES_MAX, passesUntilHealthy } from '../../src/domain/passes-until-healthy.ts';
import { NOTHING_RAN_BEFORE, type RunTrouble, runTroubleOf } from '../../src/domain/run-trouble.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { randomFrom } from '../support/random.ts';

const BEGUN = Date.UTC(2026, 0, 5);

/** The trouble of a run of 150 tests in which so many others fail. */
const troubleOf = (others: number): RunTrouble =>
  runTroubleOf(
    { place: 'CI', executions: 150, unexpected: others + 1, isOnDefaultBranch: true },
    NOTHING_RAN_BEFORE,
    true,
  );

/** A test that runs every so often, each time on a new commit. */
class Course {
  belief: Belief = newBelief();
  at = BEGUN;

  constructor(private readonly every: number) {}

  run(result: 'passed' | 'failed' | 'retried', others = 0): void {
    this.at += this.every;
    const execution = { executionId: `${this.at}`, result, finishedAt: this.at, commit: `c${this.at}` } as const;
    this.belief = foldBelief(this.belief, execution, result === 'passed' ? undefined : troubleOf(others));
  }

  passes(count: number): this {
    for (let i = 0; i < count; i++) this.run('passed');
    return this;
  }

  /** It fails this often, at random. */
  flaky(rate: number, runs: number, random: () => number): this {
    for (let i = 0; i < runs; i++) this.run(random() < rate ? 'failed' : 'passed');
    return this;
  }

  passesToHealthy(): number {
    for (let passes = 0; passes < 2_000; passes++) {
      if (this.belief.status === 'healthy') return passes;
      this.run('passed');
    }
    return Number.POSITIVE_INFINITY;
  }
}

const histories = fc.record({
  before: fc.constantFrom(0, 5, 60, 400),
  results: fc.array(
    fc.record({
      result: fc.constantFrom('passed' as const, 'passed' as const, 'failed' as const, 'retried' as const),
      others: fc.constantFrom(0, 0, 0, 3, 140),
    }),
    { maxLength: 40 },
  ),
  every: fc.constantFrom(HOUR_MS / 8, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS),
});

describe('the passes that a test still needs', () => {
  test('make it surely healthy, and one fewer do not; none if it is', () => {
    const confidences = fc.constantFrom(SURE_FROM, 0.8, 0.9, 0.99);
    fc.assert(
      fc.property(histories, confidences, ({ before, results, every }, confidence) => {
        const course = new Course(every).passes(before);
        for (const { result, others } of results) course.run(result, others);
        const needed = passesUntilHealthy(course.belief, { finishedAt: course.at, every }, confidence);
        expect(needed === 0).toBe(isSurelyHealthy(course.belief, { confidence }));
        for (let i = 0; i < Math.min(needed ?? PASSES_MAX, 1_500); i++) {
          expect(isSurelyHealthy(course.belief, { confidence })).toBe(false);
          course.run('passed');
        }
        if (needed !== null && needed <= 1_500) expect(isSurelyHealthy(course.belief, { confidence })).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('are at least as many for a higher confidence', () => {
    fc.assert(
      fc.property(histories, ({ before, results, every }) => {
        const course = new Course(every).passes(before);
        for (const { result, others } of results) course.run(result, others);
        const needed = [0.6, 0.8, 0.9, 0.97, 0.99].map(
          (confidence) => passesUntilHealthy(course.belief, { finishedAt: course.at, every }, confidence) ?? PASSES_MAX,
        );
        expect(needed).toEqual(needed.toSorted((one, other) => one - other));
      }),
    );
  });
});

test('passes that are counted weigh as much as the same passes one by one', () => {
  const weights = fc
    .array(fc.double({ min: 0, max: 1, noNaN: true }), {
      minLength: FLAKY_RATES.length + 1,
      maxLength: FLAKY_RATES.length + 1,
    })
    .filter((all) => all.some((one) => one > 0.01))
    .map((all) => normalised([...all, 0]));
  fc.assert(
    fc.property(weights, fc.nat({ max: 1_500 }), fc.boolean(), fc.boolean(), (begun, count, mayChange, isTimed) => {
      const every = isTimed ? HOUR_MS : Number.POSITIVE_INFINITY;
      let oneByOne: readonly number[] = begun;
      for (let i = 0; i < count; i++) oneByOne = afterPasses(oneByOne, { count: 1, lasted: every, mayChange });
      const counted = afterPasses(begun, { count, lasted: count * every, mayChange });
      for (const [i, weight] of counted.entries()) expect(weight).toBeCloseTo(oneByOne[i] ?? 0, 1.7);
      // A test that becomes flaky is as likely for one that was flaky before as for any other.
      if (count > 1_000) expect(counted[4]).toBeGreaterThan((oneByOne[4] ?? 0) / 2);
    }),
    { numRuns: 100 },
  );
});

describe('a flaky test', () => {
  const flakyCourse = (seed: number, runsPerDay: number, rate: number, runs: number): Course =>
    new Course(DAY_MS / runsPerDay).passes(60).flaky(rate, runs, randomFrom(seed));

  test.each([
    { rate: 0.5, runsPerDay: [1, 8, 50, 200], passes: 20 },
    { rate: 0.2, runsPerDay: [1, 8, 50], passes: 45 },
  ])(
    'of $rate that was fixed is healthy after $passes passes, however often it runs',
    ({ rate, runsPerDay, passes }) => {
      for (const perDay of runsPerDay) {
        const needed = Array.from({ length: 31 }, (_, seed) => flakyCourse(seed, perDay, rate, 200).passesToHealthy());
        expect(needed.sort((one, other) => one - other)[15]).toBeLessThanOrEqual(passes);
      }
    },
  );

  test('that is healthy again may fail more rarely than before, so it is surely healthy later', () => {
    for (let seed = 0; seed < 20; seed++) {
      const course = flakyCourse(seed, 8, 0.5, 200);
      course.passesToHealthy();
      expect(isSurelyHealthy(course.belief)).toBe(false);
      const rare = probabilitiesOf(course.belief);
      expect(rare.flaky).toBeGreaterThan(0.03);
      expect(rare.flaky).toBeLessThan(0.2);
    }
  });

  test('that has recovered is called flaky again after no more failures than any other test', () => {
    const failuresToFlaky = (course: Course): number => {
      for (let failures = 1; failures < 20; failures++) {
        course.run('retried');
        if (course.belief.status === 'flaky') return failures;
      }
      return Number.POSITIVE_INFINITY;
    };
    const any = failuresToFlaky(new Course(DAY_MS / 8).passes(1_000));
    for (const passes of [200, 400, 1_000]) {
      const recovered = flakyCourse(3, 8, 0.5, 40).passes(passes);
      expect(isSurelyHealthy(recovered.belief)).toBe(true);
      expect(failuresToFlaky(recovered)).toBeLessThanOrEqual(any);
    }
  });

  test('is not fixed by passing often: the same passes prove more the longer they take', () => {
    const flakyAfter = (seed: number, passes: number, every: number): number => {
      let { belief } = flakyCourse(seed, 200, 0.01, 1_500);
      for (let i = 1; i <= passes; i++) {
        const finishedAt = belief.seenAt + every;
        belief = foldBelief(belief, { executionId: '', result: 'passed', finishedAt, commit: `n${i}` });
      }
      return probabilitiesOf(belief).flaky;
    };
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.integer({ min: 1, max: 600 }), (seed, passes) => {
        const [often, seldom] = [DAY_MS / 200, DAY_MS / 5].map((every) => flakyAfter(seed, passes, every));
        expect(seldom).toBeLessThanOrEqual(often ?? 0);
      }),
      { numRuns: 20 },
    );
    expect(flakyAfter(1, 400, DAY_MS / 200)).toBeGreaterThan(0.2);
    expect(flakyAfter(1, 400, DAY_MS / 5)).toBeLessThan(0.15);
  });
});
