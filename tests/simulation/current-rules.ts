/**
 * The rules of the service (docs/judgements.md) on runs as they finish. Older executions are folded into a checkpoint, as
 * the evaluation does, once no later one can change the verdicts on them.
 */
import { comparePositions, type JudgedExecution, runKeyOf } from '../../src/domain/execution.ts';
import { normaliseMessage } from '../../src/domain/fingerprint.ts';
import { foldHealth, type HealthState, healthyState } from '../../src/domain/health.ts';
import { mayBeTroubled, type Trouble, troubleOf } from '../../src/domain/infrastructure.ts';
import { type Judged, judge } from '../../src/domain/judge.ts';
import {
  FAILURE_SHARE_DAYS,
  REPEATED_FAILURE_EXECUTIONS,
  REPEATED_FAILURE_MS,
  TROUBLE_REACH_MS,
} from '../../src/domain/judgement-constants.ts';
import { type QuarantineEvidence, quarantineReason } from '../../src/domain/quarantine-rules.ts';
import { REPETITION_REACH_EXECUTIONS } from '../../src/domain/repetition.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Rules, Run } from './history.ts';

/** More executions than any rule looks back, beyond a repetition's reach. */
const KEPT_EXECUTIONS = 2 * REPETITION_REACH_EXECUTIONS;

class Course {
  executions: JudgedExecution[] = [];
  readonly fingerprints = new Map<bigint, string>();
  /** Before the executions that are kept. */
  base: HealthState = healthyState();
  /** After all of them; `folded` says how many. */
  state: HealthState = healthyState();
  folded = 0;
  lastPassAt: number | null = null;
  lastFailureAt: number | null = null;
  lastTroubleAt = Number.NEGATIVE_INFINITY;
  executionsSinceTrouble = 0;
  isQuarantined = false;
}

export class CurrentRules implements Rules {
  readonly name = "today's rules";
  readonly #courses = new Map<number, Course>();
  readonly #troubles = new Map<number, Map<string, Trouble>>();
  readonly #jobOf = new Map<number, number>();
  #executions = 0n;

  takeIn(run: Run): void {
    if (!run.isDefaultBranch) return;
    this.#judgeRun(run);
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const trouble = run.troubles.get(identity);
      const course = this.#courseOf(identity, run.job);
      const execution: JudgedExecution = {
        executionId: ++this.#executions,
        status: trouble && !trouble.isPassedOnRetry ? 'failed' : 'passed',
        finishedAt: run.at,
        runId: run.id,
        runAttempt: run.attempt,
        commit: run.commit,
        isFlakyWithinRun: trouble?.isPassedOnRetry ?? false,
        isRetried: trouble?.isPassedOnRetry ?? false,
      };
      // As for most tests: nothing but passes, and nothing to judge.
      if (!trouble && course.lastTroubleAt === Number.NEGATIVE_INFINITY)
        course.state = foldHealth(course.state, execution, false);
      course.executions.push(execution);
      if (execution.status === 'failed') {
        course.lastFailureAt = run.at;
        course.fingerprints.set(execution.executionId, normaliseMessage(trouble?.message ?? ''));
      } else course.lastPassAt = run.at;
      course.executionsSinceTrouble++;
      if (trouble) {
        course.lastTroubleAt = run.at;
        course.executionsSinceTrouble = 0;
      }
    }
  }

  settle(now: number): void {
    for (const [identity, course] of this.#courses) {
      if (course.lastTroubleAt === Number.NEGATIVE_INFINITY) {
        if (course.executions.length > KEPT_EXECUTIONS) {
          course.executions = course.executions.slice(-KEPT_EXECUTIONS / 2);
          course.base = course.state;
        }
        course.folded = course.executions.length;
        continue;
      }
      if (course.folded === course.executions.length) continue;
      const isSettled =
        course.executionsSinceTrouble > 2 * REPEATED_FAILURE_EXECUTIONS ||
        now - course.lastTroubleAt > 2 * REPEATED_FAILURE_MS;
      if (isSettled && course.executions.length <= 4 * KEPT_EXECUTIONS) append(course);
      else this.#judgeAgain(identity, course);
    }
  }

  health(identity: number): Health {
    return this.#courses.get(identity)?.state.health ?? 'healthy';
  }

  isQuarantined(identity: number): boolean {
    return this.#courses.get(identity)?.isQuarantined ?? false;
  }

  #courseOf(identity: number, job: number): Course {
    const known = this.#courses.get(identity);
    if (known) return known;
    const made = new Course();
    this.#courses.set(identity, made);
    this.#jobOf.set(identity, job);
    return made;
  }

  #judgeRun(run: Run): void {
    let failed = 0;
    for (const trouble of run.troubles.values()) if (!trouble.isPassedOnRetry) failed++;
    const totals = { startedAt: run.at, passed: run.identities.length - failed, failed };
    if (!mayBeTroubled(totals)) return;
    const seen = (at: number | null): number | null => (at !== null && at >= run.at - TROUBLE_REACH_MS ? at : null);
    const failing = [...run.troubles].flatMap(([identity, { isPassedOnRetry }]) => {
      const course = this.#courseOf(identity, run.job);
      if (isPassedOnRetry) return [];
      return [{ failures: 1, lastPassAt: seen(course.lastPassAt), lastFailureAt: seen(course.lastFailureAt) }];
    });
    const trouble = troubleOf(totals, failing);
    if (trouble === 'none') return;
    const ofJob = this.#troubles.get(run.job) ?? new Map<string, Trouble>();
    const key = runKeyOf({ finishedAt: run.at, runId: run.id, runAttempt: run.attempt } as JudgedExecution);
    this.#troubles.set(run.job, ofJob.set(key, trouble));
  }

  #judgeAgain(identity: number, course: Course): void {
    course.executions.sort(comparePositions);
    const judged = judge(course.executions, {
      troubles: this.#troubles.get(this.#jobOf.get(identity) ?? 0) ?? new Map(),
      fingerprints: course.fingerprints,
      isFlakyDetectionEnabled: true,
    });
    const fold = (from: HealthState, executions: readonly JudgedExecution[]): HealthState => {
      let state = from;
      for (const execution of executions)
        if (!judged.heldBack.has(execution.executionId))
          state = foldHealth(state, execution, judged.flaky.has(execution.executionId));
      return state;
    };
    const isOld = course.executions.length > 4 * KEPT_EXECUTIONS;
    const older = isOld ? course.executions.slice(0, -2 * KEPT_EXECUTIONS) : [];
    const newer = isOld ? course.executions.slice(-2 * KEPT_EXECUTIONS) : course.executions;
    course.base = fold(course.base, older);
    course.state = fold(course.base, newer);
    course.isQuarantined = quarantineReason('flaky', [evidenceOf(course, judged)]) !== null;
    course.executions = newer;
    course.folded = newer.length;
  }
}

/** Passes that no verdict can depend on. */
function append(course: Course): void {
  for (const execution of course.executions.slice(course.folded))
    course.state = foldHealth(course.state, execution, false);
  course.folded = course.executions.length;
}

function evidenceOf({ executions, state }: Course, { heldBack, flaky }: Judged): QuarantineEvidence {
  const newest = executions.at(-1)?.finishedAt ?? 0;
  const since = newest - FAILURE_SHARE_DAYS * DAY_MS;
  const counted = executions.filter((one) => one.finishedAt > since && !heldBack.has(one.executionId));
  return {
    pipelineName: 'CI',
    jobName: 'unit',
    health: state.health,
    executions: counted.length,
    failures: counted.filter((one) => one.status === 'failed').length,
    firstAt: counted[0]?.finishedAt ?? 0,
    newestAt: newest,
    flakyCommits: new Set(counted.filter((one) => flaky.has(one.executionId)).map((one) => one.commit)).size,
    brokenCommits: 0,
    brokenFirstAt: 0,
    brokenNewestAt: 0,
  };
}
