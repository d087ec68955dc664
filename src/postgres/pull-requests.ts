/** Pull requests, as known from host webhooks and `pr-events`. */
import { and, eq, inArray, isNull, not, sql } from 'drizzle-orm';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { pullRequests } from './schema.ts';

export type PullRequest = Omit<typeof pullRequests.$inferSelect, 'isMergeLogged'>;

/** A pull request by its number; undefined if no webhook has named it. */
export async function findPullRequest(
  db: Database,
  repositoryId: string,
  number: number,
): Promise<PullRequest | undefined> {
  const [row] = await onPostgres(() =>
    db
      .select()
      .from(pullRequests)
      .where(and(eq(pullRequests.repositoryId, repositoryId), eq(pullRequests.number, number))),
  );
  return row;
}

/** Some pull requests by their numbers; nothing of those that no webhook has named. */
export async function pullRequestsOf(
  db: Executor,
  repositoryId: string,
  numbers: readonly number[],
): Promise<Map<number, PullRequest>> {
  // One parameter, however many there are.
  const isAsked = sql`${pullRequests.number} = any(${plainColumn(numbers)}::int[])`;
  const rows = await db
    .select()
    .from(pullRequests)
    .where(and(eq(pullRequests.repositoryId, repositoryId), isAsked));
  return new Map(rows.map((row) => [row.number, row]));
}

/** The pull requests that were merged as some commits, by commit; of several the newest. */
export async function mergedAs(
  db: Database,
  repositoryId: string,
  commits: readonly string[],
): Promise<Map<string, PullRequest>> {
  if (commits.length === 0) return new Map();
  const rows = await db
    .select()
    .from(pullRequests)
    .where(and(eq(pullRequests.repositoryId, repositoryId), inArray(pullRequests.mergeCommit, [...commits])))
    .orderBy(pullRequests.number);
  return new Map(rows.flatMap((row) => (row.mergeCommit === null ? [] : [[row.mergeCommit, row] as const])));
}

/**
 * Pull requests that were not merged, and of which one of some commits is the newest: results of it may come from jobs that know
 * no pull request.
 */
export async function openPullsAt(
  tx: Executor,
  repositoryId: string,
  commits: readonly string[],
): Promise<{ number: number; commit: string }[]> {
  if (commits.length === 0) return [];
  const isAsked = sql`${pullRequests.headCommit} = any(${textColumn(commits)})`;
  const rows = await tx
    .select({ number: pullRequests.number, commit: pullRequests.headCommit })
    .from(pullRequests)
    .where(and(eq(pullRequests.repositoryId, repositoryId), isAsked, isNull(pullRequests.mergeCommit)));
  return rows.flatMap(({ number, commit }) => (commit === null ? [] : [{ number, commit }]));
}

/** The accounts of the authors of some pull requests, by number; nothing of those that no webhook has named. */
export async function authorsOf(
  db: Database,
  repositoryId: string,
  numbers: readonly number[],
): Promise<Map<number, number>> {
  const rows = await db
    .select({ number: pullRequests.number, authorId: pullRequests.authorId })
    .from(pullRequests)
    .where(and(eq(pullRequests.repositoryId, repositoryId), inArray(pullRequests.number, [...new Set(numbers)])));
  return new Map(rows.flatMap(({ number, authorId }) => (authorId === null ? [] : [[number, authorId] as const])));
}

/** Keeps the latest version of each pull request, in whatever order versions arrive. */
export async function keepPullRequests(tx: Executor, versions: readonly PullRequest[]): Promise<void> {
  // One statement cannot change a row twice, and all processes must lock rows in the same order.
  const newest = new Map<number, PullRequest>();
  for (const version of versions) {
    const known = newest.get(version.number);
    if (!known || known.updatedAt <= version.updatedAt) newest.set(version.number, version);
  }
  const rows = [...newest.values()].sort((a, b) => a.number - b.number);
  if (rows.length === 0) return;
  await tx
    .insert(pullRequests)
    .values(rows)
    .onConflictDoUpdate({
      target: [pullRequests.repositoryId, pullRequests.number],
      set: {
        id: sql`excluded.id`,
        title: sql`excluded.title`,
        authorId: sql`excluded.author_id`,
        authorLogin: sql`excluded.author_login`,
        baseRef: sql`excluded.base_ref`,
        headRef: sql`excluded.head_ref`,
        headCommit: sql`excluded.head_commit`,
        mergeCommit: sql`coalesce(excluded.merge_commit, ${pullRequests.mergeCommit})`,
        updatedAt: sql`excluded.updated_at`,
      },
      setWhere: sql`excluded.updated_at >= ${pullRequests.updatedAt}`,
    });
}

/** Notes that the event log has the merges of some pull requests. Returns those of which it had none. */
export async function noteMerges(tx: Executor, repositoryId: string, numbers: readonly number[]): Promise<Set<number>> {
  if (numbers.length === 0) return new Set();
  const rows = await tx
    .update(pullRequests)
    .set({ isMergeLogged: true })
    .where(
      and(
        eq(pullRequests.repositoryId, repositoryId),
        inArray(pullRequests.number, [...numbers]),
        not(pullRequests.isMergeLogged),
      ),
    )
    .returning({ number: pullRequests.number });
  return new Set(rows.map(({ number }) => number));
}

/** The newest pull request of each branch that had one, merged or not. */
export async function newestOfBranches(
  tx: Executor,
  repositoryId: string,
  branches: readonly string[],
): Promise<Map<string, PullRequest>> {
  if (branches.length === 0) return new Map();
  const rows = await tx
    .select()
    .from(pullRequests)
    .where(and(eq(pullRequests.repositoryId, repositoryId), inArray(pullRequests.headRef, [...branches])))
    .orderBy(pullRequests.number);
  return new Map(rows.flatMap((row) => (row.headRef === null ? [] : [[row.headRef, row] as const])));
}
