/**
 * Retention: whole months leave together, raw rows and everything derived from them.
 *
 * Partitions are dropped; there is no TTL. With a TTL, tables would drop their rows at different merges, and until then
 * totals would not agree with what they count; it would also go by ClickHouse's clock and not ours. First failures and
 * health are kept: before a month leaves, the fold of every identity that ran in it is moved up to the month's end.
 * A repository that keeps executions for fewer days loses its rows of a month earlier.
 */
import { isNotNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { REPOSITORY_TABLES, removeEventsBefore } from '../src/clickhouse/repository-rows.ts';
import { ShardByShard } from '../src/clickhouse/shards.ts';
import type { Clock } from '../src/clock.ts';
import { byService } from '../src/domain/audit.ts';
import { RATIO_DAYS } from '../src/domain/ratio-window.ts';
import { isRetained, oldestRetainedMonth, startOfMonth } from '../src/domain/retention.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../src/domain/time.ts';
import { moveBaselines } from '../src/evaluation/baseline.ts';
import { Refresh } from '../src/evaluation/refresh.ts';
import { closeClaims, forgetClaims } from '../src/ledger/claim-store.ts';
import { forgetOldReceipts } from '../src/ledger/receipts.ts';
import { findTests } from '../src/maintenance/forget-tests.ts';
import { dropMonthsOfRepositories } from '../src/maintenance/months-of-repository.ts';
import { evaluateStoredParts } from '../src/maintenance/stored-parts.ts';
import type { Logger } from '../src/observability/log.ts';
import { forgetAudit } from '../src/postgres/audit.ts';
import { noteAllCausesStale } from '../src/postgres/causes.ts';
import { forgetChangedFiles } from '../src/postgres/changed-files.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import type { ClockAgreement } from '../src/postgres/clock-watch.ts';
import { forgetOutdatedCommits } from '../src/postgres/commit-records.ts';
import { deletionsFinishedSince, forgetDeletions, receiptOf } from '../src/postgres/deleted-repositories.ts';
import { noteAllDurationsStale } from '../src/postgres/durations.ts';
import { beginForgettingTests, forgetForgettings, unfinishedForgettings } from '../src/postgres/forgotten-tests.ts';
import { forgetFormerGroups } from '../src/postgres/former-groups.ts';
import { RETENTION_LOCK } from '../src/postgres/locks.ts';
import { forgetEventKeys } from '../src/postgres/outbox.ts';
import { forgetPullComments } from '../src/postgres/pull-comments.ts';
import type { QuarantineStore } from '../src/postgres/quarantines.ts';
import { noteRemoved } from '../src/postgres/removal-receipt.ts';
import { removeRows } from '../src/postgres/repository-rows.ts';
import { forgetDaysBefore } from '../src/postgres/repository-totals.ts';
import { forgetViewsOfEndedKeys } from '../src/postgres/saved-views.ts';
import { repositories } from '../src/postgres/schema.ts';
import type { KeptUploads } from '../src/queue/kept/kept-uploads.ts';
import { Loop } from './loop.ts';

/** Every table with rows of repositories is partitioned by month. */
export const MONTHLY_TABLES = REPOSITORY_TABLES;

/** A receipt of a deletion also keeps jobs that wait from bringing the repository back: none waits for so long. */
const RECEIPT_DAYS_MIN = 30;

const partitionSchema = z.object({ table: z.enum(MONTHLY_TABLES), id: z.string(), month: z.number() });
type Partition = z.infer<typeof partitionSchema>;

export interface RetentionDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
  clock: Clock;
  clockAgreement: ClockAgreement;
  retentionDays: number;
  auditRetentionDays: number;
  /** Undefined: claims say which executions they are of until they leave with their month. */
  claimDays: number | undefined;
  /** Undefined: what arrives is not kept. */
  kept?: Pick<KeptUploads, 'removeOld' | 'removeRepository'> | undefined;
  log: Logger;
}

export class Retention {
  readonly loop: Loop;
  /** Deletions whose repositories are no longer among what was kept before. */
  readonly #looked = new Set<string>();

  constructor(private readonly deps: RetentionDeps) {
    this.loop = new Loop({
      name: 'retention',
      log: deps.log,
      run: () => this.run(),
      everyMs: HOUR_MS,
      retryMs: HOUR_MS,
    });
  }

  /**
   * Drops every month that is past its retention with its claims, old receipts, the files of old changes, the totals of days
   * that no series shows any more, the keys of events that have left, and the saved views of keys that have ended. Asks for
   * the tests to be forgotten that have not run for as long as their repository says. Returns the months as YYYYMM, oldest first.
   * Drops nothing by a clock that is in doubt: a month that leaves late is no harm, and one that leaves early is lost. On a
   * cluster, does what concerns the shards that answer, and then throws if one does not.
   */
  async run(): Promise<number[]> {
    const { clickhouse, db, clock, clockAgreement, retentionDays, auditRetentionDays, claimDays, log } = this.deps;
    if (!clockAgreement.isAgreed) return [];
    const shards = new ShardByShard(clickhouse);
    const expired = (await shards.attempt('every shard', () => this.#dropExpired())) ?? [];
    const months = { clickhouse, db, log, shards, settle: (id: string) => this.#settle(id) };
    await dropMonthsOfRepositories(months, retentionDays, clock.now());
    await forgetClaims(db, oldestRetainedMonth(clock.now(), retentionDays));
    if (claimDays !== undefined) await closeClaims(db, claimDays);
    await forgetOldReceipts(db, clock.now());
    await onPostgres(() => forgetOutdatedCommits(db, startOfMonth(oldestRetainedMonth(clock.now(), retentionDays))));
    await onPostgres(() => forgetChangedFiles(db, startOfMonth(oldestRetainedMonth(clock.now(), retentionDays))));
    await onPostgres(() => forgetPullComments(db, startOfMonth(oldestRetainedMonth(clock.now(), retentionDays))));
    await forgetFormerGroups(db, startOfMonth(oldestRetainedMonth(clock.now(), retentionDays)));
    // The last 30 days still change, because the days of tests leave their summaries.
    await onPostgres(() => forgetDaysBefore(db, dayOf(clock.now()) - 2 * RATIO_DAYS));
    await onPostgres(() => forgetEventKeys(db, clock.now() - retentionDays * DAY_MS));
    await this.#forgetEvents(shards);
    await forgetAudit(db, clock.now() - auditRetentionDays * DAY_MS);
    await forgetViewsOfEndedKeys(db, clock.now());
    await this.#forgetDeleted();
    await this.#forgetTests(shards);
    await this.#forgetKept();
    shards.rethrow();
    return expired;
  }

  /** A month leaves as a whole, so this waits for every shard: a month that leaves late is no harm. */
  async #dropExpired(): Promise<number[]> {
    const { clock, retentionDays } = this.deps;
    const partitions = await this.#partitions();
    const months = [...new Set(partitions.map(({ month }) => month))].sort((a, b) => a - b);
    const expired = months.filter((month) => !isRetained(startOfMonth(month), clock.now(), retentionDays));
    for (const month of expired)
      await this.#drop(
        month,
        partitions.filter((partition) => partition.month === month),
      );
    return expired;
  }

  /** Where events are kept for less time than executions. By whole UTC days, so that they leave once a day. */
  async #forgetEvents(shards: ShardByShard): Promise<void> {
    const { clickhouse, db, clock, log } = this.deps;
    const known = await onPostgres(() =>
      db
        .select({ id: repositories.id, days: repositories.eventRetentionDays })
        .from(repositories)
        .where(isNotNull(repositories.eventRetentionDays)),
    );
    for (const { id, days } of known) {
      if (days === null) continue;
      const before = (dayOf(clock.now()) - days) * DAY_MS;
      const events = await shards.attempt(await clickhouse.shardOf(id), () =>
        removeEventsBefore(clickhouse, id, before),
      );
      if (events) log.info({ repository: id, events }, 'removed events that are past their retention');
    }
  }

  /** Asks for what the rules of repositories forget; the deleter does it. By whole UTC days, so that it costs once a day. */
  async #forgetTests(shards: ShardByShard): Promise<void> {
    const { clickhouse, db, clock, auditRetentionDays } = this.deps;
    const waiting = new Set((await unfinishedForgettings(db)).map(({ repositoryId }) => repositoryId));
    const known = await onPostgres(() =>
      db.select().from(repositories).where(isNotNull(repositories.forgetTestsAfterDays)),
    );
    for (const repository of known) {
      const { id, forgetTestsAfterDays: days } = repository;
      if (days === null || waiting.has(id)) continue;
      const notRunSince = new Date((dayOf(clock.now()) - days) * DAY_MS).toISOString();
      const found = await shards.attempt(await clickhouse.shardOf(id), () =>
        findTests({ db, clickhouse }, id, { testIds: undefined, notRunSince }),
      );
      const tests = found?.tests ?? [];
      const by = byService(`not run for ${days} days`);
      if (tests.length > 0)
        await onPostgres(() => db.transaction((tx) => beginForgettingTests(tx, repository, tests, by, clock.now())));
    }
    await forgetForgettings(db, clock.now() - auditRetentionDays * DAY_MS);
  }

  /**
   * A request or refresh that had begun before a repository was deleted may have written a row after it. Nothing leads to
   * such rows; they leave here, and the receipts when the trail forgets the deletion.
   */
  async #forgetDeleted(): Promise<void> {
    const { db, clock, auditRetentionDays } = this.deps;
    for (const { id } of await deletionsFinishedSince(db, clock.now() - DAY_MS))
      await removeRows(db, id, (tx, removed) => noteRemoved(tx, receiptOf({ id }), removed));
    await forgetDeletions(db, clock.now() - Math.max(auditRetentionDays, RECEIPT_DAYS_MIN) * DAY_MS);
  }

  /**
   * Kept uploads of deleted repositories leave, and what is kept for long enough. A deletion looks through all that is kept once
   * in a process; later, for a day, through what has been kept since: jobs that waited when it was asked for.
   */
  async #forgetKept(): Promise<void> {
    const { kept, db, clock } = this.deps;
    if (!kept) return;
    await kept.removeOld();
    for (const { id, owner, name, deletedAt } of await deletionsFinishedSince(db, clock.now() - DAY_MS)) {
      const until = deletedAt.getTime();
      await kept.removeRepository({ owner, name }, until, this.#looked.has(id) ? until - HOUR_MS : 0);
      this.#looked.add(id);
    }
  }

  async #drop(month: number, partitions: readonly Partition[]): Promise<void> {
    const { clickhouse, db, log } = this.deps;
    await onPostgres(() =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(${RETENTION_LOCK})`);
        // Committed before anything is dropped: without its executions, no later run could move a baseline past the month.
        await this.#settle();
        const enabled = new Map(
          (await db.select().from(repositories)).map(({ id, flakyDetectionEnabled }) => [id, flakyDetectionEnabled]),
        );
        await db.transaction((states) =>
          moveBaselines(clickhouse, states, startOfMonth(month), { isEnabled: (id) => enabled.get(id) ?? true }),
        );
        for (const monthly of MONTHLY_TABLES)
          for (const { table, id } of partitions)
            if (table === monthly) await clickhouse.command(`ALTER TABLE ci.${table} DROP PARTITION ID '${id}'`);
        await noteAllCausesStale(tx);
        await noteAllDurationsStale(tx);
      }),
    );
    log.info({ month }, 'dropped a month that is past its retention');
  }

  /** Evaluates what waits, and judges what is stale: a month that leaves is folded as it is judged. */
  async #settle(repositoryId?: string): Promise<void> {
    const { clickhouse, clock, db, quarantines, log } = this.deps;
    await evaluateStoredParts({ db, log });
    const refresh = new Refresh({ clickhouse, clock, db, quarantines }, true);
    if (repositoryId === undefined) return refresh.all();
    while (await refresh.refresh(repositoryId));
  }

  /** The partitions of all monthly tables. Their ids begin with year and month. */
  async #partitions(): Promise<Partition[]> {
    const rows = await this.deps.clickhouse.rows(`
      SELECT DISTINCT table, partition_id AS id, toUInt32(substring(partition_id, 1, 6)) AS month FROM system.parts
      WHERE database = 'ci' AND active AND table IN (${MONTHLY_TABLES.map((table) => `'${table}'`).join(', ')})`);
    return z.array(partitionSchema).parse(rows);
  }
}
