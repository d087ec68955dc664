/** The rules of the service (src/domain/belief.ts, quarantine-rules.ts) on runs as they finish. */
import { isActive, ownFailureOf } from '../../src/domain/activity.ts';
import { type Belief, HEALTH_LEVELS, type HealthLevels, newBelief, statusAfter } from '../../src/domain/belief.ts';
import { foldBelief, foldContradiction } from '../../src/domain/belief-fold.ts';
import { CONTRADICTED_TESTS_MAX } from '../../src/domain/contradictions.ts';
import {
  addMember,
  meaningOf,
  memberOf,
  noneFailed,
  type RunMeaning,
  troubleFor,
} from '../../src/domain/judge-runs.ts';
import { quarantineCause } from '../../src/domain/quarantine-rules.ts';
import { PastRuns } from '../../src/domain/run-surroundings.ts';
import type { MetRun } from '../../src/domain/run-trouble.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Rules, Run } from './history.ts';

const PLACE = { pipelineName: 'CI', jobName: 'unit' };

interface Options {
  /** Whether commits of pull requests that both passed and failed count, as in the service. */
  countsPullRequests?: boolean;
  /** From which probability on something is said, where that is not as in the service. What runs mean does not change. */
  levels?: HealthLevels;
}

interface PullRequest {
  run: Run;
  failed: Set<number>;
  /** Counted once. */
  contradicted: Set<number>;
}

export class ServiceRules implements Rules {
  readonly name: string;
  readonly beliefs = new Map<number, Belief>();
  /** With other levels: what is said, by identity. */
  readonly #said = new Map<number, Pick<Belief, 'status' | 'wasFlaky'>>();
  readonly #runs = new PastRuns();
  /** The first run of each CI job and commit. */
  readonly #pullRequests = new Map<string, PullRequest>();
  readonly #options: Required<Options>;
  #newestAt = 0;

  constructor({ countsPullRequests = true, levels = HEALTH_LEVELS }: Options = {}) {
    this.#options = { countsPullRequests, levels };
    this.name =
      levels !== HEALTH_LEVELS
        ? `flaky from ${levels.flakyFrom}, broken from ${levels.brokenFrom}`
        : countsPullRequests
          ? 'the rules'
          : 'without pull requests';
  }

  takeIn(run: Run): void {
    if (!run.isDefaultBranch && !this.#options.countsPullRequests) return;
    this.#newestAt = run.at;
    const count = this.#count(run);
    const meaning = this.#meaningOf(count, run.at);
    if (!run.isDefaultBranch) {
      this.#contradict(run, meaning);
      return;
    }
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const trouble = run.troubles.get(identity);
      const belief = this.beliefs.get(identity) ?? newBelief();
      const result = !trouble ? 'passed' : trouble.isPassedOnRetry ? 'retried' : 'failed';
      const executionId = `${run.id}/${run.attempt}`;
      const execution = { executionId, result, finishedAt: run.at, commit: run.commit } as const;
      this.#believe(identity, foldBelief(belief, execution, trouble && troubleFor(belief, meaning)));
    }
    this.#runs.add({ startedAt: run.at, ...count });
  }

  settle(now: number): void {
    for (const [key, { run }] of this.#pullRequests) if (run.at < now - 3 * DAY_MS) this.#pullRequests.delete(key);
  }

  health(identity: number): Health {
    const said = this.#options.levels === HEALTH_LEVELS ? this.beliefs : this.#said;
    return said.get(identity)?.status ?? 'healthy';
  }

  isActive(identity: number, now: number): boolean {
    const belief = this.beliefs.get(identity);
    return belief !== undefined && isActive({ health: belief.status, ownFailureAt: ownFailureOf(belief) }, now);
  }

  isQuarantined(identity: number): boolean {
    const belief = this.beliefs.get(identity);
    return (
      belief !== undefined &&
      quarantineCause('flaky', [{ ...PLACE, belief, newestAt: this.#newestAt }], 0) !== undefined
    );
  }

  #believe(identity: number, belief: Belief): void {
    this.beliefs.set(identity, belief);
    if (this.#options.levels === HEALTH_LEVELS) return;
    const before = this.#said.get(identity) ?? { status: 'healthy', wasFlaky: false };
    // Passes alone make no healthy test anything else.
    if (before.status === 'healthy' && belief.passes > 0) return;
    const status = statusAfter(before, belief, this.#options.levels);
    if (status !== before.status) this.#said.set(identity, { status, wasFlaky: before.status === 'flaky' });
  }

  #count(run: Run): MetRun {
    const failed = noneFailed();
    for (const identity of run.troubles.keys()) {
      const belief = this.beliefs.get(identity);
      if (belief) addMember(failed, memberOf(belief, { startedAt: run.at }));
      else failed.unexpected++;
    }
    const { unexpected, again } = failed;
    return {
      place: String(run.job),
      executions: run.identities.length,
      unexpected,
      again,
      isOnDefaultBranch: run.isDefaultBranch,
    };
  }

  #meaningOf(count: MetRun, at: number): RunMeaning {
    // In the simulation, the CI jobs of a commit finish at once; in the world, one after another.
    return meaningOf(count, this.#runs.before(at + 1));
  }

  #contradict(run: Run, meaning: RunMeaning): void {
    const key = `${run.commit}/${run.job}`;
    const failed = new Set([...run.troubles].flatMap(([identity, one]) => (one.isPassedOnRetry ? [] : [identity])));
    const known = this.#pullRequests.get(key);
    const seen = known ?? { run, failed, contradicted: new Set() };
    if (!known && run.troubles.size > 0) this.#pullRequests.set(key, seen);
    if (failed.union(seen.failed).size > CONTRADICTED_TESTS_MAX) return;
    const fold = (identity: number, of: Run, trouble: RunMeaning): void => {
      if (seen.contradicted.has(identity)) return;
      seen.contradicted.add(identity);
      this.#fold(identity, of, trouble, run.at - of.at);
    };
    for (const [identity, { isPassedOnRetry }] of run.troubles) if (isPassedOnRetry) fold(identity, run, meaning);
    if (!known) return;
    const first = this.#meaningOf(this.#count(seen.run), run.at);
    for (const identity of seen.failed) if (!failed.has(identity)) fold(identity, seen.run, first);
    for (const identity of failed) if (!seen.failed.has(identity)) fold(identity, run, meaning);
  }

  #fold(identity: number, run: Run, meaning: RunMeaning, apart: number): void {
    const belief = this.beliefs.get(identity) ?? newBelief();
    const failure = { executionId: run.id, commit: run.commit, finishedAt: run.at };
    this.#believe(identity, foldContradiction(belief, failure, troubleFor(belief, meaning), apart));
  }
}
