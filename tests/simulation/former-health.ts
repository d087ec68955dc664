/**
 * The health of a test by the rules before the filter (former-rules.ts). It starts healthy:
 *
 * - any —flaky execution→ flaky
 * - healthy —failed→ broken
 * - broken —two passing runs in a row→ healthy
 * - flaky —n clean passes in a row over at least three days→ healthy
 * - flaky —failed on three commits in a row without a pass→ broken
 */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS, dayOf } from '../../src/domain/time.ts';
import type { FormerExecution, FormerRun } from './former-verdicts.ts';

const PASSING_RUNS = 2;
const FAILING_COMMITS = 3;
const CLEAN_MS_MIN = 3 * DAY_MS;
/** The failure share covers the day of the last failure and the days before it. */
const SHARE_DAYS = 30;

export class FormerHealth {
  health: Health = 'healthy';
  #passingRuns = new Set<FormerRun>();
  #failingCommits = new Set<string>();
  #cleanPasses = 0;
  #cleanSince = 0;
  #cleanPassesNeeded = 10;
  #days: { day: number; executions: number; troubles: number }[] = [];

  /** Takes the next execution that is evidence. */
  take({ run, result }: FormerExecution, isFlaky: boolean): void {
    const isTrouble = isFlaky || result === 'failed';
    this.#count(dayOf(run.at), isTrouble);
    if (isTrouble) {
      this.#passingRuns.clear();
      if (isFlaky) this.#failingCommits.clear();
      else this.#failingCommits.add(run.commit);
      this.#cleanPasses = 0;
      this.#cleanPassesNeeded = this.#passesAgainstLuck();
    } else {
      if (this.#passingRuns.size < PASSING_RUNS) this.#passingRuns.add(run);
      this.#failingCommits.clear();
      if (this.#cleanPasses++ === 0) this.#cleanSince = run.at;
    }
    if (isFlaky) this.health = 'flaky';
    else if (this.health === 'healthy') this.health = isTrouble ? 'broken' : 'healthy';
    else if (this.health === 'broken') this.health = this.#passingRuns.size >= PASSING_RUNS ? 'healthy' : 'broken';
    else if (this.#failingCommits.size >= FAILING_COMMITS) this.health = 'broken';
    else if (this.#cleanPasses >= this.#cleanPassesNeeded && run.at - this.#cleanSince >= CLEAN_MS_MIN)
      this.health = 'healthy';
  }

  #count(day: number, isTrouble: boolean): void {
    const newest = this.#days.at(-1);
    const today = newest?.day === day ? newest : { day, executions: 0, troubles: 0 };
    if (today !== newest) this.#days = [...this.#days.filter((one) => one.day > day - SHARE_DAYS), today];
    today.executions++;
    if (isTrouble) today.troubles++;
  }

  /** How many passes in a row a test that fails as often as this one has by luck in one of twenty cases at most. */
  #passesAgainstLuck(): number {
    const executions = this.#days.reduce((sum, day) => sum + day.executions, 0);
    const troubles = this.#days.reduce((sum, day) => sum + day.troubles, 0);
    const share = Math.min(Math.max(troubles / executions, 0.01), 0.5);
    return Math.min(Math.max(Math.ceil(Math.log(0.05) / Math.log(1 - share)), 10), 300);
  }
}
