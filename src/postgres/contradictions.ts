/**
 * Commits off the default branch that contradict themselves about a test (src/domain/contradictions.ts), and those that may
 * come to. Written by the evaluation, in the transaction of the state of tests.
 */
import { and, eq, gte, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Contradiction } from '../domain/contradictions.ts';
import type { Identity } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { type IdentityStart, startColumns } from './health-changes.ts';
import { positionColumns, positionOf, positionRow } from './positions.ts';
import { contradictions, failedCommits } from './schema.ts';

export type IdentifiedContradiction = Contradiction & Identity;

const row = z
  .object({
    test_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    commit_sha: z.string(),
    ...positionRow,
    failed_ms: z.number(),
    failed_execution_id: z.string(),
    failed_run: z.string(),
  })
  .transform(
    (found): IdentifiedContradiction => ({
      testId: found.test_id,
      pipelineName: found.pipeline_name,
      jobName: found.job_name,
      axes: found.axes,
      at: positionOf(found),
      failure: { executionId: found.failed_execution_id, commit: found.commit_sha, finishedAt: found.failed_ms },
      run: found.failed_run,
    }),
  );
const columns = sql`test_id, pipeline_name, job_name, axes, commit_sha, ${positionColumns},
  failed_ms::float8 as failed_ms, failed_execution_id, failed_run`;

/** About some tests, in any order. */
export async function readContradictions(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<IdentifiedContradiction[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${contradictions}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((found) => row.parse(found));
}

/** About some identities, from the start of each on, in any order. */
export async function readContradictionsFrom(
  tx: Executor,
  repositoryId: string,
  starts: readonly IdentityStart[],
): Promise<IdentifiedContradiction[]> {
  if (starts.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${startColumns(starts)} join ${contradictions} using (test_id, pipeline_name, job_name, axes)
    where repository_id = ${repositoryId} and at_ms >= from_ms`);
  return rows.map((found) => row.parse(found));
}

/** On some commits, in any order. */
export async function readContradictionsOn(
  tx: Executor,
  repositoryId: string,
  commits: readonly string[],
): Promise<IdentifiedContradiction[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${contradictions}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
  return rows.map((found) => row.parse(found));
}

/** Contradictions that were complete between two moments, in order. */
export async function readContradictionsBetween(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<IdentifiedContradiction[]> {
  const { rows } = await tx.execute(sql`
    select ${columns} from ${contradictions}
    where repository_id = ${repositoryId} and at_ms >= ${from} and at_ms < ${to}
    order by at_ms, test_id, pipeline_name, job_name, axes, commit_sha`);
  return rows.map((found) => row.parse(found));
}

/** Each is given once. */
export async function insertContradictions(
  tx: Executor,
  repositoryId: string,
  added: readonly IdentifiedContradiction[],
): Promise<void> {
  if (added.length === 0) return;
  const texts = (pick: (one: IdentifiedContradiction) => string) => textColumn(added.map(pick));
  const numbers = (pick: (one: IdentifiedContradiction) => number) => sql`${plainColumn(added.map(pick))}::bigint[]`;
  await tx.execute(sql`
    insert into ${contradictions} (repository_id, test_id, pipeline_name, job_name, axes, commit_sha, at_ms, run_id, run_attempt,
      execution_id, failed_ms, failed_execution_id, failed_run)
    select ${repositoryId}::uuid, * from unnest(${plainColumn(added.map(({ testId }) => testId))}::uuid[],
      ${texts(({ pipelineName }) => pipelineName)}, ${texts(({ jobName }) => jobName)}, ${texts(({ axes }) => axes)},
      ${texts(({ failure }) => failure.commit)}, ${numbers(({ at }) => at.finishedAt)}, ${texts(({ at }) => at.runId)},
      ${numbers(({ at }) => at.runAttempt)}, ${texts(({ at }) => String(at.executionId))},
      ${numbers(({ failure }) => failure.finishedAt)}, ${texts(({ failure }) => failure.executionId)},
      ${texts(({ run }) => run)})`);
}

export async function removeContradictions(
  tx: Executor,
  repositoryId: string,
  removed: readonly IdentifiedContradiction[],
): Promise<void> {
  if (removed.length === 0) return;
  await tx.execute(sql`
    delete from ${contradictions} as known using unnest(${plainColumn(removed.map(({ testId }) => testId))}::uuid[],
      ${textColumn(removed.map(({ pipelineName }) => pipelineName))}, ${textColumn(removed.map(({ jobName }) => jobName))},
      ${textColumn(removed.map(({ axes }) => axes))},
      ${textColumn(removed.map(({ failure }) => failure.commit))},
      ${plainColumn(removed.map(({ at }) => at.finishedAt))}::bigint[])
      as gone (test_id, pipeline_name, job_name, axes, commit_sha, at_ms)
    where known.repository_id = ${repositoryId} and known.test_id = gone.test_id
      and known.pipeline_name = gone.pipeline_name and known.job_name = gone.job_name and known.axes = gone.axes
      and known.commit_sha = gone.commit_sha and known.at_ms = gone.at_ms`);
}

/** A commit off the default branch on which something failed. */
export interface FailedCommit {
  commit: string;
  /** When the newest failure finished; milliseconds since the epoch. */
  newestAt: number;
}

/** Each commit is given once. */
export async function noteFailedCommits(
  tx: Executor,
  repositoryId: string,
  commits: readonly FailedCommit[],
): Promise<void> {
  if (commits.length === 0) return;
  await tx.execute(sql`
    insert into ${failedCommits} as known (repository_id, commit_sha, newest_ms)
    select ${repositoryId}::uuid, * from unnest(${textColumn(commits.map(({ commit }) => commit))},
      ${plainColumn(commits.map(({ newestAt }) => newestAt))}::bigint[])
    on conflict (repository_id, commit_sha) do update set newest_ms = excluded.newest_ms
      where known.newest_ms < excluded.newest_ms`);
}

/** Which of some commits have a failure off the default branch. */
export async function failedAmong(tx: Executor, repositoryId: string, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select commit_sha from ${failedCommits}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
  return rows.map((found) => failedRow.parse(found).commit_sha);
}

const failedRow = z.object({ commit_sha: z.string() });

/** The repositories of which a contradiction, or a commit that may come to one, is known. */
export async function repositoriesWithContradictions(tx: Executor): Promise<string[]> {
  const { rows } = await tx.execute(sql`
    select repository_id from ${contradictions} union select repository_id from ${failedCommits}`);
  return rows.map((found) => z.object({ repository_id: z.string() }).parse(found).repository_id);
}

/** Forgets what was complete, and which commits failed last, between two moments. */
export async function forgetContradictions(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await tx
    .delete(contradictions)
    .where(
      and(eq(contradictions.repositoryId, repositoryId), gte(contradictions.atMs, from), lt(contradictions.atMs, to)),
    );
  await tx
    .delete(failedCommits)
    .where(
      and(
        eq(failedCommits.repositoryId, repositoryId),
        gte(failedCommits.newestMs, from),
        lt(failedCommits.newestMs, to),
      ),
    );
}
