/** Reads which tests changes have broken on the default branch, and the files of tests, to learn what nearness says. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, onPostgres } from './client.ts';
import { newestOf } from './newest-text.ts';
import { changedFiles, healthChanges, identities } from './schema.ts';

export interface BrokenTest {
  commit: string;
  /** As its runner names it. */
  file: string;
  /** From the root of the repository. */
  changed: readonly string[];
}

const fileRow = z
  .object({ newest_ms: z.number(), newest: z.string() })
  .transform(({ newest_ms, newest }) => newestOf(newest_ms, newest)?.filepath ?? '');
const breakRow = z
  .object({ newest_ms: z.number(), newest: z.string(), began_commit: z.string(), paths: z.array(z.string()) })
  .transform(({ began_commit: commit, paths: changed, ...row }) => ({ commit, changed, file: fileRow.parse(row) }));

/**
 * Healthy tests that broke on the default branch, the newest first, of commits whose files are known and count there. The index
 * on the time of health changes leads to them; each then takes a row by a primary key.
 *
 * @param since milliseconds since the epoch
 * @param pathsMax commits that change more files are near everything
 */
export async function readBrokenTests(
  db: Database,
  repositoryId: string,
  { since, pathsMax, max }: { since: number; pathsMax: number; max: number },
): Promise<BrokenTest[]> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select broke.began_commit, files.paths, ran.newest_ms::float8 as newest_ms, ran.newest
      from ${healthChanges} as broke
      join ${changedFiles} as files on files.repository_id = broke.repository_id and files.commit_sha = broke.began_commit
      join ${identities} as ran on (ran.repository_id, ran.test_id, ran.pipeline_name, ran.job_name, ran.axes)
        = (broke.repository_id, broke.test_id, broke.pipeline_name, broke.job_name, broke.axes)
      where broke.repository_id::text = ${repositoryId} and broke.at_ms >= ${since} and broke.before = 'healthy'
        and broke.after = 'broken' and broke.pull_request is null and not files.is_confined
        and cardinality(files.paths) between 1 and ${pathsMax}
      order by broke.at_ms desc limit ${max}`),
  );
  return rows.map((row) => breakRow.parse(row)).filter(({ file }) => file !== '');
}

/** Files of some tests of a repository. Their ids are hashes, so the first ones stand for all. */
export async function readTestFiles(db: Database, repositoryId: string, max: number): Promise<string[]> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select distinct on (test_id) newest_ms::float8 as newest_ms, newest from ${identities}
      where repository_id = ${repositoryId} and axes <> '*' order by test_id limit ${max}`),
  );
  return rows.map((row) => fileRow.parse(row)).filter((file) => file !== '');
}
