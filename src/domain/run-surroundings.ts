/** Surroundings of a run: how much failed unexpectedly in the hour, the day and the time before it. */
import {
  isTroubled,
  NO_RUNS,
  type PlacedRun,
  POOLED_MS,
  type RunCount,
  type RunsCount,
  SHARED_MIN,
  SHARED_MS,
  type Surroundings,
  USUAL_MS,
} from './run-trouble.ts';
import { HOUR_MS } from './time.ts';

/** A run on the default branch. */
export interface StartedRun extends PlacedRun {
  /** When its first execution finished; milliseconds since the epoch. */
  startedAt: number;
}

/** Counts that runs add to what is usual, by the hour (since the epoch) in which they began. */
export type UsualHours = ReadonlyMap<number, RunsCount>;

/** One run adds no more than one part in so many to what is known of its day: {@link pooledParts}. */
const POOLED_PARTS = 20;

/**
 * Runs of all CI jobs up to some moment. Sums are of whole numbers, so that neither the order of the runs nor where a sum
 * begins changes them.
 */
export class PastRuns {
  readonly #startedAt: number[] = [];
  /** At `i`: of all runs before the one with this index, so that the sum of any stretch is a difference. */
  readonly #executions = [0];
  readonly #parts = [0];
  readonly #troubled = [0];
  /** In order. */
  readonly #shared: StartedRun[] = [];
  readonly #hours: Map<number, RunsCount>;
  #usualBefore: { until: number; count: RunsCount } | undefined;

  /**
   * @param recent The runs of the {@link POOLED_MS} before the first moment that will be asked for, in order of their start.
   * @param hours Of the {@link USUAL_MS} before these; they may cover recent runs as well.
   */
  constructor(recent: readonly StartedRun[] = [], hours: UsualHours = new Map()) {
    for (const run of recent) this.#push(run);
    this.#hours = new Map(hours);
  }

  /** Adds a run that began no earlier than those before it. */
  add(run: StartedRun): void {
    this.#push(run);
    const hour = hourOf(run.startedAt);
    this.#hours.set(hour, sumOf(this.#hours.get(hour), usualCount(run)));
    if (this.#usualBefore && hour < this.#usualBefore.until) this.#usualBefore = undefined;
  }

  #push(run: StartedRun): void {
    if (run.unexpected >= SHARED_MIN) this.#shared.push(run);
    this.#startedAt.push(run.startedAt);
    this.#executions.push((this.#executions.at(-1) ?? 0) + run.executions);
    this.#parts.push((this.#parts.at(-1) ?? 0) + pooledParts(run));
    this.#troubled.push((this.#troubled.at(-1) ?? 0) + Number(isTroubled(run)));
  }

  /**
   * The surroundings of a run that began at this moment. Runs that began at the same moment or later do not count: what is
   * known of a run follows from earlier runs alone, however many of them overlap.
   */
  before(startedAt: number): Surroundings {
    const end = this.#countBefore(startedAt);
    return {
      hour: this.#pooled(this.#countBefore(startedAt - HOUR_MS + 1), end),
      day: this.#pooled(this.#countBefore(startedAt - POOLED_MS + 1), end),
      usual: this.#usual(hourOf(startedAt - POOLED_MS)),
      shared: this.#sharedBefore(startedAt),
    };
  }

  #sharedBefore(startedAt: number): PlacedRun[] {
    const found: PlacedRun[] = [];
    for (let i = this.#shared.length - 1; i >= 0; i--) {
      const run = this.#shared[i];
      if (!run || run.startedAt <= startedAt - SHARED_MS) break;
      if (run.startedAt < startedAt) found.push(run);
    }
    return found;
  }

  /** How many runs began before this moment. */
  #countBefore(moment: number): number {
    let low = 0;
    let high = this.#startedAt.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#startedAt[middle] ?? 0) < moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #pooled(from: number, end: number): RunsCount {
    const sumIn = (sums: readonly number[]): number => (sums[end] ?? 0) - (sums[from] ?? 0);
    return {
      executions: sumIn(this.#executions),
      unexpected: sumIn(this.#parts) / POOLED_PARTS,
      runs: end - from,
      troubled: sumIn(this.#troubled),
    };
  }

  /** In whole hours, up to this one. */
  #usual(until: number): RunsCount {
    if (this.#usualBefore?.until === until) return this.#usualBefore.count;
    let count = NO_RUNS;
    for (let hour = until - USUAL_MS / HOUR_MS; hour < until; hour++) {
      const one = this.#hours.get(hour);
      if (one) count = sumOf(count, one);
    }
    this.#usualBefore = { until, count };
    return count;
  }
}

/** Adds up runs by the hour in which they began. */
export function usualHours(runs: Iterable<StartedRun>): UsualHours {
  const hours = new Map<number, RunsCount>();
  for (const run of runs) hours.set(hourOf(run.startedAt), sumOf(hours.get(hourOf(run.startedAt)), usualCount(run)));
  return hours;
}

const hourOf = (at: number): number => Math.floor(at / HOUR_MS);

/** One failure at most, so that days of trouble never make more of it look usual. */
const usualCount = (run: RunCount): RunsCount => ({
  executions: run.executions,
  unexpected: Math.min(run.unexpected, 1),
  runs: 1,
  troubled: Number(isTroubled(run)),
});

/** Adds up counts of runs. */
export const sumOf = (one: RunsCount = NO_RUNS, other: RunsCount): RunsCount => ({
  executions: one.executions + other.executions,
  unexpected: one.unexpected + other.unexpected,
  runs: one.runs + other.runs,
  troubled: one.troubled + other.troubled,
});

/** A run in which everything fails says little about the rest of the day. */
const pooledParts = ({ executions, unexpected }: RunCount): number => Math.min(unexpected * POOLED_PARTS, executions);
