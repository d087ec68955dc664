/**
 * Sessions of people who have signed in with a browser. A session ends when its time is over, by signing out, when it is
 * revoked, when its key or its person has begun too many others, and with the application key that it was made from. Its
 * token is stored as SHA-256 only.
 */
import { hash, randomBytes } from 'node:crypto';
import { and, desc, eq, gt, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { type AuditActor, changeOf } from '../domain/audit.ts';
import { reportBoundsSchema } from '../domain/report-bounds.ts';
import { DAY_MS } from '../domain/time.ts';
import { piecesOf } from '../pieces.ts';
import { TtlCache } from '../ttl-cache.ts';
import { recordAudit, recordAudits } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { SESSIONS_LOCK } from './locks.ts';
import { applicationKeys, sessions } from './schema.ts';
import {
  type BeginOptions,
  type Confirmation,
  DEEDS_AT_ONCE_MAX,
  deedOf,
  forgetEnded,
  grantOf,
  holderOf,
  type NewSession,
  PROVIDER,
  SERVICE,
  type Session,
} from './session-records.ts';

export type { NewSession, Session } from './session-records.ts';

const TOKEN_PREFIX = 'cis_';
const PASS_PREFIX = 'cip_';
const TOKEN_BYTES = 32;
/** People who signed in with a key sign in again after two weeks. */
const LIFETIME_MS = 14 * DAY_MS;
/** How long a pass may be used. */
const PASS_MS = 10 * 60_000;
export const PASS_MINUTES = PASS_MS / 60_000;
/** A key may be shared by a team, each with several browsers. Beyond this the oldest session ends. */
export const SESSIONS_OF_KEY_MAX = 100;
export const SESSIONS_OF_PERSON_MAX = 20;
/** A process that asks the provider again has this long, before another one does. */
const CONFIRMING_MS_MAX = 15_000;
/** How long a session, or its absence, is served from memory: one that ended stops working everywhere within this time. */
const CACHE_MS = 2_000;
const CACHE_ENTRIES_MAX = 10_000;
/** The last use is kept to the minute. */
const LAST_USE_MS = 60_000;

const makeToken = (prefix: string): string => prefix + randomBytes(TOKEN_BYTES).toString('base64url');
/** Whether it is what a link has that signs in once. */
export const isPass = (token: string): boolean => token.startsWith(PASS_PREFIX);
const hashOf = (token: string): string => hash('sha256', token, 'base64');

export class SessionStore {
  readonly #cache = new TtlCache<Session | undefined>(CACHE_MS, CACHE_ENTRIES_MAX);
  readonly #usedAt = new Map<string, number>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Begins a session. The token is returned here and kept nowhere. */
  async begin(
    session: NewSession,
    { lifetimeMs = LIFETIME_MS, renewal, requestId }: BeginOptions = {},
  ): Promise<{ session: Session; token: string }> {
    const token = makeToken(TOKEN_PREFIX);
    const values = { ...this.#values(session, token, lifetimeMs), renewal: renewal?.(token) ?? null };
    const begun = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        await forgetEnded(tx, new Date(this.clock.now()));
        const [row] = await tx.insert(sessions).values(values).returning();
        if (!row) throw new Error('the session was not written');
        const { tokenHash: _, ...written } = row;
        await this.#recordBeginning(tx, written, requestId);
        await this.#endOldest(tx, written, requestId);
        return written;
      }),
    );
    return { session: begun, token };
  }

  /** Makes a pass that begins this session once, within ten minutes: for a link. */
  async offer(session: NewSession): Promise<{ pass: string }> {
    const pass = makeToken(PASS_PREFIX);
    await onPostgres(() => this.db.insert(sessions).values(this.#values(session, pass, PASS_MS)));
    return { pass };
  }

  /** Begins the session of a pass; undefined if the pass is unknown, too old, or was used. */
  async redeem(pass: string, requestId?: string): Promise<{ session: Session; token: string } | undefined> {
    if (!isPass(pass)) return undefined;
    const now = this.clock.now();
    const token = makeToken(TOKEN_PREFIX);
    const session = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const [row] = await tx
          .update(sessions)
          .set({ tokenHash: Buffer.from(hashOf(token), 'base64'), expiresAt: new Date(now + LIFETIME_MS) })
          .where(
            and(eq(sessions.tokenHash, Buffer.from(hashOf(pass), 'base64')), gt(sessions.expiresAt, new Date(now))),
          )
          .returning();
        if (!row) return undefined;
        const { tokenHash: _, ...begun } = row;
        await this.#recordBeginning(tx, begun, requestId);
        return begun;
      }),
    );
    return session && { session, token };
  }

  #values(session: NewSession, token: string, lifetimeMs: number) {
    const now = this.clock.now();
    return {
      id: uuid7(),
      ...session,
      confirmedAt: session.subject == null ? null : new Date(now),
      tokenHash: Buffer.from(hashOf(token), 'base64'),
      createdAt: new Date(now),
      lastUsedAt: new Date(now),
      expiresAt: new Date(now + lifetimeMs),
    };
  }

  #recordBeginning(tx: Executor, session: Session, requestId: string | undefined): Promise<void> {
    const after = { ...grantOf(session), expires_at: session.expiresAt.toISOString() };
    const deed = { action: 'session.begin', ...deedOf(session), after } as const;
    return recordAudit(tx, holderOf(session, requestId), deed, this.clock.now());
  }

  /** Ends the oldest sessions of the same key or person beyond their number. */
  async #endOldest(tx: Executor, session: Session, requestId: string | undefined): Promise<void> {
    const { keyId, subject } = session;
    const whose = keyId ?? subject;
    if (whose === null) return;
    // Two that begin at the same time would each count without the other.
    await tx.execute(sql`select pg_advisory_xact_lock(${SESSIONS_LOCK}, hashtext(${whose}))`);
    const now = new Date(this.clock.now());
    const isOfSame = keyId === null ? eq(sessions.subject, whose) : eq(sessions.keyId, keyId);
    const beyond = tx
      .select({ id: sessions.id })
      .from(sessions)
      .where(and(isOfSame, isNull(sessions.endedAt), gt(sessions.expiresAt, now)))
      .orderBy(desc(sessions.createdAt), desc(sessions.id))
      .offset(keyId === null ? SESSIONS_OF_PERSON_MAX : SESSIONS_OF_KEY_MAX);
    const ended = await tx.update(sessions).set({ endedAt: now }).where(inArray(sessions.id, beyond)).returning();
    if (ended.length === 0) return;
    const reason = { reason: 'there were too many of the same key or person' };
    const deeds = ended.map((one) => ({ action: 'session.end', ...deedOf(one), after: reason }) as const);
    await recordAudits(tx, holderOf(session, requestId), deeds, now.getTime());
    this.#cache.clear();
  }

  /** Sessions that have not ended, the newest first. */
  async list(): Promise<Session[]> {
    const rows = await onPostgres(() =>
      this.db
        .select({ session: sessions })
        .from(sessions)
        .leftJoin(applicationKeys, eq(sessions.keyId, applicationKeys.id))
        .where(this.#isOpen())
        .orderBy(desc(sessions.createdAt), desc(sessions.id)),
    );
    return rows.map(({ session: { tokenHash: _, ...session } }) => session);
  }

  /** Ends a session. Returns false if there is no open one with this id. */
  async end(id: string, by: AuditActor = SERVICE, reason?: string): Promise<boolean> {
    return (await this.#endThose(eq(sessions.id, id), by, reason)) > 0;
  }

  /** Ends a session because the identity provider does not vouch for its person any more. */
  async endUnvouched({ id }: Session, reason: string): Promise<void> {
    await this.end(id, PROVIDER, reason);
  }

  /** Ends every session. Returns how many there were. */
  endAll(by: AuditActor): Promise<number> {
    return this.#endThose(undefined, by, 'all sessions were ended');
  }

  async #endThose(which: ReturnType<typeof eq> | undefined, by: AuditActor, reason: string | undefined) {
    const now = new Date(this.clock.now());
    const count = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const ended = await tx
          .update(sessions)
          .set({ endedAt: now })
          .where(and(which, isNull(sessions.endedAt), gt(sessions.expiresAt, now)))
          .returning();
        const deeds = ended.map(
          (one) =>
            ({
              action: 'session.end',
              ...deedOf(one),
              before: { actor: one.actor, ...grantOf(one) },
              ...(reason !== undefined && { after: { reason } }),
            }) as const,
        );
        for (const some of piecesOf(deeds, DEEDS_AT_ONCE_MAX)) await recordAudits(tx, by, some, now.getTime());
        return ended.length;
      }),
    );
    this.#cache.clear();
    return count;
  }

  /**
   * Takes it on to ask the provider again about the person of a session. False if someone else does, or has done so.
   * Who takes it on calls {@link confirm}, {@link end} or {@link leaveUnconfirmed}.
   */
  async takeConfirming({ id, confirmedAt }: Session): Promise<boolean> {
    if (confirmedAt === null) return false;
    const now = this.clock.now();
    const taken = await onPostgres(() =>
      this.db
        .update(sessions)
        .set({ confirmingSince: new Date(now) })
        .where(
          and(
            eq(sessions.id, id),
            eq(sessions.confirmedAt, confirmedAt),
            isNull(sessions.endedAt),
            or(isNull(sessions.confirmingSince), lte(sessions.confirmingSince, new Date(now - CONFIRMING_MS_MAX))),
          ),
        )
        .returning({ id: sessions.id }),
    );
    return taken.length > 0;
  }

  /** The provider vouches for the person again. Their rights are those that the rules give them now. */
  async confirm(session: Session, { renewal, ...grant }: Confirmation): Promise<void> {
    const now = this.clock.now();
    await onPostgres(() =>
      this.db.transaction(async (tx) => {
        await tx
          .update(sessions)
          .set({ ...grant, renewal, confirmedAt: new Date(now), confirmingSince: null })
          .where(eq(sessions.id, session.id));
        const change = changeOf(grantOf(session), grantOf(grant));
        if (!change) return;
        const deed = { action: 'session.change', ...deedOf(session), ...change } as const;
        await recordAudit(tx, PROVIDER, deed, now);
      }),
    );
    this.#cache.clear();
  }

  /** The provider could not be asked. */
  async leaveUnconfirmed({ id }: Session): Promise<void> {
    await onPostgres(() => this.db.update(sessions).set({ confirmingSince: null }).where(eq(sessions.id, id)));
  }

  /** The stored session; undefined if it has ended. */
  async reload(token: string): Promise<Session | undefined> {
    this.#cache.clear();
    return this.authenticate(token);
  }

  /** The session of a token, unless it has ended. From memory for up to two seconds. */
  async authenticate(token: string): Promise<Session | undefined> {
    if (!token.startsWith(TOKEN_PREFIX)) return undefined;
    const tokenHash = hashOf(token);
    const session = await this.#cache.get(tokenHash, () => this.#load(Buffer.from(tokenHash, 'base64')));
    const now = this.clock.now();
    if (!session || session.expiresAt.getTime() <= now) return undefined;
    this.#noteUse(session, now);
    return session;
  }

  async #load(tokenHash: Buffer): Promise<Session | undefined> {
    const [row] = await onPostgres(() =>
      this.db
        .select({ session: sessions })
        .from(sessions)
        .leftJoin(applicationKeys, eq(sessions.keyId, applicationKeys.id))
        .where(and(eq(sessions.tokenHash, tokenHash), this.#isOpen())),
    );
    if (!row) return undefined;
    const { tokenHash: _, bounds, ...session } = row.session;
    return { ...session, bounds: bounds && reportBoundsSchema.parse(bounds) };
  }

  /** Neither it nor its key has ended. */
  #isOpen() {
    const now = new Date(this.clock.now());
    const keyIsValid = and(
      sql`${applicationKeys.id} is not null`,
      isNull(applicationKeys.revokedAt),
      or(isNull(applicationKeys.expiresAt), gt(applicationKeys.expiresAt, now)),
    );
    return and(isNull(sessions.endedAt), gt(sessions.expiresAt, now), or(isNull(sessions.keyId), keyIsValid));
  }

  /** Written outside of the request, at most once a minute; if the write fails, the request does not. */
  #noteUse(session: Session, now: number): void {
    const last = this.#usedAt.get(session.id) ?? session.lastUsedAt.getTime();
    if (now - last < LAST_USE_MS) return;
    this.#usedAt.set(session.id, now);
    this.db
      .update(sessions)
      .set({ lastUsedAt: new Date(now) })
      .where(and(eq(sessions.id, session.id), lt(sessions.lastUsedAt, new Date(now))))
      .then(
        () => {},
        () => {},
      );
  }
}
