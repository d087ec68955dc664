/**
 * The locks of the evaluation (docs/decisions.md says why there are partitions). A repository belongs to one partition for
 * good. Everything that writes what is known of its tests holds the row of that partition.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Executor, sqlState } from './client.ts';
import { plainColumn } from './columns.ts';
import { blockParts, ingestBlocks, PARTITIONS, partitions, postponedRepositories } from './schema.ts';

/** The partition of a repository: ids are hashes, so their beginning spreads them evenly. */
export const partitionOf = (repositoryId: string): number => Number.parseInt(repositoryId.slice(0, 8), 16) % PARTITIONS;

/** Notified when a block is stored: its parts may be evaluated. */
export const STORED_CHANNEL = 'ci_insights_stored';

/** Takes effect when the transaction commits. */
export async function notifyStored(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_notify(${STORED_CHANNEL}, '')`);
}

/** Waits for the partitions of some repositories, and holds them until the end of the transaction. All lock in one order. */
export async function lockPartitionsOf(tx: Executor, ...repositoryIds: readonly string[]): Promise<void> {
  const ids = [...new Set(repositoryIds.map(partitionOf))];
  await tx.execute(
    sql`select id from ${partitions} where id = any(${plainColumn(ids)}::smallint[]) order by id for update`,
  );
}

const LOCK_TIMEOUT = '55P03';

/**
 * Holds the partition of a repository until the end of the transaction, if no one else holds it for too long.
 *
 * @param waitMs how long to wait; 0: not at all; absent: for as long as it takes
 * @returns whether it is held; if it is not, the transaction can do nothing more
 */
export async function holdPartitionOf(tx: Executor, repositoryId: string, waitMs?: number): Promise<boolean> {
  const partition = sql`select from ${partitions} where id = ${partitionOf(repositoryId)} for update`;
  if (waitMs === 0) return (await tx.execute(sql`${partition} skip locked`)).rows.length > 0;
  await limitLockWait(tx, waitMs ?? 0);
  try {
    await tx.execute(partition);
  } catch (error) {
    if (sqlState(error) === LOCK_TIMEOUT) return false;
    throw error;
  }
  await limitLockWait(tx, 0);
  return true;
}

/** @param ms 0: no limit */
const limitLockWait = (tx: Executor, ms: number): Promise<unknown> =>
  tx.execute(sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`);

/** Parts that may be evaluated now: their blocks are stored, and their repositories are not postponed. */
const isWaiting = sql`
  exists (select from ${ingestBlocks} as blocks where blocks.block_id = parts.block_id and blocks.stored_at is not null)
    and not exists (
      select from ${postponedRepositories} as postponed
      where postponed.repository_id = parts.repository_id and postponed.retry_at > now())`;

/** A partition of which a pass takes what is live, or what is imported. */
export interface Turn {
  partition: number;
  isImported: boolean;
}

const turnRow = z.object({ id: z.number() });

/**
 * Takes a partition in which something waits and that no one holds: of several, the one whose last pass is longest ago.
 * What is imported has its turn where nothing that is live is due.
 *
 * @param paceMs a partition whose last pass is not so long ago is left to collect more
 * @param tracks whether to look for what is imported; live results first
 * @returns undefined if there is none
 */
export async function takePartition(
  tx: Executor,
  paceMs: number,
  tracks: readonly boolean[] = [false, true],
): Promise<Turn | undefined> {
  for (const isImported of tracks) {
    const passedAt = passedAtOf(isImported);
    const { rows } = await tx.execute(sql`
      select id from ${partitions}
      where ${passedAt} <= now() - make_interval(secs => ${paceMs / 1_000})
        and exists (
          select from ${blockParts} as parts
          where parts.partition = partitions.id and parts.is_imported = ${isImported} and ${isWaiting})
      order by ${passedAt} limit 1 for update skip locked`);
    if (rows[0]) return { partition: turnRow.parse(rows[0]).id, isImported };
  }
  return undefined;
}

const passedAtOf = (isImported: boolean) => (isImported ? sql.raw('import_passed_at') : sql.raw('passed_at'));

/** Whether something waits, be its partition held or not. */
export async function isPartWaiting(tx: Executor, isImported?: boolean): Promise<boolean> {
  const isMeant = isImported === undefined ? sql`true` : sql`parts.is_imported = ${isImported}`;
  const { rows } = await tx.execute(sql`select from ${blockParts} as parts where ${isMeant} and ${isWaiting} limit 1`);
  return rows.length > 0;
}

/** Notes that a pass has taken the partition. */
export async function notePass(tx: Executor, { partition, isImported }: Turn): Promise<void> {
  await tx.execute(sql`update ${partitions} set ${passedAtOf(isImported)} = now() where id = ${partition}`);
}

export interface Part {
  repositoryId: string;
  blockId: number;
  isImported: boolean;
  executions: number;
  /** zstd of its lines. */
  body: Uint8Array;
}

const partRow = z
  .object({
    repository_id: z.string(),
    block_id: z.coerce.number(),
    is_imported: z.boolean(),
    executions: z.number(),
    body: z.instanceof(Uint8Array),
  })
  .transform(
    (row): Part => ({
      repositoryId: row.repository_id,
      blockId: row.block_id,
      isImported: row.is_imported,
      executions: row.executions,
      body: row.body,
    }),
  );
const partColumns = sql`parts.repository_id, parts.block_id, parts.is_imported, parts.executions, parts.body`;

/** No further part is taken once those before it have so many. */
export interface PartLimits {
  executionsMax: number;
  /** The length of lines, unpacked. */
  bytesMax: number;
}

/**
 * Waiting parts of a turn, in the order in which they came. If they are too many, each repository is given as much as the
 * others, so that one of which much waits keeps no other waiting.
 *
 * @param repositoryId only of this repository
 */
export async function readWaitingParts(
  tx: Executor,
  { partition, isImported }: Turn,
  { executionsMax, bytesMax }: PartLimits,
  repositoryId?: string,
): Promise<Part[]> {
  const isMeant = repositoryId === undefined ? sql`true` : sql`parts.repository_id = ${repositoryId}`;
  const { rows } = await tx.execute(sql`
    select ${partColumns}
    from (
      select block_id, repository_id,
        sum(executions) over turns - executions as executions_before, sum(bytes) over turns - bytes as bytes_before
      from (
        select parts.block_id, parts.repository_id, parts.executions, parts.bytes,
          sum(bytes) over (partition by repository_id order by block_id) - bytes as own_bytes_before
        from ${blockParts} as parts where parts.partition = ${partition} and parts.is_imported = ${isImported}
          and ${isMeant} and ${isWaiting}
      ) as own
      window turns as (order by own_bytes_before, block_id, repository_id)
    ) as waiting
      join ${blockParts} as parts on parts.partition = ${partition} and parts.block_id = waiting.block_id
        and parts.repository_id = waiting.repository_id
    where executions_before < ${executionsMax} and bytes_before < ${bytesMax}
    order by parts.block_id, parts.repository_id`);
  return rows.map((row) => partRow.parse(row));
}

/** Every part of a repository that is not evaluated, whether its block is stored or not. */
export async function readPartsOf(tx: Executor, repositoryId: string): Promise<Part[]> {
  const { rows } = await tx.execute(sql`
    select ${partColumns} from ${blockParts} as parts
    where parts.partition = ${partitionOf(repositoryId)} and parts.repository_id = ${repositoryId} order by block_id`);
  return rows.map((row) => partRow.parse(row));
}

/** How many executions of a repository are not evaluated. */
export async function countWaiting(tx: Executor, repositoryId: string): Promise<number> {
  const { rows } = await tx.execute(sql`
    select coalesce(sum(executions), 0)::float8 as executions from ${blockParts}
    where partition = ${partitionOf(repositoryId)} and repository_id = ${repositoryId}`);
  return z.object({ executions: z.number() }).parse(rows[0]).executions;
}

/** Deletes parts: they are evaluated. */
export async function deleteParts(tx: Executor, partition: number, parts: readonly Part[]): Promise<void> {
  await tx.execute(sql`
    delete from ${blockParts} as parts
    using unnest(${plainColumn(parts.map(({ blockId }) => blockId))}::bigint[],
      ${plainColumn(parts.map(({ repositoryId }) => repositoryId))}::uuid[]) as done (block_id, repository_id)
    where parts.partition = ${partition} and parts.block_id = done.block_id and parts.repository_id = done.repository_id`);
}

/** Longest time between two tries. */
const RETRY_SECONDS_MAX = 600;

/** Tries a repository that could not be evaluated again later: after 5 s, then twice as long each time. */
export async function postpone(tx: Executor, repositoryId: string): Promise<void> {
  await tx.execute(sql`
    insert into ${postponedRepositories} as known (repository_id, failures, retry_at)
    values (${repositoryId}, 1, now() + interval '5 seconds')
    on conflict (repository_id) do update set failures = known.failures + 1,
      retry_at = now() + make_interval(secs => least(5 * 2 ^ known.failures, ${RETRY_SECONDS_MAX}))`);
}

/** Takes back that some repositories are postponed. */
export async function resume(tx: Executor, repositoryIds: readonly string[]): Promise<void> {
  await tx.execute(
    sql`delete from ${postponedRepositories} where repository_id = any(${plainColumn(repositoryIds)}::uuid[])`,
  );
}
