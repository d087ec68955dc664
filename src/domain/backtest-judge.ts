/**
 * The rules of the service (belief.ts, quarantine-rules.ts) as the judge of a backtest: what they say of a test after each
 * step, from what had finished by then. What the runs mean is what is known of them today.
 */
import type { PolicyJudge, Step } from './backtest.ts';
import { type Belief, newBelief } from './belief.ts';
import { BeliefCourse } from './belief-course.ts';
import { type Clue, isOfOtherLegs } from './clues.ts';
import { comparePositions, isTrouble, type JudgedExecution } from './execution.ts';
import { type RunMeaning, troubleFor } from './judge-runs.ts';
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { type AutoQuarantineMode, isRecovered, type QuarantineConstants, quarantineCause } from './quarantine-rules.ts';
import { type Leg, legKey } from './test-identity.ts';
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
  /** The meaning of the run in which an execution went wrong. */
  meaningOf(execution: E): RunMeaning | undefined;
  /** The clues about an identity, in order. */
  cluesOf(leg: Leg): readonly JudgedClue[];
}

export interface JudgedClue {
  clue: Clue;
  /** The meaning of the run of its failure, if it is a contradiction. */
  meaning: RunMeaning | undefined;
}

export class RulesJudge<E extends JudgedExecution> implements PolicyJudge<E> {
  readonly #identities = new Map<string, Identity<E>>();

  constructor(
    private readonly policy: RulesPolicy,
    private readonly evidence: RulesEvidence<E>,
  ) {}

  add({ executions, ...leg }: Step<E>): void {
    const key = legKey(leg);
    const course = this.#identities.get(key)?.course ?? new RulesCourse(leg, this.evidence);
    for (const execution of executions) course.add(execution);
    this.#identities.set(key, { ...leg, course, newestAt: executions.at(-1)?.finishedAt ?? 0 });
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

  /** Identities that the health of the test covers. */
  #recent() {
    const all = [...this.#identities.values()];
    const newestAt = Math.max(...all.map((one) => one.newestAt));
    return all
      .filter((one) => one.newestAt > newestAt - HEALTH_RECENT_DAYS * DAY_MS)
      .map(({ course, ...identity }) => ({ ...identity, belief: course.belief }))
      .filter(({ belief }) => belief.status !== 'flaky' || this.evidence.isFlakyDetectionEnabled);
  }
}

interface Identity<E extends JudgedExecution> extends Leg {
  course: RulesCourse<E>;
  newestAt: number;
}

/** One identity, followed in order; with the clues about it up to each of its executions. */
export class RulesCourse<E extends JudgedExecution> {
  readonly #course = new BeliefCourse({ belief: newBelief(), at: null });
  readonly #clues: readonly JudgedClue[];
  #next = 0;

  constructor(
    leg: Leg,
    private readonly evidence: Pick<RulesEvidence<E>, 'meaningOf' | 'cluesOf'>,
  ) {
    this.#clues = evidence.cluesOf(leg);
  }

  get belief(): Belief {
    return this.#course.belief;
  }

  get causes(): BeliefCourse['causes'] {
    return this.#course.causes;
  }

  add(execution: E): void {
    const course = this.#course;
    this.#look((order) => order < 0, execution);
    const meaning = isTrouble(execution) ? this.evidence.meaningOf(execution) : undefined;
    course.add(execution, meaning && troubleFor(course.belief, meaning));
    // Other legs that had run by then belong to the failure.
    this.#look((order) => order === 0, execution);
  }

  #look(isDue: (order: number) => boolean, execution: E): void {
    const course = this.#course;
    for (let one = this.#clues[this.#next]; one; one = this.#clues[++this.#next]) {
      const { clue, meaning } = one;
      if (!isDue(comparePositions(clue.at, execution))) return;
      if (isOfOtherLegs(clue)) course.seeOtherLegs(clue);
      else if (meaning) course.contradict(clue, troubleFor(course.belief, meaning));
    }
  }
}
