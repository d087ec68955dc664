/**
 * Which lanes fail more often than their peers. A lane is what a run goes through: its pipeline, CI job, leg, runner, region
 * or hour of the day. Pure.
 *
 * Runs are only compared with runs of the same day that differ in nothing else: runners with others on the same leg, legs
 * with others of the same CI job, CI jobs with others of the same pipeline. Within such a group of `n` runs, `r` of them
 * red, a lane with `m` runs would have `m·r/n` red runs if it were like the others (Cochran 1954; Mantel and Haenszel 1959).
 * So a bad day, or a leg that always fails, is no fault of its runners.
 *
 * A lane differs if neither of two ways of chance explains it:
 *
 * 1. *Runs fail one by one.* Given the totals of its group, the red runs of a lane are a sum of independent trials (Vatutin and
 *    Mikhailov 1982), so Hoeffding's bound (1963, theorem 1) holds whatever the numbers: of `m` runs, of which `e` are expected
 *    to be red, so many as `o` are with a probability of at most (e/o)^o · ((m − e)/(m − o))^(m − o).
 * 2. *The runs of a day share their fate*, as when a broken test turns every run of an afternoon red. Then only days count:
 *    the mean excess of a day must be beyond 0 by Student's test.
 *
 * The greater of both probabilities, times the number of lanes that are compared, times two for both directions, must be at
 * most {@link CHANCE_MAX}.
 */
import { studentTail } from './student.ts';

export const LANE_KINDS = ['pipeline', 'job', 'leg', 'runner', 'region', 'hour'] as const;
export type LaneKind = (typeof LANE_KINDS)[number];

/** How likely any lane of a list is called different by chance. */
export const CHANCE_MAX = 0.01;
/** Less is no reason to look at a lane, however sure it is. */
export const TIMES_MIN = 1.5;
/** With fewer runs that have peers, or on fewer days, a lane is not compared. */
const COMPARED_RUNS_MIN = 10;
export const COMPARED_DAYS_MIN = 3;

/** A lane on one UTC day. */
export interface LaneDay {
  /** Runs, and red ones. */
  runs: number;
  red: number;
  /** The same, of groups in which other lanes ran, too. */
  comparedRuns: number;
  comparedRed: number;
  /** Σ m·r/n over these groups: red runs if the lane were like the others. */
  expected: number;
  /** Σ o·(n − m)/n over these groups: the lane's part of the ratio of Mantel and Haenszel. */
  own: number;
}

export interface ComparedLane {
  /** Null: nothing shows that it differs. */
  differs: 'more' | 'less' | null;
  /** How often it fails compared with its peers: 8 = eight times as often. Null if it has none, or none of them failed. */
  timesAsOften: number | null;
}

/** One list of lanes of one kind; the result is in its order. */
export function compareLanes(lanes: readonly (readonly LaneDay[])[]): ComparedLane[] {
  const sums = lanes.map(sumOf);
  const compared = sums.filter(isComparable).length;
  return sums.map((sum) => {
    const timesAsOften = sum.others > 0 ? sum.own / sum.others : null;
    if (!isComparable(sum)) return { differs: null, timesAsOften };
    const isMore = sum.red > sum.expected;
    const isEnough = isMore
      ? timesAsOften === null || timesAsOften >= TIMES_MIN
      : timesAsOften !== null && timesAsOften <= 1 / TIMES_MIN;
    const chance = 2 * compared * Math.max(chanceOfRuns(sum), chanceOfDays(sum.excesses));
    return { differs: isEnough && chance <= CHANCE_MAX ? (isMore ? 'more' : 'less') : null, timesAsOften };
  });
}

interface LaneSum {
  runs: number;
  red: number;
  expected: number;
  own: number;
  others: number;
  /** Red runs beyond what is expected, of each day with peers. */
  excesses: readonly number[];
}

function sumOf(days: readonly LaneDay[]): LaneSum {
  const compared = days.filter(({ comparedRuns }) => comparedRuns > 0);
  const sum = (of: (day: LaneDay) => number): number => compared.reduce((total, day) => total + of(day), 0);
  const [red, expected, own] = [sum((day) => day.comparedRed), sum((day) => day.expected), sum((day) => day.own)];
  // o·(n − m)/n − (r − o)·m/n = o − m·r/n
  const others = Math.max(0, own - (red - expected));
  return {
    runs: sum((day) => day.comparedRuns),
    red,
    expected,
    own,
    // Of rounding errors.
    others: others < 1e-9 ? 0 : others,
    excesses: compared.map((day) => day.comparedRed - day.expected),
  };
}

const isComparable = ({ runs, excesses }: LaneSum): boolean =>
  runs >= COMPARED_RUNS_MIN && excesses.length >= COMPARED_DAYS_MIN;

/** Hoeffding's bound, above or below what is expected. */
function chanceOfRuns({ runs, red, expected }: LaneSum): number {
  // All are red, or none is, whatever the lane.
  if (expected <= 0 || expected >= runs) return 1;
  const surprise = (count: number, mean: number): number => (count <= 0 ? 0 : count * Math.log(count / mean));
  return Math.min(1, Math.exp(-surprise(red, expected) - surprise(runs - red, runs - expected)));
}

function chanceOfDays(excesses: readonly number[]): number {
  const count = excesses.length;
  const mean = excesses.reduce((sum, one) => sum + one, 0) / count;
  const variance = excesses.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1);
  return mean === 0 ? 1 : studentTail(Math.abs(mean) / Math.sqrt(variance / count), count - 1);
}

/** Who is to blame for the red runs of a lane; null: nothing says so. */
export type Blame = 'test' | 'no test' | null;

const BLAMED_RUNS_MIN = 5;
const BLAMED_SHARE_MIN = 0.5;
const BLAMELESS_TESTS_MIN = 5;
const BLAMELESS_SHARE_MAX = 0.2;

/**
 * A test is to blame if at least half of the red runs beyond those of its peers are its own. No test is if they are of five
 * or more and none has more than a fifth: then it is the lane. Runs are shared out: one with four failed tests gives each a
 * quarter, so what fails all at once is nobody's.
 *
 * @param beyond red runs of the lane, beyond those that are expected of it; how many tests have some of these, and the most
 *   that one has
 */
export function blameOf({ red, tests, most }: { red: number; tests: number; most: number }): Blame {
  if (red < BLAMED_RUNS_MIN) return null;
  if (most >= BLAMED_SHARE_MIN * red) return 'test';
  return tests >= BLAMELESS_TESTS_MIN && most <= BLAMELESS_SHARE_MAX * red ? 'no test' : null;
}
