/** What troubles some repositories, in one statement. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { causeDays, causeNodes, refusedUploads, repositories, uploadChunks } from './schema.ts';

const troubleRow = z.object({
  repository_id: z.string(),
  /** Whether an upload of that time had problems. */
  has_problem: z.boolean(),
  refused: z.coerce.number(),
  cause: z.tuple([z.string(), z.string(), z.string(), z.number(), z.number()]).nullable(),
});

/** What troubles a repository. */
export interface RepositoryTrouble {
  repositoryId: string;
  /** Whether rows of an upload were rejected or conflicted, or it has a warning. */
  hasUploadProblem: boolean;
  /** Uploads that were refused, those that are alike counted in full. */
  refusedUploads: number;
  /** With the most failures in the time; null: nothing failed. */
  cause: { id: string; exceptionType: string; message: string; failures: number; tests: number } | null;
}

/** @param since milliseconds since the epoch: the beginning of a UTC day */
export async function readTroubles(
  db: Executor,
  repositoryIds: readonly string[],
  { since, sinceDay }: { since: number; sinceDay: number },
): Promise<RepositoryTrouble[]> {
  const { rows } = await db.execute(troublesStatement(repositoryIds, { since, sinceDay }));
  return rows.map((row) => {
    const found = troubleRow.parse(row);
    const [id = '', exceptionType = '', message = '', failures = 0, tests = 0] = found.cause ?? [];
    return {
      repositoryId: found.repository_id,
      hasUploadProblem: found.has_problem,
      refusedUploads: found.refused,
      cause: found.cause && { id, exceptionType, message, failures, tests },
    };
  });
}

/** Problems of uploads are rare and have an index; days of causes are a range of another. */
export const troublesStatement = (
  repositoryIds: readonly string[],
  { since, sinceDay }: { since: number; sinceDay: number },
): SQL => sql`
  select asked.id as repository_id,
    asked.id in (
      select chunks.repository_id from ${uploadChunks} as chunks
      where chunks.has_problem and chunks.received_at >= to_timestamp(${since / 1_000}::float8)
    ) as has_problem,
    (
      select coalesce(sum(refused.refusals), 0) from ${refusedUploads} as refused
      where lower(refused.owner) = lower(known.owner) and lower(refused.repository) = lower(known.name)
        and refused.refused_at >= to_timestamp(${since / 1_000}::float8)
    ) as refused,
    (
      select json_build_array(worst.cause_id, newest.exception_type, newest.message, worst.failures, worst.tests)
      from (
        select nodes.cause_id, sum(days.failures) as failures, count(distinct days.test_id) as tests
        from ${causeDays} as days join ${causeNodes} as nodes using (repository_id, node_id)
        where days.repository_id = asked.id and days.day >= ${sinceDay}
        group by nodes.cause_id order by failures desc, nodes.cause_id limit 1
      ) as worst
      cross join lateral (
        select exception_type, message from ${causeNodes} as nodes
        where nodes.repository_id = asked.id and nodes.cause_id = worst.cause_id
        order by last_ms desc limit 1
      ) as newest
    ) as cause
  from unnest(${plainColumn(repositoryIds)}::uuid[]) as asked (id)
  join ${repositories} as known on known.id = asked.id`;
