/** Where the beliefs about identities can start over. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { readBelief, type StoredBelief, writeBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn, textColumn } from './columns.ts';
import { healthCheckpoints } from './schema.ts';
import type { Identity } from './test-states.ts';

export interface Checkpoints extends Identity {
  /** At the end of the newest month that has left. */
  baseline: StoredBelief;
  /** Later, in this order. Unknown of an identity without {@link hasRunOnDefaultBranch}. */
  older: StoredBelief;
  newer: StoredBelief;
}

/**
 * Whether the identity has run on the default branch. Of others, only a baseline is stored: what pull requests had shown of them
 * when their month left.
 */
export const hasRunOnDefaultBranch = ({ newer }: Pick<Checkpoints, 'newer'>): boolean => newer.at !== null;

const row = z
  .object({
    test_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    baseline: z.string(),
    older: z.string(),
    newer: z.string(),
  })
  .transform(
    ({ test_id, pipeline_name, job_name, baseline, older, newer }): Checkpoints => ({
      testId: test_id,
      pipelineName: pipeline_name,
      jobName: job_name,
      baseline: readBelief(baseline),
      older: readBelief(older),
      newer: readBelief(newer),
    }),
  );

export async function readCheckpoints(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Checkpoints[]> {
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, baseline, older, newer from ${healthCheckpoints}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((found) => row.parse(found));
}

const identityColumns = (identities: readonly Identity[]) => sql`
  ${plainColumn(identities.map(({ testId }) => testId))}::uuid[],
  ${textColumn(identities.map(({ pipelineName }) => pipelineName))},
  ${textColumn(identities.map(({ jobName }) => jobName))}`;

export async function writeCheckpoints(
  tx: Executor,
  repositoryId: string,
  records: readonly Checkpoints[],
): Promise<void> {
  if (records.length === 0) return;
  await tx.execute(sql`
    insert into ${healthCheckpoints} (repository_id, test_id, pipeline_name, job_name, baseline, older, newer)
    select ${repositoryId}, * from unnest(
      ${identityColumns(records)}, ${lineColumn(records.map(({ baseline }) => writeBelief(baseline)))},
      ${lineColumn(records.map(({ older }) => writeBelief(older)))}, ${lineColumn(records.map(({ newer }) => writeBelief(newer)))})
    on conflict (repository_id, test_id, pipeline_name, job_name) do update set baseline = excluded.baseline,
      older = excluded.older, newer = excluded.newer`);
}

/** The newer checkpoint becomes the older one, and the given one the newer one. */
export async function advanceCheckpoints(
  tx: Executor,
  repositoryId: string,
  records: readonly Pick<Checkpoints, keyof Identity | 'newer'>[],
): Promise<void> {
  if (records.length === 0) return;
  await tx.execute(sql`
    insert into ${healthCheckpoints} (repository_id, test_id, pipeline_name, job_name, newer)
    select ${repositoryId}, * from unnest(
      ${identityColumns(records)}, ${lineColumn(records.map(({ newer }) => writeBelief(newer)))})
    on conflict (repository_id, test_id, pipeline_name, job_name) do update set older = health_checkpoints.newer,
      newer = excluded.newer`);
}

/** Removes those of some tests, but for what has a baseline: no execution of before it is retained. */
export async function forgetCheckpoints(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  await tx.execute(sql`
    delete from ${healthCheckpoints}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) and baseline = ''`);
}

/** The newest execution in the baselines of a repository, in milliseconds since the epoch; null if there is none. */
export async function newestBaseline(tx: Executor, repositoryId: string): Promise<number | null> {
  const { rows } = await tx.execute<{ newest: number | null }>(sql`
    select max((baseline::jsonb ->> 0)::float8) as newest from ${healthCheckpoints}
    where repository_id = ${repositoryId} and baseline <> ''`);
  return rows[0]?.newest ?? null;
}
