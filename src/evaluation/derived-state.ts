/**
 * The state of a test as it follows from everything that is retained of it, and from what its runs mean: what a rebuild
 * writes, and what `verify` compares the stored state with.
 */
import { ownFailureOf } from '../domain/activity.ts';
import { type BeliefAt, unknownBelief } from '../domain/belief.ts';
import { type BeliefCourse, shownChanges, shownHealth } from '../domain/belief-course.ts';
import { type Clue, isContradiction } from '../domain/clues.ts';
import { comparePositions, isTrouble, type Position, runKeyOf } from '../domain/execution.ts';
import { IdentityTally } from '../domain/identity-tally.ts';
import { followCourse, type KnownRuns, runNameOf } from '../domain/judge-runs.ts';
import { hasOnlyPassed } from '../domain/only-passed.ts';
import type { Health } from '../domain/status.ts';
import { afterCourse, newSuspect, type Suspect, startOf } from '../domain/suspect.ts';
import { type Identity, identityKey, identityOf, legKey, legOf } from '../domain/test-identity.ts';
import { type IdentitySummary, summaryOf } from '../domain/test-state.ts';
import type { Baseline } from '../postgres/baselines.ts';
import type { IdentityCounts } from '../postgres/identities.ts';
import type { FirstFailure, TestRecord } from '../postgres/tests.ts';
import type { IdentifiedChange } from './beginnings.ts';
import type { IdentifiedExecution } from './executions.ts';
import { type IdentityHistory, type RetainedExecution, retainedIn, type TestHistory } from './history.ts';
import type { IdentityState } from './quarantines.ts';

export interface DerivedIdentity extends Identity {
  /** Where its fold begins. */
  baseline: BeliefAt;
  summary: IdentitySummary;
  counts: IdentityCounts;
  health: Health;
  /** See `ShownIdentity`. */
  ownFailureAt: number;
  belief: BeliefAt;
  /** Undefined of one that has only passed. */
  suspect: Suspect | undefined;
}

export interface DerivedState {
  test: TestRecord;
  identities: DerivedIdentity[];
  /** Changes of health, since the baselines. */
  changes: IdentifiedChange[];
  /** The retained executions that count as flaky. */
  flaky: IdentifiedExecution[];
  /** For the quarantines. */
  states: IdentityState[];
}

export interface DeriveOptions {
  isFlakyDetectionEnabled: boolean;
  runs: KnownRuns;
  /** Baselines of the test: where its identities start. */
  baselines: readonly Baseline[];
  /** By `identityKey`. */
  clues: ReadonlyMap<string, readonly Clue[]>;
}

export function deriveState(
  testId: string,
  history: TestHistory,
  { isFlakyDetectionEnabled, runs, baselines, clues }: DeriveOptions,
): DerivedState {
  const { name } = history;
  const test = { testId, name, firstFailure: firstFailureOf(history) };
  const derived: DerivedState = { test, identities: [], changes: [], flaky: [], states: [] };
  for (const { baseline, executions, newest, ...identity } of identitiesOf(testId, history, baselines)) {
    const known = {
      ...identity,
      baseline,
      executions,
      clues: clues.get(identityKey(identity)) ?? [],
    };
    const course = courseOf(known, runs);
    const belief = { at: course.at, belief: course.belief };
    if (executions.length === 0 && belief.at === null) continue;
    derived.identities.push({
      ...{ ...identity, baseline, belief },
      summary: summaryOf(executions, newest),
      counts: { ...countsOf(name, known), newest },
      health: shownHealth(belief.belief.status, isFlakyDetectionEnabled),
      ownFailureAt: ownFailureOf(belief.belief),
      suspect: isSuspect(known) ? suspectOf(known, course, isFlakyDetectionEnabled) : undefined,
    });
    for (const change of shownChanges(course.changes, isFlakyDetectionEnabled))
      derived.changes.push({ ...identity, ...change });
    if (isFlakyDetectionEnabled)
      for (const one of executions) if (course.flaky.has(String(one.executionId))) derived.flaky.push(one);
    if (belief.at)
      derived.states.push({ ...identity, testName: name, newestAt: belief.at.finishedAt, belief: belief.belief });
  }
  return derived;
}

/** An identity with all that its belief follows from. */
interface KnownIdentity extends Identity {
  baseline: BeliefAt;
  executions: readonly RetainedExecution[];
  clues: readonly Clue[];
}

const courseOf = (known: KnownIdentity, runs: KnownRuns): BeliefCourse =>
  followCourse({ ...known, ...startOf(beginOf(known)), place: legKey(known) }, runs);

/** Made as if all of its retained executions were recent. */
function beginOf({ baseline, executions }: KnownIdentity): Suspect {
  const isNew = (at: Position): boolean => baseline.at === null || comparePositions(at, baseline.at) > 0;
  return newSuspect(
    baseline,
    executions.filter((one) => one.status !== 'skipped' && isNew(one)),
  );
}

/** Whether it has failed, passed only after failed attempts, or been contradicted. */
const isSuspect = ({ baseline, executions, clues }: KnownIdentity): boolean =>
  clues.length > 0 || executions.some(isTrouble) || (baseline.at !== null && !hasOnlyPassed(baseline.belief));

function suspectOf(known: KnownIdentity, course: BeliefCourse, isFlakyDetectionEnabled: boolean): Suspect {
  const suspect = afterCourse(beginOf(known), course);
  return isFlakyDetectionEnabled ? suspect : { ...suspect, flaky: new Set() };
}

interface SuspectOptions {
  runs: KnownRuns;
  isFlakyDetectionEnabled: boolean;
}

/** An identity that has never run on the default branch: pull requests have shown something of it. */
export const unseenSuspect = (
  identity: Identity,
  baseline: BeliefAt,
  clues: readonly Clue[],
  { runs, isFlakyDetectionEnabled }: SuspectOptions,
): Suspect => {
  const known = { ...identityOf(identity), baseline, executions: [], clues };
  return suspectOf(known, courseOf(known, runs), isFlakyDetectionEnabled);
};

function countsOf(
  testName: string,
  { baseline, executions, ...identity }: KnownIdentity,
): Omit<IdentityCounts, 'newest'> {
  const tally = new IdentityTally();
  for (const one of executions) tally.add(one);
  const { passes, ...totals } = tally.totals();
  const gone = hasOnlyPassed(baseline.belief) && baseline.at !== null ? baseline.belief.passes + 1 : 0;
  return {
    ...identityOf(identity),
    ...{ testName, ...totals },
    passes:
      passes.passes > 0
        ? { ...passes, passes: passes.passes + gone }
        : { passes: gone, at: gone > 0 ? baseline.at : null, commit: gone > 0 ? baseline.belief.commit : '' },
  };
}

/** Identities with retained executions, and those of which only a baseline is left. */
function identitiesOf(
  testId: string,
  { identities }: TestHistory,
  baselines: readonly Baseline[],
): (Omit<KnownIdentity, 'clues'> & IdentityHistory)[] {
  const known = new Map(baselines.map((row) => [legKey(row), row]));
  const gone = new Map<string, IdentityHistory>();
  for (const [leg, row] of known) if (row.hasRun) gone.set(leg, { ...legOf(row), executions: [], newest: null });
  return [...new Map([...gone, ...identities])].map(([leg, { executions, newest, ...found }]) => ({
    ...{ testId, ...legOf(found), executions, newest },
    baseline: known.get(leg)?.belief ?? unknownBelief(),
  }));
}

/**
 * The first run in which the test failed and that has no meaning yet: it was stored after the runs were read, so it is no
 * difference that lasts.
 */
export function unjudgedRun(
  testId: string,
  history: TestHistory,
  { runs, baselines, clues }: Pick<DeriveOptions, 'runs' | 'baselines' | 'clues'>,
): string | undefined {
  for (const { baseline, executions, newest: _, ...identity } of identitiesOf(testId, history, baselines)) {
    const { pipelineName, jobName, axes } = identity;
    const start = baseline.at;
    const isNew = (position: Position): boolean => start === null || comparePositions(position, start) > 0;
    const failed = executions.filter((one) => isTrouble(one) && isNew(one)).map(runKeyOf);
    const named = (clues.get(identityKey(identity)) ?? [])
      .filter(isContradiction)
      .filter(({ at }) => isNew(at))
      .map(({ run }) => run);
    for (const run of [...failed, ...named])
      if (!runs.get(runNameOf(legKey(identity), run))?.meaning)
        return [pipelineName, jobName, axes, run].filter((part) => part !== '').join(' ');
  }
  return undefined;
}

function firstFailureOf(history: TestHistory): FirstFailure | null {
  let first: FirstFailure | null = null;
  for (const { status, hasFailures, finishedAt: failedAt, executionId, commit } of retainedIn(history)) {
    if (status !== 'failed' && !hasFailures) continue;
    const isEarlier =
      first === null || failedAt < first.failedAt || (failedAt === first.failedAt && executionId < first.executionId);
    if (isEarlier) first = { failedAt, executionId, commit };
  }
  return first;
}
