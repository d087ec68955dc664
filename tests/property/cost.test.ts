/** Costs of red runs: nothing is counted twice, and nothing is lost. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type CostedRun,
  type CostlyRun,
  costAmong,
  costByPlace,
  costByTest,
  costedRuns,
  type Departure,
  isInnocent,
  moneyOf,
  runsOfDeparture,
  totalCost,
  WAIT_MS_MAX,
  waitsOf,
} from '../../src/domain/cost.ts';
import { departuresOf, type QueueEvent } from '../../src/domain/departures.ts';
import { healthThenOf, RED_REASONS, reasonOf } from '../../src/domain/red-run-reason.ts';

import { costByCause, NO_CAUSE } from '../../src/insights/cause-costs.ts';
import type { CausesOfRedRuns } from '../../src/insights/causes-of-red-runs.ts';
import { costJson, partJson } from '../../src/insights/cost-figures.ts';

const HOUR = 3_600_000;
const tests = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
const run: fc.Arbitrary<CostlyRun & { isCounted: boolean }> = fc
  .record({
    startedAt: fc.integer({ min: 0, max: 40 }),
    length: fc.nat(3),
    reason: fc.constantFrom(...RED_REASONS),
    key: fc.uuid(),
    pipelineName: fc.constantFrom('CI', 'nightly'),
    jobName: fc.constantFrom('unit', 'e2e'),
    tests,
    pullRequest: fc.constantFrom(null, 1, 2),
    commit: fc.constantFrom('x', 'y'),
    isOnDefault: fc.boolean(),
    rerun: fc.option(fc.nat(5)),
    green: fc.option(fc.nat(30)),
    isCounted: fc.boolean(),
  })
  .map(({ startedAt, length, isOnDefault, rerun, green, ...rest }) => ({
    ...rest,
    startedAt: startedAt * HOUR,
    endedAt: (startedAt + length) * HOUR,
    change: isOnDefault ? null : rest.pullRequest === null ? rest.commit : `#${rest.pullRequest}`,
    rerunMs: rerun === null ? null : rerun * HOUR,
    greenAt: green === null ? null : (startedAt + length + green) * HOUR,
  }));
const runs = fc.array(run, { maxLength: 12 });
const departure: fc.Arbitrary<Departure> = fc.record({
  pullRequest: fc.constantFrom(1, 2, 3),
  enteredAt: fc.nat(20).map((hours) => hours * HOUR),
  leftAt: fc.integer({ min: 20, max: 45 }).map((hours) => hours * HOUR),
  headCommit: fc.constantFrom(null, 'x'),
  checkedIn: fc.subarray([1, 2]),
});
const sum = <T>(of: readonly T[], value: (one: T) => number): number => of.reduce((all, one) => all + value(one), 0);

describe('the cost of red runs', () => {
  test('of all tests adds up to the total', () => {
    fc.assert(
      fc.property(runs, fc.array(departure, { maxLength: 4 }), (some, left) => {
        const costed = costedRuns(some, left);
        const total = totalCost(costed.runs);
        const byTest = costByTest(costed.runs);
        for (const figure of ['redRuns', 'reruns', 'rerunMs', 'waitMs', 'departures'] as const)
          expect(sum(byTest, (one) => one[figure])).toBeCloseTo(total[figure], 6);
        expect(total.redRuns).toBe(some.filter(({ isCounted }) => isCounted).length);
        expect(total.departures).toBeCloseTo(costed.left.innocent, 9);
        expect(costed.left.innocent + costed.left.own + costed.left.unknown).toBe(left.length);
        const rates = { ciMinute: 0.5, waitingHour: 20 };
        expect(sum(byTest, (one) => moneyOf(one, rates) ?? 0)).toBeCloseTo(moneyOf(total, rates) ?? -1, 3);
        expect(moneyOf(total, { ciMinute: null, waitingHour: null })).toBeNull();
        for (const one of byTest) {
          expect(one.redRunsAlone).toBeLessThanOrEqual(one.redRuns + 1e-9);
          expect(one.redRuns).toBeLessThanOrEqual(one.failedRuns + 1e-9);
        }
      }),
    );
  });

  test('is answered alike, in whatever order the runs came', () => {
    const rates = { ciMinute: 0.5, waitingHour: 20 };
    const answerOf = (costed: readonly CostedRun[]) => [
      costJson(totalCost(costed), rates),
      Object.fromEntries(costByTest(costed).map((one) => [one.key, partJson(one, rates)])),
    ];
    const shuffled = runs.chain((some) => {
      const costed = costedRuns(some, []).runs;
      return fc.tuple(fc.constant(costed), fc.shuffledSubarray(costed, { minLength: costed.length }));
    });
    fc.assert(
      fc.property(shuffled, ([costed, again]) => {
        expect(answerOf(again)).toEqual(answerOf(costed));
      }),
    );
  });

  test('of a test adds up over its CI jobs', () => {
    fc.assert(
      fc.property(runs, fc.array(departure, { maxLength: 4 }), (some, left) => {
        const costed = costedRuns(some, left).runs;
        const places = [...costByPlace(costed).values()];
        for (const one of costByTest(costed)) {
          const ofTest = places.flatMap(({ testId, cost }) => (testId === one.key ? [cost] : []));
          for (const figure of ['redRuns', 'reruns', 'rerunMs', 'waitMs', 'departures', 'failedRuns'] as const)
            expect(sum(ofTest, (place) => place[figure])).toBeCloseTo(one[figure], 6);
          expect(sum(ofTest, ({ redRunsAlone }) => redRunsAlone)).toBe(one.redRunsAlone);
          expect(new Set(ofTest.flatMap(({ pullRequests }) => [...pullRequests]))).toEqual(new Set(one.pullRequests));
        }
      }),
    );
  });

  test('of all owners adds up to the total', () => {
    const owners = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1 });
    fc.assert(
      fc.property(runs, fc.array(departure, { maxLength: 4 }), fc.infiniteStream(owners), (some, left, drawn) => {
        const owned = new Map<string, readonly string[]>();
        const ownersOf = (testId: string): readonly string[] => {
          const known = owned.get(testId) ?? drawn.next().value;
          owned.set(testId, known);
          return known;
        };
        const costed = costedRuns(some, left).runs;
        const total = totalCost(costed);
        const byOwner = costAmong(costed, ownersOf);
        for (const figure of ['redRuns', 'reruns', 'rerunMs', 'waitMs', 'departures'] as const)
          expect(sum(byOwner, (one) => one[figure])).toBeCloseTo(total[figure], 6);
        for (const one of byOwner) {
          expect(one.failedRuns).toBeLessThanOrEqual(total.redRuns);
          expect(one.redRunsAlone).toBeLessThanOrEqual(one.redRuns + 1e-9);
        }
      }),
    );
  });

  test('of all causes adds up to the total, with the failures that have none', () => {
    const causes = fc.uniqueArray(fc.constantFrom('x', 'y', 'z', null), { minLength: 1 });
    fc.assert(
      fc.property(runs, fc.array(departure, { maxLength: 4 }), fc.infiniteStream(causes), (some, left, drawn) => {
        const costed = costedRuns(some, left).runs;
        const known = new Map(
          costed.flatMap(({ key, tests: failed }) => failed.map((id) => [`${key} ${id}`, drawn.next().value] as const)),
        );
        const causesOf: CausesOfRedRuns = (key, testId) => known.get(`${key} ${testId}`) ?? [];
        const total = totalCost(costed);
        const byCause = costByCause(costed, causesOf);
        for (const figure of ['redRuns', 'reruns', 'rerunMs', 'waitMs', 'departures'] as const)
          expect(sum(byCause, (one) => one[figure])).toBeCloseTo(total[figure], 6);
        for (const { key: cause, failedRuns, redRunsAlone } of byCause) {
          const hit = costed.filter(
            ({ isCounted, key, tests: failed }) =>
              isCounted && failed.some((id) => causesOf(key, id).some((one) => (one ?? NO_CAUSE) === cause)),
          );
          expect(failedRuns).toBe(hit.length);
          const alone = hit.filter(({ key, tests: failed }) =>
            failed.every((id) => causesOf(key, id).every((one) => (one ?? NO_CAUSE) === cause)),
          );
          expect(redRunsAlone).toBe(alone.length);
        }
      }),
    );
  });

  test('by reason adds up to the cost of all reasons', () => {
    fc.assert(
      fc.property(runs, fc.array(departure, { maxLength: 4 }), (some, left) => {
        const costed = costedRuns(some, left).runs;
        const parts = RED_REASONS.map((reason) => totalCost(costed.filter((one) => one.reason === reason)));
        const total = totalCost(costed);
        for (const figure of ['redRuns', 'reruns', 'rerunMs', 'waitMs', 'departures'] as const)
          expect(sum(parts, (part) => part[figure])).toBeCloseTo(total[figure], 6);
        // A failure of the change makes no departure innocent.
        expect(parts[RED_REASONS.indexOf('change')]?.departures).toBe(0);
      }),
    );
  });

  test('keeps an author waiting in each hour once, however many runs are red, and eight hours at most after each', () => {
    fc.assert(
      fc.property(runs, (some) => {
        const waits = waitsOf(some);
        for (const [change, places] of Map.groupBy(some.keys(), (i) => some[i]?.change)) {
          const waited = sum(places, (i) => waits[i] ?? 0);
          if (change === null) {
            expect(waited).toBe(0);
            continue;
          }
          // Hour by hour.
          const hours = new Set<number>();
          for (const i of places) {
            const one = some[i];
            if (!one || one.greenAt === null) continue;
            for (let at = one.endedAt; at < Math.min(one.greenAt, one.endedAt + WAIT_MS_MAX); at += HOUR) hours.add(at);
          }
          expect(waited).toBeCloseTo(hours.size * HOUR, 3);
        }
      }),
    );
  });

  test('does not depend on the order of the runs', () => {
    fc.assert(
      fc.property(runs, fc.array(departure, { maxLength: 4 }), (some, left) => {
        const byName = (of: typeof some) =>
          costByTest(costedRuns(of, left).runs)
            .sort((one, other) => (one.key < other.key ? -1 : 1))
            .map(({ key, waitMs, departures, redRuns }) => [
              key,
              waitMs.toFixed(3),
              departures.toFixed(6),
              redRuns.toFixed(6),
            ]);
        expect(byName(some.toReversed())).toEqual(byName(some));
      }),
    );
  });
});

test('a departure has the red runs of its stay, and none outside of it', () => {
  fc.assert(
    fc.property(runs, departure, (some, left) => {
      const own = runsOfDeparture(left, some);
      for (const one of own) {
        expect(one.startedAt).toBeGreaterThanOrEqual(left.enteredAt);
        expect(one.endedAt).toBeLessThanOrEqual(left.leftAt);
      }
      expect(isInnocent(own) === null).toBe(own.length === 0);
    }),
  );
});

test('each leaving without a merge is one departure, which began when the pull request last entered', () => {
  const step = fc.record({
    step: fc.constantFrom('enter' as const, 'leave' as const, 'checks_start' as const),
    pull: fc.constantFrom(1, 2),
    hasFailed: fc.boolean(),
    checkedIn: fc.constantFrom(null, 900, 901),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
      const events = steps.map(
        ({ pull, ...rest }, at): QueueEvent => ({ ...rest, at, pulls: [pull], headCommit: null }),
      );
      const found = departuresOf(events);
      expect(found.map(({ pullRequest, leftAt }) => [pullRequest, leftAt])).toEqual(
        events.filter((one) => one.step === 'leave' && one.hasFailed).map(({ pulls, at }) => [pulls[0] ?? 0, at]),
      );
      for (const { pullRequest, enteredAt, leftAt, checkedIn } of found) {
        const before = events.filter(({ pulls, at }) => pulls[0] === pullRequest && at < leftAt);
        const entry = before.findLast((one) => one.step === 'enter');
        const exit = before.findLast((one) => one.step === 'leave');
        if (entry && entry.at > (exit?.at ?? -1)) expect(enteredAt).toBe(entry.at);
        const said = events.filter(({ at, pulls }) => at >= enteredAt && at <= leftAt && pulls[0] === pullRequest);
        expect([...checkedIn].sort()).toEqual([...new Set(said.flatMap((one) => one.checkedIn ?? []))].sort());
      }
    }),
  );
});

test('a run is red by its change only if something healthy failed in all of its runs', () => {
  const health = fc.constantFrom('healthy' as const, 'flaky' as const, 'broken' as const);
  fc.assert(
    fc.property(
      tests,
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), health),
      fc.subarray(['a', 'b', 'c', 'd']),
      fc.boolean(),
      (failed, healths, always, isJudgedTroubled) => {
        const healthThen = healthThenOf(
          new Map(Object.entries(healths).map(([id, now]) => [id, [{ steps: [], now }]] as const)),
        );
        const asked = { passed: 50, endedAt: 1, tests: failed, alwaysFailed: new Set(always) };
        const reason = reasonOf({ ...asked, isOnDefault: true, isJudgedTroubled }, healthThen);
        if (isJudgedTroubled) expect(reason).toBe('infrastructure');
        else {
          const isChange = failed.some((id) => healthThen(id, 1) === 'healthy' && always.includes(id));
          expect(reason === 'change').toBe(isChange);
          if (!isChange) expect(reason === 'broken').toBe(failed.some((id) => healthThen(id, 1) === 'broken'));
        }
        // Off the default branch, no run is judged.
        const off = reasonOf({ ...asked, isOnDefault: false, isJudgedTroubled: true }, healthThen);
        expect(off).not.toBe('infrastructure');
      },
    ),
  );
});
