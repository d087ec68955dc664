/** The usual rules of the field, to compare with. */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Rules, Run } from './history.ts';
import { breakMessage } from './world.ts';

const isFailed = (run: Run, identity: number): boolean => run.troubles.get(identity)?.isPassedOnRetry === false;

/** The rule of most tools: flaky for two weeks after one commit has both passed and failed, on any branch. */
export class SameCommitRule implements Rules {
  readonly name: string = 'same commit';
  readonly #commits = new Map<string, { failed: Set<number>; passed: Set<number>; at: number }>();
  readonly #flakyUntil = new Map<number, number>();
  readonly #lastFailed = new Set<number>();
  #now = 0;

  takeIn(run: Run): void {
    this.#now = run.at;
    const key = `${run.commit}/${run.job}`;
    const seen = this.#commits.get(key);
    const results = seen ?? { failed: new Set<number>(), passed: new Set<number>(), at: run.at };
    if (!seen && run.troubles.size > 0) this.#commits.set(key, results);
    for (const [identity, { isPassedOnRetry }] of run.troubles)
      if (isPassedOnRetry || seen?.passed.has(identity)) this.#mark(identity, run.at);
    for (const identity of results.failed) if (!isFailed(run, identity)) this.#mark(identity, run.at);
    for (const identity of run.troubles.keys()) if (isFailed(run, identity)) results.failed.add(identity);
    if (run.isDefaultBranch)
      for (let i = 0; i < run.identities.length; i++) {
        const identity = run.identities[i] as number;
        if (isFailed(run, identity)) this.#lastFailed.add(identity);
        else this.#lastFailed.delete(identity);
      }
  }

  settle(now: number): void {
    for (const [key, { at }] of this.#commits) if (at < now - 3 * DAY_MS) this.#commits.delete(key);
    this.#now = now;
  }

  health(identity: number): Health {
    if ((this.#flakyUntil.get(identity) ?? 0) > this.#now) return 'flaky';
    return this.#lastFailed.has(identity) ? 'broken' : 'healthy';
  }

  isQuarantined(identity: number): boolean {
    return this.health(identity) === 'flaky';
  }

  #mark(identity: number, at: number): void {
    this.#flakyUntil.set(identity, at + 14 * DAY_MS);
  }
}

/** A run with so many failures had trouble itself. */
const SHARED_FAILURES = 10;

/**
 * The rule in six lines: flaky for two weeks after a contradiction, broken after two failures in a row on the default
 * branch; runs in which much fails say nothing.
 */
export class SixLinesRule implements Rules {
  readonly name = 'six lines';
  readonly #contradicted = new SameCommitRule();
  readonly #failures = new Map<number, number>();

  takeIn(run: Run): void {
    if (run.troubles.size >= SHARED_FAILURES) return;
    this.#contradicted.takeIn(run);
    if (!run.isDefaultBranch) return;
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      if (isFailed(run, identity)) this.#failures.set(identity, (this.#failures.get(identity) ?? 0) + 1);
      else this.#failures.delete(identity);
    }
  }

  settle(now: number): void {
    this.#contradicted.settle(now);
  }

  health(identity: number): Health {
    if ((this.#failures.get(identity) ?? 0) >= 2) return 'broken';
    return this.#contradicted.health(identity) === 'flaky' ? 'flaky' : 'healthy';
  }

  isQuarantined(identity: number): boolean {
    return this.health(identity) === 'flaky';
  }
}

/** Failure rates on the default branch: flaky from two failures of less than 80 %, broken from 80 % of the last three. */
export class ThresholdRule implements Rules {
  readonly name = 'thresholds';
  readonly #recent = new Map<number, { at: number; isFailed: boolean }[]>();
  #now = 0;

  takeIn(run: Run): void {
    if (!run.isDefaultBranch) return;
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const failed = isFailed(run, identity);
      const known = this.#recent.get(identity);
      if (!known && !failed) continue;
      const recent = known ?? [];
      if (!known) this.#recent.set(identity, recent);
      recent.push({ at: run.at, isFailed: failed });
      if (recent.length > 1_000) recent.splice(0, 500);
    }
  }

  settle(now: number): void {
    this.#now = now;
  }

  health(identity: number): Health {
    const recent = this.#recent.get(identity);
    if (!recent) return 'healthy';
    let failures = 0;
    let executions = 0;
    let lastThree = 0;
    for (let i = recent.length - 1; i >= 0; i--) {
      const one = recent[i] as { at: number; isFailed: boolean };
      if (one.at < this.#now - 14 * DAY_MS) break;
      executions++;
      if (one.isFailed) failures++;
      if (executions <= 3 && one.isFailed) lastThree++;
    }
    if (executions >= 3 && lastThree === 3) return 'broken';
    return failures >= 2 && failures >= 0.01 * executions ? 'flaky' : 'healthy';
  }

  isQuarantined(identity: number): boolean {
    return this.health(identity) === 'flaky';
  }
}

const FILTER_RATES = [0, 0.01, 0.05, 0.2, 0.5, 1];
const CHANGE = 1e-3;

/** A Bayes filter over change points between commits, in the manner of LUCI's analysis; it knows nothing of runs. */
export class FilterWithoutRun implements Rules {
  readonly name = 'filter without run';
  readonly #courses = new Map<number, { weights: number[]; commit: string }>();

  takeIn(run: Run): void {
    if (!run.isDefaultBranch) return;
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const trouble = run.troubles.get(identity);
      const course = this.#courses.get(identity);
      if (!course && !trouble) continue;
      const { weights, commit } = course ?? { weights: [0.96, 0.01, 0.01, 0.005, 0.005, 0.01], commit: '' };
      const moved =
        commit === run.commit
          ? weights
          : weights.map((weight, i) => weight * (1 - CHANGE) + CHANGE * (i === 0 ? 0.7 : 0.06));
      const weighed = moved.map((weight, i) => {
        const fails = Math.min(Math.max(FILTER_RATES[i] ?? 0, 2e-4), 0.99);
        if (trouble?.isPassedOnRetry) return weight * fails * (1 - fails);
        return weight * (trouble ? fails : 1 - fails);
      });
      const sum = weighed.reduce((total, weight) => total + weight, 0);
      this.#courses.set(identity, { weights: weighed.map((weight) => weight / sum), commit: run.commit });
    }
  }

  settle(): void {}

  health(identity: number): Health {
    const weights = this.#courses.get(identity)?.weights;
    if (!weights) return 'healthy';
    const [healthy = 0, ...others] = weights;
    const broken = others.at(-1) ?? 0;
    if (broken >= 0.8) return 'broken';
    return 1 - healthy - broken >= 0.8 ? 'flaky' : 'healthy';
  }

  isQuarantined(identity: number): boolean {
    return this.health(identity) === 'flaky';
  }
}

/** No rule, but what could be said at best: broken while the last failure of the default branch was a break. */
export class CauseRule implements Rules {
  readonly name = 'who sees the cause';
  readonly #broken = new Set<number>();

  takeIn(run: Run): void {
    if (!run.isDefaultBranch) return;
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      if (run.troubles.get(identity)?.message === breakMessage(identity)) this.#broken.add(identity);
      else this.#broken.delete(identity);
    }
  }

  settle(): void {}

  health(identity: number): Health {
    return this.#broken.has(identity) ? 'broken' : 'healthy';
  }

  isQuarantined(): boolean {
    return false;
  }
}
