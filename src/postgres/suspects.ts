/** Suspects (src/domain/suspect.ts), written by the evaluation under the lock of their partition. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Level } from '../domain/health-confidence.ts';
import type { Health } from '../domain/status.ts';
import type { Suspect } from '../domain/suspect.ts';
import { ALL_LEGS, type Identity } from '../domain/test-identity.ts';
import { levelRank } from '../domain/test-metrics.ts';
import { piecesOf } from '../pieces.ts';
import { readBelief, writeBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn } from './columns.ts';
import { identityKeys } from './identities.ts';
import { suspects } from './schema.ts';
import { readRecent, writeRecent } from './suspect-text.ts';

export interface IdentifiedSuspect extends Identity {
  suspect: Suspect;
}

export interface SuspectRecord extends IdentifiedSuspect {
  /** The shown health. */
  health: Health;
  /** For lists. */
  confidence: Level;
  /** Milliseconds since the epoch; 0 for never. */
  ownFailureAt: number;
}

const row = z
  .object({
    repository_id: z.string(),
    test_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    before: z.string(),
    after: z.string(),
    recent: z.string(),
  })
  .transform((found): IdentifiedSuspect & { repositoryId: string } => ({
    repositoryId: found.repository_id,
    testId: found.test_id,
    pipelineName: found.pipeline_name,
    jobName: found.job_name,
    axes: found.axes,
    suspect: { before: readBelief(found.before), after: readBelief(found.after), ...readRecent(found.recent) },
  }));
const columns = sql`suspects.repository_id, suspects.test_id, suspects.pipeline_name, suspects.job_name, suspects.axes, before, after, recent`;

/** Suspects among some identities of several repositories. */
export async function suspectsAmong(
  tx: Executor,
  asked: readonly (Identity & { repositoryId: string })[],
): Promise<(IdentifiedSuspect & { repositoryId: string })[]> {
  if (asked.length === 0) return [];
  const repositories = plainColumn(asked.map(({ repositoryId }) => repositoryId));
  const { rows } = await tx.execute(sql`
    select ${columns}
    from unnest(${repositories}::uuid[], ${identityKeys(asked)}) as asked (repository_id, test_id, pipeline_name, job_name, axes)
      join ${suspects} using (repository_id, test_id, pipeline_name, job_name, axes)`);
  return rows.map((found) => row.parse(found));
}

/** Every suspect of some tests: those among their legs. */
export async function readSuspects(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<IdentifiedSuspect[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${suspects}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) and axes <> ${ALL_LEGS}`);
  return rows.map((found) => row.parse(found));
}

/** A row is 1.5 KB on average. */
const ROWS_PER_STATEMENT = 500;

/** Records suspects, or replaces what is known of them. Each is given once. */
export async function writeSuspects(
  tx: Executor,
  repositoryId: string,
  records: readonly SuspectRecord[],
): Promise<void> {
  for (const some of piecesOf(records, ROWS_PER_STATEMENT)) {
    await tx.execute(sql`
      insert into ${suspects} (repository_id, test_id, pipeline_name, job_name, axes, health, confidence, own_failure_ms,
        before, after, recent)
      select ${repositoryId}, * from unnest(${identityKeys(some)},
        ${plainColumn(some.map(({ health }) => health))}::text[],
        ${plainColumn(some.map(({ confidence }) => levelRank(confidence)))}::smallint[],
        ${plainColumn(some.map(({ ownFailureAt }) => ownFailureAt))}::bigint[],
        ${lineColumn(some.map(({ suspect }) => writeBelief(suspect.before)))},
        ${lineColumn(some.map(({ suspect }) => writeBelief(suspect.after)))},
        ${lineColumn(some.map(({ suspect }) => writeRecent(suspect)))})
      on conflict (repository_id, test_id, pipeline_name, job_name, axes) do update set health = excluded.health,
        confidence = excluded.confidence, own_failure_ms = excluded.own_failure_ms, before = excluded.before, after = excluded.after, recent = excluded.recent`);
  }
}

export async function forgetSuspects(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  await tx.execute(sql`
    delete from ${suspects} where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
}

/** Which of some tests are flaky or broken in a pipeline and CI job. */
export async function unhealthyAmong(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.execute(sql`
    select distinct test_id from ${suspects}
    where repository_id = ${repositoryId} and health <> 'healthy' and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((found) => z.object({ test_id: z.string() }).parse(found).test_id);
}
