/** Beliefs about identities when their last month left. Written by retention, read wherever a history is folded. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { BeliefAt } from '../domain/belief.ts';
import type { Identity } from '../domain/test-identity.ts';
import { readBelief, writeBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn } from './columns.ts';
import { identityKeys } from './identities.ts';
import { baselines } from './schema.ts';

export interface Baseline extends Identity {
  belief: BeliefAt;
  /** Whether it ran on the default branch. Of others, only pull requests have shown something. */
  hasRun: boolean;
}

const row = z
  .object({
    test_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    belief: z.string(),
    has_run: z.boolean(),
  })
  .transform(
    (found): Baseline => ({
      testId: found.test_id,
      pipelineName: found.pipeline_name,
      jobName: found.job_name,
      axes: found.axes,
      belief: readBelief(found.belief),
      hasRun: found.has_run,
    }),
  );

export async function readBaselines(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Baseline[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, axes, belief, has_run from ${baselines}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((found) => row.parse(found));
}

export async function writeBaselines(tx: Executor, repositoryId: string, records: readonly Baseline[]): Promise<void> {
  if (records.length === 0) return;
  await tx.execute(sql`
    insert into ${baselines} (repository_id, test_id, pipeline_name, job_name, axes, belief, has_run)
    select ${repositoryId}, * from unnest(${identityKeys(records)},
      ${lineColumn(records.map(({ belief }) => writeBelief(belief)))},
      ${plainColumn(records.map(({ hasRun }) => String(hasRun)))}::boolean[])
    on conflict (repository_id, test_id, pipeline_name, job_name, axes) do update set belief = excluded.belief,
      has_run = baselines.has_run or excluded.has_run`);
}

/**
 * When the newest execution in the baselines of a repository finished, in milliseconds since the epoch; null if there is
 * none.
 */
export async function newestBaseline(tx: Executor, repositoryId: string): Promise<number | null> {
  const { rows } = await tx.execute<{ newest: number | null }>(sql`
    select max((belief::jsonb ->> 0)::float8) as newest from ${baselines}
    where repository_id = ${repositoryId} and belief <> ''`);
  return rows[0]?.newest ?? null;
}
