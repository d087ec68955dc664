/** The legs of a repository that are flaky or broken now, which are few. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { HEALTHS, type Health } from '../domain/status.ts';
import { ALL_LEGS, type Identity } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { suspects } from './schema.ts';

const row = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  health: z.enum(HEALTHS),
});

/** By the index of those. */
export async function readUnhealthyLegs(
  tx: Executor,
  repositoryId: string,
): Promise<(Identity & { health: Health })[]> {
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, axes, health from ${suspects}
    where repository_id = ${repositoryId} and health <> 'healthy' and axes <> ${ALL_LEGS}`);
  return rows.map((found) => {
    const { test_id: testId, pipeline_name: pipelineName, job_name: jobName, axes, health } = row.parse(found);
    return { testId, pipelineName, jobName, axes, health };
  });
}
