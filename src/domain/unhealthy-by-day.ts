/** How many tests were broken and flaky at the end of each UTC day, and how many turned so on it. Pure. */
import { type IdentityHistory, noTurns, type Turn, turnsOf } from './health-transitions.ts';
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import type { Health } from './status.ts';
import { DAY_MS } from './time.ts';

export interface UnhealthyDay {
  /** Tests that were so at the end of the day, or are now. */
  broken: number;
  flaky: number;
  turns: Record<Turn, number>;
}

/** UTC days since the epoch, both inclusive. */
export interface DaySpan {
  first: number;
  last: number;
}

/**
 * A test counts until it has not run for {@link HEALTH_RECENT_DAYS} days: what no longer runs says nothing about the
 * repository.
 *
 * @param tests of each, its identities
 * @returns one for each day, the oldest first
 */
export function unhealthyByDay(
  tests: Iterable<readonly IdentityHistory<{ at: number; after: Health }>[]>,
  { first, last }: DaySpan,
): UnhealthyDay[] {
  const days = Array.from({ length: Math.max(0, last - first + 1) }, noDay);
  for (const identities of tests) {
    if (identities.length === 0) continue;
    const newest = Math.max(...identities.map(({ newestAt }) => newestAt));
    const counted = Math.min(last, Math.floor(newest / DAY_MS) + HEALTH_RECENT_DAYS - 1);
    const turns = turnsOf(identities);
    for (const { at, turn } of turns) {
      const day = days[Math.floor(at / DAY_MS) - first];
      if (day) day.turns[turn]++;
    }
    for (const [i, { at, after }] of turns.entries()) {
      if (after === 'healthy') continue;
      const end = turns[i + 1]?.at ?? Number.POSITIVE_INFINITY;
      // At the end of the day on which it ends, the test is no longer so.
      const to = Math.min(counted, Math.floor(end / DAY_MS) - 1);
      for (let day = Math.max(first, Math.floor(at / DAY_MS)); day <= to; day++) {
        const found = days[day - first];
        if (found) found[after]++;
      }
    }
  }
  return days;
}

const noDay = (): UnhealthyDay => ({ broken: 0, flaky: 0, turns: noTurns() });
