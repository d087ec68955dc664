/**
 * The rules of the service (belief.ts, quarantine-rules.ts) as the judge of a backtest: what they say of a test after each
 * step, from what had finished by then. What the runs mean is what is known of them today.
 */
import type { PolicyJudge, Step } from './backtest.ts';
import { newBelief } from './belief.ts';
import { BeliefCourse } from './belief-course.ts';
import { isTrouble, type JudgedExecution } from './execution.ts';
import { type RunMeaning, troubleFor } from './judge-runs.ts';
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { type AutoQuarantineMode, isRecovered, type QuarantineConstants, quarantineCause } from './quarantine-rules.ts';
import { DAY_MS } from './time.ts';

export interface RulesPolicy {
  mode: AutoQuarantineMode;
  constants: QuarantineConstants;
  /** Excuse only the failure groups that the quarantine is made for. */
  isNarrowed: boolean;
}

export interface RulesEvidence<E extends JudgedExecution> {
  isFlakyDetectionEnabled: boolean;
  /** The failure groups of executions. */
  fingerprints: ReadonlyMap<bigint, string>;
  /** Of the run in which an execution went wrong. */
  meaningOf(execution: E): RunMeaning | undefined;
}

export class RulesJudge<E extends JudgedExecution> implements PolicyJudge<E> {
  readonly #identities = new Map<string, Identity>();

  constructor(
    private readonly policy: RulesPolicy,
    private readonly evidence: RulesEvidence<E>,
  ) {}

  add({ pipelineName, jobName, executions }: Step<E>): void {
    const key = JSON.stringify([pipelineName, jobName]);
    const course = this.#identities.get(key)?.course ?? new BeliefCourse({ belief: newBelief(), at: null });
    for (const execution of executions) addTo(course, execution, this.evidence);
    this.#identities.set(key, { pipelineName, jobName, course, newestAt: executions.at(-1)?.finishedAt ?? 0 });
  }

  verdict(releasedAt: number): ReturnType<PolicyJudge<E>['verdict']> {
    const { mode, constants, isNarrowed } = this.policy;
    const cause = quarantineCause(mode, this.#recent(), releasedAt, constants);
    if (!cause) return undefined;
    const groups = cause.executionIds.flatMap((id) => this.evidence.fingerprints.get(BigInt(id)) ?? []);
    return { reason: cause.reason, failureIds: isNarrowed ? new Set(groups) : null };
  }

  isRecovered(quarantinedAt: number): boolean {
    return isRecovered(this.#recent(), quarantinedAt);
  }

  /** Those that the health of the test covers. */
  #recent() {
    const all = [...this.#identities.values()];
    const newestAt = Math.max(...all.map((one) => one.newestAt));
    return all
      .filter((one) => one.newestAt > newestAt - HEALTH_RECENT_DAYS * DAY_MS)
      .map(({ course, ...identity }) => ({ ...identity, belief: course.belief }))
      .filter(({ belief }) => belief.status !== 'flaky' || this.evidence.isFlakyDetectionEnabled);
  }
}

interface Identity extends Omit<Step, 'executions'> {
  course: BeliefCourse;
  newestAt: number;
}

/** Follows one execution of an identity. */
export function addTo<E extends JudgedExecution>(
  course: BeliefCourse,
  execution: E,
  { meaningOf }: Pick<RulesEvidence<E>, 'meaningOf'>,
): void {
  const meaning = isTrouble(execution) ? meaningOf(execution) : undefined;
  course.add(execution, meaning && troubleFor(course.belief, meaning));
}
