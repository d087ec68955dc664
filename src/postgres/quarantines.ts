/**
 * Quarantines. Each change is one transaction, together with its event and the repository's next revision. By the
 * revision, every holder of a list knows whether it is outdated.
 */
import { and, asc, count, eq, gt, inArray, isNotNull, isNull, max, or, sql } from 'drizzle-orm';
import type { Clock } from '../clock.ts';
import { changeOf } from '../domain/audit.ts';
import { newEvent } from '../domain/events.ts';
import { testIdOf } from '../domain/identity.ts';
import { QUARANTINES_ALL_MAX } from '../domain/limits.ts';
import { QUARANTINE_RESTORE_MINUTES } from '../domain/quarantine-rules.ts';
import { narrowingOf } from '../domain/quarantine-scope.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { type Database, type Executor, onPostgres, sqlState } from './client.ts';
import { recordEvents } from './outbox.ts';
import {
  agreedOf,
  columns,
  describedOf,
  healthNow,
  isInForce,
  isOpen,
  metadataOf,
  type NamedActor,
  nextRevision,
  type Quarantine,
  type QuarantineTerms,
  quarantined,
  recordDeed,
} from './quarantine-records.ts';
import { lockRoom, requireRoom } from './quarantine-room.ts';
import { insertQuarantine, type NewQuarantine, removeQuarantine } from './quarantine-rows.ts';
import { quarantines, repositories } from './schema.ts';

/** What a change names; the rest stays. */
export type QuarantineChanges = Partial<QuarantineTerms & Pick<Quarantine, 'branch' | 'reason'>>;

/** Raised by the unique index over the scopes of open quarantines. */
const UNIQUE_VIOLATION = '23505';

/** The branch and the narrowing, to compare them. */
const scopeOf = (
  one: Pick<Quarantine, 'branch' | 'pipelineName' | 'jobName' | 'axes' | 'failureIds' | 'causeId'>,
): string => JSON.stringify([one.branch, narrowingOf(one)]);

/** All quarantines of a repository that are in force at one moment, in order of creation. */
export interface QuarantineSnapshot {
  /** The newer of two snapshots of a repository has the higher revision. */
  revision: number;
  /** The moment by the clock of PostgreSQL, which ends quarantines; milliseconds since the epoch. */
  now: number;
  quarantines: Quarantine[];
}

/** A change that has been committed. */
interface QuarantineChange {
  repositoryId: string;
  revision: number;
}

export class QuarantineStore {
  readonly #listeners: ((change: QuarantineChange) => void)[] = [];

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Called for every change made through this store, after the commit and before the caller gets its answer. */
  onChange(listener: (change: QuarantineChange) => void): void {
    this.#listeners.push(listener);
  }

  /** The quarantines of a repository that are in force. One statement reads them, so revision and list belong together. */
  async snapshot(repositoryId: string): Promise<QuarantineSnapshot> {
    const rows = await onPostgres(() =>
      this.db
        .select({
          revision: repositories.quarantineRevision,
          now: sql<number>`(extract(epoch from now()) * 1000)::float8`,
          quarantine: columns,
        })
        .from(repositories)
        .leftJoin(quarantines, and(eq(quarantines.repositoryId, repositories.id), isInForce))
        .where(eq(repositories.id, repositoryId))
        .orderBy(asc(quarantines.createdAt), asc(quarantines.id)),
    );
    return {
      revision: rows[0]?.revision ?? 0,
      now: rows[0]?.now ?? 0,
      quarantines: rows.flatMap(({ quarantine }) => (quarantine === null ? [] : [quarantine])),
    };
  }

  /** Only the revision: it tells whether a snapshot is still the newest. */
  async revision(repositoryId: string): Promise<number> {
    const [row] = await onPostgres(() =>
      this.db
        .select({ revision: repositories.quarantineRevision })
        .from(repositories)
        .where(eq(repositories.id, repositoryId)),
    );
    return row?.revision ?? 0;
  }

  /**
   * Quarantines a test for a person or a client. Undefined if it is already quarantined for the same scope, even by a
   * concurrent request. Throws NoRoomForQuarantine.
   */
  create(repositoryId: string, wanted: NewQuarantine, by: NamedActor): Promise<Quarantine | undefined> {
    return this.change(repositoryId, async (tx) => {
      await lockRoom(tx, repositoryId);
      const created = await insertQuarantine(
        tx,
        repositoryId,
        { ...wanted, source: 'manual' },
        { by, now: this.clock.now() },
      );
      if (created) await requireRoom(tx, repositoryId);
      return created;
    });
  }

  /**
   * Quarantines a test as the evaluation found it, unless the repository has as many quarantines as it may: then the log
   * says so, once until there is room again. Evaluations of a repository run one after another, so they stop at the limit;
   * people may go beyond it at the same time.
   */
  async createAutomatically(
    repositoryId: string,
    wanted: NewQuarantine,
    actor: string,
  ): Promise<'created' | 'known' | 'limited'> {
    const by = { name: actor, actor: null };
    let isLimited = false;
    const created = await this.change(repositoryId, async (tx) => {
      const room = await roomOf(tx, repositoryId);
      isLimited = room.open >= room.limit;
      if (isLimited) {
        if (!room.isLimitNoted) await this.#noteLimit(tx, repositoryId, room, wanted, actor);
        return undefined;
      }
      const made = await insertQuarantine(
        tx,
        repositoryId,
        { ...wanted, source: 'auto' },
        { by, now: this.clock.now() },
      );
      if (made && room.isLimitNoted) await setLimitNoted(tx, repositoryId, false);
      return made;
    });
    return created ? 'created' : isLimited ? 'limited' : 'known';
  }

  /** If the limit keeps several evaluations from quarantining, only the first one writes the event. */
  async #noteLimit(tx: Executor, repositoryId: string, room: Room, wanted: NewQuarantine, trigger: string) {
    if (!(await setLimitNoted(tx, repositoryId, true))) return;
    const metadata = {
      limit: room.limit,
      open_quarantines: room.open,
      test_id: testIdOf(repositoryId, wanted.testName),
      test_name: wanted.testName,
      reason: wanted.reason,
    };
    const event = newEvent('ci_insights.auto_quarantine.limit_reached', metadata, { trigger });
    await recordEvents(tx, repositoryId, [event], this.clock.now());
  }

  /**
   * Changes what a quarantine names: its terms, its reason, its branch. Undefined if there is none with this id, 'taken' if
   * another quarantine of the test has the wanted scope, 'of_cause' if its groups are those of a cause. What is the same
   * already changes nothing and is no event. Throws NoRoomForQuarantine.
   */
  update(
    repositoryId: string,
    id: string,
    changes: QuarantineChanges,
    by: NamedActor,
  ): Promise<Quarantine | 'taken' | 'of_cause' | undefined> {
    return this.#update(repositoryId, id, changes, { by, isChosen: true });
  }

  /** Narrows an automatic quarantine to what the evaluation has found out since. */
  async narrowAutomatically(
    repositoryId: string,
    id: string,
    narrowed: Pick<Quarantine, 'pipelineName' | 'jobName' | 'axes' | 'reason'>,
    actor: string,
  ): Promise<void> {
    await this.#update(repositoryId, id, narrowed, { by: { name: actor, actor: null }, isChosen: false });
  }

  async #update(
    repositoryId: string,
    id: string,
    changes: QuarantineChanges,
    { by, isChosen }: { by: NamedActor; isChosen: boolean },
  ): Promise<Quarantine | 'taken' | 'of_cause' | undefined> {
    const isThis = and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.id, id), isInForce);
    let kept: Quarantine | 'of_cause' | undefined;
    const change = async (tx: Executor): Promise<Quarantine | undefined> => {
      await lockRoom(tx, repositoryId);
      const [before] = await tx.select(columns).from(quarantines).where(isThis).for('update');
      kept = before;
      if (!before) return undefined;
      if (before.causeId !== null && changes.failureIds !== undefined) {
        kept = 'of_cause';
        return undefined;
      }
      const wanted = { ...before, ...changes };
      if (JSON.stringify(agreedOf(wanted)) === JSON.stringify(agreedOf(before))) return undefined;
      const [after] = await tx
        .update(quarantines)
        .set({
          ...changes,
          narrowing: narrowingOf(wanted),
          isScopeChosen: before.isScopeChosen || (isChosen && scopeOf(wanted) !== scopeOf(before)),
        })
        .where(isThis)
        .returning(columns);
      if (!after) return undefined;
      await requireRoom(tx, repositoryId);
      const now = this.clock.now();
      const metadata = {
        ...metadataOf(after, await healthNow(tx, repositoryId, after.testId)),
        quarantine_attributes_before: agreedOf(before),
        updated_by: by.actor,
        updated_at: new Date(now).toISOString(),
      };
      const event = newEvent('test.quarantine.updated', metadata, { trigger: by.name });
      const changed = changeOf(agreedOf(before), agreedOf(after));
      await recordDeed(tx, repositoryId, 'quarantine.update', after, { by, now, ...changed });
      await recordEvents(tx, repositoryId, [event], now);
      return after;
    };
    try {
      return (await this.change(repositoryId, change)) ?? kept;
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return 'taken';
      throw error;
    }
  }

  /** Whether a moment has passed, by the clock that ends quarantines. */
  async hasPassed(moment: Date): Promise<boolean> {
    const { rows } = await onPostgres(() =>
      this.db.execute<{ passed: boolean }>(sql`select ${moment.toISOString()}::timestamptz <= now() as passed`),
    );
    return rows[0]?.passed ?? false;
  }

  /** Removes a quarantine and returns it as it was. Undefined if there is none with this id, or none any more. */
  remove(repositoryId: string, id: string, by: NamedActor): Promise<Quarantine | undefined> {
    return this.change(repositoryId, (tx) => removeQuarantine(tx, repositoryId, id, { by, now: this.clock.now() }));
  }

  /**
   * Undoes a removal of the last hour: the quarantine is in force again, with what it excused before, as if it had not been
   * removed. Undefined if there is none such, or if its end has come; 'taken' if another quarantine of the test has its
   * scope by now. Throws NoRoomForQuarantine.
   */
  async restore(repositoryId: string, id: string, by: NamedActor): Promise<Quarantine | 'taken' | undefined> {
    const now = this.clock.now();
    const change = async (tx: Executor): Promise<Quarantine | undefined> => {
      await lockRoom(tx, repositoryId);
      const [restored] = await tx
        .update(quarantines)
        .set({ removedAt: null, removedBy: null })
        .where(
          and(
            eq(quarantines.repositoryId, repositoryId),
            eq(quarantines.id, id),
            gt(quarantines.removedAt, new Date(now - QUARANTINE_RESTORE_MINUTES * MINUTE_MS)),
            or(isNull(quarantines.expiresAt), gt(quarantines.expiresAt, sql`now()`)),
          ),
        )
        .returning(columns);
      if (!restored) return undefined;
      await requireRoom(tx, repositoryId);
      const health = await healthNow(tx, repositoryId, restored.testId);
      await recordDeed(tx, repositoryId, 'quarantine.restore', restored, { by, now, after: describedOf(restored) });
      await recordEvents(tx, repositoryId, [quarantined(restored, health, by)], now);
      return restored;
    };
    try {
      return await this.change(repositoryId, change);
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return 'taken';
      throw error;
    }
  }

  /**
   * Stores whether the tests have recovered. If that is what is stored already, nothing changes, not even the revision.
   */
  async setRecovered(repositoryId: string, changes: readonly Pick<Quarantine, 'id' | 'isRecovered'>[]): Promise<void> {
    if (changes.length === 0) return;
    await this.change(repositoryId, async (tx) => {
      let changed = 0;
      for (const isRecovered of [true, false]) {
        const ids = changes.flatMap((change) => (change.isRecovered === isRecovered ? [change.id] : []));
        if (ids.length === 0) continue;
        const rows = await tx
          .update(quarantines)
          .set({ isRecovered })
          .where(
            and(
              eq(quarantines.repositoryId, repositoryId),
              inArray(quarantines.id, ids),
              eq(quarantines.isRecovered, !isRecovered),
              isOpen,
            ),
          )
          .returning({ id: quarantines.id });
        changed += rows.length;
      }
      return changed > 0 || undefined;
    });
  }

  /** The quarantines of some tests that are in force, in order of creation. */
  ofTests(repositoryId: string, testIds: readonly string[]): Promise<Quarantine[]> {
    if (testIds.length === 0) return Promise.resolve([]);
    return onPostgres(() =>
      this.db
        .select(columns)
        .from(quarantines)
        .where(and(eq(quarantines.repositoryId, repositoryId), inArray(quarantines.testId, [...testIds]), isInForce))
        .orderBy(asc(quarantines.createdAt), asc(quarantines.id)),
    );
  }

  /** When each test was last released from a quarantine, without those that never were. */
  async releasesOf(repositoryId: string, testIds: readonly string[]): Promise<Map<string, Date>> {
    if (testIds.length === 0) return new Map();
    const rows = await onPostgres(() =>
      this.db
        .select({ testId: quarantines.testId, releasedAt: max(quarantines.removedAt) })
        .from(quarantines)
        .where(
          and(
            eq(quarantines.repositoryId, repositoryId),
            inArray(quarantines.testId, [...testIds]),
            isNotNull(quarantines.removedAt),
          ),
        )
        .groupBy(quarantines.testId),
    );
    return new Map(rows.flatMap(({ testId, releasedAt }) => (releasedAt ? [[testId, releasedAt] as const] : [])));
  }

  /**
   * Runs a change, with the time. If it returns something, the transaction also raises the revision, and listeners are notified.
   */
  async change<T>(
    repositoryId: string,
    run: (tx: Executor, now: number) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { result, revision } = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const result = await run(tx, this.clock.now());
        return { result, revision: result === undefined ? undefined : await nextRevision(tx, repositoryId) };
      }),
    );
    if (revision !== undefined) for (const listener of this.#listeners) listener({ repositoryId, revision });
    return result;
  }
}

/** How many quarantines a repository may have and has, for automatic ones. */
interface Room {
  limit: number;
  isLimitNoted: boolean;
  open: number;
}

async function roomOf(tx: Executor, repositoryId: string): Promise<Room> {
  const [repository] = await tx
    .select({ limit: repositories.quarantineLimit, isLimitNoted: repositories.quarantineLimitReached })
    .from(repositories)
    .where(eq(repositories.id, repositoryId));
  const { limit = null, isLimitNoted = false } = repository ?? {};
  const [counted] = await tx
    .select({ open: count() })
    .from(quarantines)
    .where(and(eq(quarantines.repositoryId, repositoryId), isOpen));
  return {
    limit: Math.min(limit ?? QUARANTINES_ALL_MAX, QUARANTINES_ALL_MAX),
    isLimitNoted,
    open: counted?.open ?? 0,
  };
}

/** Whether that was a change. */
async function setLimitNoted(tx: Executor, repositoryId: string, isNoted: boolean): Promise<boolean> {
  const changed = await tx
    .update(repositories)
    .set({ quarantineLimitReached: isNoted })
    .where(and(eq(repositories.id, repositoryId), eq(repositories.quarantineLimitReached, !isNoted)))
    .returning({ id: repositories.id });
  return changed.length > 0;
}
