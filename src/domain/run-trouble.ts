/**
 * How much of what fails in a run is the run's own trouble: an outage, a shard, a database, a slow day, a bad runner. It
 * follows from how many tests fail that were not known to be flaky or broken, in the run and in the day before it. No
 * message is needed: an outage may say something else in every test.
 */
import { DAY_MS, HOUR_MS } from './time.ts';

/** The meaning of a run for one test that fails in it. The test itself is left out of the count. */
export interface RunTrouble {
  /** How likely a healthy test fails in this run. */
  healthyFails: number;
  /** How likely any commit breaks a test, among as many as ran. */
  anyBreaks: number;
  /** How likely the commit of this run broke the test, beyond what any commit does: others broke with it. */
  breaks: number;
  /** How likely the failures of the other tests are trouble of the run. */
  isShared: number;
  /** The part of `healthyFails` that is trouble which lasts, and does not end within minutes. */
  lasting: number;
  /** How much of the run failed together, of tests that were not flaky. 0 if it is one test, or none. */
  together: number;
  /**
   * If just these tests fail in each run, how long they must have failed to be broken, in milliseconds; otherwise 0:
   * {@link brokenAfter}.
   */
  brokenAfter: number;
}

/** How often a healthy test fails for a reason that nothing else shows. */
const HEALTHY_FAILS = 4e-5;

/** How likely any commit breaks a test, among {@link TESTS_USUAL} or fewer. */
const ANY_BREAKS = 7e-4;
const TESTS_USUAL = 150;
/** Only in such steps is a commit less likely to break each of many tests: a run that grows changes what it means rarely. */
const TESTS_STEP = 4;

export const RARE_TROUBLE: RunTrouble = {
  healthyFails: HEALTHY_FAILS,
  anyBreaks: ANY_BREAKS,
  breaks: 0,
  isShared: 0,
  lasting: 0,
  together: 0,
  brokenAfter: 0,
};

/**
 * How many runs meet trouble of the infrastructure is learned from the runs of the repository. Before the first of them, it
 * is as if there had been so many, so much of them in trouble.
 */
const RUNS_BEFORE = { runs: 50, troubled: 4 };
/**
 * Where a test is alone in its CI job, what meets no other job is the test's own. Trouble of the whole repository is rarer,
 * and the runs of other jobs show it.
 */
const RUNS_BEFORE_ALONE = { runs: 3, troubled: 0.02 };
/** How long trouble of the infrastructure lasts: the next run of a test meets it again with exp(−time ÷ this). */
export const TROUBLE_LASTS_MS = 5 * HOUR_MS;
/** How much of the trouble of such a test lasts. The rest meets it by chance, so that it may pass at once. */
const LASTING = 0.75;
/** The least part of a run that trouble hits. */
export const TROUBLE_SHARE_MIN = 0.02;

/**
 * With fewer executions in two weeks, nothing is known of a repository's trouble, and none is assumed that nothing shows: a
 * test that failed and passed on one commit is flaky then, as anyone would read it.
 */
const KNOWN_FROM = 10;

/** The contribution of a run to the counts of its day. */
export interface RunCount {
  executions: number;
  /** Failures and retries of tests not known to be flaky or broken. */
  unexpected: number;
}

/** Runs of a time. */
export interface RunsCount extends RunCount {
  runs: number;
  /** {@link isTroubled}. */
  troubled: number;
}

export const NO_RUNS: RunsCount = { executions: 0, unexpected: 0, runs: 0, troubled: 0 };

/** Whether so much failed unexpectedly in a run that it was in trouble, whatever broke or is flaky. */
export const isTroubled = ({ executions, unexpected }: RunCount): boolean =>
  unexpected >= Math.max(2, TROUBLE_SHARE_MIN * executions);

/** A run, and where it ran. */
export interface PlacedRun extends RunCount {
  /** Its pipeline, CI job and axes. */
  place: string;
}

/** A run that something went wrong in. */
export interface MetRun extends PlacedRun {
  isOnDefaultBranch: boolean;
  /** Failures of tests that keep failing (belief.ts): of those that are unexpected, and of others. */
  again?: { unexpected: number; expected: number };
}

/** A contradiction compares two runs of a pull request, and each of them may have met trouble that nothing shows. */
const CONTRADICTING_RUNS = 2;

/** The runs before it (run-surroundings.ts). */
export interface Surroundings {
  /** Counts of the {@link HOUR_MS} before, and of the {@link POOLED_MS} before. */
  hour: RunCount;
  day: RunsCount;
  /** Counts of the {@link USUAL_MS} before that: what fails every day is not the trouble of this one. */
  usual: RunsCount;
  /** Runs of the {@link SHARED_MS} before in which several tests failed unexpectedly. */
  shared: readonly PlacedRun[];
}

export const NOTHING_RAN_BEFORE: Surroundings = { hour: NO_RUNS, day: NO_RUNS, usual: NO_RUNS, shared: [] };

export const POOLED_MS = DAY_MS;
export const USUAL_MS = 14 * DAY_MS;
export const SHARED_MS = 3 * HOUR_MS;
export const SHARED_MIN = 3;

/** The meaning of the run for a test that fails in it; `isUnexpected`: the test itself is in the count. */
export function runTroubleOf(run: MetRun, surroundings: Surroundings, isUnexpected: boolean): RunTrouble {
  const { hour, day, usual } = surroundings;
  const executions = Math.max(1, run.executions);
  const expected = usual.unexpected / Math.max(1, usual.executions);
  const others = Math.max(0, run.unexpected - (isUnexpected ? 1 : 0) - expected * executions);
  const share = Math.min(0.99, others / executions);
  const isShared = sharedness(others, share);
  const isNew = executions + day.executions + usual.executions < KNOWN_FROM;
  const met = isNew ? 0 : run.isOnDefaultBranch ? 1 : CONTRADICTING_RUNS;
  const isAlone = executions === 1;
  const troubled = troubledShare(isAlone ? RUNS_BEFORE_ALONE : RUNS_BEFORE, day, usual);
  const unseen = others > 0 ? 0 : met * troubled * hitsOneOf(executions);
  const pooled = Math.max(pooledShare(hour, expected), pooledShare(day, expected));
  return {
    healthyFails: HEALTHY_FAILS + unseen + Math.max(isShared * share, pooled),
    anyBreaks: anyBreaksAmong(executions),
    breaks: (1 - isShared) * share,
    isShared,
    lasting: isAlone ? LASTING * unseen : 0,
    together: togetherIn(run) < 2 ? 0 : togetherIn(run) / executions,
    brokenAfter: brokenAfter(run, surroundings),
  };
}

/** If more fails, too few tests are left to show that it is not an outage of everything. */
const SAME_SHARE_MAX = 0.95;
/** How much likelier it must be that the same tests fail than that trouble meets as many by chance: a power of e. */
const SAME_FROM = 10;
/** How unlikely a test fails among those that keep failing without being one of them: a power of e. */
const OTHER_FAILS = 4;

const togetherIn = ({ unexpected, again }: MetRun): number => unexpected + (again?.expected ?? 0);

/**
 * If just the tests fail that failed before, and the others pass, a change broke them: trouble that meets tests by chance
 * meets others each time, and an outage of everything leaves none. If it meets other CI jobs, it is trouble, unless as many
 * tests fail there: then it may be a break of several legs, or an outage of them.
 */
function brokenAfter(run: MetRun, { shared }: Surroundings): number {
  const failed = togetherIn(run);
  const again = (run.again?.unexpected ?? 0) + (run.again?.expected ?? 0);
  const share = failed / Math.max(1, run.executions);
  if (!run.isOnDefaultBranch || again < SHARED_MIN || share > SAME_SHARE_MAX) return 0;
  const surprise = -run.executions * (share * Math.log(share) + (1 - share) * Math.log(1 - share));
  if (surprise - OTHER_FAILS * (failed - again) < SAME_FROM) return 0;
  const elsewhere = shared.filter(
    ({ place, executions, unexpected }) => place !== run.place && unexpected >= (share / 4) * executions,
  );
  if (elsewhere.length === 0) return HOUR_MS;
  return elsewhere.every(({ unexpected }) => Math.abs(unexpected - failed) <= 1 + failed / 30) ? TROUBLE_LASTS_MS : 0;
}

/**
 * A commit breaks a test or a few, however many there are: each of four times as many is four times less likely to be one.
 */
const anyBreaksAmong = (executions: number): number =>
  ANY_BREAKS * TESTS_STEP ** -Math.max(0, Math.round(Math.log(executions / TESTS_USUAL) / Math.log(TESTS_STEP)));

/** How many runs meet trouble, from those of the two weeks before, whatever else ran beside this one. */
const troubledShare = (before: typeof RUNS_BEFORE, day: RunsCount, usual: RunsCount): number =>
  (before.troubled + day.troubled + usual.troubled) / (before.runs + day.runs + usual.runs);

/** How likely trouble hits one test and none of the others of its run: the fewer there are, the likelier. */
const hitsOneOf = (executions: number): number =>
  (1 - TROUBLE_SHARE_MIN) ** executions / (Math.log(1 / TROUBLE_SHARE_MIN) * executions);

/** How likely a healthy test fails, from the runs of a time. */
function pooledShare({ executions, unexpected }: RunCount, expected: number): number {
  const excess = unexpected - expected * executions;
  return excess <= 0 ? 0 : (sharedness(excess, 0) * excess) / executions;
}

/**
 * Trouble, or one commit that breaks several tests? Most commits that break a test break one or a few, and what breaks
 * much of a run would not have been merged.
 */
function sharedness(others: number, share: number): number {
  if (others <= 0) return 0;
  const commitOdds = ((4 * Math.max(1, others) ** -0.5) / (1 + (others / 40) ** 2)) * (1 - share);
  return Math.min(1, others) / (1 + commitOdds);
}
