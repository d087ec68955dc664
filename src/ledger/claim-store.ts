/** Claims in PostgreSQL. */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { LEDGER_LOCK } from '../postgres/locks.ts';
import { partitionOf } from '../postgres/partitions.ts';
import { blockParts, forgottenExecutions, ingestBlocks, ingestClaims } from '../postgres/schema.ts';
import { type Claim, LOCK_BUCKETS, packIds, unpackIds } from './claims.ts';
import { SourceLegs } from './source-legs.ts';

/** Reads the claims of these sources, and the blocks among them that are not stored. */
export async function readClaims(
  tx: Executor,
  sourceKeys: string[],
): Promise<{ claimed: Map<string, SourceLegs>; unstored: Map<string, number[]> }> {
  const rows = await tx
    .select({
      sourceKey: ingestClaims.sourceKey,
      blockId: ingestClaims.blockId,
      leg: ingestClaims.leg,
      ids: ingestClaims.ids,
      closed: ingestClaims.closed,
      storedAt: ingestBlocks.storedAt,
    })
    .from(ingestClaims)
    .innerJoin(ingestBlocks, eq(ingestBlocks.blockId, ingestClaims.blockId))
    .where(sql`${ingestClaims.sourceKey} = any(${sql.param(sourceKeys)}::uuid[])`);
  const claimed = new Map<string, SourceLegs>();
  const unstored = new Map<string, number[]>();
  for (const row of rows) {
    const results = claimed.get(row.sourceKey) ?? new SourceLegs();
    if (row.closed === null) results.addPacked(row.leg, row.ids);
    else results.close();
    claimed.set(row.sourceKey, results);
    if (row.storedAt === null) unstored.set(row.sourceKey, [...(unstored.get(row.sourceKey) ?? []), row.blockId]);
  }
  return { claimed, unstored };
}

export async function recordClaims(tx: Executor, blockId: number, claims: readonly Claim[]): Promise<void> {
  await tx.execute(sql`
    insert into ${ingestClaims} (source_key, block_id, repository_id, leg, month, ids)
    select source_key, ${blockId}::bigint, repository_id, leg, month, ids
    from unnest(${sql.param(claims.map(({ sourceKey }) => sourceKey))}::uuid[],
                ${sql.param(claims.map(({ repositoryId }) => repositoryId))}::uuid[],
                ${sql.param(claims.map(({ leg }) => leg))}::smallint[],
                ${sql.param(claims.map(({ month }) => month))}::int[],
                ${sql.param(claims.map(({ ids }) => packIds(ids)))}::bytea[]) as claim (source_key, repository_id, leg, month, ids)`);
}

/** Leaves of a claim only these ids; without any, it goes. */
export async function narrowClaim(
  tx: Executor,
  { sourceKey, blockId, leg, month }: RecordedClaim,
  ids: readonly bigint[],
): Promise<void> {
  const isIt = and(
    eq(ingestClaims.sourceKey, sourceKey),
    eq(ingestClaims.blockId, blockId),
    eq(ingestClaims.leg, leg),
    eq(ingestClaims.month, month),
  );
  if (ids.length === 0) await tx.delete(ingestClaims).where(isIt);
  else
    await tx
      .update(ingestClaims)
      .set({ ids: packIds(ids) })
      .where(isIt);
}

/** Gives back everything that a block has claimed. */
export async function retractClaims(tx: Executor, blockId: number): Promise<void> {
  await tx.delete(ingestClaims).where(eq(ingestClaims.blockId, blockId));
}

/** Waits until everything is committed that was being claimed at the time of the call. */
export async function awaitClaims(db: Database): Promise<void> {
  await onPostgres(() =>
    db.execute(
      sql`select pg_advisory_xact_lock(${LEDGER_LOCK}, bucket) from generate_series(0, ${LOCK_BUCKETS - 1}) as bucket`,
    ),
  );
}

/** Whether some block with executions of a repository is written down, but not stored. */
export async function isStoring(db: Executor, repositoryId: string): Promise<boolean> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select from ${blockParts} join ${ingestBlocks} using (block_id)
      where partition = ${partitionOf(repositoryId)} and repository_id = ${repositoryId} and stored_at is null limit 1`),
  );
  return rows.length > 0;
}

/** Executions of a repository whose blocks are not stored: the first of each source, leg and month. */
export async function unstoredExecutions(tx: Executor, repositoryId: string): Promise<{ month: number; id: bigint }[]> {
  const { rows } = await tx.execute<{ month: number; ids: Uint8Array }>(sql`
    select month, substring(ids from 1 for 8) as ids from ${ingestClaims} join ${ingestBlocks} using (block_id)
    where stored_at is null and repository_id = ${repositoryId}`);
  return rows.flatMap(({ month, ids }) => unpackIds(ids).map((id) => ({ month, id })));
}

export interface RecordedClaim extends Claim {
  blockId: number;
  /** Whether its block was stored at the given moment. */
  wasStored: boolean;
  /** How many executions it has, if it is closed: then its one id is the exclusive or of theirs. */
  closed: number | null;
}

const CLAIMS_AT_ONCE = 5_000;

export interface ClaimsAt {
  /** A time of the PostgreSQL server. */
  storedBy: string;
  /** Repositories whose claims are left out, because they are being deleted. */
  leaving: readonly string[];
}

/** Every claim there is. */
export async function* allClaims(db: Database, { storedBy, leaving }: ClaimsAt): AsyncGenerator<RecordedClaim> {
  for (let after = ['00000000-0000-0000-0000-000000000000', '0', '0', '0']; ; ) {
    const { rows } = await onPostgres(() =>
      db.execute<{
        repository_id: string;
        source_key: string;
        block_id: string;
        leg: number;
        month: number;
        ids: Uint8Array;
        closed: number | null;
        was_stored: boolean;
      }>(sql`
        select repository_id, source_key, block_id, leg, month, ids, closed, coalesce(stored_at <= ${storedBy}::timestamptz, false) as was_stored
        from ${ingestClaims} join ${ingestBlocks} using (block_id)
        where (source_key, block_id, leg, month)
          > (${after[0]}::uuid, ${after[1]}::bigint, ${after[2]}::smallint, ${after[3]}::int)
          and repository_id <> all(${sql.param(leaving)}::uuid[])
        order by source_key, block_id, leg, month limit ${CLAIMS_AT_ONCE}`),
    );
    for (const row of rows)
      yield {
        repositoryId: row.repository_id,
        blockId: Number(row.block_id),
        sourceKey: row.source_key,
        leg: row.leg,
        month: row.month,
        ids: unpackIds(row.ids),
        wasStored: row.was_stored,
        closed: row.closed,
      };
    const last = rows.at(-1);
    if (!last || rows.length < CLAIMS_AT_ONCE) return;
    after = [last.source_key, last.block_id, String(last.leg), String(last.month)];
  }
}

/** Closing reads the claims of so many blocks at once: up to a megabyte of ids each. */
const BLOCKS_CLOSED_AT_ONCE = 20;

/**
 * Closes the claims of stored blocks that were recorded so many days ago. They say no longer which executions they are of,
 * which is nearly all of their room, so that nothing more of their sources is stored. Returns the number of blocks.
 */
export async function closeClaims(db: Database, days: number): Promise<number> {
  for (let closed = 0; ; ) {
    const blocks = await onPostgres(() => db.transaction((tx) => closeSome(tx, days)));
    closed += blocks;
    if (blocks < BLOCKS_CLOSED_AT_ONCE) return closed;
  }
}

async function closeSome(tx: Executor, days: number): Promise<number> {
  const { rows: found } = await tx.execute<{ block_id: string }>(sql`
    select block_id from ${ingestBlocks}
    where not is_closed and stored_at is not null and created_at < now() - make_interval(days => ${days})
    order by created_at limit ${BLOCKS_CLOSED_AT_ONCE} for update skip locked`);
  if (found.length === 0) return 0;
  const blocks = sql`${sql.param(found.map(({ block_id }) => block_id))}::bigint[]`;
  const { rows } = await tx.execute<{ at: string; ids: Uint8Array }>(
    sql`select ctid::text as at, ids from ${ingestClaims} where block_id = any(${blocks}) and closed is null for update`,
  );
  const sums = rows.map(({ at, ids }) => ({ at, count: ids.byteLength / 8, ids: packIds([xorOf(unpackIds(ids))]) }));
  await tx.execute(sql`
    update ${ingestClaims} as claim set ids = sum.ids, closed = sum.count
    from unnest(${sql.param(sums.map(({ at }) => at))}::tid[], ${sql.param(sums.map(({ count }) => count))}::int[],
                ${sql.param(sums.map(({ ids }) => ids))}::bytea[]) as sum (at, count, ids)
    where claim.ctid = sum.at`);
  await tx.execute(sql`update ${ingestBlocks} set is_closed = true where block_id = any(${blocks})`);
  return found.length;
}

const xorOf = (ids: readonly bigint[]): bigint => ids.reduce((sum, id) => sum ^ id, 0n);

/** One statement deletes no more: it stays far below the time that a statement may take. */
const ROWS_MAX = 10_000;

/**
 * Removes the claims of months before the oldest retained one, what was forgotten of them, and the blocks that claim nothing any
 * more. Executions of such months are refused on arrival, so they need no claim to be stored once.
 *
 * @param repositoryId undefined: of every repository
 */
export async function forgetClaims(db: Database, oldestMonth: number, repositoryId?: string): Promise<void> {
  const hasLeft = sql`month < ${oldestMonth} and ${repositoryId === undefined ? sql`true` : sql`repository_id = ${repositoryId}`}`;
  await deleteAll(db, ingestClaims, hasLeft);
  await deleteAll(db, forgottenExecutions, hasLeft);
  await deleteAll(
    db,
    ingestBlocks,
    sql`stored_at is not null and not exists (
      select 1 from ${ingestClaims} where ingest_claims.block_id = ingest_blocks.block_id
    )`,
  );
}

async function deleteAll(
  db: Database,
  table: typeof ingestClaims | typeof forgottenExecutions | typeof ingestBlocks,
  which: SQL,
): Promise<void> {
  for (let deleted = ROWS_MAX; deleted === ROWS_MAX; ) {
    const { rowCount } = await onPostgres(() =>
      db.execute(
        sql`delete from ${table} where ctid = any(array(select ctid from ${table} where ${which} limit ${ROWS_MAX}))`,
      ),
    );
    deleted = rowCount ?? 0;
  }
}
