/** Counts by day, from what happened on each. */
import { addToDay, type DayCounts } from '../../src/domain/flat-counts.ts';

export function dayCounts(days: Iterable<readonly [day: number, passed: number, failed: number]>): DayCounts {
  const counts: number[] = [];
  for (const [day, passed, failed] of days) if (passed + failed > 0) addToDay(counts, day, passed, failed);
  return counts;
}
