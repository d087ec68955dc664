/**
 * Makes both stores agree after they were restored from different moments. It gives up what only one of them has: executions
 * that nothing claims leave, and claims of executions that are not stored are taken back. So what is sent again afterwards
 * counts once. Nothing else may use the stores meanwhile.
 */
import { max } from 'drizzle-orm';
import { z } from 'zod';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { monthInWords } from '../domain/retention.ts';
import { DAY_MS } from '../domain/time.ts';
import { UserError } from '../errors.ts';
import { oldestRetained } from '../evaluation/rederive.ts';
import { allClaims, narrowClaim, type RecordedClaim } from '../ledger/claim-store.ts';
import { piecesOf } from '../pieces.ts';
import { onPostgres } from '../postgres/client.ts';
import { forgetStates } from '../postgres/forget-states.ts';
import { renumber } from '../postgres/installation.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import type { RebuildDeps } from './derive-again.ts';
import { dropTable, replacePartitions } from './partitions.ts';
import { rebuild } from './rebuild.ts';
import { type EventDifference, eventDifference, giveUpEvents, renoteMerges } from './reconcile-events.ts';
import { evaluateStoredParts } from './stored-parts.ts';
import { isSame, type LedgerDeps, type MonthDifference, monthsThatDiffer, serverTime, sumOf } from './verify-ledger.ts';

const LEAVING = 'leaving';
const LINES_AT_ONCE = 100_000;

const receivedSince = defineLongQuery(
  'maintenance/received_since',
  { month: 'UInt32', since_ms: 'Int64' },
  z.object({ execution_id: z.string().transform(BigInt) }),
);
const storedMonths = defineLongQuery('maintenance/stored_months', {}, z.object({ month: z.number() }));
const tornExecutions = defineLongQuery(
  'maintenance/torn_executions',
  { month: 'UInt32' },
  z.object({ execution_id: z.string().transform(BigInt) }),
);
const createLeaving = defineStatement('maintenance/create_leaving', {});
const stayingExecutions = defineStatement('maintenance/staying_executions', { month: 'UInt32' });
const stayingFailures = defineStatement('maintenance/staying_failures', { month: 'UInt32' });

type ReconcileDeps = RebuildDeps & LedgerDeps;

export interface Reconciliation {
  /** Executions that ClickHouse has without their failures, or the other way round: they leave first. */
  torn: number;
  /** Executions that were stored and not claimed. */
  removed: number;
  /** Executions that were claimed and not stored. */
  unclaimed: number;
  /** Events that were in the log, and that PostgreSQL does not know. */
  eventsRemoved: number;
  /** Events of hosts and producers that PostgreSQL handed over, and that the log lacks. */
  eventsLost: number;
}

/** Counts what {@link reconcile} would give up. */
export async function previewReconciliation(deps: ReconcileDeps): Promise<Reconciliation> {
  const events = await eventDifference(storesOf(deps));
  const found = foundOf(events);
  for await (const { ids } of tornIn(deps)) found.torn += ids.length;
  for await (const difference of monthsThatDiffer(deps)) {
    found.removed += (await leavingOf(deps, difference)).length;
    found.unclaimed += difference.missing.length;
  }
  return found;
}

/**
 * Each step may be repeated, and one that is cut off is finished by the next call. Blocks that are not stored yet get their
 * executions again under another token, so what of them is stored already leaves, too. Throws a {@link UserError} if closed
 * claims (`CLAIM_DAYS`) are of executions that are not stored.
 */
export async function reconcile(deps: ReconcileDeps): Promise<Reconciliation> {
  // A backup has parts that wait to be counted. What is taken back below must not be counted after that.
  await evaluateStoredParts({ db: deps.postgres.db, log: deps.log });
  const events = await eventDifference(storesOf(deps));
  const found = foundOf(events);
  for await (const { month, ids } of tornIn(deps)) {
    await remove(deps, month, ids);
    found.torn += ids.length;
  }
  for await (const difference of monthsThatDiffer(deps)) {
    const leaving = await leavingOf(deps, difference);
    if (leaving.length > 0) await remove(deps, difference.month, leaving);
    if (difference.missing.length > 0) await takeBack(deps, difference);
    found.removed += leaving.length;
    found.unclaimed += difference.missing.length;
  }
  await giveUpEvents(storesOf(deps), events);
  await renoteMerges(storesOf(deps));
  await renumber(deps.postgres.db);
  await rebuild(deps);
  return found;
}

const storesOf = ({ postgres: { db }, clickhouse }: ReconcileDeps) => ({ db, clickhouse });

const foundOf = ({ removed, lost }: EventDifference): Reconciliation => ({
  ...{ torn: 0, removed: 0, unclaimed: 0 },
  ...{ eventsRemoved: removed, eventsLost: lost.length },
});

/** Closed claims do not say of which executions they are: but those arrived long before the last that PostgreSQL knows. */
async function leavingOf(deps: ReconcileDeps, difference: MonthDifference): Promise<bigint[]> {
  const { month, unclaimed, early, closed } = difference;
  if (closed.executions === 0) return [...unclaimed, ...early];
  if (isSame(sumOf(unclaimed), closed)) return early;
  const rows = await deps.clickhouse.select(receivedSince, { month, since_ms: (await newestBlockAt(deps)) - DAY_MS });
  const late = new Set(rows.map(({ execution_id: id }) => id));
  if (isSame(sumOf(unclaimed.filter((id) => !late.has(id))), closed))
    return [...unclaimed.filter((id) => late.has(id)), ...early];
  throw new UserError(
    `Claims of ${monthInWords(month)} are closed, and what is stored is not what they say: ClickHouse is older than they are, by more than CLAIM_DAYS. Restore a newer ClickHouse or an older PostgreSQL.`,
  );
}

async function newestBlockAt({ postgres: { db } }: ReconcileDeps): Promise<number> {
  const [row] = await onPostgres(() => db.select({ newest: max(ingestBlocks.createdAt) }).from(ingestBlocks));
  return row?.newest?.getTime() ?? 0;
}

async function* tornIn({ clickhouse }: ReconcileDeps): AsyncGenerator<{ month: number; ids: bigint[] }> {
  for (const { month } of await clickhouse.select(storedMonths, {})) {
    const rows = await clickhouse.select(tornExecutions, { month });
    if (rows.length > 0) yield { month, ids: rows.map(({ execution_id: id }) => id) };
  }
}

async function remove({ clickhouse }: ReconcileDeps, month: number, leaving: readonly bigint[]): Promise<void> {
  await dropTable(clickhouse, LEAVING);
  await clickhouse.command(createLeaving({}).sql);
  for (const ids of piecesOf(leaving, LINES_AT_ONCE)) {
    const lines = ids.map((id) => `{"execution_id":"${id}"}\n`);
    await clickhouse.insert(`ci.${LEAVING}`, lines.join(''), `leaving-${month}-${ids[0]}`);
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
  for await (const claim of allClaims(db, { storedBy: await serverTime(db), leaving: [] })) {
    if (claim.month !== month || !claim.wasStored || claim.closed !== null) continue;
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
