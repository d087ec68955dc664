/** Everything that is stored of one cause. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { HEALTHS } from '../domain/status.ts';
import type { Executor } from './client.ts';
import { causeDays, causeGroups, causeNodes, suspects, tests } from './schema.ts';

/** Rows of each kind that are shown; what is left out are those with the fewest failures. */
export const CAUSE_TESTS_MAX = 200;
export const CAUSE_LEGS_MAX = 100;
export const CAUSE_MESSAGES_MAX = 50;

const nodeRow = z.object({
  node_id: z.string(),
  exception_type: z.string(),
  message: z.string(),
  first_ms: z.number(),
  first_test: z.string(),
  last_ms: z.number(),
  last_test: z.string(),
  last_failure: z.string(),
  failures: z.number(),
  was_cause: z.boolean(),
  first_test_name: z.string().nullable(),
  last_test_name: z.string().nullable(),
});
const countsRow = z.object({
  tests: z
    .array(
      z.object({
        test_id: z.string(),
        test_name: z.string().nullable(),
        failures: z.number(),
        last_day: z.number(),
        health: z.enum(HEALTHS),
      }),
    )
    .nullable(),
  legs: z
    .array(z.object({ pipeline_name: z.string(), job_name: z.string(), axes: z.string(), failures: z.number() }))
    .nullable(),
  days: z.array(z.tuple([z.number(), z.number()])).nullable(),
  groups: z.array(z.tuple([z.string(), z.string()])).nullable(),
  test_count: z.number(),
  leg_count: z.number(),
});

export type CauseDetails = NonNullable<Awaited<ReturnType<typeof readCause>>>;

/** The id of the cause that an id leads to: its own, or the one that a merge left. */
export async function causeOf(tx: Executor, repositoryId: string, id: string): Promise<string | undefined> {
  const { rows } = await tx.execute(sql`
    select cause_id from ${causeNodes} where repository_id = ${repositoryId} and node_id = ${id}`);
  return rows[0] && z.object({ cause_id: z.string() }).parse(rows[0]).cause_id;
}

/** @param causeId as {@link causeOf} gives it */
export async function readCause(tx: Executor, repositoryId: string, causeId: string) {
  const [{ rows: nodes }, { rows: counts }] = await Promise.all([
    tx.execute(sql`
      select node_id, exception_type, left(message, 1000) as message, first_ms::float8 as first_ms, first_test,
        last_ms::float8 as last_ms, last_test, last_failure, failures, was_cause,
        (select name from ${tests} where repository_id = ${repositoryId} and test_id = first_test) as first_test_name,
        (select name from ${tests} where repository_id = ${repositoryId} and test_id = last_test) as last_test_name
      from ${causeNodes} where repository_id = ${repositoryId} and cause_id = ${causeId}
      order by first_ms, node_id`),
    tx.execute(sql`
      with failed as materialized (
        select d.* from ${causeNodes} as n join ${causeDays} as d using (repository_id, node_id)
        where n.repository_id = ${repositoryId} and n.cause_id = ${causeId}
      ), of_tests as (
        select test_id, sum(failures)::float8 as failures, max(day) as last_day from failed group by test_id
      ), of_legs as (
        select pipeline_name, job_name, axes, sum(failures)::float8 as failures from failed
        group by pipeline_name, job_name, axes
      )
      select (select count(*)::int from of_tests) as test_count, (select count(*)::int from of_legs) as leg_count,
        (select json_agg(shown) from (
          select of_tests.test_id, t.name as test_name, failures, last_day,
            (array['healthy', 'flaky', 'broken'])[1 + coalesce((
              select max(case health when 'broken' then 2 when 'flaky' then 1 else 0 end) from ${suspects} as s
              where s.repository_id = ${repositoryId} and s.test_id = of_tests.test_id), 0)] as health
          from of_tests left join ${tests} as t on t.repository_id = ${repositoryId} and t.test_id = of_tests.test_id
          order by failures desc, of_tests.test_id limit ${CAUSE_TESTS_MAX}) as shown) as tests,
        (select json_agg(shown) from (
          select * from of_legs order by failures desc, pipeline_name, job_name, axes limit ${CAUSE_LEGS_MAX}) as shown) as legs,
        (select json_agg(json_build_array(day, failures) order by day) from (
          select day, sum(failures) as failures from failed group by day) as days) as days,
        (select json_agg(json_build_array(test_id, failure_id)) from (
          select g.test_id, g.failure_id from ${causeNodes} as n join ${causeGroups} as g using (repository_id, node_id)
          where n.repository_id = ${repositoryId} and n.cause_id = ${causeId} limit 1000) as g) as groups`),
  ]);
  const parsed = nodes.map((row) => nodeRow.parse(row));
  const living = parsed.filter(({ failures }) => failures > 0);
  const newest = living.reduce<(typeof living)[number] | undefined>(
    (best, node) => (best && best.last_ms >= node.last_ms ? best : node),
    undefined,
  );
  const [oldest] = parsed;
  const counted = countsRow.parse(counts[0]);
  if (!newest || !oldest) return undefined;
  return {
    ...{ causeId, newest, oldest, nodes: living },
    mergedFrom: parsed.filter((node) => node.was_cause && node.node_id !== causeId).map((node) => node.node_id),
    firstAt: oldest.first_ms,
    lastAt: newest.last_ms,
    failures: living.reduce((sum, { failures }) => sum + failures, 0),
    tests: counted.tests ?? [],
    testCount: counted.test_count,
    legs: counted.legs ?? [],
    legCount: counted.leg_count,
    days: counted.days ?? [],
    groups: (counted.groups ?? []).map(([testId, failureId]) => ({ testId, failureId })),
  };
}
