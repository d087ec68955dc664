/**
 * Pull requests whose comment and check are to be brought up to date. A pass of the evaluation notes those on which something
 * ran, and a webhook those with another newest commit, each in its own transaction. One process takes a note for a while (a
 * lease), and settles it: a note that rises meanwhile stays. If the process dies, another takes it when the lease ends.
 *
 *     noted ──due──► taken ──settled──► up to date
 *                      └────failed────► due again, later each time
 */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { pullComments, repositories } from './schema.ts';

/** The newest run on a pull request, or the commit that a webhook named. */
export interface PullRan {
  number: number;
  commit: string;
  /** When it finished, or when the host named it; in milliseconds since the epoch. */
  ranAt: number;
}

/** Jobs of a commit end one after the other. */
const COLLECT_SECONDS = 5;
/** Between two changes of a comment: hosts limit writes. */
const REST_SECONDS = 20;
/** Longer than any attempt takes. */
const LEASE_SECONDS = 300;
const RETRY_SECONDS = 30;
const RETRY_SECONDS_MAX = 3_600;
const FAILURE_LENGTH_MAX = 500;
/** Counting further would cost more than the number is worth. */
const COUNT_MAX = 10_000;

/** A retry that waits is not hurried. */
export async function notePullComments(tx: Executor, repositoryId: string, pulls: readonly PullRan[]): Promise<void> {
  await note(tx, repositoryId, pulls, sql`true`);
}

/**
 * Newest commits of pull requests, as webhooks name them: results of them may have come before. A commit that is noted already
 * is left alone, so that labels and edits cost nothing.
 */
export async function noteHeads(tx: Executor, repositoryId: string, heads: readonly PullRan[]): Promise<void> {
  await note(tx, repositoryId, heads, sql`known.commit_sha <> excluded.commit_sha and excluded.ran_ms >= known.ran_ms`);
}

async function note(tx: Executor, repositoryId: string, unsorted: readonly PullRan[], isNews: SQL): Promise<void> {
  if (unsorted.length === 0) return;
  // All processes must lock rows in the same order.
  const pulls = unsorted.toSorted((one, other) => one.number - other.number);
  await tx.execute(sql`
    insert into ${pullComments} as known (repository_id, number, commit_sha, ran_ms, due_at)
    select ${repositoryId}, number, commit_sha, ran_ms, clock_timestamp() + make_interval(secs => ${COLLECT_SECONDS})
    from unnest(${plainColumn(pulls.map(({ number }) => number))}::int[], ${textColumn(pulls.map(({ commit }) => commit))},
      ${plainColumn(pulls.map(({ ranAt }) => ranAt))}::bigint[]) as pull (number, commit_sha, ran_ms)
    on conflict (repository_id, number) do update set
      commit_sha = case when excluded.ran_ms >= known.ran_ms then excluded.commit_sha else known.commit_sha end,
      ran_ms = greatest(excluded.ran_ms, known.ran_ms),
      revision = known.revision + 1,
      due_at = coalesce(known.due_at,
        greatest(excluded.due_at, known.written_at + make_interval(secs => ${REST_SECONDS})))
    where ${isNews}`);
}

export interface DuePull extends PullRan {
  repositoryId: string;
  owner: string;
  name: string;
  revision: number;
  failures: number;
  /** The newest commit on which the comment was there. */
  commentedCommit: string | null;
}

const dueRow = z
  .object({
    repository_id: z.string(),
    owner: z.string(),
    name: z.string(),
    number: z.number(),
    commit_sha: z.string(),
    ran_ms: z.coerce.number(),
    revision: z.coerce.number(),
    failures: z.number(),
    commented_commit: z.string().nullable(),
  })
  .transform(
    ({ repository_id: repositoryId, commit_sha: commit, ran_ms: ranAt, commented_commit, ...rest }): DuePull => ({
      ...rest,
      ...{ repositoryId, commit, ranAt, commentedCommit: commented_commit },
    }),
  );

/** Takes what is due, the oldest first; nothing that another process has. */
export async function takeDuePulls(db: Database, max: number): Promise<DuePull[]> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      update ${pullComments} as taken set due_at = now() + make_interval(secs => ${LEASE_SECONDS})
      from (
        select repository_id, number from ${pullComments} where due_at <= now()
        order by due_at limit ${max} for update skip locked
      ) as due, ${repositories} as repository
      where (taken.repository_id, taken.number) = (due.repository_id, due.number) and repository.id = taken.repository_id
      returning taken.repository_id, repository.owner, repository.name, taken.number, taken.commit_sha, taken.ran_ms,
        taken.revision, taken.failures, taken.commented_commit`),
  );
  return rows.map((row) => dueRow.parse(row));
}

const isTaken = ({ repositoryId, number }: DuePull) => sql`repository_id = ${repositoryId} and number = ${number}`;

/** What was done about a pull request. */
export interface PullSettled {
  outcome: string;
  /** Whether its comment is there now. */
  isCommented: boolean;
}

/** It is up to date, unless more has arrived since it was taken. */
export async function settlePull(db: Database, taken: DuePull, { outcome, isCommented }: PullSettled): Promise<void> {
  const commented = isCommented ? taken.commit : taken.commentedCommit;
  await onPostgres(() =>
    db.execute(sql`
      update ${pullComments} set outcome = ${outcome}, commented_commit = ${commented}::text, failures = 0, failure = null, written_at = now(),
        due_at = case when revision = ${taken.revision} then null else now() + make_interval(secs => ${REST_SECONDS}) end
      where ${isTaken(taken)}`),
  );
}

/** Tries it again later: after what the host asks for, else ever later. */
export async function postponePull(
  db: Database,
  taken: DuePull,
  { failure, afterMs }: { failure: string; afterMs: number | undefined },
): Promise<void> {
  const backoff = Math.min(RETRY_SECONDS * 2 ** Math.min(taken.failures, 20), RETRY_SECONDS_MAX);
  const seconds = afterMs === undefined ? backoff : Math.min(Math.ceil(afterMs / 1_000), RETRY_SECONDS_MAX);
  await onPostgres(() =>
    db.execute(sql`
      update ${pullComments} set failures = failures + 1, failure = ${failure.slice(0, FAILURE_LENGTH_MAX)},
        due_at = now() + make_interval(secs => ${seconds})
      where ${isTaken(taken)}`),
  );
}

/** The newest commit on which the comment of a pull request was there; null if it never was, as far as is known. */
export async function readCommentedCommit(db: Database, repositoryId: string, number: number): Promise<string | null> {
  const [row] = await onPostgres(() =>
    db
      .select({ commit: pullComments.commentedCommit })
      .from(pullComments)
      .where(and(eq(pullComments.repositoryId, repositoryId), eq(pullComments.number, number))),
  );
  return row?.commit ?? null;
}

/** A job has written the comment itself, or found it. Nothing becomes due. */
export async function writeCommentedCommit(
  db: Database,
  { repositoryId, number, commit }: { repositoryId: string; number: number; commit: string },
  now: number,
): Promise<void> {
  await onPostgres(() =>
    db
      .insert(pullComments)
      .values({ repositoryId, number, commitSha: commit, ranMs: now, commentedCommit: commit })
      .onConflictDoUpdate({
        target: [pullComments.repositoryId, pullComments.number],
        set: { commentedCommit: commit },
      }),
  );
}

/** Why comments cannot be written now: how many pull requests wait after a failure, and one reason. */
export async function failingPulls(db: Executor): Promise<{ count: number; reason: string | null }> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select count(*) as count, max(failure) as reason from (
        select failure from ${pullComments} where due_at is not null and failures > 0 limit ${COUNT_MAX}
      ) as failing`),
  );
  return z.object({ count: z.coerce.number(), reason: z.string().nullable() }).parse(rows[0]);
}

/** Removes pull requests on which nothing has run since a moment, in milliseconds since the epoch. */
export async function forgetPullComments(db: Executor, before: number): Promise<void> {
  await db.execute(sql`delete from ${pullComments} where ran_ms < ${before}`);
}
