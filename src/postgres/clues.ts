/**
 * Clues (src/domain/clues.ts), and the commits that may come to have some. Written by the evaluation, in the transaction of the
 * state of tests.
 */
import { and, eq, gte, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Clue, isOfOtherLegs } from '../domain/clues.ts';
import type { OtherLegsClue } from '../domain/other-legs.ts';
import type { Identity } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { type IdentityStart, startColumns } from './health-changes.ts';
import { positionColumns, positionOf, positionRow } from './positions.ts';
import { clues, failedCommits } from './schema.ts';

export type IdentifiedClue = Clue & Identity;

/** Before and after: whether the test passed in another leg, and in how many it failed. Empty for a contradiction. */
const otherLegsText = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.tuple([z.boolean(), z.number(), z.boolean(), z.number()]))
  .transform(([passedBefore, failedBefore, passed, failed]) => ({
    before: { passed: passedBefore, failed: failedBefore },
    after: { passed, failed },
  }));
const textOfOtherLegs = ({ before, after }: OtherLegsClue): string =>
  JSON.stringify([before.passed, before.failed, after.passed, after.failed]);

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
    other_legs: z.string(),
  })
  .transform(
    (found): IdentifiedClue => ({
      testId: found.test_id,
      pipelineName: found.pipeline_name,
      jobName: found.job_name,
      axes: found.axes,
      at: positionOf(found),
      failure: { executionId: found.failed_execution_id, commit: found.commit_sha, finishedAt: found.failed_ms },
      ...(found.other_legs === '' ? { run: found.failed_run } : otherLegsText.parse(found.other_legs)),
    }),
  );
const columns = sql`test_id, pipeline_name, job_name, axes, commit_sha, ${positionColumns},
  failed_ms::float8 as failed_ms, failed_execution_id, failed_run, other_legs`;

/** About some tests, in any order. */
export async function readClues(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<IdentifiedClue[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${clues}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((found) => row.parse(found));
}

/** About some identities, from the start of each on, in any order. */
export async function readCluesFrom(
  tx: Executor,
  repositoryId: string,
  starts: readonly IdentityStart[],
): Promise<IdentifiedClue[]> {
  if (starts.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${startColumns(starts)} join ${clues} using (test_id, pipeline_name, job_name, axes)
    where repository_id = ${repositoryId} and at_ms >= from_ms`);
  return rows.map((found) => row.parse(found));
}

/** On some commits, in any order. */
export async function readCluesOn(
  tx: Executor,
  repositoryId: string,
  commits: readonly string[],
): Promise<IdentifiedClue[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${clues}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
  return rows.map((found) => row.parse(found));
}

/** Shown between two moments, in order. */
export async function readCluesBetween(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<IdentifiedClue[]> {
  const { rows } = await tx.execute(sql`
    select ${columns} from ${clues}
    where repository_id = ${repositoryId} and at_ms >= ${from} and at_ms < ${to}
    order by at_ms, test_id, pipeline_name, job_name, axes, commit_sha, failed_execution_id`);
  return rows.map((found) => row.parse(found));
}

/** Each is given once. */
export async function insertClues(tx: Executor, repositoryId: string, added: readonly IdentifiedClue[]): Promise<void> {
  if (added.length === 0) return;
  const texts = (pick: (one: IdentifiedClue) => string) => textColumn(added.map(pick));
  const numbers = (pick: (one: IdentifiedClue) => number) => sql`${plainColumn(added.map(pick))}::bigint[]`;
  await tx.execute(sql`
    insert into ${clues} (repository_id, test_id, pipeline_name, job_name, axes, commit_sha, at_ms, run_id, run_attempt,
      execution_id, failed_ms, failed_execution_id, failed_run, other_legs)
    select ${repositoryId}::uuid, * from unnest(${plainColumn(added.map(({ testId }) => testId))}::uuid[],
      ${texts(({ pipelineName }) => pipelineName)}, ${texts(({ jobName }) => jobName)}, ${texts(({ axes }) => axes)},
      ${texts(({ failure }) => failure.commit)}, ${numbers(({ at }) => at.finishedAt)}, ${texts(({ at }) => at.runId)},
      ${numbers(({ at }) => at.runAttempt)}, ${texts(({ at }) => String(at.executionId))},
      ${numbers(({ failure }) => failure.finishedAt)}, ${texts(({ failure }) => failure.executionId)},
      ${texts((one) => (isOfOtherLegs(one) ? '' : one.run))}, ${texts((one) => (isOfOtherLegs(one) ? textOfOtherLegs(one) : ''))})`);
}

export async function removeClues(
  tx: Executor,
  repositoryId: string,
  removed: readonly IdentifiedClue[],
): Promise<void> {
  if (removed.length === 0) return;
  await tx.execute(sql`
    delete from ${clues} as known using unnest(${plainColumn(removed.map(({ testId }) => testId))}::uuid[],
      ${textColumn(removed.map(({ pipelineName }) => pipelineName))}, ${textColumn(removed.map(({ jobName }) => jobName))},
      ${textColumn(removed.map(({ axes }) => axes))},
      ${textColumn(removed.map(({ failure }) => failure.commit))},
      ${plainColumn(removed.map(({ at }) => at.finishedAt))}::bigint[],
      ${textColumn(removed.map(({ failure }) => failure.executionId))})
      as gone (test_id, pipeline_name, job_name, axes, commit_sha, at_ms, failed_execution_id)
    where known.repository_id = ${repositoryId} and known.test_id = gone.test_id
      and known.pipeline_name = gone.pipeline_name and known.job_name = gone.job_name and known.axes = gone.axes
      and known.commit_sha = gone.commit_sha and known.at_ms = gone.at_ms
      and known.failed_execution_id = gone.failed_execution_id`);
}

/** A commit on which something failed. */
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

/** On which of some commits something failed. */
export async function failedAmong(tx: Executor, repositoryId: string, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select commit_sha from ${failedCommits}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
  return rows.map((found) => failedRow.parse(found).commit_sha);
}

const failedRow = z.object({ commit_sha: z.string() });

/** The repositories of which a clue, or a commit that may come to one, is known. */
export async function repositoriesWithClues(tx: Executor): Promise<string[]> {
  const { rows } = await tx.execute(sql`
    select repository_id from ${clues} union select repository_id from ${failedCommits}`);
  return rows.map((found) => z.object({ repository_id: z.string() }).parse(found).repository_id);
}

/** Forgets what was shown between two moments, and which commits failed last between them. */
export async function forgetClues(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await tx.delete(clues).where(and(eq(clues.repositoryId, repositoryId), gte(clues.atMs, from), lt(clues.atMs, to)));
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
