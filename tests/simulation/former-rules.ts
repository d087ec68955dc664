/**
 * The rules of the service before the filter (version 1 of the judgements), to compare with: an execution is flaky or not,
 * health is a table of transitions, and only runs in which much fails are troubled. The same rules as they were, without
 * what no history here has: skipped executions, unknown commits, and two results of a test in one attempt.
 */
import { normaliseMessage } from '../../src/domain/fingerprint.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { FormerHealth } from './former-health.ts';
import {
  type FormerExecution,
  type FormerRun,
  flakyOf,
  heldBackOf,
  type LastResults,
  NEAR_EXECUTIONS,
  troubleOf,
} from './former-verdicts.ts';
import type { Rules, Run } from './history.ts';

/** So long after the last trouble of a test, no verdict depends on another pass. */
const SETTLED_EXECUTIONS = 2 * NEAR_EXECUTIONS;
const SETTLED_MS = 28 * DAY_MS;

const QUARANTINE_DAYS = 30;
const QUARANTINE_EXECUTIONS_MIN = 20;
const QUARANTINE_FAILURE_SHARE_MIN = 0.02;
const QUARANTINE_COMMITS_MIN = 2;

interface Course {
  /** In order of time. */
  executions: FormerExecution[];
  last: LastResults;
  /** Of the newest failure or retried pass; undefined: there was none. */
  troubledAt: number | undefined;
  /** Executions since then. */
  passes: number;
  /** After the first `judged` executions. */
  state: FormerHealth;
  judged: number;
  isQuarantined: boolean;
}

export class FormerRules implements Rules {
  readonly name = 'the former rules';
  readonly #courses = new Map<number, Course>();

  takeIn(run: Run): void {
    if (!run.isDefaultBranch) return;
    const of: FormerRun = { at: run.at, commit: run.commit, trouble: this.#troubleOf(run) };
    const passed: FormerExecution = { run: of, result: 'passed', message: '' };
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const trouble = run.troubles.get(identity);
      const course = this.#courseOf(identity);
      course.passes++;
      if (!trouble) course.executions.push(passed);
      else {
        const result = trouble.isPassedOnRetry ? 'retried' : 'failed';
        course.executions.push({ run: of, result, message: normaliseMessage(trouble.message) });
        course.troubledAt = run.at;
        course.passes = 0;
      }
      if (trouble?.isPassedOnRetry === false) course.last.failedAt = run.at;
      else course.last.passedAt = run.at;
    }
  }

  settle(now: number): void {
    for (const course of this.#courses.values()) {
      if (course.troubledAt === undefined || course.judged === course.executions.length) continue;
      if (course.passes > SETTLED_EXECUTIONS || now - course.troubledAt > SETTLED_MS) addPasses(course);
      else judgeAgain(course);
    }
  }

  health(identity: number): Health {
    return this.#courses.get(identity)?.state.health ?? 'healthy';
  }

  isQuarantined(identity: number): boolean {
    return this.#courses.get(identity)?.isQuarantined ?? false;
  }

  #troubleOf({ at, identities, troubles }: Run): FormerRun['trouble'] {
    const failing = [...troubles].flatMap(([identity, { isPassedOnRetry }]) =>
      isPassedOnRetry ? [] : [this.#courseOf(identity).last],
    );
    return troubleOf(at, identities.length - failing.length, failing);
  }

  #courseOf(identity: number): Course {
    const known = this.#courses.get(identity);
    if (known) return known;
    const never = Number.NEGATIVE_INFINITY;
    const made: Course = {
      executions: [],
      last: { passedAt: never, failedAt: never },
      troubledAt: undefined,
      passes: 0,
      state: new FormerHealth(),
      judged: 0,
      isQuarantined: false,
    };
    this.#courses.set(identity, made);
    return made;
  }
}

/** Passes that no verdict depends on. They end no quarantine. */
function addPasses(course: Course): void {
  for (const execution of course.executions.slice(course.judged)) course.state.take(execution, false);
  course.judged = course.executions.length;
}

function judgeAgain(course: Course): void {
  const { executions } = course;
  const held = heldBackOf(executions);
  const flaky = flakyOf(executions, held);
  course.state = new FormerHealth();
  for (const one of executions) if (!held.has(one)) course.state.take(one, flaky.has(one));
  course.judged = executions.length;
  const since = (executions.at(-1)?.run.at ?? 0) - QUARANTINE_DAYS * DAY_MS;
  const counted = executions.filter((one) => one.run.at > since && !held.has(one));
  course.isQuarantined = course.state.health === 'flaky' && isEnough(counted, flaky);
}

/** Whether what a flaky test has shown is enough for a quarantine. */
function isEnough(counted: readonly FormerExecution[], flaky: ReadonlySet<FormerExecution>): boolean {
  const failures = counted.filter(({ result }) => result === 'failed').length;
  const commits = new Set(counted.filter((one) => flaky.has(one)).map(({ run }) => run.commit));
  return (
    counted.length >= QUARANTINE_EXECUTIONS_MIN &&
    (counted.at(-1)?.run.at ?? 0) - (counted[0]?.run.at ?? 0) >= HOUR_MS &&
    failures >= QUARANTINE_FAILURE_SHARE_MIN * counted.length &&
    commits.size >= QUARANTINE_COMMITS_MIN
  );
}
