/**
 * The legs of CI jobs. While a job has one leg, its rows are those that lists show. With the second one, a row for all legs
 * together begins for each of its tests, and stands for them in lists.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import { ALL_LEGS, jobKey, type Leg, legKey } from '../domain/test-identity.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { identities, jobLegs, suspects } from './schema.ts';

type RepositoryLeg = Leg & { repositoryId: string };

const jobOf = (leg: RepositoryLeg): string => `${leg.repositoryId}\0${jobKey(leg)}`;

const row = z.object({
  repository_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
});

/**
 * Records legs, and returns which CI jobs have several. Under the lock of the partition.
 *
 * @param ran executions are about to be counted in them
 */
export async function noteLegs(tx: Executor, ran: readonly RepositoryLeg[]): Promise<(leg: RepositoryLeg) => boolean> {
  const given = new Map<string, Map<string, RepositoryLeg>>();
  for (const leg of ran) {
    const job = jobOf(leg);
    given.set(job, (given.get(job) ?? new Map()).set(legKey(leg), leg));
  }
  const known = await readLegs(
    tx,
    [...given.values()].flatMap((legs) => [...legs.values()].slice(0, 1)),
  );
  const split = new Set<string>();
  const added: RepositoryLeg[] = [];
  for (const [job, legs] of given) {
    const before = known.get(job) ?? new Set<string>();
    const isNew = [...legs.values()].filter((leg) => !before.has(leg.axes));
    added.push(...isNew);
    if (before.size + isNew.length > 1) split.add(job);
    const [first] = isNew;
    if (before.size === 1 && first) await beginFold(tx, first);
  }
  await insertLegs(tx, added);
  return (leg) => split.has(jobOf(leg));
}

/** The axes of the legs of some CI jobs. */
async function readLegs(tx: Executor, jobs: readonly RepositoryLeg[]): Promise<Map<string, Set<string>>> {
  const { rows } = await tx.execute(sql`
    select repository_id, pipeline_name, job_name, axes
    from unnest(${plainColumn(jobs.map(({ repositoryId }) => repositoryId))}::uuid[],
        ${textColumn(jobs.map(({ pipelineName }) => pipelineName))}, ${textColumn(jobs.map(({ jobName }) => jobName))})
      as asked (repository_id, pipeline_name, job_name)
      join ${jobLegs} using (repository_id, pipeline_name, job_name)`);
  const known = new Map<string, Set<string>>();
  for (const found of rows.map((one) => row.parse(one))) {
    const job = jobOf({
      repositoryId: found.repository_id,
      pipelineName: found.pipeline_name,
      jobName: found.job_name,
      axes: found.axes,
    });
    known.set(job, (known.get(job) ?? new Set()).add(found.axes));
  }
  return known;
}

async function insertLegs(tx: Executor, legs: readonly RepositoryLeg[]): Promise<void> {
  if (legs.length === 0) return;
  await tx.execute(sql`
    insert into ${jobLegs} (repository_id, pipeline_name, job_name, axes)
    select * from unnest(${plainColumn(legs.map(({ repositoryId }) => repositoryId))}::uuid[],
      ${textColumn(legs.map(({ pipelineName }) => pipelineName))}, ${textColumn(legs.map(({ jobName }) => jobName))},
      ${textColumn(legs.map(({ axes }) => axes))})
    on conflict do nothing`);
}

/** The rows of a CI job's only leg become those of one leg among others: rows for all legs begin as their copies. */
async function beginFold(tx: Executor, { repositoryId, pipelineName, jobName }: RepositoryLeg): Promise<void> {
  const isOfJob = sql`repository_id = ${repositoryId} and pipeline_name = ${pipelineName} and job_name = ${jobName}`;
  await tx.execute(sql`
    with folded as (update ${identities} set is_folded = true where ${isOfJob} and not is_folded returning *)
    insert into ${identities} (repository_id, test_id, pipeline_name, job_name, axes, is_folded, name_start, executions, day,
      day_passed, day_failed, days, month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms,
      newest_ms, newest, passes, pass_ms, pass_place)
    select repository_id, test_id, pipeline_name, job_name, ${ALL_LEGS}, false, name_start, executions, day, day_passed,
      day_failed, days, month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms, newest_ms,
      newest, passes, pass_ms, pass_place
    from folded`);
  const { rows } = await tx.execute(sql`select distinct test_id from ${suspects} where ${isOfJob}`);
  await foldHealths(
    tx,
    repositoryId,
    rows.map((found) => testRow.parse(found).test_id),
  );
}

const testRow = z.object({ test_id: z.string() });

const RECENT_MS = HEALTH_RECENT_DAYS * DAY_MS;

/** When an identity of the suspect `one` last ran. One row by its key, however few rows the planner expects of a repository. */
const ranAt = (axes: SQL): SQL => sql`
  select is_folded, greatest(last_success_ms, last_failure_ms) as at_ms from ${identities} as ran
  where ran.repository_id = one.repository_id and ran.test_id = one.test_id and ran.pipeline_name = one.pipeline_name
    and ran.job_name = one.job_name and ran.axes = ${axes} limit 1`;

/**
 * Renews what lists show of the health of tests with several legs in a CI job: the worst health of the legs that ran
 * lately, and the belief that goes with it. If none of these is a suspect, neither are all legs together.
 */
export async function foldHealths(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  if (testIds.length === 0) return;
  await tx.execute(sql`
    with recent as materialized (
      select one.* from ${suspects} as one
        cross join lateral (${ranAt(sql`one.axes`)}) as leg
        cross join lateral (${ranAt(sql`${ALL_LEGS}`)}) as fold
      where one.repository_id = ${repositoryId} and one.test_id = any(${plainColumn(testIds)}::uuid[]) and leg.is_folded
        and leg.at_ms > fold.at_ms - ${RECENT_MS}::bigint
    ),
    gone as (
      delete from ${suspects} as known
      where known.repository_id = ${repositoryId} and known.test_id = any(${plainColumn(testIds)}::uuid[])
        and known.axes = ${ALL_LEGS}
        and (known.test_id, known.pipeline_name, known.job_name) not in (select test_id, pipeline_name, job_name from recent)
    )
    insert into ${suspects} (repository_id, test_id, pipeline_name, job_name, axes, health, confidence, own_failure_ms,
      before, after, recent)
    select distinct on (test_id, pipeline_name, job_name) repository_id, test_id, pipeline_name, job_name, ${ALL_LEGS},
      health, confidence, max(own_failure_ms) over (partition by test_id, pipeline_name, job_name, health), '', after, ''
    from recent
    order by test_id, pipeline_name, job_name, array_position(array['broken', 'flaky', 'healthy'], health),
      confidence desc, axes
    on conflict (repository_id, test_id, pipeline_name, job_name, axes) do update set health = excluded.health,
      confidence = excluded.confidence, own_failure_ms = excluded.own_failure_ms, after = excluded.after`);
}

/** The tests among these that run in more than one leg, or in more than one CI job. */
export async function testsWithLegs(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Set<string>> {
  if (testIds.length === 0) return new Set();
  const { rows } = await tx.execute(sql`
    select test_id from ${identities}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])
    group by test_id having count(*) > 1`);
  return new Set(rows.map((row) => z.object({ test_id: z.string() }).parse(row).test_id));
}
