/**
 * What red runs cost, and whose cost it is. Pure; docs/cost.md has the formulas, and a week that is counted by hand.
 *
 * Nothing is counted twice: what a run costs is shared out evenly among the tests that failed in it, and an hour in which
 * several red runs keep one change waiting is shared out among these. So the sum over all tests is the total.
 */
import type { RedReason } from './red-run-reason.ts';
import { HOUR_MS } from './time.ts';

/** A failure keeps its author waiting for a working day at most: who comes back after a weekend was not waiting. */
export const WAIT_MS_MAX = 8 * HOUR_MS;

/** A red run: an attempt of a leg in which a test failed. Times in milliseconds since the epoch. */
export interface CostlyRun {
  /** Names it: see {@link runKeyOf}. */
  key: string;
  pipelineName: string;
  jobName: string;
  startedAt: number;
  endedAt: number;
  reason: RedReason;
  /** Failed tests, each once; at least one. */
  tests: readonly string[];
  pullRequest: number | null;
  commit: string;
  /** Its pull request, else its commit; null on the default branch, where no author waits. */
  change: string | null;
  /** From the first to the last test of the next attempt; null if it was not run again. */
  rerunMs: number | null;
  /** When the next green run of the same leg of the change ended; null: there is none yet. */
  greenAt: number | null;
}

/** An attempt of a leg on a commit. */
interface NamedRun {
  pipeline_name: string;
  job_name: string;
  axes: string;
  run_id: string;
  run_attempt: number;
  commit_sha: string;
  on_default: boolean;
}

/** One text for an attempt of a leg on a commit, equal for the same one. */
export const runKeyOf = (run: NamedRun): string =>
  JSON.stringify([
    run.pipeline_name,
    run.job_name,
    run.axes,
    run.run_id,
    run.run_attempt,
    run.commit_sha,
    run.on_default,
  ]);

/** How long each run kept its author waiting, in milliseconds, in the order of the runs. */
export function waitsOf(runs: readonly CostlyRun[]): number[] {
  const waits = runs.map(() => 0);
  const places = runs.map((_, place) => place).filter((place) => runs[place]?.change !== null);
  for (const ofChange of Map.groupBy(places, (place) => runs[place]?.change).values()) {
    const spans = ofChange.flatMap((place) => {
      const run = runs[place];
      const end = run?.greenAt == null ? 0 : Math.min(run.greenAt, run.endedAt + WAIT_MS_MAX);
      return run && end > run.endedAt ? [{ place, from: run.endedAt, to: end }] : [];
    });
    const edges = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].sort((one, other) => one - other);
    for (const [i, from] of edges.entries()) {
      const to = edges[i + 1];
      if (to === undefined) break;
      const open = spans.filter((span) => span.from <= from && span.to >= to);
      for (const { place } of open) waits[place] = (waits[place] ?? 0) + (to - from) / open.length;
    }
  }
  return waits;
}

/** A pull request that left the merge queue without being merged. */
export interface Departure {
  pullRequest: number;
  enteredAt: number;
  leftAt: number;
  /** Its head, and the pull requests in which the queue checked it, as far as the log says so. */
  headCommit: string | null;
  checkedIn: readonly number[];
}

/** The red runs for which it left: those of it that ended while it was in the queue. */
export const runsOfDeparture = <R extends Pick<CostlyRun, 'startedAt' | 'endedAt' | 'pullRequest' | 'commit'>>(
  { pullRequest, enteredAt, leftAt, headCommit, checkedIn }: Departure,
  runs: readonly R[],
): R[] =>
  runs.filter(
    (run) =>
      run.startedAt >= enteredAt &&
      run.endedAt <= leftAt &&
      (run.pullRequest === pullRequest ||
        (run.pullRequest !== null && checkedIn.includes(run.pullRequest)) ||
        (headCommit !== null && run.commit === headCommit)),
  );

/** Whether it left by a failure that was not its own; null: no red run says why it left. */
export const isInnocent = (runs: readonly Pick<CostlyRun, 'reason'>[]): boolean | null =>
  runs.length === 0 ? null : runs.every(({ reason }) => reason !== 'change');

/** A sum of costs. Shares may be fractions. */
export interface Cost {
  redRuns: number;
  reruns: number;
  rerunMs: number;
  waitMs: number;
  /** Innocent ones. */
  departures: number;
  /** Distinct ones: of several tests, they do not add up. */
  pullRequests: ReadonlySet<number>;
}

/** What one test, one cause or one owner costs. */
export interface PartCost extends Cost {
  key: string;
  /** Runs in which it failed, and in which nothing else did. */
  failedRuns: number;
  redRunsAlone: number;
}

/** The cost of what was to blame for no run. */
export const noCost = (key: string): PartCost => new PartSum(key);

export interface CostedRun extends CostlyRun {
  waitMs: number;
  /** Its part of the innocent departures that it caused. */
  departures: number;
  /** Whether it is within the window; others are here for their departures. */
  isCounted: boolean;
}

/** Runs with what each costs. */
export function costedRuns(
  runs: readonly (CostlyRun & { isCounted: boolean })[],
  departures: readonly Departure[],
): { runs: CostedRun[]; left: { innocent: number; own: number; unknown: number } } {
  const waits = waitsOf(runs);
  const costed = runs.map((run, i): CostedRun => ({ ...run, waitMs: waits[i] ?? 0, departures: 0 }));
  const left = { innocent: 0, own: 0, unknown: 0 };
  for (const departure of departures) {
    const causes = runsOfDeparture(departure, costed);
    const innocent = isInnocent(causes);
    left[innocent === null ? 'unknown' : innocent ? 'innocent' : 'own']++;
    if (innocent) for (const run of causes) run.departures += 1 / causes.length;
  }
  return { runs: costed, left };
}

class Sum {
  redRuns = 0;
  reruns = 0;
  rerunMs = 0;
  waitMs = 0;
  departures = 0;
  readonly pullRequests = new Set<number>();

  add(run: CostedRun, share: number): void {
    this.departures += share * run.departures;
    if (!run.isCounted) return;
    this.redRuns += share;
    this.reruns += run.rerunMs === null ? 0 : share;
    this.rerunMs += share * (run.rerunMs ?? 0);
    this.waitMs += share * run.waitMs;
    if (run.pullRequest !== null) this.pullRequests.add(run.pullRequest);
  }
}

class PartSum extends Sum {
  failedRuns = 0;
  redRunsAlone = 0;

  constructor(readonly key: string) {
    super();
  }
}

/** The cost of runs as a whole. */
export function totalCost(runs: readonly CostedRun[]): Cost {
  const total = new Sum();
  for (const run of runs) total.add(run, 1);
  return total;
}

/** What a test that failed in a run belongs to there, each once and at least one: itself, its owners, or the causes of its failures. */
type KeysOf = (testId: string, run: CostedRun) => readonly string[];

/** The cost of runs, shared out evenly among the tests that failed in each, and the part of a test among what it belongs to. */
export function costAmong(runs: readonly CostedRun[], keysOf: KeysOf): PartCost[] {
  const sums = new Map<string, PartSum>();
  for (const run of runs) {
    const shares = sharesIn(run, keysOf);
    for (const [key, share] of shares) {
      const sum = sums.get(key) ?? new PartSum(key);
      sums.set(key, sum);
      sum.add(run, share);
      if (!run.isCounted) continue;
      sum.failedRuns++;
      if (shares.size === 1) sum.redRunsAlone++;
    }
  }
  return [...sums.values()];
}

/** The cost of runs, shared out among the tests that failed in them. */
export const costByTest = (runs: readonly CostedRun[]): PartCost[] => costAmong(runs, (testId) => [testId]);

/** A test in a CI job of a pipeline. */
export interface Place {
  testId: string;
  pipelineName: string;
  jobName: string;
}

/** One text for a place. */
export const placeKey = ({ testId, pipelineName, jobName }: Place): string =>
  JSON.stringify([testId, pipelineName, jobName]);

/** The cost of each test in each of its CI jobs, by {@link placeKey}. All places of a test add up to the cost of the test. */
export function costByPlace(runs: readonly CostedRun[]): Map<string, Place & { cost: PartCost }> {
  const places = new Map<string, Place>();
  const costs = costAmong(runs, (testId, { pipelineName, jobName }) => {
    const place = { testId, pipelineName, jobName };
    const key = placeKey(place);
    places.set(key, place);
    return [key];
  });
  return new Map(
    costs.flatMap((cost) => {
      const place = places.get(cost.key);
      return place ? [[cost.key, { ...place, cost }]] : [];
    }),
  );
}

/** Adds up to 1. */
function sharesIn(run: CostedRun, keysOf: KeysOf): Map<string, number> {
  const { tests } = run;
  const shares = new Map<string, number>();
  for (const testId of tests) {
    const keys = keysOf(testId, run);
    for (const key of keys) shares.set(key, (shares.get(key) ?? 0) + 1 / tests.length / keys.length);
  }
  return shares;
}

/** What a repository pays; null: not said. */
export interface Rates {
  ciMinute: number | null;
  waitingHour: number | null;
}

/** Money, in the unit of the rates; null without any. */
export const moneyOf = ({ rerunMs, waitMs }: Pick<Cost, 'rerunMs' | 'waitMs'>, rates: Rates): number | null =>
  rates.ciMinute === null && rates.waitingHour === null
    ? null
    : (rerunMs / 60_000) * (rates.ciMinute ?? 0) + (waitMs / HOUR_MS) * (rates.waitingHour ?? 0);
