/**
 * The rules of the service (judge.ts, health.ts, quarantine-rules.ts) as the judge of a backtest: what they say of a test
 * after each step, from what had finished by then.
 *
 * An execution may change the verdicts on earlier ones, so those are judged again, though only as far back as any rule
 * looks; most steps are passes that change none.
 */
import type { PolicyJudge, Step } from './backtest.ts';
import { isTrouble, type JudgedExecution } from './execution.ts';
import { foldHealth, type HealthConstants, type HealthState, healthyState } from './health.ts';
import type { Trouble } from './infrastructure.ts';
import { judge } from './judge.ts';
import { FAILURE_SHARE_DAYS, HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import {
  type AutoQuarantineMode,
  isRecovered,
  type QuarantineConstants,
  type QuarantineEvidence,
  quarantineReason,
} from './quarantine-rules.ts';
import { REPETITION_REACH_EXECUTIONS } from './repetition.ts';
import { DAY_MS } from './time.ts';

export interface RulesPolicy {
  mode: AutoQuarantineMode;
  constants: QuarantineConstants & HealthConstants;
  /** Excuse only the failure groups that the quarantine is made for. */
  isNarrowed: boolean;
}

export interface RulesEvidence {
  isFlakyDetectionEnabled: boolean;
  /** The failure groups of executions. */
  fingerprints: ReadonlyMap<bigint, string>;
  /** Troubled runs of a pipeline and CI job, by `runKeyOf`. */
  troublesOf(place: Pick<Step, 'pipelineName' | 'jobName'>): ReadonlyMap<string, Trouble>;
}

export class RulesJudge implements PolicyJudge {
  readonly #identities = new Map<string, IdentityRules>();

  constructor(
    private readonly policy: RulesPolicy,
    private readonly evidence: RulesEvidence,
  ) {}

  add(step: Step): void {
    const key = JSON.stringify([step.pipelineName, step.jobName]);
    const identity = this.#identities.get(key) ?? new IdentityRules(step, this.evidence, this.policy.constants);
    this.#identities.set(key, identity);
    identity.add(step.executions);
  }

  verdict(releasedAt: number): ReturnType<PolicyJudge['verdict']> {
    const { mode, constants, isNarrowed } = this.policy;
    const recent = this.#recent();
    if (recent.every(({ state }) => state.health === 'healthy')) return undefined;
    const newestAt = Math.max(...recent.map((one) => one.newestAt));
    const since = Math.max(newestAt - FAILURE_SHARE_DAYS * DAY_MS, releasedAt);
    const shown = recent.flatMap((one) => one.since(since) ?? []);
    const reason = quarantineReason(mode, shown, constants);
    if (reason === null) return undefined;
    return { reason, failureIds: isNarrowed ? new Set(shown.flatMap(({ failureIds }) => [...failureIds])) : null };
  }

  isRecovered(quarantinedAt: number): boolean {
    return isRecovered(
      this.#recent().map((one) => ({
        health: one.state.health,
        cleanPasses: one.cleanPassesSince(quarantinedAt),
        cleanPassesNeeded: one.state.cleanPassesNeeded,
      })),
    );
  }

  /** Those that the health of the test covers. */
  #recent(): IdentityRules[] {
    const all = [...this.#identities.values()];
    const newestAt = Math.max(...all.map((one) => one.newestAt));
    return all.filter((one) => one.newestAt > newestAt - HEALTH_RECENT_DAYS * DAY_MS);
  }
}

/** How many passes of other commits a failure waits for: one decides whether it is isolated, and one may be ambiguous. */
const AWAITED_COMMITS = 2;

/** One identity after some of its executions. */
class IdentityRules {
  readonly #executions: JudgedExecution[] = [];
  /** The health after each execution. */
  readonly #states: HealthState[] = [];
  readonly #flaky = new Set<bigint>();
  readonly #heldBack = new Set<bigint>();
  /** The positions of the executions of each known commit. */
  readonly #ofCommit = new Map<string, number[]>();
  readonly #troubledCommits = new Set<string>();
  /** Commits that passed since something last went wrong; undefined: nothing ever did. */
  #passedCommits: Set<string> | undefined;

  constructor(
    private readonly place: Pick<Step, 'pipelineName' | 'jobName'>,
    private readonly evidence: RulesEvidence,
    private readonly constants: HealthConstants,
  ) {}

  get state(): HealthState {
    return this.#states.at(-1) ?? healthyState(this.constants);
  }

  get newestAt(): number {
    return this.#executions.at(-1)?.finishedAt ?? 0;
  }

  add(executions: readonly JudgedExecution[]): void {
    const before = this.#executions.length;
    let mayChangeOthers = false;
    for (const execution of executions) {
      if (this.#isAwaited(execution)) mayChangeOthers = true;
      if (execution.commit !== '') {
        const positions = this.#ofCommit.get(execution.commit) ?? [];
        positions.push(this.#executions.length);
        this.#ofCommit.set(execution.commit, positions);
      }
      this.#executions.push(execution);
    }
    this.#fold(mayChangeOthers ? Math.min(before, this.#judgeAgain(executions)) : before);
  }

  /** Whether the verdict on any execution may depend on this one. */
  #isAwaited(execution: JudgedExecution): boolean {
    const { commit } = execution;
    if (isTrouble(execution)) {
      this.#passedCommits = new Set();
      this.#troubledCommits.add(commit);
      return true;
    }
    if (this.#passedCommits === undefined) return false;
    if (this.#troubledCommits.has(commit)) return true;
    const isAwaited = this.#passedCommits.size < AWAITED_COMMITS;
    if (isAwaited && commit !== '') this.#passedCommits.add(commit);
    return isAwaited;
  }

  /** Judges what the newest executions may change. Returns the position of the first verdict that did. */
  #judgeAgain(added: readonly JudgedExecution[]): number {
    const length = this.#executions.length;
    const reach = Math.max(0, length - REPETITION_REACH_EXECUTIONS);
    // Twice as far, for what decides on those within reach; and whole commits, for what contradicts them.
    const positions = new Set<number>();
    for (let i = Math.max(0, reach - REPETITION_REACH_EXECUTIONS); i < length; i++) positions.add(i);
    const within = (i: number): string => this.#executions[i]?.commit ?? '';
    for (let i = reach; i < length; i++) for (const j of this.#ofCommit.get(within(i)) ?? []) positions.add(j);
    const looked = [...positions].sort((a, b) => a - b);
    const { isFlakyDetectionEnabled, fingerprints } = this.evidence;
    const troubles = this.evidence.troublesOf(this.place);
    const judged = judge(
      looked.flatMap((i) => this.#executions[i] ?? []),
      { isFlakyDetectionEnabled, fingerprints, troubles },
    );
    const commits = new Set(added.map(({ commit }) => commit));
    let changed = length;
    for (const i of looked) {
      const { executionId, commit } = this.#executions[i] as JudgedExecution;
      // Further back, only another result of the same commit says anything new.
      if (i < reach && !(commits.has(commit) && judged.flaky.has(executionId))) continue;
      const isChanged = [
        put(this.#flaky, executionId, judged.flaky.has(executionId)),
        put(this.#heldBack, executionId, judged.heldBack.has(executionId)),
      ].includes(true);
      if (isChanged) changed = Math.min(changed, i);
    }
    return changed;
  }

  /** Folds the health again from a position on. */
  #fold(from: number): void {
    let state = this.#states[from - 1] ?? healthyState(this.constants);
    this.#states.length = from;
    for (const execution of this.#executions.slice(from)) {
      const { executionId } = execution;
      if (!this.#heldBack.has(executionId))
        state = foldHealth(state, execution, this.#flaky.has(executionId), this.constants);
      this.#states.push(state);
    }
  }

  /** What it has shown after a moment, as sql/queries/evaluation/quarantine_evidence.sql counts it. */
  since(since: number): (QuarantineEvidence & { failureIds: ReadonlySet<string> }) | undefined {
    const shown: JudgedExecution[] = [];
    for (let i = this.#executions.length - 1; i >= 0; i--) {
      const execution = this.#executions[i] as JudgedExecution;
      if (execution.finishedAt <= since) break;
      if (!this.#heldBack.has(execution.executionId)) shown.push(execution);
    }
    const [newest] = shown;
    const first = shown.at(-1);
    if (!newest || !first) return undefined;
    const lastPassAt = shown.find(({ status }) => status === 'passed')?.finishedAt ?? 0;
    const failed = shown.filter(({ status }) => status === 'failed');
    const flaky = shown.filter(({ executionId }) => this.#flaky.has(executionId));
    const broken = failed.filter(({ commit, finishedAt }) => commit !== '' && finishedAt > lastPassAt);
    const { health } = this.state;
    const decisive = health === 'broken' ? [...flaky, ...broken] : flaky;
    return {
      pipelineName: this.place.pipelineName,
      jobName: this.place.jobName,
      health,
      executions: shown.length,
      failures: failed.length,
      firstAt: first.finishedAt,
      newestAt: newest.finishedAt,
      flakyCommits: new Set(flaky.map(({ commit, runId }) => commit || `run ${runId}`)).size,
      brokenCommits: new Set(broken.map(({ commit }) => commit)).size,
      brokenFirstAt: broken.at(-1)?.finishedAt ?? 0,
      brokenNewestAt: broken[0]?.finishedAt ?? 0,
      failureIds: new Set(decisive.flatMap(({ executionId }) => this.evidence.fingerprints.get(executionId) ?? [])),
    };
  }

  cleanPassesSince(quarantinedAt: number): number {
    const { cleanPasses, cleanSince } = this.state;
    if (cleanPasses === 0 || cleanSince > quarantinedAt) return cleanPasses;
    let passes = 0;
    for (let i = this.#executions.length - 1; i >= 0; i--) {
      const { finishedAt, status, isFlakyWithinRun } = this.#executions[i] as JudgedExecution;
      if (finishedAt <= quarantinedAt) break;
      if (status === 'passed' && !isFlakyWithinRun) passes++;
    }
    return passes;
  }
}

/** Whether that changed the set. */
function put(set: Set<bigint>, id: bigint, isIn: boolean): boolean {
  if (set.has(id) === isIn) return false;
  if (isIn) set.add(id);
  else set.delete(id);
  return true;
}
