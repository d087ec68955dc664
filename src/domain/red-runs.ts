/** How many red runs a policy would have spared (backtest.ts says what that means). Pure. */
import { excusedBy, type ReplayedQuarantine } from './backtest.ts';

export interface RedRun {
  /** When its first test finished; milliseconds since the epoch. */
  startedAt: number;
  isOnDefault: boolean;
  /** Tests that failed in it; at least one. */
  testIds: readonly string[];
}

export class RedRunCounts {
  red = 0;
  spared = 0;
  redOnDefault = 0;
  sparedOnDefault = 0;
  /** The spared runs in which the test of a quarantine failed. */
  readonly by = new Map<ReplayedQuarantine, number>();

  /** @param quarantines by test id. */
  constructor(private readonly quarantines: ReadonlyMap<string, readonly ReplayedQuarantine[]>) {}

  /** @param failureIdsOf The failure groups of a test in the run; undefined where there are no details. */
  add(run: RedRun, failureIdsOf: (testId: string) => readonly (string | undefined)[]): void {
    this.red++;
    if (run.isOnDefault) this.redOnDefault++;
    const by = this.#sparedBy(run, failureIdsOf);
    if (!by) return;
    this.spared++;
    if (run.isOnDefault) this.sparedOnDefault++;
    for (const quarantine of by) this.by.set(quarantine, (this.by.get(quarantine) ?? 0) + 1);
  }

  /** The quarantine of each test that failed; undefined if one lacks it, so that the run stays red. */
  #sparedBy(
    { startedAt, testIds }: RedRun,
    failureIdsOf: (testId: string) => readonly (string | undefined)[],
  ): ReplayedQuarantine[] | undefined {
    const found: ReplayedQuarantine[] = [];
    for (const testId of testIds) {
      const quarantine = excusedBy(this.quarantines.get(testId) ?? [], startedAt, failureIdsOf(testId));
      if (!quarantine) return undefined;
      found.push(quarantine);
    }
    return found.length === 0 ? undefined : found;
  }
}
