/** Keys and sessions that are for one repository: they end with it. */
import { and, inArray, isNull, not, or, type SQL, sql } from 'drizzle-orm';
import type { AuditActor } from '../domain/audit.ts';
import type { RowCounts } from '../domain/deletion.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { recordAudits } from './audit.ts';
import type { Executor } from './client.ts';
import { applicationKeys, sessions } from './schema.ts';

/**
 * Removes the keys and sessions that are for this repository only, and takes it from those that are for several. A key of a
 * CI job is revoked instead: it leaves after a while, and until then keeps its identity token from working again.
 */
export async function endRepositoryKeys(
  tx: Executor,
  path: RepositoryName,
  by: AuditActor,
  now: number,
): Promise<RowCounts> {
  const ended = await tx
    .select({ id: applicationKeys.id, name: applicationKeys.name, ciSubject: applicationKeys.ciSubject })
    .from(applicationKeys)
    .where(
      and(isFor(applicationKeys, path), not(isForOthers(applicationKeys, path)), isNull(applicationKeys.revokedAt)),
    );
  const ids = ended.map(({ id }) => id);
  const ofPeople = ended.filter(({ ciSubject }) => ciSubject === null);
  const begun = await tx
    .delete(sessions)
    .where(or(inArray(sessions.keyId, ids), and(isFor(sessions, path), not(isForOthers(sessions, path)))))
    .returning({ id: sessions.id });
  await tx
    .update(applicationKeys)
    .set({ revokedAt: new Date(now) })
    .where(inArray(applicationKeys.id, ids));
  await tx.delete(applicationKeys).where(
    inArray(
      applicationKeys.id,
      ofPeople.map(({ id }) => id),
    ),
  );
  for (const table of [applicationKeys, sessions])
    await tx
      .update(table)
      .set({
        repositories: sql`array(select one from unnest(repositories) as one where lower(one) <> ${path.name.toLowerCase()})`,
      })
      .where(and(isFor(table, path), isForOthers(table, path)));
  const deeds = ofPeople.map(({ id, name }) => ({
    action: 'key.revoke' as const,
    objectId: id,
    objectName: name,
    owner: path.owner,
    repository: path.name,
  }));
  await recordAudits(tx, by, deeds, now);
  return { application_keys: ofPeople.length, sessions: begun.length };
}

type Credentials = typeof applicationKeys | typeof sessions;

const isFor = (table: Credentials, { owner, name }: RepositoryName): SQL => sql`
  lower(${table.owner}) = ${owner.toLowerCase()}
    and exists (select from unnest(${table.repositories}) as one where lower(one) = ${name.toLowerCase()})`;

const isForOthers = (table: Credentials, { name }: RepositoryName): SQL => sql`
  exists (select from unnest(${table.repositories}) as one where lower(one) <> ${name.toLowerCase()})`;
