/**
 * Sessions of people who have signed in with a browser. A session ends when its time is over, by signing out, when it is
 * revoked, and with the application key that it was made from. Its token is stored as SHA-256 only.
 */
import { hash, randomBytes } from 'node:crypto';
import { and, desc, eq, gt, isNull, lt, or, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { KeyScope } from '../domain/key-scope.ts';
import { type ReportBounds, reportBoundsSchema } from '../domain/report-bounds.ts';
import { DAY_MS } from '../domain/time.ts';
import { TtlCache } from '../ttl-cache.ts';
import { type Database, onPostgres } from './client.ts';
import { applicationKeys, sessions } from './schema.ts';

export type Session = Omit<typeof sessions.$inferSelect, 'tokenHash'>;

/** A session to start: what it may do, and in whose name. */
export interface NewSession {
  /** The application key that it was made from; null: an identity provider vouched for the person. */
  keyId: string | null;
  actor: string;
  scope: KeyScope;
  /** Null: every owner. */
  owner: string | null;
  /** Null: all repositories of the owner. */
  repositories: string[] | null;
  /** Those of its key. Null or absent: its reports may say anything. */
  bounds?: ReportBounds | null;
}

const TOKEN_PREFIX = 'cis_';
const PASS_PREFIX = 'cip_';
const TOKEN_BYTES = 32;
/** People who signed in with a key sign in again after two weeks. */
const LIFETIME_MS = 14 * DAY_MS;
/** How long a pass may be used. */
const PASS_MS = 10 * 60_000;
/** Ended sessions are kept for as long again, to be looked at, and leave when someone signs in. */
const KEPT_MS = 14 * DAY_MS;
/** Open sessions of one key: with each that begins beyond that, the oldest leaves. */
export const SESSIONS_OF_KEY_MAX = 100;
/** How long a session, or its absence, is served from memory: one that ended stops working everywhere within this time. */
const CACHE_MS = 2_000;
const CACHE_ENTRIES_MAX = 10_000;
/** The last use is kept to the minute. */
const LAST_USE_MS = 60_000;

const makeToken = (prefix: string): string => prefix + randomBytes(TOKEN_BYTES).toString('base64url');
const hashOf = (token: string): string => hash('sha256', token, 'base64');

export class SessionStore {
  readonly #cache = new TtlCache<Session | undefined>(CACHE_MS, CACHE_ENTRIES_MAX);
  readonly #usedAt = new Map<string, number>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Begins a session. The token is returned here and kept nowhere. */
  async begin(session: NewSession, lifetimeMs = LIFETIME_MS): Promise<{ session: Session; token: string }> {
    const token = makeToken(TOKEN_PREFIX);
    return { session: await this.#add(session, token, lifetimeMs), token };
  }

  /** Makes a pass that begins this session once, within ten minutes: for a link. */
  async offer(session: NewSession): Promise<{ pass: string }> {
    const pass = makeToken(PASS_PREFIX);
    await this.#add(session, pass, PASS_MS);
    return { pass };
  }

  /** Begins the session of a pass; undefined if the pass is unknown, too old, or was used. */
  async redeem(pass: string): Promise<{ session: Session; token: string } | undefined> {
    if (!pass.startsWith(PASS_PREFIX)) return undefined;
    const now = this.clock.now();
    const token = makeToken(TOKEN_PREFIX);
    const [row] = await onPostgres(() =>
      this.db
        .update(sessions)
        .set({ tokenHash: Buffer.from(hashOf(token), 'base64'), expiresAt: new Date(now + LIFETIME_MS) })
        .where(and(eq(sessions.tokenHash, Buffer.from(hashOf(pass), 'base64')), gt(sessions.expiresAt, new Date(now))))
        .returning(),
    );
    if (!row) return undefined;
    const { tokenHash: _, ...session } = row;
    return { session, token };
  }

  async #add(session: NewSession, token: string, lifetimeMs: number): Promise<Session> {
    const now = this.clock.now();
    const values = {
      id: uuid7(),
      ...session,
      tokenHash: Buffer.from(hashOf(token), 'base64'),
      createdAt: new Date(now),
      lastUsedAt: new Date(now),
      expiresAt: new Date(now + lifetimeMs),
    };
    const [row] = await onPostgres(async () => {
      await this.db.delete(sessions).where(lt(sessions.expiresAt, new Date(now - KEPT_MS)));
      const added = await this.db.insert(sessions).values(values).returning();
      if (session.keyId !== null) await this.#keepNewest(session.keyId);
      return added;
    });
    if (!row) throw new Error('the session was not written');
    const { tokenHash: _, ...begun } = row;
    return begun;
  }

  /** Signing in costs nothing, and must not fill the table. Few sessions are open, so no index is worth it. */
  async #keepNewest(keyId: string): Promise<void> {
    const { rowCount } = await this.db.execute(sql`
      delete from ${sessions} where id in (
        select id from ${sessions} where key_id = ${keyId}
        order by created_at desc, id desc offset ${SESSIONS_OF_KEY_MAX})`);
    if (rowCount) this.#cache.clear();
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
  async end(id: string): Promise<boolean> {
    const ended = await onPostgres(() =>
      this.db
        .update(sessions)
        .set({ endedAt: new Date(this.clock.now()) })
        .where(and(eq(sessions.id, id), isNull(sessions.endedAt), gt(sessions.expiresAt, new Date(this.clock.now()))))
        .returning({ id: sessions.id }),
    );
    this.#cache.clear();
    return ended.length > 0;
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
