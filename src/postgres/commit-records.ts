/**
 * What is kept of commits on which tests failed (src/evaluation/commit-record.ts), as one text each.
 *
 * A small pass of the evaluation writes the records of the commits that it touches. A large one leaves them for later: it
 * removes those that are outdated by it, and notes the commits as late. ClickHouse is asked about them until their records
 * are written (src/evaluation/late-records.ts).
 *
 *     recorded ──touched by a large pass──► late ──recorded again──► recorded
 *
 * Records and notes are written under the evaluation lock of the repository.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Executor } from './client.ts';
import { lineColumn, plainColumn, textColumn } from './columns.ts';
import { COMMIT_RECORDS_LOCK } from './locks.ts';
import { commitRecords, lateCommits } from './schema.ts';

export interface CommitName {
  repositoryId: string;
  commit: string;
}

export interface StoredCommit extends CommitName {
  /** When its first execution finished; milliseconds since the epoch. */
  firstAt: number;
  /** JSON. */
  record: string;
}

const name = z
  .object({ repository_id: z.string(), commit_sha: z.string() })
  .transform(({ repository_id, commit_sha }): CommitName => ({ repositoryId: repository_id, commit: commit_sha }));
const recordOf = z.object({ commit_sha: z.string(), record: z.string() });

const namesOf = (commits: readonly CommitName[]): SQL => sql`
  ${plainColumn(commits.map(({ repositoryId }) => repositoryId))}::uuid[],
  ${textColumn(commits.map(({ commit }) => commit))}`;

/** The texts of some commits of a repository, by commit. */
export async function readCommitRecords(
  tx: Executor,
  repositoryId: string,
  commits: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await tx.execute(sql`
    select commit_sha, record from ${commitRecords}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
  return new Map(rows.map((found) => recordOf.parse(found)).map(({ commit_sha, record }) => [commit_sha, record]));
}

/** Those of some commits that have a record. */
export async function recordedCommits(tx: Executor, commits: readonly CommitName[]): Promise<CommitName[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select repository_id, commit_sha
    from ${commitRecords} join unnest(${namesOf(commits)}) as asked (repository_id, commit_sha)
      using (repository_id, commit_sha)`);
  return rows.map((found) => name.parse(found));
}

/** Some records after another one, in the order of their names; of one repository, if it is given. */
export async function commitRecordsAfter(
  tx: Executor,
  after: CommitName,
  { limit, repositoryId }: { limit: number; repositoryId?: string | undefined },
): Promise<(CommitName & { record: string })[]> {
  const { rows } = await tx.execute(sql`
    select repository_id, commit_sha, record from ${commitRecords}
    where (repository_id, commit_sha) > (${after.repositoryId}, ${after.commit})
      and ${repositoryId === undefined ? sql`true` : sql`repository_id = ${repositoryId}`}
    order by repository_id, commit_sha limit ${limit}`);
  return rows.map((found) => ({ ...name.parse(found), record: recordOf.parse(found).record }));
}

export async function writeCommitRecords(tx: Executor, records: readonly StoredCommit[]): Promise<void> {
  if (records.length === 0) return;
  await tx.execute(sql`
    insert into ${commitRecords} (repository_id, commit_sha, first_ms, record)
    select * from unnest(${namesOf(records)}, ${plainColumn(records.map(({ firstAt }) => firstAt))}::bigint[],
      ${lineColumn(records.map(({ record }) => record))})
    on conflict (repository_id, commit_sha) do update set first_ms = excluded.first_ms, record = excluded.record`);
}

export async function forgetCommitRecords(tx: Executor, commits: readonly CommitName[]): Promise<void> {
  if (commits.length === 0) return;
  await tx.execute(sql`
    delete from ${commitRecords} using unnest(${namesOf(commits)}) as gone (repository_id, commit_sha)
    where commit_records.repository_id = gone.repository_id and commit_records.commit_sha = gone.commit_sha`);
}

/** A commit with new executions. */
export interface TouchedCommit extends CommitName {
  hasFailed: boolean;
}

/** Notes as late those on which a test failed, now or before, and removes the records that they have. */
export async function leaveCommits(tx: Executor, commits: readonly TouchedCommit[]): Promise<void> {
  if (commits.length === 0) return;
  const failed = plainColumn(commits.map(({ hasFailed }) => String(hasFailed)));
  await tx.execute(sql`
    with touched as (
      select * from unnest(${namesOf(commits)}, ${failed}::boolean[]) as touched (repository_id, commit_sha, has_failed)
    ), outdated as (
      delete from ${commitRecords} using touched
      where commit_records.repository_id = touched.repository_id and commit_records.commit_sha = touched.commit_sha
      returning commit_records.repository_id, commit_records.commit_sha
    )
    insert into ${lateCommits} (repository_id, commit_sha)
    select repository_id, commit_sha from touched where has_failed
    union select repository_id, commit_sha from outdated
    on conflict do nothing`);
}

/** A commit whose record is not written yet. */
export interface LateCommit extends CommitName {
  /** In the order in which commits became late. */
  noteId: number;
}

const lateRow = z
  .object({ repository_id: z.string(), commit_sha: z.string(), note_id: z.coerce.number() })
  .transform((row): LateCommit => ({ repositoryId: row.repository_id, commit: row.commit_sha, noteId: row.note_id }));

/**
 * The next late commits: by repository, in the order in which they became late.
 *
 * @param after the last of those before; undefined: from the beginning
 */
export async function nextLateCommits(
  db: Executor,
  after: LateCommit | undefined,
  limit: number,
): Promise<LateCommit[]> {
  const beyond = after ? sql`(repository_id, note_id) > (${after.repositoryId}, ${after.noteId})` : sql`true`;
  const { rows } = await db.execute(sql`
    select repository_id, commit_sha, note_id from ${lateCommits} where ${beyond}
    order by repository_id, note_id limit ${limit}`);
  return rows.map((found) => lateRow.parse(found));
}

/** These are no longer late; in the transaction that writes their records. */
export async function forgetLateCommits(tx: Executor, commits: readonly CommitName[]): Promise<void> {
  if (commits.length === 0) return;
  await tx.execute(sql`
    delete from ${lateCommits} using unnest(${namesOf(commits)}) as recorded (repository_id, commit_sha)
    where late_commits.repository_id = recorded.repository_id and late_commits.commit_sha = recorded.commit_sha`);
}

/** Held until the end of the transaction in which the records are made and written. */
export async function shareCommitRecords(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock_shared(${COMMIT_RECORDS_LOCK})`);
}

/**
 * Removes the records of commits that began before a moment, or all of them, after what they were made of has changed.
 * One that is being made from what was there before is waited for.
 */
export async function forgetOutdatedCommits(db: Database, before = Number.MAX_SAFE_INTEGER): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${COMMIT_RECORDS_LOCK})`);
    await tx.execute(sql`delete from ${commitRecords} where first_ms < ${before}`);
  });
}
