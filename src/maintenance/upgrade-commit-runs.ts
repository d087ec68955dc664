/**
 * Fills the runs of commits, once, from the executions that a version stored which did not keep them, or not with their
 * failed executions. Meanwhile nothing is stored: inserts share the lock that it holds. Cut off, it begins again.
 */
import { eq, sql } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { scopeOf } from '../clickhouse/scope.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import { upgrades } from '../postgres/schema.ts';
import { derived } from './derived.ts';
import { replacePartitions } from './partitions.ts';

const NAME = 'runs of commits with failed executions';

export interface UpgradeCommitRunsDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  log: Logger;
}

/** Returns at once if it is done. */
export async function upgradeCommitRuns({ clickhouse, postgres: { db }, log }: UpgradeCommitRunsDeps): Promise<void> {
  if (await isFinished(db)) return;
  await onPostgres(() =>
    db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      if (await isFinished(tx)) return;
      log.info('deriving the runs of commits from their executions');
      await replacePartitions(clickhouse, 'commit_runs', 'table', derived.commit_runs(scopeOf()));
      await tx.insert(upgrades).values({ name: NAME, finishedAt: sql`now()` });
    }),
  );
}

async function isFinished(db: Pick<Database, 'select'>): Promise<boolean> {
  const rows = await onPostgres(() => db.select().from(upgrades).where(eq(upgrades.name, NAME)));
  return rows.length > 0;
}
