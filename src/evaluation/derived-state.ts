/**
 * The state of a test as it follows from everything that is retained of it, and from what its runs mean: what a rebuild
 * writes, and what `verify` compares the stored state with.
 */
import { type BeliefChange, shownChanges, shownHealth } from '../domain/belief-course.ts';
import type { Contradiction } from '../domain/contradictions.ts';
import { comparePositions, isTrouble, type Position, runKeyOf } from '../domain/execution.ts';
import { firstOfMonths } from '../domain/first-executions.ts';
import { followCourse, type KnownRuns, runNameOf } from '../domain/judge-runs.ts';
import { RATIO_DAYS, summaryOf } from '../domain/test-state.ts';
import { dayOf } from '../domain/time.ts';
import { type StoredBelief, unknownBelief } from '../postgres/belief-text.ts';
import { type Checkpoints, hasRunOnDefaultBranch } from '../postgres/health-checkpoints.ts';
import type { FirstFailure, IdentityRecord, TestState } from '../postgres/test-states.ts';
import type { IdentifiedChange } from './beginnings.ts';
import { CHECKPOINT_LAG_MS, isCheckpointKept } from './checkpoints.ts';
import { conclusiveIn, type IdentityHistory, type TestHistory } from './history.ts';
import { placeOf } from './news.ts';
import { type IdentifiedExecution, type Identity, type IdentityState, identityKey } from './store.ts';

export interface DerivedState {
  test: TestState;
  identities: IdentityRecord[];
  /** Where each identity starts. */
  starts: (Identity & { start: StoredBelief })[];
  /** Of the identities that have some. */
  checkpoints: Checkpoints[];
  /** Of health, since the baselines. */
  changes: IdentifiedChange[];
  /** Ids of flaky executions, of those since the baselines and those that were `undecided` there. */
  flaky: ReadonlySet<string>;
  /** For the quarantines. */
  states: IdentityState[];
}

export interface DeriveOptions {
  isFlakyDetectionEnabled: boolean;
  runs: KnownRuns;
  /** Of the test: where its identities start. */
  checkpoints: readonly Checkpoints[];
  /** On commits off the default branch, by `identityKey`. */
  contradictions: ReadonlyMap<string, readonly Contradiction[]>;
}

export function deriveState(
  testId: string,
  history: TestHistory,
  { isFlakyDetectionEnabled, runs, checkpoints, contradictions }: DeriveOptions,
): DerivedState {
  const derived: Omit<DerivedState, 'test'> & { flaky: Set<string> } = {
    identities: [],
    starts: [],
    checkpoints: [],
    changes: [],
    flaky: new Set(),
    states: [],
  };
  const { name } = history;
  for (const { baseline, executions, newest, ...identity } of identitiesOf(testId, history, checkpoints)) {
    const { checkpoint, belief, changes, flaky } = followTo(
      baseline,
      { place: placeOf(identity), executions, contradictions: contradictions.get(identityKey(identity)) ?? [] },
      runs,
    );
    if (executions.length === 0 && belief.at === null) continue;
    const isKept = isCheckpointKept(baseline, belief, executions.length);
    derived.identities.push({
      ...{ ...identity, belief },
      summary: summaryOf(executions, newest),
      health: shownHealth(belief.belief.status, isFlakyDetectionEnabled),
      checkpointAt: isKept ? (checkpoint.at?.finishedAt ?? 0) : 0,
    });
    derived.starts.push({ ...identity, start: baseline });
    if (isKept) derived.checkpoints.push({ ...identity, baseline, older: checkpoint, newer: checkpoint });
    for (const change of shownChanges(changes, isFlakyDetectionEnabled))
      derived.changes.push({ ...identity, ...change });
    if (isFlakyDetectionEnabled) for (const id of flaky) derived.flaky.add(id);
    if (belief.at)
      derived.states.push({ ...identity, testName: name, newestAt: belief.at.finishedAt, belief: belief.belief });
  }
  const flakyDays = flakyDaysOf(history, derived.flaky);
  const times = [...history.identities.values()].flatMap(({ executions }) => executions.map((one) => one.finishedAt));
  const firstExecutions = firstOfMonths([], times);
  const lastDay = lastDayOf(history);
  const firstFailure = firstFailureOf(history);
  return { test: { testId, name, firstFailure, flakyDays, firstExecutions, lastDay }, ...derived };
}

interface KnownIdentity extends Identity, IdentityHistory {
  baseline: StoredBelief;
}

/**
 * Those with retained executions, and those of which nothing is retained but what was believed of them. What has never run on
 * the default branch has no state, whatever pull requests showed of it.
 */
function identitiesOf(
  testId: string,
  { identities }: TestHistory,
  checkpoints: readonly Checkpoints[],
): KnownIdentity[] {
  const places = new Map(checkpoints.map((row) => [placeOf(row), row]));
  const known = new Map(
    [...places].flatMap(([place, row]) =>
      hasRunOnDefaultBranch(row) ? [[place, { ...row, executions: [], newest: null }]] : [],
    ),
  );
  return [...new Map([...known, ...identities])].map(([place, { pipelineName, jobName, executions, newest }]) => ({
    ...{ testId, pipelineName, jobName, executions, newest },
    baseline: places.get(place)?.baseline ?? unknownBelief(),
  }));
}

/**
 * The first run in which the test failed and that has no meaning yet: it was stored after the runs were read, so it is no
 * difference that lasts.
 */
export function unjudgedRun(
  testId: string,
  history: TestHistory,
  { runs, checkpoints, contradictions }: Pick<DeriveOptions, 'runs' | 'checkpoints' | 'contradictions'>,
): string | undefined {
  for (const { baseline, executions, newest: _, ...identity } of identitiesOf(testId, history, checkpoints)) {
    const { pipelineName, jobName } = identity;
    const start = baseline.at;
    const isNew = (position: Position): boolean => start === null || comparePositions(position, start) > 0;
    const failed = executions.filter((one) => isTrouble(one) && isNew(one)).map(runKeyOf);
    const named = (contradictions.get(identityKey(identity)) ?? []).filter(({ at }) => isNew(at)).map(({ run }) => run);
    for (const run of [...failed, ...named])
      if (!runs.get(runNameOf(placeOf(identity), run))?.meaning) return `${pipelineName} ${jobName} ${run}`;
  }
  return undefined;
}

interface Course {
  place: string;
  executions: readonly IdentifiedExecution[];
  contradictions: readonly Contradiction[];
}

/** Follows an identity up to its end, and stops a day before the newest execution for a checkpoint. */
function followTo(
  baseline: StoredBelief,
  { place, executions, contradictions }: Course,
  runs: KnownRuns,
): { checkpoint: StoredBelief; belief: StoredBelief; changes: BeliefChange[]; flaky: ReadonlySet<string> } {
  const newestAt = executions.reduce((newest, { finishedAt }) => Math.max(newest, finishedAt), 0);
  const isEarly = (at: number): boolean => at < newestAt - CHECKPOINT_LAG_MS;
  const early = {
    executions: executions.filter(({ finishedAt }) => isEarly(finishedAt)),
    contradictions: contradictions.filter(({ at }) => isEarly(at.finishedAt)),
  };
  const course = followCourse({ ...baseline, place, ...early }, runs);
  const checkpoint = { at: course.at, belief: course.belief };
  // What was early is behind the course.
  followCourse({ ...checkpoint, place, executions, contradictions }, runs, course);
  const { at, belief, changes, flaky } = course;
  return { checkpoint, belief: { at, belief }, changes, flaky };
}

function firstFailureOf(history: TestHistory): FirstFailure | null {
  let first: FirstFailure | null = null;
  for (const { status, finishedAt: failedAt, executionId, commit } of conclusiveIn(history)) {
    if (status !== 'failed') continue;
    const isEarlier =
      first === null || failedAt < first.failedAt || (failedAt === first.failedAt && executionId < first.executionId);
    if (isEarlier) first = { failedAt, executionId, commit };
  }
  return first;
}

function lastDayOf(history: TestHistory): number | null {
  let newest: number | null = null;
  for (const { finishedAt } of conclusiveIn(history)) newest = Math.max(finishedAt, newest ?? 0);
  return newest === null ? null : dayOf(newest);
}

function flakyDaysOf(history: TestHistory, flaky: ReadonlySet<string>): TestState['flakyDays'] {
  const days = new Map<number, number>();
  let newest = 0;
  for (const { executionId, finishedAt } of conclusiveIn(history)) {
    const day = dayOf(finishedAt);
    newest = Math.max(newest, day);
    if (flaky.has(String(executionId))) days.set(day, (days.get(day) ?? 0) + 1);
  }
  return [...days].filter(([day]) => day > newest - RATIO_DAYS).sort(([one], [other]) => one - other);
}
