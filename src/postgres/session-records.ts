/** The types of sessions, and how the trail describes them. */
import { asc, inArray, isNotNull, lt, or } from 'drizzle-orm';
import { type AuditActor, byService } from '../domain/audit.ts';
import type { KeyScope } from '../domain/key-scope.ts';
import type { ReportBounds } from '../domain/report-bounds.ts';
import type { Executor } from './client.ts';
import { sessions } from './schema.ts';

export type Session = Omit<typeof sessions.$inferSelect, 'tokenHash'>;

/** A session to start: what it may do, and in whose name. */
export interface NewSession {
  /** The application key that it was made from; null: an identity provider vouched for the person. */
  keyId: string | null;
  actor: string;
  /** Who the person is at the identity provider; absent: none vouched for them. */
  subject?: string | null;
  scope: KeyScope;
  /** Null: every owner. */
  owner: string | null;
  /** Null: all repositories of the owner. */
  repositories: string[] | null;
  /** The bounds of its key. Null or absent: its reports may say anything. */
  bounds?: ReportBounds | null;
}

export interface BeginOptions {
  lifetimeMs?: number;
  /** Makes what the provider is asked again with, of the token of the session. */
  renewal?: (token: string) => Uint8Array;
  /** For the trail. */
  requestId?: string;
}

/** The provider's answer when it was asked again about a person. */
export interface Confirmation extends Pick<NewSession, 'scope' | 'owner' | 'repositories'> {
  renewal: Uint8Array;
}

/** Sessions that have ended leave when someone signs in; the trail has who ended them. */
const FORGOTTEN_AT_ONCE_MAX = 1_000;
/** A statement binds fifteen parameters for each. */
export const DEEDS_AT_ONCE_MAX = 1_000;
/** Who ends a session that no one asked to end. */
export const SERVICE = byService('ci-insights');
/** Who changes a session as the identity provider says. */
export const PROVIDER = byService('identity provider');

/** Whose session it is, as the trail names them. */
export const holderOf = ({ id, actor, keyId, subject }: Session, requestId: string | undefined): AuditActor => ({
  kind: 'session',
  name: actor,
  keyId,
  sessionId: id,
  subject,
  requestId: requestId ?? null,
});
export const deedOf = ({ id, actor, owner }: Pick<Session, 'id' | 'actor' | 'owner'>) => ({
  objectId: id,
  objectName: actor,
  owner,
});
export const grantOf = ({ scope, owner, repositories }: Pick<Session, 'scope' | 'owner' | 'repositories'>) => ({
  scope,
  owner,
  repositories,
});

/** Leaves alone what another sign-in is forgetting. */
export async function forgetEnded(tx: Executor, now: Date): Promise<void> {
  const ended = tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(or(lt(sessions.expiresAt, now), isNotNull(sessions.endedAt)))
    .orderBy(asc(sessions.id))
    .limit(FORGOTTEN_AT_ONCE_MAX)
    .for('update', { skipLocked: true });
  await tx.delete(sessions).where(inArray(sessions.id, ended));
}
