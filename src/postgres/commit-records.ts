/**
 * Records of commits on which tests failed (src/commits/commit-record.ts), as one text each. A pass of the evaluation
 * removes the records that it outdates, and a refresh writes them again, both under the lock of the partition. Until then,
 * ClickHouse is asked about these commits.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn, textColumn } from './columns.ts';
import { commitRecords } from './schema.ts';

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

/** Removes the records of some commits. Returns the commits that had one. */
export async function forgetCommitRecords(
  tx: Executor,
  repositoryId: string,
  commits: readonly string[],
): Promise<string[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    delete from ${commitRecords}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)}) returning repository_id, commit_sha`);
  return rows.map((found) => name.parse(found).commit);
}

/**
 * Removes the records of commits that began before a moment, or all of them, after what they were made of has changed. The
 * commits of removed records are asked about in ClickHouse until something runs on them again.
 */
export async function forgetOutdatedCommits(tx: Executor, before = Number.MAX_SAFE_INTEGER): Promise<void> {
  await tx.execute(sql`delete from ${commitRecords} where first_ms < ${before}`);
}

/** The same of one repository. */
export async function forgetCommitRecordsOf(
  tx: Executor,
  repositoryId: string,
  before = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  await tx.execute(sql`delete from ${commitRecords} where repository_id = ${repositoryId} and first_ms < ${before}`);
}
