/** When the health of tests changed, and nothing else of the changes: for verdicts on what failed before them. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { HealthStep } from '../domain/health-at.ts';
import { HEALTHS } from '../domain/status.ts';
import type { Identity } from '../domain/test-identity.ts';
import type { Database } from './client.ts';
import { definePrepared } from './prepared.ts';
import { healthChanges } from './schema.ts';

export interface StoredStep extends HealthStep, Identity {}

const row = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  at_ms: z.number(),
  began_ms: z.number().nullable(),
  before: z.enum(HEALTHS),
  after: z.enum(HEALTHS),
});

/** A range of the primary key for each test: most have no row, others a few. */
const read = definePrepared<{ repository: string; tests: string }>(
  'health_steps',
  sql`
    select test_id, pipeline_name, job_name, axes, at_ms::float8 as at_ms, began_ms::float8 as began_ms, before, after
    from ${healthChanges}
    where repository_id = ${sql.placeholder('repository')} and test_id = any(${sql.placeholder('tests')}::uuid[])
    order by at_ms, run_id collate "C", run_attempt, execution_id::numeric`,
);

/** By test, in order of time. */
export async function readHealthSteps(
  db: Database,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Map<string, StoredStep[]>> {
  const rows = await read(db, { repository: repositoryId, tests: `{${testIds.join()}}` });
  const steps = rows.map((found): StoredStep => {
    const { test_id, pipeline_name, job_name, at_ms, began_ms, ...step } = row.parse(found);
    return { ...step, testId: test_id, pipelineName: pipeline_name, jobName: job_name, at: at_ms, beganAt: began_ms };
  });
  return Map.groupBy(steps, ({ testId }) => testId);
}
