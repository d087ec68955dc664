/** What is known of a repository before a run: how much failed unexpectedly in the hour, the day and the time before it. */
import { POOLED_MS, type RunCount, type Surroundings, USUAL_MS } from './run-trouble.ts';
import { HOUR_MS } from './time.ts';

/** A run on the default branch. */
export interface StartedRun extends RunCount {
  /** When its first execution finished; milliseconds since the epoch. */
  startedAt: number;
}

/** What runs that began in one hour add to what is usual, by hour since the epoch. */
export type UsualHours = ReadonlyMap<number, RunCount>;

/** One run adds no more than one part in so many to what is known of its day: {@link pooledParts}. */
const POOLED_PARTS = 20;

/**
 * Runs of all CI jobs up to some moment. Sums are of whole numbers, so that neither the order of the runs nor where a sum
 * begins changes them.
 */
export class PastRuns {
  readonly #recent: StartedRun[];
  readonly #hours: Map<number, RunCount>;

  /**
   * @param recent The runs of the {@link POOLED_MS} before the first moment that will be asked for, in order of their start.
   * @param hours Of the {@link USUAL_MS} before these; they may cover recent runs as well.
   */
  constructor(recent: readonly StartedRun[] = [], hours: UsualHours = new Map()) {
    this.#recent = [...recent];
    this.#hours = new Map(hours);
  }

  /** Adds a run that began no earlier than those before it. */
  add(run: StartedRun): void {
    this.#recent.push(run);
    const hour = hourOf(run.startedAt);
    this.#hours.set(hour, sumOf(this.#hours.get(hour), usualCount(run)));
  }

  /**
   * The surroundings of a run that began at this moment. Runs that began at the same moment or later do not count: what is
   * known of a run follows from earlier runs alone, however many of them overlap.
   */
  before(startedAt: number): Surroundings {
    const hour = { executions: 0, parts: 0 };
    const day = { executions: 0, parts: 0 };
    for (let i = this.#recent.length - 1; i >= 0; i--) {
      const run = this.#recent[i] as StartedRun;
      const age = startedAt - run.startedAt;
      if (age >= POOLED_MS) break;
      if (age <= 0) continue;
      for (const sum of age < HOUR_MS ? [hour, day] : [day]) {
        sum.executions += run.executions;
        sum.parts += pooledParts(run);
      }
    }
    return { hour: pooled(hour), day: pooled(day), usual: this.#usual(hourOf(startedAt - POOLED_MS)) };
  }

  /** In whole hours, up to this one. */
  #usual(until: number): RunCount {
    let usual: RunCount = { executions: 0, unexpected: 0 };
    for (let hour = until - USUAL_MS / HOUR_MS; hour < until; hour++) {
      const count = this.#hours.get(hour);
      if (count) usual = sumOf(usual, count);
    }
    return usual;
  }
}

/** What runs add to what is usual, by the hour in which they began. */
export function usualHours(runs: Iterable<StartedRun>): UsualHours {
  const hours = new Map<number, RunCount>();
  for (const run of runs) hours.set(hourOf(run.startedAt), sumOf(hours.get(hourOf(run.startedAt)), usualCount(run)));
  return hours;
}

const hourOf = (at: number): number => Math.floor(at / HOUR_MS);

/** One failure at most, so that days of trouble never make more of it look usual. */
const usualCount = ({ executions, unexpected }: RunCount): RunCount => ({
  executions,
  unexpected: Math.min(unexpected, 1),
});

const sumOf = (one: RunCount | undefined, other: RunCount): RunCount => ({
  executions: (one?.executions ?? 0) + other.executions,
  unexpected: (one?.unexpected ?? 0) + other.unexpected,
});

/** A run in which everything fails says little about the rest of the day. */
const pooledParts = ({ executions, unexpected }: RunCount): number => Math.min(unexpected * POOLED_PARTS, executions);

const pooled = ({ executions, parts }: { executions: number; parts: number }): RunCount => ({
  executions,
  unexpected: parts / POOLED_PARTS,
});
