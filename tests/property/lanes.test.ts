/** Which lanes differ from their peers. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { lanesOf as lanesBeside, testsOfLanes } from '../../src/domain/lane-days.ts';
import { blameOf, CHANCE_MAX, COMPARED_DAYS_MIN, compareLanes, type LaneDay } from '../../src/domain/lanes.ts';
import { studentTail } from '../../src/domain/student.ts';
import { randomFrom } from '../support/random.ts';

/** Runs and red runs of each lane in one group of peers on one day. */
type Group = readonly (readonly [runs: number, red: number])[];

/** For each lane on each day, what it is compared by. */
function lanesOf(days: readonly (readonly Group[])[]): LaneDay[][] {
  const placed = days.map((groups) =>
    groups.flatMap((group, number) =>
      group.flatMap(([runs, red], lane) =>
        runs === 0 ? [] : [{ pipelineName: `group ${number}`, jobName: '', axes: '', value: String(lane), runs, red }],
      ),
    ),
  );
  const lanes: LaneDay[][] = [];
  for (const { place, days: ofLane } of lanesBeside('runner', placed)) lanes[Number(place.value)] = ofLane;
  return Array.from(lanes, (lane) => lane ?? []);
}

const LANES = 4;
const groups = fc.array(
  fc.array(
    fc.array(
      fc.tuple(fc.nat(12), fc.nat(12)).map(([a, b]) => [Math.max(a, b), Math.min(a, b)] as const),
      {
        minLength: LANES,
        maxLength: LANES,
      },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 1, maxLength: 12 },
);

interface World {
  seed: number;
  days: number;
  lanes: number;
  runsOfDay: number;
  /** How often a run is red, on an ordinary day and on a bad one. */
  red: number;
  badRed: number;
  badDays: number;
  /** How often the first lane is red, as a multiple. */
  times: number;
}

/** Days of runs that are shared out among lanes by chance. A bad day is bad for a stretch, whatever lane a run is on. */
function worldOf({ seed, days, lanes, runsOfDay, red, badRed, badDays, times }: World): LaneDay[][] {
  const random = randomFrom(seed);
  return lanesOf(
    Array.from({ length: days }, () => {
      const isBad = random() < badDays;
      const counts = Array.from({ length: lanes }, () => [0, 0] as [number, number]);
      const from = random();
      for (let i = 0; i < runsOfDay; i++) {
        const lane = Math.floor(random() * lanes);
        const inStretch = isBad && i / runsOfDay >= from;
        const share = Math.min(1, (inStretch ? badRed : red) * (lane === 0 ? times : 1));
        const count = counts[lane];
        if (!count) continue;
        count[0]++;
        if (random() < share) count[1]++;
      }
      return [counts];
    }),
  );
}

const differing = (world: World): number[] =>
  compareLanes(worldOf(world)).flatMap(({ differs }, lane) => (differs === null ? [] : [lane]));

describe('lanes are compared', () => {
  test('with no more than one list in a hundred naming one that is like the others, also where days are bad', () => {
    const WORLDS = 2_000;
    for (const kind of [
      { days: 28, lanes: 8, runsOfDay: 60, red: 0.08, badRed: 0.9, badDays: 0.15 },
      { days: 7, lanes: 4, runsOfDay: 30, red: 0.2, badRed: 1, badDays: 0.3 },
      { days: 4, lanes: 20, runsOfDay: 200, red: 0.03, badRed: 0.6, badDays: 0.2 },
    ]) {
      const alarms = Array.from({ length: WORLDS }, (_, i) => differing({ ...kind, times: 1, seed: i + 1 }).length > 0);
      expect(alarms.filter(Boolean).length).toBeLessThanOrEqual(CHANCE_MAX * WORLDS);
    }
  });

  test('such that one that fails eight times as often is found within four weeks, and only that one', () => {
    const found = Array.from({ length: 200 }, (_, i) =>
      differing({ days: 28, lanes: 8, runsOfDay: 60, red: 0.04, badRed: 0.9, badDays: 0.05, times: 8, seed: i + 1 }),
    );
    expect(found.filter((lanes) => lanes.includes(0)).length).toBeGreaterThanOrEqual(190);
    // Beside one that fails so much more often, others may fail less.
    expect(found.flat().filter((lane) => lane === 0).length).toBeGreaterThan(0.5 * found.flat().length);
  });

  test('without regard to their order, or that of the days', () => {
    fc.assert(
      fc.property(groups, (days) => {
        const forward = compareLanes(lanesOf(days));
        const mirrored = days.toReversed().map((ofDay) => ofDay.map((group) => group.toReversed()));
        const turned = lanesOf(mirrored);
        const backward = compareLanes(Array.from({ length: LANES }, (_, i) => turned[i] ?? [])).toReversed();
        for (const [i, { differs, timesAsOften }] of forward.entries()) {
          expect(backward[i]?.differs).toBe(differs);
          if (timesAsOften === null) expect(backward[i]?.timesAsOften).toBeNull();
          else expect(backward[i]?.timesAsOften).toBeCloseTo(timesAsOften, 6);
        }
      }),
    );
  });

  test('with none that has no peers, and none on a day or two', () => {
    fc.assert(
      fc.property(groups, (days) => {
        const alone = days.map((ofDay) =>
          ofDay.map((group) => group.map((one, lane) => (lane === 0 ? one : ([0, 0] as const)))),
        );
        for (const one of compareLanes(lanesOf(alone))) expect(one).toEqual({ differs: null, timesAsOften: null });
        for (const one of compareLanes(lanesOf(days.slice(0, COMPARED_DAYS_MIN - 1)))) expect(one.differs).toBeNull();
      }),
    );
  });

  test('by a ratio that is the plain one where all peers are of one group', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(50),
        fc.nat(50),
        (m, k, a, b) => {
          const [o, p] = [Math.min(a, m), Math.min(b, k)];
          const [first] = compareLanes(
            lanesOf([
              [
                [
                  [m, o],
                  [k, p],
                ],
              ],
            ]),
          );
          if (p === 0) expect(first?.timesAsOften).toBeNull();
          else expect(first?.timesAsOften).toBeCloseTo(o / m / (p / k), 6);
        },
      ),
    );
  });
});

test('Student’s tail is that of the tables', () => {
  // Critical values of one side: 5 %, 1 % and 0.1 %.
  for (const [t, freedom, tail] of [
    [6.3138, 1, 0.05],
    [2.92, 2, 0.05],
    [3.3649, 5, 0.01],
    [3.1737, 9, 0.00566],
    [3.4082, 29, 0.000965],
    [0, 7, 0.5],
  ] as const)
    expect(studentTail(t, freedom)).toBeCloseTo(tail, 4);
  fc.assert(
    fc.property(fc.double({ min: -40, max: 40, noNaN: true }), fc.integer({ min: 1, max: 200 }), (t, freedom) => {
      expect(studentTail(t, freedom) + studentTail(-t, freedom)).toBeCloseTo(1, 9);
      expect(studentTail(t, freedom)).toBeGreaterThanOrEqual(studentTail(t + 0.5, freedom));
    }),
  );
});

test('a test is to blame with half of the red runs, and none if many have a little', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (red, tests, share) => {
      const blame = blameOf({ red, tests, most: share * red });
      if (red < 5) expect(blame).toBeNull();
      else if (share >= 0.51) expect(blame).toBe('test');
      else if (share <= 0.19 && tests >= 5) expect(blame).toBe('no test');
    }),
  );
});

test('the parts of the tests of a lane add up to its red runs, and what is beyond its peers to nothing over all lanes', () => {
  const run = fc.record({
    group: fc.nat(2),
    value: fc.constantFrom('a', 'b', 'c'),
    tests: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 40 }), (runs) => {
      const placeOf = ({ group, value }: { group: number; value: string }) => ({
        ...{ pipelineName: `group ${group}`, jobName: '', axes: '', value },
      });
      const red = runs.filter(({ tests }) => tests.length > 0);
      const day = runs.map((one) => ({ ...placeOf(one), runs: 1, red: one.tests.length > 0 ? 1 : 0 }));
      const lanes = lanesBeside('runner', [day]);
      const found = testsOfLanes(
        'runner',
        [day],
        red.map((one) => ({ ...placeOf(one), tests: one.tests })),
        lanes.map(({ place }) => place),
      );
      const ofLanes = [...found.values()];
      expect(ofLanes.map(({ tests }) => tests.reduce((sum, { share }) => sum + share, 0))).toEqual(
        lanes.map((lane) => expect.closeTo(lane.red, 9)),
      );
      expect(ofLanes.reduce((sum, { redBeyond }) => sum + redBeyond, 0)).toBeCloseTo(0, 9);
    }),
  );
});
