/** The rules of the service (src/domain/belief.ts, quarantine-rules.ts) on runs as they finish. */
import { isActive, ownFailureOf } from '../../src/domain/activity.ts';
import {
  type Belief,
  HEALTH_LEVELS,
  type HealthLevels,
  isSurelyHealthy,
  newBelief,
  probabilitiesOf,
  statusAfter,
  verdictOf,
} from '../../src/domain/belief.ts';
import { BROKEN_FAILS, foldBelief, foldContradiction, foldOtherLegs } from '../../src/domain/belief-fold.ts';
import { CONTRADICTED_TESTS_MAX } from '../../src/domain/contradictions.ts';
import {
  addMember,
  meaningOf,
  memberOf,
  noneFailed,
  type RunMeaning,
  troubleFor,
} from '../../src/domain/judge-runs.ts';
import { OTHER_LEGS_MS, type OtherLegs, otherLegsOf } from '../../src/domain/other-legs.ts';
import { quarantineCause } from '../../src/domain/quarantine-rules.ts';
import { monthOf } from '../../src/domain/retention.ts';
import { PastRuns } from '../../src/domain/run-surroundings.ts';
import type { MetRun } from '../../src/domain/run-trouble.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Rules, Run } from './history.ts';

const PLACE = { pipelineName: 'CI', jobName: 'unit' };

/** By test: its identities. */
export type Legs = readonly (readonly number[])[];

interface Options {
  /** Whether commits of pull requests that both passed and failed count, as in the service. */
  countsPullRequests?: boolean;
  /** From which probability on something is said, where that is not as in the service. What runs mean does not change. */
  levels?: HealthLevels;
  /** Without them, each identity is a separate test. */
  legs?: Legs | undefined;
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
  readonly #legs = new Map<number, readonly number[]>();
  /** By identity. */
  readonly #newest = new Map<number, { commit: string; month: number; isFailed: boolean; isTelling: boolean }>();
  /** By identity: what other legs have shown of the last failure. */
  readonly #seen = new Map<number, OtherLegs>();

  constructor({ countsPullRequests = true, levels = HEALTH_LEVELS, legs = [] }: Options = {}) {
    this.#options = { countsPullRequests, levels, legs };
    for (const identities of legs) for (const one of identities) this.#legs.set(one, identities);
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
    for (let i = 0; i < run.identities.length; i++) this.#seeOtherLegs(run.identities[i] as number, run);
    this.#runs.add({ startedAt: run.at, ...count });
  }

  /** The legs of a test show something about each other on a commit, as `otherLegsClues` has it. */
  #seeOtherLegs(identity: number, run: Run): void {
    const legs = this.#legs.get(identity) ?? [];
    if (legs.length < 2) return;
    const isFailed = run.troubles.has(identity);
    const isTelling = run.troubles.size <= CONTRADICTED_TESTS_MAX;
    this.#newest.set(identity, { commit: run.commit, month: monthOf(run.at), isFailed, isTelling });
    this.#seen.delete(identity);
    if (isFailed) this.#show(identity, run);
    for (const other of legs) if (other !== identity) this.#show(other, run);
  }

  #show(identity: number, run: Run): void {
    const belief = this.beliefs.get(identity) ?? newBelief();
    const [failure] = belief.streak;
    const month = monthOf(run.at);
    if (failure?.commit !== run.commit || run.at - failure.finishedAt > OTHER_LEGS_MS) return;
    const own = this.#newest.get(identity);
    if (own?.month !== month || !own.isTelling) return;
    const others = (this.#legs.get(identity) ?? []).filter((other) => other !== identity);
    const results = others
      .flatMap((other) => this.#newest.get(other) ?? [])
      .filter((one) => one.commit === run.commit && one.month === month);
    const after = otherLegsOf(results.length, results.filter((one) => one.isFailed).length);
    const before = this.#seen.get(identity) ?? otherLegsOf(0, 0);
    if (after.passed === before.passed && after.failed === before.failed) return;
    this.#seen.set(identity, after);
    const at = { finishedAt: run.at, runId: run.id, runAttempt: run.attempt, executionId: 0n };
    this.#believe(identity, foldOtherLegs(belief, { at, failure, before, after }));
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

  probability(identity: number): number {
    return verdictOf(this.beliefs.get(identity) ?? newBelief()).probability;
  }

  /** How likely its next run fails, if nothing else does. */
  failsNext(identity: number): number {
    const { flaky, flakyRate, broken } = probabilitiesOf(this.beliefs.get(identity) ?? newBelief());
    return broken * BROKEN_FAILS + flaky * flakyRate;
  }

  /** Whether its last run was the first that failed since it passed. */
  isFirstOfRow(identity: number): boolean {
    return this.beliefs.get(identity)?.streak.length === 1;
  }

  isSurelyHealthy(identity: number): boolean {
    return isSurelyHealthy(this.beliefs.get(identity) ?? newBelief());
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
      this.#fold(identity, of, trouble, run.at);
    };
    for (const [identity, { isPassedOnRetry }] of run.troubles) if (isPassedOnRetry) fold(identity, run, meaning);
    if (!known) return;
    const first = this.#meaningOf(this.#count(seen.run), run.at);
    for (const identity of seen.failed) if (!failed.has(identity)) fold(identity, seen.run, first);
    for (const identity of failed) if (!seen.failed.has(identity)) fold(identity, run, meaning);
  }

  #fold(identity: number, run: Run, meaning: RunMeaning, at: number): void {
    const belief = this.beliefs.get(identity) ?? newBelief();
    const failure = { executionId: run.id, commit: run.commit, finishedAt: run.at };
    this.#believe(identity, foldContradiction(belief, failure, troubleFor(belief, meaning), at));
  }
}
