/** The filter of src/domain/belief.ts on runs as they finish. */
import { type Belief, foldBelief, foldContradiction, newBelief } from '../../src/domain/belief.ts';
import { flakyQuarantineReason } from '../../src/domain/belief-quarantine.ts';
import {
  POOLED_MS,
  pooledCount,
  type RunCount,
  runTroubleOf,
  type Surroundings,
  USUAL_MS,
  usualCount,
} from '../../src/domain/run-trouble.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import type { Rules, Run } from './history.ts';

export class NewRules implements Rules {
  readonly name = 'new rules';
  readonly beliefs = new Map<number, Belief>();
  readonly #runs: { count: RunCount; at: number }[] = [];
  readonly #pullRequests = new Map<string, { run: Run; failed: Set<number>; passed: Set<number> }>();

  takeIn(run: Run): void {
    const count = this.#count(run);
    const before = this.#before(run.at);
    if (run.isDefaultBranch) {
      for (let i = 0; i < run.identities.length; i++) {
        const identity = run.identities[i] as number;
        const trouble = run.troubles.get(identity);
        const belief = this.beliefs.get(identity) ?? newBelief();
        const result = !trouble ? 'passed' : trouble.isPassedOnRetry ? 'retried' : 'failed';
        const execution = {
          executionId: `${run.id}/${run.attempt}`,
          result,
          finishedAt: run.at,
          commit: run.commit,
        } as const;
        const met = trouble && runTroubleOf(count, before, belief.status === 'healthy');
        this.beliefs.set(identity, foldBelief(belief, execution, met));
      }
      this.#runs.push({ at: run.at, count });
    } else this.#contradict(run, count, before);
  }

  settle(now: number): void {
    for (const [key, { run }] of this.#pullRequests) if (run.at < now - 3 * DAY_MS) this.#pullRequests.delete(key);
  }

  health(identity: number): Health {
    return this.beliefs.get(identity)?.status ?? 'healthy';
  }

  isQuarantined(identity: number): boolean {
    const belief = this.beliefs.get(identity);
    return belief !== undefined && flakyQuarantineReason(belief) !== null;
  }

  #count(run: Run): RunCount {
    let unexpected = 0;
    for (const identity of run.troubles.keys()) if (this.health(identity) === 'healthy') unexpected++;
    return { executions: run.identities.length, unexpected };
  }

  #before(at: number): Surroundings {
    while (this.#runs[0] && this.#runs[0].at <= at - POOLED_MS - USUAL_MS) this.#runs.shift();
    const hour = { executions: 0, unexpected: 0 };
    const day = { executions: 0, unexpected: 0 };
    const usual = { executions: 0, unexpected: 0 };
    const add = (sum: RunCount, { executions, unexpected }: RunCount): void => {
      sum.executions += executions;
      sum.unexpected += unexpected;
    };
    for (const { count, at: then } of this.#runs) {
      if (then <= at - POOLED_MS) add(usual, usualCount(count));
      else add(day, pooledCount(count));
      if (then > at - HOUR_MS) add(hour, pooledCount(count));
    }
    return { hour, day, usual };
  }

  #contradict(run: Run, count: RunCount, before: Surroundings): void {
    const key = `${run.commit}/${run.job}`;
    const seen = this.#pullRequests.get(key);
    const fold = (identity: number): void => {
      const belief = this.beliefs.get(identity) ?? newBelief();
      const failure = { executionId: run.id, commit: run.commit, finishedAt: run.at };
      this.beliefs.set(
        identity,
        foldContradiction(belief, failure, runTroubleOf(count, before, belief.status === 'healthy')),
      );
    };
    for (const [identity, { isPassedOnRetry }] of run.troubles) if (isPassedOnRetry) fold(identity);
    const failed = new Set([...run.troubles].flatMap(([identity, one]) => (one.isPassedOnRetry ? [] : [identity])));
    if (!seen) {
      if (failed.size > 0) this.#pullRequests.set(key, { run, failed, passed: new Set() });
      return;
    }
    const first = this.#count(seen.run);
    for (const identity of seen.failed)
      if (!failed.has(identity)) {
        const belief = this.beliefs.get(identity) ?? newBelief();
        const failure = { executionId: seen.run.id, commit: run.commit, finishedAt: seen.run.at };
        this.beliefs.set(
          identity,
          foldContradiction(belief, failure, runTroubleOf(first, before, belief.status === 'healthy')),
        );
      }
    for (const identity of failed) if (!seen.failed.has(identity)) fold(identity);
  }
}
