/** Adds up the legs of a CI job: what lists show of a test in the job. Pure. */
import { comparePositions } from './execution.ts';
import type { IdentityTotals } from './identity-tally.ts';
import type { CountedPasses } from './suspect.ts';
import { isLater, type SummarisedExecution } from './test-state.ts';

/** Counts of executions, with the newest of them. */
export interface FoldedCounts extends IdentityTotals {
  testName: string;
  newest: SummarisedExecution | null;
}

/** The counts of both together, in any order. */
export const sumOf = <C extends FoldedCounts>(one: C, other: FoldedCounts): C => ({
  ...one,
  executions: one.executions + other.executions,
  months: joined(one.months, other.months, Math.min),
  days: joined(one.days, other.days, add),
  lastSuccessAt: Math.max(one.lastSuccessAt, other.lastSuccessAt),
  lastFailureAt: Math.max(one.lastFailureAt, other.lastFailureAt),
  newest: newerOf(one.newest, other.newest),
  passes: passesOf(one.passes, other.passes),
});

const add = (one: number, other: number): number => one + other;

/** Joins lists of a key, a count and a third number, by their keys; the greatest key first. */
function joined(
  one: readonly number[],
  other: readonly number[],
  third: (one: number, other: number) => number,
): readonly number[] {
  const byKey = new Map<number, [count: number, third: number]>();
  for (const list of [one, other])
    for (let i = 0; i + 2 < list.length; i += 3) {
      const [key = 0, count = 0, more = 0] = list.slice(i, i + 3);
      const known = byKey.get(key);
      byKey.set(key, known ? [known[0] + count, third(known[1], more)] : [count, more]);
    }
  return [...byKey].sort(([a], [b]) => b - a).flatMap(([key, [count, more]]) => [key, count, more]);
}

const newerOf = (one: SummarisedExecution | null, other: SummarisedExecution | null): SummarisedExecution | null =>
  one === null || (other !== null && isLater(other, one)) ? other : one;

function passesOf(one: CountedPasses, other: CountedPasses): CountedPasses {
  const last = one.at === null || (other.at !== null && comparePositions(other.at, one.at) > 0) ? other : one;
  return { ...last, passes: one.passes + other.passes };
}
