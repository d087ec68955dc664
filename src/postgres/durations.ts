/** What is stored of how long tests take: replaced by the refresh that derives it, and read in pages. */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Identity } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { DURATIONS_LOCK } from './locks.ts';
import { durationTotals, jobLegs, stale, testDurations, tests } from './schema.ts';

/** A test in a leg, or in all legs of its CI job together. Durations in whole microseconds. */
export interface TestDurations extends Identity {
  legId: string;
  isFolded: boolean;
  executions: number;
  medianUs: number;
  p95Us: number;
  totalUs: number;
  growth: StoredGrowth | null;
}

/** Since when a test takes longer (src/domain/duration-growth.ts). */
interface StoredGrowth {
  /** Days since the epoch. */
  day: number;
  beforeUs: number;
  afterUs: number;
  /** Empty if unknown. */
  lastCommitBefore: string;
  firstCommitAfter: string;
}

export interface DurationTotals {
  /** Days since the epoch; the end is exclusive. */
  startDay: number;
  endDay: number;
  /** Tests in their legs. */
  tests: number;
  grown: number;
  totalUs: number;
}

/** @returns whether no other process derives the durations of the repository; until the end of the transaction */
export async function lockDurations(tx: Executor, repositoryId: string): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select pg_try_advisory_xact_lock(${DURATIONS_LOCK}, hashtext(${repositoryId})) as is_mine`,
  );
  return z.object({ is_mine: z.boolean() }).parse(rows[0]).is_mine;
}

const idRow = z.object({ test_id: z.string() });

/** The ids of the tests of a repository, in groups, in order. */
export async function* testIdsOf(tx: Executor, repositoryId: string, atOnce: number): AsyncGenerator<string[]> {
  for (let after = sql``; ; ) {
    const { rows } = await tx.execute(sql`
      select test_id from ${tests} where repository_id = ${repositoryId} ${after} order by test_id limit ${atOnce}`);
    const found = rows.map((row) => idRow.parse(row).test_id);
    if (found.length > 0) yield found;
    if (found.length < atOnce) return;
    after = sql`and test_id > ${found.at(-1)}`;
  }
}

const jobRow = z
  .object({ pipeline_name: z.string(), job_name: z.string() })
  .transform((row) => ({ pipelineName: row.pipeline_name, jobName: row.job_name }));

/** The CI jobs of a repository that have had several legs. */
export async function jobsWithLegs(
  tx: Executor,
  repositoryId: string,
): Promise<{ pipelineName: string; jobName: string }[]> {
  const { rows } = await tx.execute(sql`
    select pipeline_name, job_name from ${jobLegs} where repository_id = ${repositoryId}
    group by pipeline_name, job_name having count(*) > 1`);
  return rows.map((row) => jobRow.parse(row));
}

/** Replaces what is stored of some tests. */
export async function replaceDurations(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
  durations: readonly TestDurations[],
): Promise<void> {
  const rows = durations.map(({ growth, ...one }) => ({
    ...{ test_id: one.testId, pipeline_name: one.pipelineName, job_name: one.jobName, axes: one.axes },
    ...{ leg_id: one.legId, is_folded: one.isFolded, executions: one.executions },
    ...{ median_us: one.medianUs, p95_us: one.p95Us, total_us: one.totalUs },
    ...{ grown_day: growth?.day, before_us: growth?.beforeUs, after_us: growth?.afterUs },
    grown_us: growth && growth.afterUs - growth.beforeUs,
    ...{ last_commit_before: growth?.lastCommitBefore, first_commit_after: growth?.firstCommitAfter },
  }));
  await tx.execute(sql`
    with derived as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as derived (test_id uuid, pipeline_name text, job_name text,
        axes text, leg_id uuid, is_folded boolean, executions bigint, median_us bigint, p95_us bigint, total_us bigint,
        grown_day int, before_us bigint, after_us bigint, grown_us bigint, last_commit_before text, first_commit_after text)
    ), gone as (
      delete from ${testDurations} as kept
      where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])
        and (test_id, pipeline_name, job_name, axes) not in (select test_id, pipeline_name, job_name, axes from derived)
    )
    insert into ${testDurations} as kept (repository_id, test_id, pipeline_name, job_name, axes, leg_id, is_folded, executions,
      median_us, p95_us, total_us, grown_day, before_us, after_us, grown_us, last_commit_before, first_commit_after)
    select ${repositoryId}::uuid, * from derived
    on conflict (repository_id, test_id, pipeline_name, job_name, axes) do update set
      is_folded = excluded.is_folded, executions = excluded.executions, median_us = excluded.median_us,
      p95_us = excluded.p95_us, total_us = excluded.total_us, grown_day = excluded.grown_day, before_us = excluded.before_us,
      after_us = excluded.after_us, grown_us = excluded.grown_us, last_commit_before = excluded.last_commit_before,
      first_commit_after = excluded.first_commit_after`);
}

/** @param totals null: nothing is known of the repository */
export async function replaceDurationTotals(
  tx: Executor,
  repositoryId: string,
  totals: DurationTotals | null,
): Promise<void> {
  if (totals === null) await tx.delete(durationTotals).where(eq(durationTotals.repositoryId, repositoryId));
  else
    await tx
      .insert(durationTotals)
      .values({ repositoryId, ...totals })
      .onConflictDoUpdate({ target: durationTotals.repositoryId, set: totals });
}

export async function readDurationTotals(tx: Executor, repositoryId: string): Promise<DurationTotals | null> {
  const [row] = await tx.select().from(durationTotals).where(eq(durationTotals.repositoryId, repositoryId));
  if (!row) return null;
  const { repositoryId: _, ...totals } = row;
  return totals;
}

type StoredRow = typeof testDurations.$inferSelect;

function durationsOf(row: StoredRow): TestDurations {
  const { repositoryId: _, grownDay, grownUs: __, beforeUs, afterUs, lastCommitBefore, firstCommitAfter, ...one } = row;
  return {
    ...one,
    growth:
      grownDay === null
        ? null
        : {
            ...{ day: grownDay, beforeUs: beforeUs ?? 0, afterUs: afterUs ?? 0 },
            ...{ lastCommitBefore: lastCommitBefore ?? '', firstCommitAfter: firstCommitAfter ?? '' },
          },
  };
}

/** What is stored of some tests, in no order. */
export async function readDurations(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<TestDurations[]> {
  const rows = await tx
    .select()
    .from(testDurations)
    .where(
      and(
        eq(testDurations.repositoryId, repositoryId),
        sql`${testDurations.testId} = any(${plainColumn(testIds)}::uuid[])`,
      ),
    );
  return rows.map(durationsOf);
}

export const DURATION_SORTS = ['share', 'median', 'p95', 'growth'] as const;
export type DurationSort = (typeof DURATION_SORTS)[number];

const SORTED_BY = {
  share: { column: testDurations.totalUs, of: ({ totalUs }: TestDurations) => totalUs },
  median: { column: testDurations.medianUs, of: ({ medianUs }: TestDurations) => medianUs },
  p95: { column: testDurations.p95Us, of: ({ p95Us }: TestDurations) => p95Us },
  growth: {
    column: testDurations.grownUs,
    of: ({ growth }: TestDurations) => (growth ? growth.afterUs - growth.beforeUs : 0),
  },
} as const;

/** The value that a list is sorted by, the test, and the leg. */
export type DurationKey = [valueUs: number, testId: string, legId: string];

export const durationKeyOf = (sort: DurationSort, one: TestDurations): DurationKey => [
  SORTED_BY[sort].of(one),
  one.testId,
  one.legId,
];

export interface DurationOrder {
  sort: DurationSort;
  /** The row next to the page; null: the beginning or the end. */
  key: DurationKey | null;
  direction: 'next' | 'previous';
  limit: number;
}

/** Tests in their legs beyond a key, nearest first; the longest come first in the list. Each order is that of an index. */
export async function findDurations(
  tx: Executor,
  repositoryId: string,
  { sort, key, direction, limit }: DurationOrder,
): Promise<(TestDurations & { testName: string })[]> {
  const { column } = SORTED_BY[sort];
  const place = [column, testDurations.testId, testDurations.legId];
  const isNext = direction === 'next';
  const conditions: SQL[] = [sql`${testDurations.repositoryId} = ${repositoryId}`, sql`${testDurations.axes} <> '*'`];
  if (sort === 'growth') conditions.push(sql`${testDurations.grownDay} is not null`);
  if (key !== null)
    conditions.push(
      sql`(${sql.join(place, sql`, `)}) ${sql.raw(isNext ? '<' : '>')} (${key[0]}::bigint, ${key[1]}::uuid, ${key[2]}::uuid)`,
    );
  const rows = await tx
    .select({ durations: testDurations, testName: tests.name })
    .from(testDurations)
    .innerJoin(tests, and(eq(tests.repositoryId, testDurations.repositoryId), eq(tests.testId, testDurations.testId)))
    .where(and(...conditions))
    .orderBy(...place.map((one) => sql`${one} ${sql.raw(isNext ? 'desc' : 'asc')}`))
    .limit(limit);
  return rows.map(({ durations, testName }) => ({ ...durationsOf(durations), testName }));
}

/** After months have left: the durations of every repository that has some are stale. */
export async function noteAllDurationsStale(tx: Executor): Promise<void> {
  await tx.execute(sql`
    insert into ${stale} as noted (repository_id, kind, test_ids, first_block, noted_at)
    select repository_id, 'durations', '{}'::uuid[], ${Number.MAX_SAFE_INTEGER}::bigint, clock_timestamp()
    from ${durationTotals}
    on conflict (repository_id, kind) do update set revision = noted.revision + 1,
      noted_at = coalesce(noted.noted_at, excluded.noted_at)`);
}
