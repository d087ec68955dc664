/** Counts and removes the rows that ClickHouse has of a repository. */
import { z } from 'zod';
import type { ClickHouse } from './client.ts';
import { defineLongQuery } from './query.ts';

/**
 * Every table with rows of repositories, in the order in which they leave. Derived rows are first: a reader may briefly meet
 * executions without their total, but never a total without its executions.
 */
export const REPOSITORY_TABLES = ['runs', 'commit_runs', 'failures', 'executions', 'events'] as const;
export type RepositoryTable = (typeof REPOSITORY_TABLES)[number];

const repositoryRows = defineLongQuery(
  'maintenance/repository_rows',
  { repository_id: 'UUID' },
  z.object({ table_name: z.enum(REPOSITORY_TABLES), stored: z.number() }),
);

/** How many rows a repository has, by table; tables without any are left out. */
export async function countStored(
  clickhouse: ClickHouse,
  repositoryId: string,
): Promise<Partial<Record<RepositoryTable, number>>> {
  const rows = await clickhouse.select(repositoryRows, { repository_id: repositoryId });
  return Object.fromEntries(rows.flatMap(({ table_name, stored }) => (stored > 0 ? [[table_name, stored]] : [])));
}

/** Which rows of a repository leave: all, those of some tests (of tables that name tests), or those of some months. */
export interface LeavingRows {
  repositoryId: string;
  testIds?: readonly string[];
  /** Such as 202611. */
  months?: readonly number[];
}

/** By which column a table is cut into months. */
const TIMES: Readonly<Record<RepositoryTable, string>> = {
  runs: 'day',
  commit_runs: 'day',
  failures: 'failed_at',
  executions: 'finished_at',
  events: 'received_at',
};

/**
 * Removes rows of a repository from a table, on every replica, before it returns. The parts of the table that have such rows are
 * written again without them, so nothing of them is left on the disk.
 */
export const removeStored = (
  clickhouse: ClickHouse,
  table: RepositoryTable,
  { repositoryId, testIds, months }: LeavingRows,
): Promise<void> =>
  clickhouse.command(
    `ALTER TABLE ci.${table} DELETE WHERE repository_id = {repository_id: UUID}
     ${testIds ? 'AND test_id IN {test_ids: Array(UUID)}' : ''}
     ${months ? `AND toYYYYMM(${TIMES[table]}) IN {months: Array(UInt32)}` : ''}
     SETTINGS mutations_sync = 2`,
    { repository_id: repositoryId, ...(testIds && { test_ids: testIds }), ...(months && { months }) },
  );

const oldEvents = defineLongQuery(
  'maintenance/old_events',
  { repository_id: 'UUID', before_ms: 'Int64' },
  z.object({ events: z.number() }),
);

/**
 * Removes the events of a repository that were received before a moment, and returns how many there were. Costs one look at the
 * key if there are none.
 *
 * @param before milliseconds since the epoch
 */
export async function removeEventsBefore(
  clickhouse: ClickHouse,
  repositoryId: string,
  before: number,
): Promise<number> {
  const which = { repository_id: repositoryId, before_ms: before };
  const [found] = await clickhouse.select(oldEvents, which);
  if (!found?.events) return 0;
  await clickhouse.command(
    `ALTER TABLE ci.events DELETE
     WHERE repository_id = {repository_id: UUID} AND received_at < fromUnixTimestamp64Milli({before_ms: Int64}, 'UTC')
     SETTINGS mutations_sync = 2`,
    which,
  );
  return found.events;
}
