/** Lists of causes: which, in which order, and what is shown of each. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Health } from '../domain/status.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Days } from '../domain/window.ts';
import { hitsTestOf } from './cause-owners.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { causeDays, causeNodes, suspects, tests } from './schema.ts';

export const CAUSE_SORTS = ['newest', 'failures', 'tests'] as const;
type CauseSort = (typeof CAUSE_SORTS)[number];

export interface CauseSelection {
  days: Days;
  /** Words and phrases that the message has; both are split as messages are. */
  words: string;
  phrases: readonly string[];
  /** Only causes with a test in one of these; empty: all. */
  healths: readonly Health[];
  /** Only causes that are assigned to one of these owners, or hit a test of theirs; null: all. An empty name: tests without one. */
  owners: { names: readonly string[]; assigned: readonly string[] } | null;
  /** Only these causes; null: all. */
  among: readonly string[] | null;
}

/** The value that a list is sorted by, and the id. */
export type CauseKey = [value: number, causeId: string];

export interface CauseOrder {
  sort: CauseSort;
  /** The row next to the page; null: the beginning or the end. */
  key: CauseKey | null;
  direction: 'next' | 'previous';
  limit: number;
}

/** Words in the form of the column `words`. */
const split = (text: string): SQL => sql`regexp_replace(${text}, '[^[:alnum:]]+', ' ', 'g')`;

function queryOf({ words, phrases }: CauseSelection): SQL | undefined {
  const parts = [
    ...(words === '' ? [] : [sql`plainto_tsquery('simple', ${split(words)})`]),
    ...phrases.map((phrase) => sql`phraseto_tsquery('simple', ${split(phrase)})`),
  ];
  return parts.length === 0 ? undefined : sql.join(parts, sql` && `);
}

/** The causes that a search finds, by the index of words: materialized, or a limit leads the planner to look at each cause. */
function matchedOf(repositoryId: string, selection: CauseSelection): SQL {
  const query = queryOf(selection);
  return query === undefined
    ? sql``
    : sql`with matched as materialized (
        select distinct n.cause_id from ${causeNodes} as n
        where n.repository_id = ${repositoryId} and n.failures > 0 and n.words @@ (${query}))`;
}

/** Conditions on the cause of a row, which is `n` of the statement: no other table of theirs may have that name. */
function conditionsOf(repositoryId: string, selection: CauseSelection, causeId: SQL): SQL {
  const { healths, owners, among, days } = selection;
  return sql.join(
    [
      sql`true`,
      ...(among === null ? [] : [sql`${causeId} = any(${plainColumn(among)}::uuid[])`]),
      ...(owners === null
        ? []
        : [
            sql`(${causeId} = any(${plainColumn(owners.assigned)}::uuid[])
              or ${hitsTestOf(repositoryId, causeId, owners.names, days)})`,
          ]),
      ...(healths.length === 0
        ? []
        : [
            sql`exists (select from ${causeNodes} as hit join ${causeDays} as d using (repository_id, node_id)
              where hit.repository_id = ${repositoryId} and hit.cause_id = ${causeId}
                and d.day between ${days.from} and ${days.to}
                and coalesce((select max(case health when 'broken' then 2 when 'flaky' then 1 else 0 end) from ${suspects} as s
                  where s.repository_id = ${repositoryId} and s.test_id = d.test_id), 0) = any(${plainColumn(
                    healths.map((health) => (health === 'broken' ? 2 : health === 'flaky' ? 1 : 0)),
                  )}::int[]))`,
          ]),
    ],
    sql` and `,
  );
}

/** The newest node of each cause, or of those that a search finds: few, each by the index. */
const newestNodes = (repositoryId: string, selection: CauseSelection): SQL =>
  queryOf(selection) === undefined
    ? sql`${causeNodes} as n
      where n.repository_id = ${repositoryId} and n.failures > 0
        and not exists (select from ${causeNodes} as other where other.repository_id = ${repositoryId}
          and other.cause_id = n.cause_id and other.failures > 0
          and (other.last_ms, other.node_id) > (n.last_ms, n.node_id))`
    : sql`matched cross join lateral (
        select of_cause.cause_id, of_cause.last_ms from ${causeNodes} as of_cause
        where of_cause.repository_id = ${repositoryId} and of_cause.cause_id = matched.cause_id and of_cause.failures > 0
        order by of_cause.last_ms desc limit 1) as n
      where true`;

const idRow = z.object({ cause_id: z.string(), value: z.number() });

const wayOf = ({ direction }: Pick<CauseOrder, 'direction'>): SQL => sql.raw(direction === 'next' ? 'desc' : 'asc');

/** So many of the newest causes are looked at for words, before all that have them are found by the index. */
const LOOKED_AT = 300;

/** One page of causes that failed in a window: ids with what they are sorted by, nearest to the key first. */
export async function findCauseIds(
  tx: Executor,
  repositoryId: string,
  selection: CauseSelection,
  order: CauseOrder,
): Promise<z.infer<typeof idRow>[]> {
  const query = queryOf(selection);
  if (query && order.sort === 'newest') {
    // Words that many messages have are among the newest: to find every message took a hundred times as long as a page.
    const newest = causeIdsStatement(
      repositoryId,
      { ...selection, words: '', phrases: [] },
      { ...order, limit: LOOKED_AT },
    );
    const { rows } = await tx.execute(sql`
      select cause_id, value from (${newest}) as looked where exists (
        select from ${causeNodes} as n where n.repository_id = ${repositoryId} and n.cause_id = looked.cause_id
          and n.failures > 0 and n.words @@ (${query}))
      order by value ${wayOf(order)}, cause_id ${wayOf(order)} limit ${order.limit}`);
    if (rows.length === order.limit) return rows.map((row) => idRow.parse(row));
  }
  const { rows } = await tx.execute(causeIdsStatement(repositoryId, selection, order));
  return rows.map((row) => idRow.parse(row));
}

/**
 * The newest of a repository come in the order of an index; by counts, the days of the window are added up. A cause whose newest
 * failure is in the window needs no look at its days. Of the others, a limit keeps the planner from adding up all causes.
 */
export function causeIdsStatement(
  repositoryId: string,
  selection: CauseSelection,
  { sort, key, direction, limit }: CauseOrder,
): SQL {
  const { from, to } = selection.days;
  const descending = direction === 'next';
  const beyond = (value: SQL, id: SQL): SQL =>
    key === null
      ? sql`true`
      : descending
        ? sql`(${value}, ${id}) < (${key[0]}::bigint, ${key[1]}::uuid)`
        : sql`(${value}, ${id}) > (${key[0]}::bigint, ${key[1]}::uuid)`;
  const way = wayOf({ direction });
  if (sort === 'newest')
    return sql`${matchedOf(repositoryId, selection)}
      select n.cause_id, n.last_ms::float8 as value from ${newestNodes(repositoryId, selection)}
        and n.last_ms >= ${from * DAY_MS}
        and (n.last_ms < ${(to + 1) * DAY_MS} or (select true from ${causeNodes} as m
          join ${causeDays} as d using (repository_id, node_id)
          where m.repository_id = ${repositoryId} and m.cause_id = n.cause_id and d.day between ${from} and ${to} limit 1))
        and ${beyond(sql`n.last_ms`, sql`n.cause_id`)} and ${conditionsOf(repositoryId, selection, sql`n.cause_id`)}
      order by n.last_ms ${way}, n.cause_id ${way} limit ${limit}`;
  const isMatched =
    queryOf(selection) === undefined ? sql`true` : sql`n.cause_id in (select matched.cause_id from matched)`;
  const counted = sort === 'failures' ? sql`sum(d.failures)` : sql`count(distinct d.test_id)`;
  return sql`${matchedOf(repositoryId, selection)}
    select cause_id, value::float8 as value from (
      select n.cause_id, ${counted} as value
      from ${causeDays} as d join ${causeNodes} as n using (repository_id, node_id)
      where d.repository_id = ${repositoryId} and d.day between ${from} and ${to} and ${isMatched}
        and ${conditionsOf(repositoryId, selection, sql`n.cause_id`)}
      group by n.cause_id) as counted
    where ${beyond(sql`value`, sql`cause_id`)}
    order by value ${way}, cause_id ${way} limit ${limit}`;
}

const listed = z
  .object({
    cause_id: z.string(),
    first_ms: z.number(),
    last_ms: z.number(),
    exception_type: z.string(),
    message: z.string(),
    last_test: z.string(),
    test_name: z.string().nullable(),
    failures: z.number(),
    tests: z.number(),
    legs: z.number(),
    days: z.array(z.tuple([z.number(), z.number()])).nullable(),
  })
  .transform((row) => ({
    causeId: row.cause_id,
    firstAt: row.first_ms,
    lastAt: row.last_ms,
    exceptionType: row.exception_type,
    message: row.message,
    testId: row.last_test,
    testName: row.test_name ?? '',
    failures: row.failures,
    tests: row.tests,
    legs: row.legs,
    /** Day and failures, in order; days without failures are missing. */
    days: row.days ?? [],
  }));
export type ListedCause = z.output<typeof listed>;

/** What is shown of some causes: counts of the days, the newest message, and the whole span. */
export async function readListedCauses(
  tx: Executor,
  repositoryId: string,
  causeIds: readonly string[],
  { from, to }: Days,
): Promise<Map<string, ListedCause>> {
  if (causeIds.length === 0) return new Map();
  const asked = sql`${plainColumn(causeIds)}::uuid[]`;
  const { rows } = await tx.execute(sql`
    with nodes as materialized (
      select node_id, cause_id, exception_type, left(message, 1000) as message, first_ms, last_ms, last_test, failures
      from ${causeNodes} where repository_id = ${repositoryId} and cause_id = any(${asked})
    ), failed as materialized (
      select cause_id, d.test_id, d.pipeline_name, d.job_name, d.axes, d.day, d.failures
      from nodes cross join lateral (
        select * from ${causeDays} as d where d.repository_id = ${repositoryId} and d.node_id = nodes.node_id
          and d.day between ${from} and ${to}) as d
    ), spans as (
      select cause_id, min(first_ms)::float8 as first_ms, max(last_ms)::float8 as last_ms from nodes group by cause_id
    ), newest as (
      select distinct on (cause_id) cause_id, exception_type, message, last_test from nodes where failures > 0
      order by cause_id, last_ms desc, node_id desc
    ), counted as (
      select cause_id, sum(failures)::float8 as failures, count(distinct test_id)::int as tests,
        count(distinct (pipeline_name, job_name, axes))::int as legs
      from failed group by cause_id
    ), by_day as (
      select cause_id, json_agg(json_build_array(day, failures) order by day) as days
      from (select cause_id, day, sum(failures) as failures from failed group by cause_id, day) as summed group by cause_id
    )
    select cause_id, first_ms, last_ms, exception_type, message, last_test, coalesce(failures, 0) as failures,
      coalesce(tests, 0) as tests, coalesce(legs, 0) as legs, days,
      (select name from ${tests} where repository_id = ${repositoryId} and test_id = last_test) as test_name
    from spans join newest using (cause_id) left join counted using (cause_id) left join by_day using (cause_id)`);
  return new Map(rows.map((row) => listed.parse(row)).map((cause) => [cause.causeId, cause]));
}
