/**
 * Counts of the days of every ratio (src/domain/ratio-window.ts) as columns by which lists filter and sort: the same numbers
 * that their rows show. They are not stored, because they change when a day ends, though nothing runs.
 */
import { type SQL, sql } from 'drizzle-orm';
import { type DaySpan, daysUpTo, RATIO_DAYS } from '../domain/ratio-window.ts';
import { IMPACT_FAILURES, levelRank } from '../domain/test-metrics.ts';
import { DAY_MS } from '../domain/time.ts';
import { listedColumns } from './identities.ts';

interface RecentColumns {
  /** The rank of the level. */
  impact: SQL;
  failed: SQL;
  failedPpm: SQL;
}

/** Columns of `identities` with their suspects, as of `now`. */
export function recentColumns(now: number): RecentColumns {
  const days = daysUpTo(now);
  const failed = failedIn(days);
  const executions = sql`(${failed} + ${countOf(PASSED, days)})`;
  const [medium, high] = IMPACT_FAILURES;
  return {
    failed,
    failedPpm: sql`case when ${hasNotFailedSince(days)} then 0 when ${failed} = 0 then 0
      else floor(1000000::float8 * ${failed} / ${executions} + 0.5)::int end`,
    impact: sql`(case when ${listedColumns.health} = 'healthy' then ${levelRank(null)}
      when ${failed} >= ${sql.raw(String(high))} then ${levelRank('high')}
      when ${failed} >= ${sql.raw(String(medium))} then ${levelRank('medium')} else ${levelRank('low')} end)::smallint`,
  };
}

/** The counts of an identity: of its newest day, and where they are in each three numbers of its other days. */
const PASSED = { ofNewest: sql`identities.day_passed`, offset: sql.raw('1') };
const FAILED = { ofNewest: sql`identities.day_failed`, offset: sql.raw('2') };

/** Nearly every identity: then its days are not looked through. */
const hasNotFailedSince = ({ first }: DaySpan): SQL =>
  sql`identities.last_failure_ms < ${sql.raw(String(first * DAY_MS))}`;

const failedIn = (days: DaySpan): SQL =>
  sql`(case when ${hasNotFailedSince(days)} then 0 else ${countOf(FAILED, days)} end)`;

/** The days that {@link daysOf} reads, as far as they are in the span. */
function countOf({ ofNewest, offset }: typeof PASSED, { first, end }: DaySpan): SQL {
  const isIn = (day: SQL): SQL => sql`${day} >= ${sql.raw(String(first))} and ${day} < ${sql.raw(String(end))}`;
  return sql`(case when ${isIn(sql`identities.day`)} then ${ofNewest} else 0 end + coalesce((
    select sum(identities.days[i + ${offset}]) from generate_series(1, cardinality(identities.days) - 2, 3) as i
    where ${isIn(sql`identities.days[i]`)} and identities.days[i] > identities.day - ${sql.raw(String(RATIO_DAYS))}), 0))::int`;
}
