/** Which executions count as flaky, compared with what is stored of them. */
import { undecided } from '../domain/belief-course.ts';
import { comparePositions, isTrouble, type JudgedExecution } from '../domain/execution.ts';
import { dayOf } from '../domain/time.ts';
import type { JudgedIdentity } from './judge-arrivals.ts';
import { splitByRecency } from './recency.ts';
import type { EvaluationStore, FlakyVerdict, Verdict } from './store.ts';

export interface VerdictOptions {
  isFlakyDetectionEnabled: boolean;
}

/** The verdicts that differ from the stored ones, on executions that a judgement decided about. */
export async function changedVerdicts(
  store: EvaluationStore,
  judged: readonly JudgedIdentity[],
  options: VerdictOptions,
): Promise<Verdict[]> {
  const verdicts = judged.flatMap((identity) => verdictsOf(identity, options));
  const stored = await storedOf(store, verdicts);
  return verdicts.filter((verdict) => {
    const known = stored.get(verdict.executionId);
    // What its source says of an execution from before the start is not known here, and stands.
    if (known && !verdict.isFlaky && known.isFromSource && !verdict.isFromSource) return false;
    return (known !== undefined) !== verdict.isFlaky;
  });
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

async function storedOf(store: EvaluationStore, verdicts: readonly Verdict[]): Promise<Map<bigint, FlakyVerdict>> {
  const from = new Map<string, number>();
  for (const { testId, finishedAt } of verdicts)
    from.set(testId, Math.min(finishedAt, from.get(testId) ?? Number.POSITIVE_INFINITY));
  const { recent, older } = splitByRecency(from);
  const stored = new Map<bigint, FlakyVerdict>();
  for (const tests of [recent, older])
    if (tests.size > 0)
      for (const verdict of await store.flakyExecutions([...tests.keys()], Math.min(...tests.values())))
        stored.set(verdict.executionId, verdict);
  return stored;
}

/** Flaky executions of each of these tests by UTC day, since a moment, once the changed verdicts are stored. */
export async function flakyDaysOf(
  store: EvaluationStore,
  testIds: ReadonlySet<string>,
  changed: readonly Verdict[],
  since: number,
): Promise<Map<string, Map<number, number>>> {
  if (testIds.size === 0) return new Map();
  const flaky = new Map((await store.flakyExecutions([...testIds], since)).map((one) => [one.executionId, one]));
  for (const { isFlaky, ...verdict } of changed)
    if (isFlaky && verdict.finishedAt >= since) flaky.set(verdict.executionId, verdict);
    else flaky.delete(verdict.executionId);
  const days = new Map([...testIds].map((testId) => [testId, new Map<number, number>()]));
  for (const { testId, finishedAt } of flaky.values()) {
    const counts = days.get(testId);
    counts?.set(dayOf(finishedAt), (counts.get(dayOf(finishedAt)) ?? 0) + 1);
  }
  return days;
}
