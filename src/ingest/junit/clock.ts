/**
 * When the tests of a report finished. Reports say when a suite started and how long each test took, sometimes when a test
 * started, often nothing; the finishing time is put together from what there is (design §5 "Its time is when it finished").
 */
import type { ParsedExecution } from '../upload.ts';

/** The time of a suite: when it started, and the seconds its tests have taken so far. */
export interface SuiteClock {
  /** Milliseconds since the epoch; null while no suite around says so. */
  startedAtMs: number | null;
  elapsedS: number;
}

export class ReportClock {
  #earliestMs = Number.POSITIVE_INFINITY;
  #elapsedS = 0;

  /** A suite's clock: its own when it has a timestamp, else that of the suite around it. */
  suite(timestampMs: number | null, around: SuiteClock | undefined): SuiteClock {
    this.#see(timestampMs);
    if (timestampMs === null && around) return around;
    return { startedAtMs: timestampMs, elapsedS: 0 };
  }

  /** When a test finished that took this long, as far as is known, and how long after the report's beginning. */
  finish(
    timestampMs: number | null,
    seconds: number,
    suites: readonly SuiteClock[],
  ): { finishedAtMs: number | null; offsetS: number } {
    this.#see(timestampMs);
    this.#elapsedS += seconds;
    for (const clock of new Set(suites)) clock.elapsedS += seconds;
    const own = suites.at(-1);
    const known = suites.findLast((clock) => clock.startedAtMs !== null) ?? own;
    const startedAtMs = known?.startedAtMs ?? null;
    const finishedAtMs =
      timestampMs !== null
        ? timestampMs + seconds * 1000
        : startedAtMs === null
          ? null
          : startedAtMs + (known?.elapsedS ?? 0) * 1000;
    return { finishedAtMs: finishedAtMs && Math.round(finishedAtMs), offsetS: this.#elapsedS };
  }

  #see(timestampMs: number | null): void {
    if (timestampMs !== null) this.#earliestMs = Math.min(this.#earliestMs, timestampMs);
  }

  /**
   * Shifts the report so that its earliest time is `startedAtMs`, with all distances kept; tests without a time are placed
   * by the durations of those before them.
   */
  settle(executions: readonly ParsedExecution[], offsetsS: readonly number[], startedAtMs: number): ParsedExecution[] {
    const shiftMs = Number.isFinite(this.#earliestMs) ? startedAtMs - this.#earliestMs : 0;
    return executions.map((execution, i) => ({
      ...execution,
      finishedAtMs:
        execution.finishedAtMs === null
          ? Math.round(startedAtMs + (offsetsS[i] ?? 0) * 1000)
          : Math.round(execution.finishedAtMs + shiftMs),
    }));
  }
}
