/** Application keys: create, list, revoke, and look up by the token of a request. Tokens are stored as SHA-256 only. */
import { hash, randomBytes } from 'node:crypto';
import { and, asc, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { type AuditActor, byService } from '../domain/audit.ts';
import type { KeyScope } from '../domain/key-scope.ts';
import { type ReportBounds, reportBoundsSchema } from '../domain/report-bounds.ts';
import { DAY_MS } from '../domain/time.ts';
import { TtlCache } from '../ttl-cache.ts';
import { recordAudit } from './audit.ts';
import { recordExchange } from './audit-exchanges.ts';
import { type Database, onPostgres, sqlState } from './client.ts';
import { applicationKeys } from './schema.ts';

type Row = typeof applicationKeys.$inferSelect;
export type ApplicationKey = Omit<Row, 'tokenHash' | 'ciTokenHash'>;

export interface NewKey {
  name: string;
  /** Null: for every owner. */
  owner: string | null;
  scope: KeyScope;
  /** Null: all repositories of the owner. */
  repositories: string[] | null;
  /** Null or absent: its reports may say anything. */
  bounds?: ReportBounds | null;
  expiresAt: Date | null;
}

/** A key for the job that an identity token of a CI speaks for. */
export interface NewCiKey extends NewKey {
  ciSubject: string;
  /** Names the token among all of all issuers, if it works only once. */
  onceOnly: string | undefined;
}

/** The token of a CI for which a key is made, if there is one. */
interface CiOrigin {
  ciSubject?: string;
  ciTokenHash?: Buffer | null;
}

/** Distinguishes our tokens from a repository host's, and lets secret scanners find one that leaked. */
const TOKEN_PREFIX = 'cii_';
const TOKEN_BYTES = 32;
/** How long a key, or its absence, is served from memory: a revocation takes effect everywhere within this time. */
const CACHE_MS = 2_000;
const CACHE_ENTRIES_MAX = 10_000;
/** The last use is kept to the minute: more is not worth a write per request. */
const LAST_USE_MS = 60_000;
/**
 * Keys of CI jobs are kept for so long after they expired, and leave when the next is made: longer than a token may be used
 * for which one was made.
 */
const CI_KEY_KEPT_MS = 2 * DAY_MS;
const UNIQUE_VIOLATION = '23505';

/** The hash of a key's token: SHA-256 in hexadecimal digits. */
export const tokenHashOf = (token: string): string => hash('sha256', token, 'hex');

/** The one-call digest: step by step it took a twentieth of a read from memory. */
const hashOf = (token: string): string => hash('sha256', token, 'base64');

/** Who makes a key that no one asked for. */
const SERVICE = byService('ci-insights');

/** A key as the trail names it. */
const deedOf = ({ id, name, owner, repositories }: Pick<ApplicationKey, 'id' | 'name' | 'owner' | 'repositories'>) => ({
  objectId: id,
  objectName: name,
  owner,
  repository: repositories?.length === 1 ? (repositories[0] ?? null) : null,
});
const describedOf = ({ scope, owner, repositories, bounds, expiresAt }: Omit<ApplicationKey, 'id'>) => ({
  scope,
  owner,
  repositories,
  ...(bounds && { bounds }),
  expires_at: expiresAt?.toISOString() ?? null,
});

export class KeyStore {
  readonly #cache = new TtlCache<ApplicationKey | undefined>(CACHE_MS, CACHE_ENTRIES_MAX);
  readonly #usedAt = new Map<string, number>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Creates a key. The token is returned here and kept nowhere. */
  create(key: NewKey, by: AuditActor = SERVICE): Promise<{ key: ApplicationKey; token: string }> {
    return this.#create(key, by, {});
  }

  /**
   * Creates a key whose token was made elsewhere.
   *
   * @param tokenHash as {@link tokenHashOf} makes it. No other key has it: who has the token has the rights of one key
   */
  adopt(key: NewKey, tokenHash: string, by: AuditActor): Promise<ApplicationKey> {
    return this.#insert(key, Buffer.from(tokenHash, 'hex'), by, {});
  }

  /** The keys that operators made, also revoked and expired ones, each with what stands for its token; oldest first. */
  async listWithHashes(): Promise<{ key: ApplicationKey; tokenHash: string }[]> {
    const rows = await this.#rows(false);
    return rows.map((row) => ({ key: keyOf(row), tokenHash: Buffer.from(row.tokenHash).toString('hex') }));
  }

  /** Creates a key for a CI job; undefined if there was one for the same token, which works only once. */
  async createForCi({
    ciSubject,
    onceOnly,
    ...key
  }: NewCiKey): Promise<{ key: ApplicationKey; token: string } | undefined> {
    const ciTokenHash = onceOnly === undefined ? null : Buffer.from(hashOf(onceOnly), 'base64');
    await this.#forgetCiKeys();
    try {
      return await this.#create(key, byService(ciSubject), { ciSubject, ciTokenHash });
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return undefined;
      throw error;
    }
  }

  async #forgetCiKeys(): Promise<void> {
    const before = new Date(this.clock.now() - CI_KEY_KEPT_MS);
    await onPostgres(() =>
      this.db
        .delete(applicationKeys)
        .where(and(isNotNull(applicationKeys.ciSubject), lt(applicationKeys.expiresAt, before))),
    );
  }

  async #create(key: NewKey, by: AuditActor, ci: CiOrigin): Promise<{ key: ApplicationKey; token: string }> {
    const token = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
    return { key: await this.#insert(key, Buffer.from(hashOf(token), 'base64'), by, ci), token };
  }

  async #insert(key: NewKey, tokenHash: Buffer, by: AuditActor, ci: CiOrigin): Promise<ApplicationKey> {
    const now = this.clock.now();
    const values = {
      id: uuid7(),
      ...key,
      ...ci,
      tokenHash,
      createdAt: new Date(now),
      madeBy: by.name,
      madeByKey: by.keyId ?? null,
    };
    return onPostgres(() =>
      this.db.transaction(async (tx) => {
        const [row] = await tx.insert(applicationKeys).values(values).returning();
        if (!row) throw new Error('the key was not written');
        const written = keyOf(row);
        if (ci.ciSubject !== undefined) await recordExchange(tx, written, now);
        else await recordAudit(tx, by, { action: 'key.create', ...deedOf(written), after: describedOf(written) }, now);
        return written;
      }),
    );
  }

  /** All keys that operators made, including revoked and expired ones, oldest first; with those of CI jobs if asked. */
  async list({ withCi = false } = {}): Promise<ApplicationKey[]> {
    return (await this.#rows(withCi)).map(keyOf);
  }

  #rows(withCi: boolean): Promise<Row[]> {
    return onPostgres(() =>
      this.db
        .select()
        .from(applicationKeys)
        .where(withCi ? undefined : isNull(applicationKeys.ciSubject))
        .orderBy(asc(applicationKeys.createdAt), asc(applicationKeys.id)),
    );
  }

  /** Revokes a key. Returns false if there is no unrevoked key with this id. */
  async revoke(id: string, by: AuditActor = SERVICE): Promise<boolean> {
    const now = this.clock.now();
    const isRevoked = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const [revoked] = await tx
          .update(applicationKeys)
          .set({ revokedAt: new Date(now) })
          .where(and(eq(applicationKeys.id, id), isNull(applicationKeys.revokedAt)))
          .returning();
        if (!revoked) return false;
        await recordAudit(
          tx,
          by,
          { action: 'key.revoke', ...deedOf(revoked), before: describedOf(keyOf(revoked)) },
          now,
        );
        return true;
      }),
    );
    this.#cache.clear();
    return isRevoked;
  }

  /** The key of a token, unless it is revoked or expired. From memory for up to two seconds. */
  async authenticate(token: string): Promise<ApplicationKey | undefined> {
    const tokenHash = hashOf(token);
    return this.#valid(await this.#cache.get(tokenHash, () => this.#load(Buffer.from(tokenHash, 'base64'))));
  }

  /** The same, if it is in memory now. */
  recall(token: string): ApplicationKey | undefined {
    return this.#valid(this.#cache.recall(hashOf(token)));
  }

  #valid(key: ApplicationKey | undefined): ApplicationKey | undefined {
    if (!key) return undefined;
    const now = this.clock.now();
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt.getTime() <= now)) return undefined;
    this.#noteUse(key, now);
    return key;
  }

  async #load(tokenHash: Buffer): Promise<ApplicationKey | undefined> {
    const [row] = await onPostgres(() =>
      this.db.select().from(applicationKeys).where(eq(applicationKeys.tokenHash, tokenHash)),
    );
    return row && keyOf(row);
  }

  /** Written outside of the request, at most once a minute; if the write fails, the request does not. */
  #noteUse(key: ApplicationKey, now: number): void {
    const last = this.#usedAt.get(key.id) ?? key.lastUsedAt?.getTime() ?? 0;
    if (now - last < LAST_USE_MS) return;
    this.#usedAt.set(key.id, now);
    this.db
      .update(applicationKeys)
      .set({ lastUsedAt: new Date(now) })
      .where(
        and(
          eq(applicationKeys.id, key.id),
          sql`coalesce(last_used_at, 'epoch') < ${new Date(now).toISOString()}::timestamptz`,
        ),
      )
      .then(
        () => {},
        () => {},
      );
  }
}

/** Without the hashes. Bounds are checked: those that cannot be read must not count as none. */
const keyOf = ({ tokenHash: _, ciTokenHash: __, bounds, ...key }: Row): ApplicationKey => ({
  ...key,
  bounds: bounds && reportBoundsSchema.parse(bounds),
});
