/**
 * Months that leave a repository earlier than the installation, because it keeps executions for fewer days.
 *
 *     month noted as leaving, and refused from now on ─► baselines moved past it ─► rows of ClickHouse ─► claims ─► done
 *
 * Rows are removed, where the installation drops whole partitions. Each step may be done again: what is noted says where to continue.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, isNotNull, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { REPOSITORY_TABLES, removeStored } from '../clickhouse/repository-rows.ts';
import type { ShardByShard } from '../clickhouse/shards.ts';
import { endOfMonth, keptOf, monthOf, oldestRetainedMonth, startOfMonth } from '../domain/retention.ts';
import { moveBaselines } from '../evaluation/baseline.ts';
import { awaitClaims, forgetClaims, unstoredExecutions } from '../ledger/claim-store.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { forgetCommitRecordsOf } from '../postgres/commit-records.ts';
import { RETENTION_LOCK } from '../postgres/locks.ts';
import type { Repository } from '../postgres/repositories.ts';
import { repositories } from '../postgres/schema.ts';
import { noteStale } from '../postgres/stale.ts';

const monthsBefore = defineLongQuery(
  'maintenance/months_before',
  { repository_id: 'UUID', before: 'UInt32' },
  z.object({ month: z.number() }),
);

/** Other processes know a repository from memory for a second, and hold what they have prepared for another. */
const HEARD_MS = 3_000;
/** Derived values that follow from all executions of a repository. */
const FOLLOWING = ['causes', 'durations'] as const;

export interface MonthsDeps {
  clickhouse: ClickHouse;
  db: Database;
  log: Logger;
  shards: ShardByShard;
  /** Evaluates what waits, and judges what is stale of a repository: a month that leaves is folded as it is judged. */
  settle(repositoryId: string): Promise<void>;
}

/**
 * Removes what repositories do not keep as long as the installation. Retention runs it, under its lock for each month.
 *
 * @param retentionDays those of the installation
 */
export async function dropMonthsOfRepositories(deps: MonthsDeps, retentionDays: number, now: number): Promise<void> {
  const { clickhouse, db, shards } = deps;
  const known = await onPostgres(() =>
    db
      .select()
      .from(repositories)
      .where(or(isNotNull(repositories.executionRetentionDays), isNotNull(repositories.executionsLeaving))),
  );
  for (const repository of known)
    await shards.attempt(await clickhouse.shardOf(repository.id), () =>
      dropMonthsOf(deps, repository, oldestRetainedMonth(now, keptOf(retentionDays, repository).retentionDays)),
    );
}

/** @param kept the oldest month that stays */
async function dropMonthsOf(deps: MonthsDeps, repository: Repository, kept: number): Promise<void> {
  const { clickhouse, db } = deps;
  const { id, executionsLeaving: begun } = repository;
  if (begun !== null && !(await dropMonth(deps, repository, begun))) return;
  for (const { month } of await clickhouse.select(monthsBefore, { repository_id: id, before: kept })) {
    await noteLeaving(db, id, month);
    await sleep(HEARD_MS);
    if (!(await dropMonth(deps, repository, month))) break;
  }
}

/** From the commit on, its executions are refused, and the repository is not verified until they have left. */
async function noteLeaving(db: Database, repositoryId: string, month: number): Promise<void> {
  const next = monthOf(endOfMonth(startOfMonth(month)));
  await onPostgres(() =>
    db
      .update(repositories)
      .set({ executionsLeaving: month, executionsSince: sql`greatest(${repositories.executionsSince}, ${next}::int)` })
      .where(eq(repositories.id, repositoryId)),
  );
}

/** @returns false while a block with executions of the month is on its way into ClickHouse: the next run continues */
const dropMonth = (
  { clickhouse, db, log, settle }: MonthsDeps,
  { id, flakyDetectionEnabled }: Repository,
  month: number,
): Promise<boolean> =>
  onPostgres(() =>
    db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${RETENTION_LOCK})`);
      await awaitClaims(db);
      if ((await unstoredExecutions(db, id)).some((one) => one.month <= month)) return false;
      // Committed before anything is removed: without its executions, no later run could move a baseline past the month.
      await settle(id);
      await db.transaction((states) =>
        moveBaselines(clickhouse, states, startOfMonth(month), {
          isEnabled: () => flakyDetectionEnabled,
          repositoryId: id,
        }),
      );
      for (const table of REPOSITORY_TABLES)
        await removeStored(clickhouse, table, { repositoryId: id, months: [month] });
      const next = endOfMonth(startOfMonth(month));
      await forgetClaims(db, monthOf(next), id);
      await db.transaction(async (ended) => {
        await forgetCommitRecordsOf(ended, id, next);
        await noteStale(
          ended,
          FOLLOWING.map((kind) => ({ repositoryId: id, kind, blockId: Number.MAX_SAFE_INTEGER })),
        );
        await ended
          .update(repositories)
          .set({ executionsLeaving: null })
          .where(and(eq(repositories.id, id), eq(repositories.executionsLeaving, month)));
      });
      log.info({ repository: id, month }, 'removed a month that is past the retention of its repository');
      return true;
    }),
  );
