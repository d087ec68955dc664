/**
 * Why a test's health is what it is, as of any moment: folds its retained executions as the evaluation does, with what the
 * evaluation has found their runs to mean, and notes what decided. Only reads.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { BeliefAt } from '../domain/belief.ts';
import { newBelief, type Probabilities, probabilitiesOf, verdictOf } from '../domain/belief.ts';
import { BeliefCourse, shownHealth } from '../domain/belief-course.ts';
import { BROKEN_FAILS, type Cause } from '../domain/belief-fold.ts';
import { comparePositions, isTrouble } from '../domain/execution.ts';
import { type HealthConfidence, healthConfidence } from '../domain/health-confidence.ts';
import { troubleFor } from '../domain/judge-runs.ts';
import type { OtherLegs, OtherLegsClue } from '../domain/other-legs.ts';
import { type Pace, paceOf, passesUntilHealthy } from '../domain/passes-until-healthy.ts';
import { type OwnFailure, type ProbableFix, probableFix } from '../domain/probable-fix.ts';
import type { Health } from '../domain/status.ts';
import { identityKey, identityOf } from '../domain/test-identity.ts';
import { explainRun, type RunExplanation } from '../domain/troubled-run.ts';
import { type IdentityState, recentIdentities } from '../evaluation/quarantines.ts';
import { readBaselines } from '../postgres/baselines.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { type FoundContradiction, readCluesOfTest } from './clues-of-test.ts';
import { type ExplainedExecution, explainedColumns, explainedOf } from './explained-execution.ts';
import { RunsOfExecutions } from './runs-of-executions.ts';

/**
 * The newest executions of a test that an explanation considers: 110 a day for 90 days. Judging so many takes 0.2 s, in
 * which the process answers nothing else.
 */
export const EXECUTIONS_MAX = 10_000;

/** A change of health. */
interface Step {
  from: Health;
  to: Health;
  /** How likely the new health was right then. */
  probability: number;
  /** The cause of the break, if the test broke. */
  breaker: Extract<Cause, 'commit' | 'outside'> | undefined;
  /** The executions that led to the change; last, the one that caused it. */
  executions: ExplainedExecution[];
}

/** A commit off the default branch on which the test both passed and failed. */
interface ExplainedContradiction {
  /** The failure, or the pass after failed attempts. */
  execution: ExplainedExecution;
  /** When the opposite was known; milliseconds since the epoch. */
  at: number;
  /** Whether it is evidence that the test is flaky: its run does not explain it. */
  isEvidence: boolean;
  run: RunExplanation;
}

/** Something that went wrong: a failure, or a pass after failed attempts. */
interface ExplainedFailure {
  execution: ExplainedExecution;
  cause: Cause;
  /** Whether it counts as flaky. */
  isFlaky: boolean;
  run: RunExplanation;
  /** The results of its other legs on the commit; null if nothing is known. */
  otherLegs: OtherLegs | null;
}

export interface IdentityExplanation extends IdentityState, HealthConfidence {
  health: Health;
  probabilities: Probabilities;
  /** The executions that decide now, oldest first; of a healthy test none. */
  evidence: ExplainedExecution[];
  /** Whether the health and recovery of the test cover it. */
  isRecent: boolean;
  /** In order of finishing. */
  executions: ExplainedExecution[];
  /** Clean passes in a row up to the end, and how many more make it surely healthy; null: more than anyone waits for. */
  cleanPasses: number;
  cleanPassesNeeded: number | null;
  /** How often it ran lately. */
  pace: Pace;
  /** The commit that probably ended its failures; null without failures that are its own, and while it is unknown. */
  fix: ProbableFix | null;
  /** Every change of health, oldest first. */
  steps: Step[];
  /** Everything that went wrong, in order of finishing. */
  failures: ExplainedFailure[];
  /** In order of time. */
  contradictions: ExplainedContradiction[];
}

const executions = defineQuery(
  'evaluation/explain',
  { repository_id: 'UUID', test_id: 'UUID', until_ms: 'Int64', executions: 'UInt32' },
  explainedColumns.transform((row) => ({ ...explainedOf(row), pullRequest: 0 })),
);

export interface ExplainOptions {
  repositoryId: string;
  test: { id: string; name: string };
  isFlakyDetectionEnabled: boolean;
  /** Executions that finished later do not count; milliseconds since the epoch. */
  asOf: number;
}

interface Stores {
  clickhouse: ClickHouse;
  db: Database;
}

/**
 * Explains each identity of the test on the default branch from its retained executions, the newest
 * {@link EXECUTIONS_MAX}, and from what is known of the months that have left; newest identity first.
 */
export async function explainTest({ clickhouse, db }: Stores, options: ExplainOptions): Promise<IdentityExplanation[]> {
  const { repositoryId, test, asOf } = options;
  const stored = await clickhouse.select(executions, {
    repository_id: repositoryId,
    test_id: test.id,
    until_ms: asOf,
    executions: EXECUTIONS_MAX,
  });
  const [runs, starts] = await Promise.all([
    RunsOfExecutions.read(db, repositoryId, stored),
    stored.length < EXECUTIONS_MAX ? onPostgres(() => readBaselines(db, repositoryId, [test.id])) : [],
  ]);
  const baselines = new Map(starts.map(({ belief, ...identity }) => [identityKey(identity), belief]));
  const judged = stored.filter((one) => runs.isJudged(one));
  // If a test has too many executions, clues count since the first that is considered.
  const from = stored.length < EXECUTIONS_MAX ? 0 : Math.min(...stored.map(({ finishedAt }) => finishedAt));
  const clues = await readCluesOfTest({ clickhouse, db }, { repositoryId, testId: test.id, from, to: asOf });
  const explained = [...Map.groupBy(judged, identityKey)].map(([key, group]) =>
    explainIdentity(group.sort(comparePositions), {
      ...options,
      runs,
      baseline: baselines.get(key),
      contradictions: clues.contradictions.get(key) ?? [],
      otherLegs: clues.otherLegs.get(key) ?? [],
    }),
  );
  const recent = new Set(recentIdentities(explained).get(test.id));
  return explained
    .map((identity) => ({ ...identity, isRecent: recent.has(identity) }))
    .sort((a, b) => b.newestAt - a.newestAt);
}

interface IdentityOptions extends ExplainOptions {
  contradictions: readonly FoundContradiction[];
  otherLegs: readonly OtherLegsClue[];
  runs: RunsOfExecutions;
  /** Before every retained execution. */
  baseline: BeliefAt | undefined;
}

function explainIdentity(
  ordered: ExplainedExecution[],
  { test, isFlakyDetectionEnabled, runs, baseline, contradictions, otherLegs }: IdentityOptions,
): Omit<IdentityExplanation, 'isRecent'> {
  const course = new BeliefCourse(baseline ?? { belief: newBelief(), at: null });
  const failedOff = contradictions.map(({ execution }) => execution);
  const byId = new Map([...ordered, ...failedOff].map((one) => [String(one.executionId), one]));
  /** By id of the failure that they are about. */
  const ofFailures = Map.groupBy(otherLegs, ({ failure }) => failure.executionId);
  const explainedPulls: ExplainedContradiction[] = [];
  const steps: Step[] = [];
  /** By id of what went wrong: how often a flaky test failed by what was known then. */
  const rates = new Map<string, number>();
  let cleanPasses = 0;
  const events = [
    ...ordered.map((execution) => ({ at: execution, execution, pull: undefined, shown: undefined })),
    ...contradictions.map((pull) => ({ at: pull.contradiction.at, execution: pull.execution, pull, shown: undefined })),
    ...otherLegs.flatMap((shown) => {
      const execution = byId.get(shown.failure.executionId);
      const isLater = execution !== undefined && comparePositions(shown.at, execution) > 0;
      return isLater ? [{ at: shown.at, execution, pull: undefined, shown }] : [];
    }),
  ].sort((one, other) => comparePositions(one.at, other.at));
  for (const { at: place, execution, pull, shown } of events) {
    if (baseline?.at && comparePositions(place, baseline.at) <= 0) continue;
    const before = course.belief;
    if (pull) {
      course.contradict(pull.contradiction, troubleFor(before, pull.run.meaning));
      const isEvidence = course.belief.evidence.some(
        ({ executionId }) => executionId === pull.contradiction.failure.executionId,
      );
      explainedPulls.push({ execution, at: place.finishedAt, isEvidence, run: explainRun(pull.run) });
    } else if (shown) course.seeOtherLegs(shown);
    else {
      const meaning = isTrouble(execution) ? runs.of(execution)?.meaning : undefined;
      course.add(execution, meaning && troubleFor(before, meaning));
      // Other legs that had run by then belong to the failure.
      const [known] = ofFailures.get(String(execution.executionId)) ?? [];
      if (known && comparePositions(known.at, execution) === 0) course.seeOtherLegs(known);
      if (isTrouble(execution)) rates.set(String(execution.executionId), probabilitiesOf(course.belief).flakyRate);
      if (execution.status !== 'skipped') cleanPasses = isTrouble(execution) ? 0 : cleanPasses + 1;
    }
    const [from, to] = [before, course.belief].map(({ status }) => shownHealth(status, isFlakyDetectionEnabled));
    if (from && to && from !== to) steps.push(stepOf(course, { from, to }, execution, byId));
  }
  const [first] = ordered as [ExplainedExecution];
  const { belief, at } = course;
  const health = shownHealth(belief.status, isFlakyDetectionEnabled);
  const newestAt = at?.finishedAt ?? 0;
  const ran = ordered.filter(({ status }) => status !== 'skipped');
  const pace = { ...paceOf(ran.map(({ finishedAt }) => finishedAt)), finishedAt: newestAt };
  const probabilities = probabilitiesOf(belief);
  return {
    ...{ ...identityOf(first), testName: test.name, belief, health, newestAt },
    ...healthConfidence(health, { at, belief }),
    probabilities,
    evidence: executionsIn(verdictOf(belief).evidence, byId),
    executions: ordered,
    cleanPasses,
    cleanPassesNeeded: passesUntilHealthy(belief, pace),
    pace,
    fix: probableFix(ran, lastOwnFailure(ran, course, rates), probabilities.healthy),
    steps,
    failures: ordered.flatMap((execution) => {
      const id = String(execution.executionId);
      const cause = course.causes.get(id);
      const isFlaky = isFlakyDetectionEnabled && course.flaky.has(id);
      const run = explainRun(runs.of(execution));
      return cause ? [{ execution, cause, isFlaky, run, otherLegs: ofFailures.get(id)?.at(-1)?.after ?? null }] : [];
    }),
    contradictions: explainedPulls,
  };
}

/** The last failure that its run does not explain. */
function lastOwnFailure(
  ran: readonly ExplainedExecution[],
  { causes }: BeliefCourse,
  rates: ReadonlyMap<string, number>,
): OwnFailure | undefined {
  const last = ran.findLast(({ executionId }) => (causes.get(String(executionId)) ?? 'run') !== 'run');
  if (!last) return undefined;
  const id = String(last.executionId);
  const isBroken = causes.get(id) !== 'test';
  return { executionId: last.executionId, isBroken, rate: isBroken ? BROKEN_FAILS : (rates.get(id) ?? 0) };
}

function stepOf(
  { belief, causes }: BeliefCourse,
  change: Pick<Step, 'from' | 'to'>,
  execution: ExplainedExecution,
  byId: ReadonlyMap<string, ExplainedExecution>,
): Step {
  const { probability, evidence } = verdictOf(belief);
  const led = executionsIn(evidence, byId).filter((one) => one !== execution);
  const cause = causes.get(String(execution.executionId));
  const breaker = change.to === 'broken' && (cause === 'commit' || cause === 'outside') ? cause : undefined;
  return { ...change, probability, breaker, executions: [...led, execution] };
}

const executionsIn = (
  places: readonly { executionId: string }[],
  byId: ReadonlyMap<string, ExplainedExecution>,
): ExplainedExecution[] => places.flatMap(({ executionId }) => byId.get(executionId) ?? []);
