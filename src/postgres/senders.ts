/** The keys with which CI sends reports of a repository, for those who set it up. */
import { and, desc, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { RepositoryName } from '../domain/repository-path.ts';
import { type Database, onPostgres } from './client.ts';
import { applicationKeys } from './schema.ts';

export interface SenderUse {
  /** To the minute. */
  at: Date;
  /** Whether it was made for the identity token of a CI job. */
  isOfCiJob: boolean;
}

/**
 * The last use of a key that may send reports of a repository, and is for nothing else than CI: people use those of the scopes
 * view and admin. Null: none was used. There are few keys, so no index is for this.
 */
export async function lastUseOfSenders(db: Database, { owner, name }: RepositoryName): Promise<SenderUse | null> {
  const { lastUsedAt, ciSubject, scope, revokedAt } = applicationKeys;
  const isOfOwner = or(isNull(applicationKeys.owner), eq(sql`lower(${applicationKeys.owner})`, owner.toLowerCase()));
  const isOfRepository = or(
    isNull(applicationKeys.repositories),
    sql`${name.toLowerCase()} in (select lower(named) from unnest(${applicationKeys.repositories}) as named)`,
  );
  const [newest] = await onPostgres(() =>
    db
      .select({ at: lastUsedAt, ciSubject })
      .from(applicationKeys)
      .where(and(isNotNull(lastUsedAt), isNull(revokedAt), inArray(scope, ['upload', 'ci']), isOfOwner, isOfRepository))
      .orderBy(desc(lastUsedAt))
      .limit(1),
  );
  return newest?.at ? { at: newest.at, isOfCiJob: newest.ciSubject !== null } : null;
}
