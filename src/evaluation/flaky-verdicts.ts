/** Which executions count as flaky, compared with what is stored of them. */
import { undecided } from '../domain/belief-course.ts';
import { comparePositions, isTrouble, type JudgedExecution } from '../domain/execution.ts';
import { firstRatioDay } from '../domain/test-state.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { JudgedIdentity } from './judge-arrivals.ts';
import type { EvaluationStore, FlakyVerdict, IdentifiedExecution, Verdict } from './store.ts';

export interface VerdictOptions {
  isFlakyDetectionEnabled: boolean;
}

/** Verdicts of some tests, as they are stored and as a judgement changes them. */
export interface JudgedVerdicts {
  /** Those that differ from the stored ones, on executions that the judgement decided about. */
  changed: readonly Verdict[];
  /** Stored as flaky, of every test with a verdict and those that were asked for. */
  stored: readonly FlakyVerdict[];
}

/**
 * @param flaky news that their source calls flaky: what is stored of their tests is asked for as well
 */
export async function judgeVerdicts(
  store: EvaluationStore,
  judged: readonly JudgedIdentity[],
  flaky: readonly IdentifiedExecution[],
  options: VerdictOptions,
): Promise<JudgedVerdicts> {
  const verdicts = judged.flatMap((identity) => verdictsOf(identity, options));
  const asked = [...verdicts, ...flaky];
  if (asked.length === 0) return { changed: [], stored: [] };
  const oldest = asked.reduce((least, { finishedAt }) => Math.min(least, finishedAt), Number.MAX_SAFE_INTEGER);
  const testIds = [...new Set(asked.map(({ testId }) => testId))];
  // One statement: the days that are counted later begin no earlier.
  const stored = await store.flakyExecutions(testIds, firstRatioDay(oldest) * DAY_MS);
  const byId = new Map(stored.map((one) => [one.executionId, one]));
  const changed = verdicts.filter((verdict) => {
    const known = byId.get(verdict.executionId);
    // What its source says of an execution from before the start is not known here, and stands.
    if (known && !verdict.isFlaky && known.isFromSource && !verdict.isFromSource) return false;
    return (known !== undefined) !== verdict.isFlaky;
  });
  return { changed, stored };
}

/** On each execution that may be, or may have been, flaky. */
function verdictsOf(
  { testId, start, restart, executions, course }: JudgedIdentity,
  { isFlakyDetectionEnabled }: VerdictOptions,
): Verdict[] {
  const verdicts = new Map<string, Verdict>();
  const decide = (executionId: string, finishedAt: number, isFromSource: boolean): void => {
    const isFlaky = isFlakyDetectionEnabled && course.flaky.has(executionId);
    verdicts.set(executionId, { testId, executionId: BigInt(executionId), finishedAt, isFromSource, isFlaky });
  };
  // Unless it starts over, verdicts from before the start stand that are not decided again.
  for (const { executionId, finishedAt } of [...undecided(start.belief), ...undecided(course.belief)])
    if (restart !== undefined || course.flaky.has(executionId) || course.withdrawn.has(executionId))
      decide(executionId, finishedAt, false);
  // History is read by time, so it may hold the execution at the start, which the belief has taken in.
  const isNew = (execution: JudgedExecution): boolean => !start.at || comparePositions(execution, start.at) > 0;
  for (const execution of executions)
    if (
      isTrouble(execution) &&
      isNew(execution) &&
      (restart !== undefined || execution.isFlakyWithinRun || course.flaky.has(String(execution.executionId)))
    )
      decide(String(execution.executionId), execution.finishedAt, execution.isFlakyWithinRun);
  return [...verdicts.values()];
}

/** Flaky executions of each of these tests by UTC day, since a moment, once the changed verdicts are stored. */
export function flakyDaysOf(
  { changed, stored }: JudgedVerdicts,
  testIds: ReadonlySet<string>,
  since: number,
): Map<string, Map<number, number>> {
  const flaky = new Map(stored.map((one) => [one.executionId, one]));
  for (const { isFlaky, ...verdict } of changed)
    if (isFlaky) flaky.set(verdict.executionId, verdict);
    else flaky.delete(verdict.executionId);
  const days = new Map([...testIds].map((testId) => [testId, new Map<number, number>()]));
  for (const { testId, finishedAt } of flaky.values()) {
    const counts = finishedAt >= since ? days.get(testId) : undefined;
    counts?.set(dayOf(finishedAt), (counts.get(dayOf(finishedAt)) ?? 0) + 1);
  }
  return days;
}
