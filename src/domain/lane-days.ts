/** What lanes are compared by: their runs on each day beside those of their peers, and the tests that failed on them. Pure. */
import type { LaneDay, LaneKind } from './lanes.ts';
import type { Leg } from './test-identity.ts';

/** What a run goes through: its leg, and of the asked kind its runner, region or hour, else an empty text. */
export interface Placed extends Leg {
  value: string;
}

/** Runs of one day in one place. */
export interface PlacedRuns extends Placed {
  runs: number;
  red: number;
}

/** A red run and its failed tests, each once; at least one. */
export interface PlacedRedRun extends Placed {
  tests: readonly string[];
}

export interface Lane {
  /** What makes it this lane; the other parts are empty. */
  place: Placed;
  runs: number;
  red: number;
  days: LaneDay[];
}

/** The red runs of a lane by test; a run with four failed tests gives each a quarter. */
export interface LaneTests {
  failedTests: number;
  /** Tests with a larger part of the red runs here than on its peers. */
  testsBeyond: number;
  /** Red runs beyond what its peers have. */
  redBeyond: number;
  /** Tests that failed on it, those furthest beyond its peers first. */
  tests: { testId: string; share: number; beyond: number }[];
}

const isOf = (kind: LaneKind, ...kinds: readonly LaneKind[]): boolean => kinds.includes(kind);

/** The lane of a run. */
const laneOf = (kind: LaneKind, { pipelineName, jobName, axes, value }: Placed): Placed => ({
  pipelineName: isOf(kind, 'pipeline', 'job', 'leg') ? pipelineName : '',
  jobName: isOf(kind, 'job', 'leg') ? jobName : '',
  axes: isOf(kind, 'leg') ? axes : '',
  value,
});

/** The same for runs that differ in nothing but the lane. */
const peersOf = (kind: LaneKind, { pipelineName, jobName, axes }: Placed): string =>
  JSON.stringify([
    isOf(kind, 'pipeline') ? '' : pipelineName,
    isOf(kind, 'pipeline', 'job') ? '' : jobName,
    isOf(kind, 'pipeline', 'job', 'leg') ? '' : axes,
  ]);

/** One text for a lane. */
export const laneKey = ({ pipelineName, jobName, axes, value }: Placed): string =>
  JSON.stringify([pipelineName, jobName, axes, value]);

/** Whether a run does not say its runner or region: it has no lane, and is nobody's peer. */
export const isUnplaced = (kind: LaneKind, { value }: Placed): boolean =>
  isOf(kind, 'runner', 'region') && value === '';

interface Group {
  runs: number;
  red: number;
  lanes: Map<string, PlacedRuns>;
}

/** Lanes by their key, in groups of runs that differ in nothing else. */
function groupsOf(kind: LaneKind, places: readonly PlacedRuns[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const placed of places) {
    if (isUnplaced(kind, placed)) continue;
    const peers = peersOf(kind, placed);
    const group = groups.get(peers) ?? { runs: 0, red: 0, lanes: new Map<string, PlacedRuns>() };
    groups.set(peers, group);
    const place = laneOf(kind, placed);
    const key = laneKey(place);
    const lane = group.lanes.get(key) ?? { ...place, runs: 0, red: 0 };
    group.lanes.set(key, lane);
    for (const sum of [group, lane]) {
      sum.runs += placed.runs;
      sum.red += placed.red;
    }
  }
  return groups;
}

/** Lanes of a kind, with the runs of each day beside those of their peers. */
export function lanesOf(kind: LaneKind, days: readonly (readonly PlacedRuns[])[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const day of days) {
    const ofDay = new Map<string, LaneDay>();
    for (const group of groupsOf(kind, day).values())
      for (const [key, { runs, red, ...place }] of group.lanes) {
        const lane = lanes.get(key) ?? { place, runs: 0, red: 0, days: [] };
        lanes.set(key, lane);
        lane.runs += runs;
        lane.red += red;
        const one = ofDay.get(key) ?? { ...NO_RUNS };
        ofDay.set(key, one);
        one.runs += runs;
        one.red += red;
        if (runs === group.runs) continue;
        one.comparedRuns += runs;
        one.comparedRed += red;
        one.expected += (runs * group.red) / group.runs;
        one.own += (red * (group.runs - runs)) / group.runs;
      }
    for (const [key, one] of ofDay) lanes.get(key)?.days.push(one);
  }
  return [...lanes.values()];
}

const NO_RUNS: LaneDay = { runs: 0, red: 0, comparedRuns: 0, comparedRed: 0, expected: 0, own: 0 };

/**
 * The tests that failed in the red runs of some lanes, by the key of the lane. What a test has beyond its peers is its part
 * less the lane's share of what the test has among them, here of all days together.
 */
export function testsOfLanes(
  kind: LaneKind,
  days: readonly (readonly PlacedRuns[])[],
  redRuns: readonly PlacedRedRun[],
  lanes: readonly Placed[],
): Map<string, LaneTests> {
  const groups = groupsOf(kind, days.flat());
  const parts = partsOf(kind, redRuns);
  return new Map(
    lanes.map(laneKey).map((key) => {
      const sums = new Map<string, { share: number; beyond: number }>();
      for (const [peers, group] of groups) {
        const expected = (group.lanes.get(key)?.runs ?? 0) / group.runs;
        if (expected === 0) continue;
        for (const [testId, part] of parts.get(peers) ?? []) {
          const sum = sums.get(testId) ?? { share: 0, beyond: 0 };
          sums.set(testId, sum);
          const own = part.lanes.get(key) ?? 0;
          sum.share += own;
          sum.beyond += own - expected * part.all;
        }
      }
      return [key, summedUp(sums)];
    }),
  );
}

interface Part {
  all: number;
  lanes: Map<string, number>;
}

/** By peers and test: red runs, shared out among their tests, of all lanes and of each. */
function partsOf(kind: LaneKind, redRuns: readonly PlacedRedRun[]): Map<string, Map<string, Part>> {
  const parts = new Map<string, Map<string, Part>>();
  for (const run of redRuns) {
    if (isUnplaced(kind, run)) continue;
    const peers = peersOf(kind, run);
    const ofPeers = parts.get(peers) ?? new Map<string, Part>();
    parts.set(peers, ofPeers);
    const lane = laneKey(laneOf(kind, run));
    const share = 1 / run.tests.length;
    for (const testId of run.tests) {
      const part = ofPeers.get(testId) ?? { all: 0, lanes: new Map<string, number>() };
      ofPeers.set(testId, part);
      part.all += share;
      part.lanes.set(lane, (part.lanes.get(lane) ?? 0) + share);
    }
  }
  return parts;
}

function summedUp(sums: ReadonlyMap<string, { share: number; beyond: number }>): LaneTests {
  const all = [...sums].map(([testId, sum]) => ({ testId, ...sum }));
  const tests = all.filter(({ share }) => share > 0);
  return {
    failedTests: tests.length,
    testsBeyond: all.filter(({ beyond }) => beyond > 0).length,
    redBeyond: all.reduce((sum, { beyond }) => sum + beyond, 0),
    tests: tests.sort((one, other) => other.beyond - one.beyond || (one.testId < other.testId ? -1 : 1)),
  };
}
