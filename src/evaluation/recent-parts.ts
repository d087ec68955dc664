/** Cuts the course of an identity that was just judged into parts to remember (recent-courses.ts). */
import { comparePositions } from '../domain/execution.ts';
import { followCourse, type KnownRuns } from '../domain/judge-runs.ts';
import type { IdentifiedContradiction } from '../postgres/contradictions.ts';
import { placeOf } from './news.ts';
import type { RecentCourse, RecentParts } from './recent-courses.ts';
import type { Identity } from './store.ts';

/** The executions of the last part of a course. One that is twice as long is cut. */
const PART_EXECUTIONS = 100;

/** What to remember of a course: places at its end from which it can start over. */
export function partsOf(
  { start, executions, ...identity }: Identity & RecentCourse,
  contradictions: readonly IdentifiedContradiction[],
  runs: KnownRuns,
): RecentParts {
  if (executions.length < 2 * PART_EXECUTIONS) return [{ start, executions }];
  const ordered = executions.toSorted(comparePositions);
  const cut = ordered.length - PART_EXECUTIONS;
  const last = ordered[cut - 1];
  const earlier = {
    executions: ordered.slice(0, cut),
    contradictions: contradictions.filter(({ at }) => last && comparePositions(at, last) <= 0),
  };
  const { at, belief } = followCourse({ ...start, place: placeOf(identity), ...earlier }, runs);
  return [
    { start, executions: earlier.executions },
    { start: { at, belief }, executions: ordered.slice(cut) },
  ];
}
