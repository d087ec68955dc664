/** The files that commits changed, as jobs sent them or the host told them. They help claims, and decide nothing. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, type Executor, onPostgres } from './client.ts';
import { textColumn } from './columns.ts';
import type { CommitName } from './commit-records.ts';
import { changedFiles } from './schema.ts';

export interface ChangedFiles {
  /** From the root of the repository, sorted. */
  paths: readonly string[];
  /** They count off the default branch alone. */
  isConfined: boolean;
}

/**
 * Stores the files of a commit in place of those before. What is the same already changes nothing: every job of the commit sends
 * them. What a confined credential sends replaces nothing that another one has sent.
 *
 * @returns whether something changed
 */
export async function writeChangedFiles(
  db: Database,
  { repositoryId, commit }: CommitName,
  { paths, isConfined }: ChangedFiles,
  now: number,
): Promise<boolean> {
  const sorted = [...new Set(paths)].sort();
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      insert into ${changedFiles} as known (repository_id, commit_sha, paths, is_confined, sent_ms)
      values (${repositoryId}, ${commit}, ${textColumn(sorted)}, ${isConfined}, ${now})
      on conflict (repository_id, commit_sha) do update
        set paths = excluded.paths, is_confined = excluded.is_confined, sent_ms = excluded.sent_ms
        where (known.is_confined or not excluded.is_confined)
          and (known.paths, known.is_confined) is distinct from (excluded.paths, excluded.is_confined)
      returning 1`),
  );
  return rows.length > 0;
}

const row = z
  .object({ commit_sha: z.string(), paths: z.array(z.string()), is_confined: z.boolean() })
  .transform(({ commit_sha, paths, is_confined }) => ({ commit: commit_sha, paths, isConfined: is_confined }));

/** Reads the changed files of some commits, by commit. */
export async function readChangedFiles(
  db: Executor,
  repositoryId: string,
  commits: readonly string[],
): Promise<Map<string, ChangedFiles>> {
  const { rows } = await db.execute(sql`
    select commit_sha, paths, is_confined from ${changedFiles}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
  return new Map(rows.map((found) => row.parse(found)).map(({ commit, ...files }) => [commit, files]));
}

/** Removes what was sent before a moment: then no execution of the commit is retained either. */
export async function forgetChangedFiles(db: Executor, before: number): Promise<void> {
  await db.execute(sql`delete from ${changedFiles} where sent_ms < ${before}`);
}
