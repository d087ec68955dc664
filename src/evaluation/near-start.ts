/** Where an identity can start over that has only passed since: close to its end, without its history. */
import { beforePasses } from '../domain/counted-passes.ts';
import { comparePositions, isTrouble, type JudgedExecution, type Position } from '../domain/execution.ts';
import type { StoredBelief } from '../postgres/belief-text.ts';

/** Whether it is worth asking what came last before the moment: if something failed since, nothing follows from the end. */
export const mayStartNear = ({ at, belief }: StoredBelief, moment: number): boolean =>
  at !== null && at.finishedAt >= moment && belief.trouble.at < moment && beforePasses(belief, 1, '') !== undefined;

/**
 * What was believed after the last execution before a moment; undefined if that does not follow from what is believed in the
 * end.
 *
 * @param counted the executions that the end knows, in any order: all since the moment, and the last before it.
 */
export function nearStart(
  { at: end, belief }: StoredBelief,
  counted: readonly JudgedExecution[],
  moment: number,
): StoredBelief | undefined {
  if (!end) return undefined;
  let last: JudgedExecution | undefined;
  let start: JudgedExecution | undefined;
  for (const one of counted) {
    if (comparePositions(one, end) > 0) continue;
    if (isAfter(one, last)) last = one;
    if (one.finishedAt < moment && isAfter(one, start)) start = one;
  }
  if (!start || last?.executionId !== end.executionId) return undefined;
  const since = new Map<bigint, JudgedExecution>();
  for (const one of counted)
    if (isAfter(one, start) && comparePositions(one, end) <= 0) since.set(one.executionId, one);
  if ([...since.values()].some(isTrouble)) return undefined;
  const before = beforePasses(belief, since.size, start.commit);
  const { finishedAt, runId, runAttempt, executionId } = start;
  return before && { at: { finishedAt, runId, runAttempt, executionId }, belief: before };
}

const isAfter = (one: Position, other: Position | undefined): boolean =>
  other === undefined || comparePositions(one, other) > 0;
