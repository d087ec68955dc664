/**
 * Uploads that were refused as a whole. They are kept by path, because the first upload of a repository may be one.
 *
 * Anyone with a key may send nonsense forever, so little is kept: refusals that are alike are one row with a count, and of
 * each repository and each owner only the newest rows stay.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { z } from 'zod';
import { refusalKindOf } from '../domain/identity.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { REFUSALS_OF_OWNER_MAX, REFUSALS_OF_REPOSITORY_MAX, type Refusal } from '../domain/upload-origin.ts';
import { type Database, onPostgres } from './client.ts';
import { refusedUploads } from './schema.ts';

export interface RefusedUpload extends Refusal {
  id: string;
  /** The newest of those that are alike. */
  refusedAt: Date;
  /** How many of them there were. */
  refusals: number;
}

export interface RefusedPage {
  /** Null: of every repository. */
  repository: RepositoryName | null;
  /** The row before the first that is wanted; null: from the newest, or in the other direction from the oldest. */
  key: [refusedMs: number, id: string] | null;
  direction: 'next' | 'previous';
  rows: number;
}

const LISTED = {
  id: refusedUploads.id,
  owner: refusedUploads.owner,
  repository: refusedUploads.repository,
  pipelineName: refusedUploads.pipelineName,
  jobName: refusedUploads.jobName,
  runId: refusedUploads.runId,
  runAttempt: refusedUploads.runAttempt,
  commit: refusedUploads.commitSha,
  branch: refusedUploads.branch,
  pullRequest: refusedUploads.pullRequest,
  format: refusedUploads.format,
  sender: refusedUploads.sender,
  reason: refusedUploads.reason,
  refusals: refusedUploads.refusals,
  refusedAt: refusedUploads.refusedAt,
};

const ofPath = ({ owner, name }: RepositoryName): SQL =>
  sql`lower(${refusedUploads.owner}) = ${owner.toLowerCase()} and lower(${refusedUploads.repository}) = ${name.toLowerCase()}`;

export class RefusedUploads {
  constructor(private readonly db: Database) {}

  /** Each with how often it was refused since the last call. */
  async add(refused: readonly (Refusal & { refusals: number })[], now: number): Promise<void> {
    const byKind = new Map<string, Refusal & { refusals: number }>();
    for (const one of refused) {
      const kind = refusalKindOf(one);
      byKind.set(kind, { ...one, refusals: one.refusals + (byKind.get(kind)?.refusals ?? 0) });
    }
    if (byKind.size === 0) return;
    const rows = [...byKind].map(([kind, { commit, ...one }]) => ({
      ...one,
      id: uuid7(),
      kind,
      commitSha: commit,
      refusedAt: new Date(now),
    }));
    await onPostgres(() =>
      this.db
        .insert(refusedUploads)
        // In one order, so that two processes do not lock the same rows crosswise.
        .values(rows.sort((one, other) => (one.kind < other.kind ? -1 : 1)))
        .onConflictDoUpdate({
          target: refusedUploads.kind,
          set: {
            owner: sql`excluded.owner`,
            repository: sql`excluded.repository`,
            runId: sql`excluded.run_id`,
            runAttempt: sql`excluded.run_attempt`,
            commitSha: sql`excluded.commit_sha`,
            pullRequest: sql`excluded.pull_request`,
            refusedAt: sql`excluded.refused_at`,
            refusals: sql`least(${refusedUploads.refusals}::bigint + excluded.refusals, 2147483647)::int`,
          },
        }),
    );
    const paths = new Map(
      refused.map(({ owner, repository: name }) => [`${owner}/${name}`.toLowerCase(), { owner, name }]),
    );
    for (const path of paths.values()) await this.#keepNewest(ofPath(path), REFUSALS_OF_REPOSITORY_MAX);
    for (const owner of new Set(refused.map((one) => one.owner.toLowerCase())))
      await this.#keepNewest(sql`lower(${refusedUploads.owner}) = ${owner}`, REFUSALS_OF_OWNER_MAX);
  }

  async #keepNewest(which: SQL, count: number): Promise<void> {
    await onPostgres(() =>
      this.db.execute(sql`
        delete from ${refusedUploads} where id in (
          select id from ${refusedUploads} where ${which} order by refused_at desc, id desc offset ${count}
          for update skip locked
        )`),
    );
  }

  async find(path: RepositoryName, id: string): Promise<RefusedUpload | undefined> {
    const [found] = await onPostgres(() =>
      this.db
        .select(LISTED)
        .from(refusedUploads)
        .where(and(eq(refusedUploads.id, id), ofPath(path))),
    );
    return found;
  }

  /** Nearest to the key first. */
  async page({ repository, key, direction, rows }: RefusedPage): Promise<RefusedUpload[]> {
    const isNext = direction === 'next';
    const order = isNext ? sql`desc` : sql`asc`;
    const beyond =
      key === null
        ? undefined
        : sql`(${refusedUploads.refusedAt}, ${refusedUploads.id}) ${isNext ? sql`<` : sql`>`} (${new Date(key[0]).toISOString()}::timestamptz, ${z.guid().parse(key[1])}::uuid)`;
    return onPostgres(() =>
      this.db
        .select(LISTED)
        .from(refusedUploads)
        .where(and(repository ? ofPath(repository) : undefined, beyond))
        .orderBy(sql`${refusedUploads.refusedAt} ${order}, ${refusedUploads.id} ${order}`)
        .limit(rows),
    );
  }

  async forget(before: Date): Promise<void> {
    await onPostgres(() =>
      this.db.delete(refusedUploads).where(sql`${refusedUploads.refusedAt} < ${before.toISOString()}::timestamptz`),
    );
  }
}
