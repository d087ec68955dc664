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

/** A run that something went wrong in. */
export interface MetRun extends RunCount {
  isOnDefaultBranch: boolean;
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
}

export const NOTHING_RAN_BEFORE: Surroundings = { hour: NO_RUNS, day: NO_RUNS, usual: NO_RUNS };

export const POOLED_MS = DAY_MS;
export const USUAL_MS = 14 * DAY_MS;

/** The meaning of the run for a test that fails in it; `isUnexpected`: the test itself is in the count. */
export function runTroubleOf(run: MetRun, { hour, day, usual }: Surroundings, isUnexpected: boolean): RunTrouble {
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
  };
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
