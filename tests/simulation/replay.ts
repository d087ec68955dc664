/** Replays a world day by day: at the end of each day the rules judge only what had finished by then. */
import { comparePositions, type JudgedExecution } from '../../src/domain/execution.ts';
import type { HealthState } from '../../src/domain/health.ts';
import { foldHealth, healthyState } from '../../src/domain/health.ts';
import { isTrouble, mayBeTroubled, runKeyOf, type Trouble, troubleOf } from '../../src/domain/infrastructure.ts';
import { type Judged, judge } from '../../src/domain/judge.ts';
import { FAILURE_SHARE_DAYS, TROUBLE_REACH_MS } from '../../src/domain/judgement-constants.ts';
import { isRecovered, type QuarantineEvidence, quarantineReason } from '../../src/domain/quarantine-rules.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY, type SimulatedRun, type World } from './world.ts';

interface SimulatedQuarantine {
  test: number;
  day: number;
  reason: string;
  /** The day on which it was marked as recovered and a person released it; undefined while it is quarantined. */
  recoveredOn?: number;
}

export interface Replay {
  /** Health by test and day, at the end of the day; undefined before the first execution. */
  health: (Health | undefined)[][];
  quarantines: SimulatedQuarantine[];
  executions: number;
}

/** Days after which a held-back failure, or a failure that may come back, can still change what is known of a healthy test. */
const SETTLED_AFTER_DAYS = 4;

class Course {
  readonly executions: JudgedExecution[] = [];
  readonly fingerprints = new Map<bigint, string>();
  lastPassAt: number | null = null;
  lastFailureAt: number | null = null;
  lastTroubleDay = Number.NEGATIVE_INFINITY;
  state: HealthState = healthyState();
  releasedAt = 0;
  quarantine: (SimulatedQuarantine & { createdAt: number }) | undefined;
}

export function replay(world: World): Replay {
  const courses = world.tests.map(() => new Course());
  const troubles = new Map<number, Map<string, Trouble>>();
  const result: Replay = { health: world.tests.map(() => []), quarantines: [], executions: 0 };
  let today = 0;
  const endDaysBefore = (day: number): void => {
    for (; today < day; today++) endDay(world, courses, troubles, today, result);
  };
  for (const run of world.runs()) {
    endDaysBefore(run.day);
    result.executions += run.results.size;
    takeIn(run, courses, troubles);
  }
  endDaysBefore(world.options.days);
  return result;
}

function takeIn(run: SimulatedRun, courses: readonly Course[], troubles: Map<number, Map<string, Trouble>>): void {
  const totals = { startedAt: run.startedAt, passed: 0, failed: 0 };
  for (const { execution } of run.results.values()) {
    if (execution.status === 'failed') totals.failed++;
    else totals.passed++;
  }
  const [first] = run.results.values();
  if (first && mayBeTroubled(totals)) {
    const failing = [...run.results].flatMap(([test, { execution }]) => {
      const course = courses[test] as Course;
      const seen = (at: number | null): number | null =>
        at !== null && at >= run.startedAt - TROUBLE_REACH_MS ? at : null;
      if (execution.status !== 'failed') return [];
      return [{ failures: 1, lastPassAt: seen(course.lastPassAt), lastFailureAt: seen(course.lastFailureAt) }];
    });
    const ofJob = troubles.get(run.job) ?? new Map<string, Trouble>();
    const trouble = troubleOf(totals, failing);
    if (trouble !== 'none') troubles.set(run.job, ofJob.set(runKeyOf(first.execution), trouble));
  }
  for (const [test, { execution, fingerprint }] of run.results) {
    const course = courses[test] as Course;
    course.executions.push(execution);
    if (fingerprint !== undefined) course.fingerprints.set(execution.executionId, fingerprint);
    if (execution.status === 'failed') course.lastFailureAt = execution.finishedAt;
    else course.lastPassAt = execution.finishedAt;
    if (isTrouble(execution)) course.lastTroubleDay = run.day;
  }
}

function endDay(
  world: World,
  courses: readonly Course[],
  troubles: ReadonlyMap<number, ReadonlyMap<string, Trouble>>,
  day: number,
  result: Replay,
): void {
  for (const [index, course] of courses.entries()) {
    const test = world.tests[index];
    if (!test || course.executions.length === 0) continue;
    const isSettled = course.state.health === 'healthy' && course.lastTroubleDay < day - SETTLED_AFTER_DAYS;
    if (!(isSettled && !course.quarantine) && day < test.to) {
      const judged = judge(course.executions, {
        troubles: troubles.get(test.job) ?? new Map(),
        fingerprints: course.fingerprints,
        isFlakyDetectionEnabled: true,
      });
      course.state = foldAll(course.executions, judged);
      judgeQuarantine(course, judged, { test: index, day, end: world.options.start + (day + 1) * DAY }, result);
    }
    (result.health[index] as (Health | undefined)[])[day] = course.state.health;
  }
}

function foldAll(executions: readonly JudgedExecution[], { heldBack, flaky }: Judged): HealthState {
  let state = healthyState();
  for (const execution of [...executions].sort(comparePositions))
    if (!heldBack.has(execution.executionId)) state = foldHealth(state, execution, flaky.has(execution.executionId));
  return state;
}

/** Quarantines tests, and releases those marked as recovered, as a person who trusts the service would. */
function judgeQuarantine(
  course: Course,
  judged: Judged,
  { test, day, end }: { test: number; day: number; end: number },
  result: Replay,
): void {
  const { state, quarantine } = course;
  if (!quarantine) {
    const reason = quarantineReason('flaky+broken', [evidenceOf(course, judged)]);
    if (reason === null) return;
    course.quarantine = { test, day, reason, createdAt: end };
    result.quarantines.push(course.quarantine);
    return;
  }
  const clean = course.executions
    .filter((execution) => !judged.heldBack.has(execution.executionId))
    .slice(-state.cleanPasses || Number.POSITIVE_INFINITY)
    .filter((execution) => execution.finishedAt > quarantine.createdAt).length;
  const { health, cleanPassesNeeded } = state;
  if (!isRecovered([{ health, cleanPasses: clean, cleanPassesNeeded }])) return;
  quarantine.recoveredOn = day;
  course.quarantine = undefined;
  course.releasedAt = end;
}

function evidenceOf(course: Course, { heldBack, flaky }: Judged): QuarantineEvidence {
  const newest = course.executions.at(-1)?.finishedAt ?? 0;
  const since = Math.max(course.releasedAt, newest - FAILURE_SHARE_DAYS * DAY);
  const counted = course.executions.filter(
    (execution) => execution.finishedAt > since && !heldBack.has(execution.executionId),
  );
  const failed = counted.filter((execution) => execution.status === 'failed');
  const lastPass = counted.findLast((execution) => execution.status === 'passed')?.finishedAt ?? 0;
  const broken = failed.filter((execution) => execution.finishedAt > lastPass);
  return {
    pipelineName: 'CI',
    jobName: 'unit',
    health: course.state.health,
    executions: counted.length,
    failures: failed.length,
    firstAt: counted[0]?.finishedAt ?? 0,
    newestAt: newest,
    flakyCommits: new Set(counted.filter((one) => flaky.has(one.executionId)).map((one) => one.commit)).size,
    brokenCommits: new Set(broken.map((execution) => execution.commit)).size,
    brokenFirstAt: broken[0]?.finishedAt ?? 0,
    brokenNewestAt: broken.at(-1)?.finishedAt ?? 0,
  };
}
