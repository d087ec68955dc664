/**
 * Makes both stores agree after they were restored from different moments. What only one of them has is given up: executions
 * that nothing claims leave, and claims of executions that are not stored are taken back. So what is sent again afterwards
 * counts once. Nothing else may use the stores meanwhile.
 */
import { sql } from 'drizzle-orm';
import { defineStatement } from '../clickhouse/query.ts';
import { oldestRetained } from '../evaluation/rederive.ts';
import { allClaims, narrowClaim, type RecordedClaim } from '../ledger/claim-store.ts';
import { onPostgres } from '../postgres/client.ts';
import { forgetStates } from '../postgres/forget-states.ts';
import { renumber } from '../postgres/installation.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import type { RebuildDeps } from './derive-again.ts';
import { dropTable, replacePartitions } from './partitions.ts';
import { rebuild } from './rebuild.ts';
import { type LedgerDeps, type MonthDifference, monthsThatDiffer } from './verify-ledger.ts';

const LEAVING = 'leaving';
const LINES_AT_ONCE = 100_000;

const createLeaving = defineStatement('maintenance/create_leaving', {});
const stayingExecutions = defineStatement('maintenance/staying_executions', { month: 'UInt32' });
const stayingFailures = defineStatement('maintenance/staying_failures', { month: 'UInt32' });

type ReconcileDeps = RebuildDeps & LedgerDeps;

export interface Reconciliation {
  /** Executions that were stored and not claimed. */
  removed: number;
  /** Executions that were claimed and not stored. */
  unclaimed: number;
}

/** What {@link reconcile} would give up. */
export async function previewReconciliation(deps: ReconcileDeps): Promise<Reconciliation> {
  const found: Reconciliation = { removed: 0, unclaimed: 0 };
  for await (const difference of monthsThatDiffer(deps)) {
    found.removed += leavingOf(difference).length;
    found.unclaimed += difference.missing.length;
  }
  return found;
}

/**
 * Each step may be repeated, and one that is cut off is finished by the next call. Blocks that are not stored yet get their
 * executions again under another token, so what of them is stored already leaves, too.
 */
export async function reconcile(deps: ReconcileDeps): Promise<Reconciliation> {
  const found: Reconciliation = { removed: 0, unclaimed: 0 };
  for await (const difference of monthsThatDiffer(deps)) {
    const leaving = leavingOf(difference);
    if (leaving.length > 0) await remove(deps, difference, leaving);
    if (difference.missing.length > 0) await takeBack(deps, difference);
    found.removed += leaving.length;
    found.unclaimed += difference.missing.length;
  }
  await renumber(deps.postgres.db);
  await rebuild(deps);
  return found;
}

const leavingOf = ({ unclaimed, early }: MonthDifference): bigint[] => [...unclaimed, ...early];

async function remove(
  { clickhouse }: ReconcileDeps,
  { month }: MonthDifference,
  leaving: readonly bigint[],
): Promise<void> {
  await dropTable(clickhouse, LEAVING);
  await clickhouse.command(createLeaving({}).sql);
  for (let from = 0; from < leaving.length; from += LINES_AT_ONCE) {
    const lines = leaving.slice(from, from + LINES_AT_ONCE).map((id) => `{"execution_id":"${id}"}\n`);
    await clickhouse.insert(`ci.${LEAVING}`, lines.join(''), `leaving-${month}-${from}`);
  }
  // Failures first: the executions that leave are looked for again, if this is cut off.
  await replacePartitions(clickhouse, 'failures', [String(month)], stayingFailures({ month }));
  await replacePartitions(clickhouse, 'executions', [String(month)], stayingExecutions({ month }));
  await dropTable(clickhouse, LEAVING);
}

/**
 * Tests may have no execution left, of which a rebuild would derive nothing: so what is known of their repository is forgotten
 * before.
 */
async function takeBack(
  { clickhouse, postgres: { db } }: ReconcileDeps,
  { month, missing }: MonthDifference,
): Promise<void> {
  const gone = new Set(missing);
  const narrowed: { claim: RecordedClaim; kept: bigint[] }[] = [];
  const { rows } = await onPostgres(() => db.execute<{ now: string }>(sql`select clock_timestamp()::text as now`));
  for await (const claim of allClaims(db, { storedBy: rows[0]?.now ?? '', leaving: [] })) {
    if (claim.month !== month || !claim.wasStored) continue;
    const kept = claim.ids.filter((id) => !gone.has(id));
    if (kept.length < claim.ids.length) narrowed.push({ claim, kept });
  }
  const retainedSince = await oldestRetained(clickhouse);
  for (const repositoryId of new Set(narrowed.map(({ claim }) => claim.repositoryId)))
    await db.transaction(async (tx) => {
      await lockPartitionsOf(tx, repositoryId);
      await forgetStates(tx, repositoryId, retainedSince);
    });
  for (const { claim, kept } of narrowed) await onPostgres(() => narrowClaim(db, claim, kept));
}
