/** How the health of tests went: the changes of their identities and nothing else, for counts over many tests. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { HEALTHS, type Health } from '../domain/status.ts';
import { ALL_LEGS, legKey } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { healthChanges, identities, suspects } from './schema.ts';

/** A test of which an identity changed. */
export interface HealthCourse {
  repositoryId: string;
  identities: {
    /** When its newest execution finished; milliseconds since the epoch. */
    newestAt: number;
    /** All of them in order of time; milliseconds since the epoch. */
    changes: { at: number; after: Health }[];
  }[];
}

const courseRow = z
  .object({
    repository_id: z.string(),
    identities: z.array(z.tuple([z.string(), z.string(), z.string(), z.number()])).nullable(),
    changes: z.array(z.tuple([z.string(), z.string(), z.string(), z.number(), z.enum(HEALTHS)])).nullable(),
  })
  .transform(({ repository_id: repositoryId, identities: places, changes }): HealthCourse => {
    const byPlace = Map.groupBy(changes ?? [], ([pipelineName, jobName, axes]) =>
      legKey({ pipelineName, jobName, axes }),
    );
    return {
      repositoryId,
      identities: (places ?? []).flatMap(([pipelineName, jobName, axes, newestAt]) => {
        const own = byPlace.get(legKey({ pipelineName, jobName, axes })) ?? [];
        return newestAt === 0 ? [] : [{ newestAt, changes: own.map(([, , , at, after]) => ({ at, after })) }];
      }),
    };
  });

/** Which tests: those that changed last, up to a number. */
export interface ChangedSince {
  /** Milliseconds since the epoch. */
  since: number;
  testsMax: number;
}

/** Reads the tests that changed since, by repository. */
export async function readCoursesOfRepositories(
  db: Executor,
  repositoryIds: readonly string[],
  which: ChangedSince,
): Promise<HealthCourse[]> {
  const { rows } = await db.execute(coursesOfRepositoriesStatement(repositoryIds, which));
  return rows.map((row) => courseRow.parse(row));
}

/** Reads the tests of one repository that changed since, and those that are unhealthy now. */
export async function readUnhealthyCourses(
  db: Executor,
  repositoryId: string,
  which: ChangedSince,
): Promise<HealthCourse[]> {
  const { rows } = await db.execute(unhealthyCoursesStatement(repositoryId, which));
  return rows.map((row) => courseRow.parse(row));
}

/** Ranges of an index for each repository, then of primary keys for each test. */
export const coursesOfRepositoriesStatement = (repositoryIds: readonly string[], which: ChangedSince): SQL => sql`
  select ${courseColumns}
  from unnest(${plainColumn(repositoryIds)}::uuid[]) as asked (id)
  cross join lateral (${changedTests(which)}) as changed`;

/** The same; those that are unhealthy now have a separate index. */
export const unhealthyCoursesStatement = (repositoryId: string, which: ChangedSince): SQL => sql`
  select ${courseColumns}
  from (select ${repositoryId}::uuid as id) as asked
  cross join lateral (
    select test_id from (${changedTests(which)}) as lately
    union
    select test_id from (
      select distinct unhealthy.test_id from ${suspects} as unhealthy
      where unhealthy.repository_id = asked.id and unhealthy.health <> 'healthy' limit ${which.testsMax}
    ) as now
  ) as changed`;

const changedTests = ({ since, testsMax }: ChangedSince): SQL => sql`
  select test_id from ${healthChanges} as lately
  where lately.repository_id::text = asked.id::text and lately.at_ms >= ${since}
  group by test_id order by max(at_ms) desc, test_id limit ${testsMax}`;

const courseColumns = sql`asked.id as repository_id,
  (
    select json_agg(json_build_array(pipeline_name, job_name, axes, greatest(last_success_ms, last_failure_ms))
      order by pipeline_name, job_name, axes)
    from ${identities} as places
    where places.repository_id = asked.id and places.test_id = changed.test_id and places.executions > 0
      and places.axes <> ${ALL_LEGS}
  ) as identities,
  (
    select json_agg(json_build_array(pipeline_name, job_name, axes, at_ms, after)
      order by at_ms, run_id collate "C", run_attempt, execution_id::numeric)
    from ${healthChanges} as changes
    where changes.repository_id = asked.id and changes.test_id = changed.test_id
  ) as changes`;
