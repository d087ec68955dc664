/** Pull requests, as host webhooks and `pr-events` tell of them. */
import { and, desc, eq } from 'drizzle-orm';
import { type Database, onPostgres } from './client.ts';
import { pullRequests } from './schema.ts';

export type PullRequest = typeof pullRequests.$inferSelect;

/** The pull request that was merged as this commit, or undefined. */
export async function pullRequestMergedAs(
  db: Database,
  repositoryId: string,
  commit: string,
): Promise<PullRequest | undefined> {
  const [row] = await onPostgres(() =>
    db
      .select()
      .from(pullRequests)
      .where(and(eq(pullRequests.repositoryId, repositoryId), eq(pullRequests.mergeCommit, commit)))
      .orderBy(desc(pullRequests.number))
      .limit(1),
  );
  return row;
}
