/**
 * Quarantines. Each change is one transaction, together with its event and the repository's next revision. By the
 * revision, every holder of a list knows whether it is outdated.
 */
import { and, asc, eq, inArray, isNotNull, isNull, max, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { newEvent } from '../domain/events.ts';
import { testIdOf } from '../domain/identity.ts';
import type { QuarantineSource } from '../domain/quarantine-rules.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { recordEvents } from './outbox.ts';
import { quarantines, repositories } from './schema.ts';

/** The channel of NOTIFY: `<repository id>:<revision>` when the quarantines of a repository have changed. */
export const QUARANTINES_CHANNEL = 'ci_insights_quarantines';

export type Quarantine = Omit<typeof quarantines.$inferSelect, 'repositoryId' | 'removedAt' | 'removedBy'>;

interface NewQuarantine {
  testName: string;
  reason: string;
  /** Branch or pattern; null: every branch. Never empty. */
  branch: string | null;
  source: QuarantineSource;
  /** Who creates it; also the trigger of the event. */
  actor: string;
}

/** All quarantines of a repository at one moment, in order of creation. */
export interface QuarantineSnapshot {
  /** Of two snapshots of a repository, the one with the higher revision is newer. */
  revision: number;
  quarantines: Quarantine[];
}

/** A change that has been committed. */
interface QuarantineChange {
  repositoryId: string;
  revision: number;
}

const columns = {
  id: quarantines.id,
  testId: quarantines.testId,
  testName: quarantines.testName,
  reason: quarantines.reason,
  branch: quarantines.branch,
  source: quarantines.source,
  actor: quarantines.actor,
  createdAt: quarantines.createdAt,
  isRecovered: quarantines.isRecovered,
};
const isOpen = isNull(quarantines.removedAt);

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

  /** The open quarantines of a repository. One statement reads them, so revision and list belong together. */
  async snapshot(repositoryId: string): Promise<QuarantineSnapshot> {
    const rows = await onPostgres(() =>
      this.db
        .select({ revision: repositories.quarantineRevision, quarantine: columns })
        .from(repositories)
        .leftJoin(quarantines, and(eq(quarantines.repositoryId, repositories.id), isOpen))
        .where(eq(repositories.id, repositoryId))
        .orderBy(asc(quarantines.createdAt), asc(quarantines.id)),
    );
    return {
      revision: rows[0]?.revision ?? 0,
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

  /** Quarantines a test. Undefined if it is already quarantined on that branch, even by a concurrent request. */
  async create(repositoryId: string, wanted: NewQuarantine): Promise<Quarantine | undefined> {
    const now = this.clock.now();
    const row = {
      id: uuid7(),
      repositoryId,
      testId: testIdOf(repositoryId, wanted.testName),
      createdAt: new Date(now),
      ...wanted,
    };
    return this.#change(repositoryId, async (tx) => {
      const [created] = await tx.insert(quarantines).values(row).onConflictDoNothing().returning(columns);
      if (!created) return undefined;
      const metadata = { ...metadataOf(created), quarantined_at: created.createdAt.toISOString() };
      const event = newEvent('test.quarantined', metadata, { trigger: created.actor });
      await recordEvents(tx, repositoryId, [event], now);
      return created;
    });
  }

  /** Removes a quarantine and returns it as it was. Undefined if there is none with this id, or none any more. */
  async remove(repositoryId: string, id: string, actor: string): Promise<Quarantine | undefined> {
    const now = this.clock.now();
    return this.#change(repositoryId, async (tx) => {
      const [removed] = await tx
        .update(quarantines)
        .set({ removedAt: new Date(now), removedBy: actor })
        .where(and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.id, id), isOpen))
        .returning(columns);
      if (!removed) return undefined;
      const { source, reason, branch, createdAt } = removed;
      const metadata = {
        ...metadataOf(removed),
        original_quarantine: { source, reason, branch, created_at: createdAt.toISOString() },
        dequarantined_at: new Date(now).toISOString(),
      };
      await recordEvents(tx, repositoryId, [newEvent('test.dequarantined', metadata, { trigger: actor })], now);
      return removed;
    });
  }

  /**
   * Stores whether the tests have recovered. If that is what is stored already, nothing changes, not even the revision.
   */
  async setRecovered(repositoryId: string, changes: readonly Pick<Quarantine, 'id' | 'isRecovered'>[]): Promise<void> {
    if (changes.length === 0) return;
    await this.#change(repositoryId, async (tx) => {
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

  /** The open quarantines of some tests, in order of creation. */
  ofTests(repositoryId: string, testIds: readonly string[]): Promise<Quarantine[]> {
    if (testIds.length === 0) return Promise.resolve([]);
    return onPostgres(() =>
      this.db
        .select(columns)
        .from(quarantines)
        .where(and(eq(quarantines.repositoryId, repositoryId), inArray(quarantines.testId, [...testIds]), isOpen))
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

  /** Runs a change. If it returns something, the transaction also raises the revision, and listeners are notified. */
  async #change<T>(repositoryId: string, run: (tx: Executor) => Promise<T | undefined>): Promise<T | undefined> {
    const { result, revision } = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const result = await run(tx);
        return { result, revision: result === undefined ? undefined : await nextRevision(tx, repositoryId) };
      }),
    );
    if (revision !== undefined) for (const listener of this.#listeners) listener({ repositoryId, revision });
    return result;
  }
}

async function nextRevision(tx: Executor, repositoryId: string): Promise<number> {
  const [row] = await tx
    .update(repositories)
    .set({ quarantineRevision: sql`${repositories.quarantineRevision} + 1` })
    .where(eq(repositories.id, repositoryId))
    .returning({ revision: repositories.quarantineRevision });
  if (!row) throw new Error(`repository ${repositoryId} is not recorded`);
  await tx.execute(sql`select pg_notify(${QUARANTINES_CHANNEL}, ${`${repositoryId}:${row.revision}`})`);
  return row.revision;
}

const metadataOf = ({ id, testId, testName, branch, reason, source }: Quarantine) => ({
  quarantine_id: id,
  test_id: testId,
  test_name: testName,
  branch,
  reason,
  source,
});
