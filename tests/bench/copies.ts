/**
 * Many executions out of few: further repositories at a ClickHouse server, each with the rows of a stored one. They take room
 * and time as if they had been sent. Rows are packed with rows of the same repository only, so copies are no smaller on the disk.
 */
import type { RealClickHouse } from '../support/clickhouse-real/server.ts';

/** Tables with rows of executions, and the times by whose months they are partitioned. The largest comes last. */
const TABLES = { runs: 'day', commit_runs: 'day', failures: 'failed_at', executions: 'finished_at' } as const;
type Table = keyof typeof TABLES;

/** One part for each insert: the fewer parts, the less is merged. Each has the rows of a month of all stored repositories. */
const ONE_PART = 'min_insert_block_size_rows = 8000000, min_insert_block_size_bytes = 0, max_insert_threads = 1';
const SETTINGS = `SETTINGS insert_deduplicate = 0, max_threads = 1, optimize_on_insert = 0, ${ONE_PART}`;
const POLL_MS = 1_000;

/** Merges take what is left of two cores, and what they have replaced leaves the disk soon. */
export const SERVER_CONFIG = `<background_pool_size>2</background_pool_size>
  <background_merges_mutations_concurrency_ratio>1</background_merges_mutations_concurrency_ratio>
  <mark_cache_size>1073741824</mark_cache_size>
  <merge_tree>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
    <old_parts_lifetime>10</old_parts_lifetime>
  </merge_tree>`;

const numbers = async (server: RealClickHouse, sql: string): Promise<number[]> =>
  (await server.ask(sql)).split('\n').filter(Boolean).map(Number);

export async function rowsOf(server: RealClickHouse, table: Table): Promise<number> {
  return (await numbers(server, `SELECT count() FROM ci.${table}`))[0] ?? 0;
}

/**
 * Adds copies until the server has so many times the rows. After an interruption it continues.
 *
 * @param repositories the ids of those that are copied
 */
export async function multiply(
  server: RealClickHouse,
  repositories: readonly string[],
  times: number,
  say: (what: string) => void,
): Promise<void> {
  const originals = repositories.map((id) => `'${id}'`).join(', ');
  for (const [table, time] of Object.entries(TABLES)) {
    const months = await numbers(server, `SELECT DISTINCT toYYYYMM(${time}) AS month FROM ci.${table} ORDER BY month`);
    for (const month of months) {
      // Not of the id that takes its place.
      const of = (copy: string) =>
        `FROM ci.${table} AS original WHERE toYYYYMM(${time}) = ${month} AND original.repository_id ${copy} IN (${originals})`;
      // An insert is one part, so a copy is there or not.
      const [each = 0] = await numbers(server, `SELECT uniqExact(repository_id) ${of('')}`);
      const [copied = 0] = await numbers(server, `SELECT uniqExact(repository_id) ${of('NOT')}`);
      if (copied % each !== 0) throw new Error(`${table} has a part of a copy in ${month}: begin with a new folder`);
      for (let copy = copied / each + 1; copy < times; copy++) {
        const id = `reinterpretAsUUID(sipHash128(repository_id, ${copy}))`;
        await server.ask(`INSERT INTO ci.${table} SELECT * REPLACE (${id} AS repository_id) ${of('')} ${SETTINGS}`);
        if (table === 'executions' && copy % 10 === 0) say(`${month}: ${copy} of ${times - 1} copies`);
      }
    }
  }
}

/** Returns when the server has merged what it wants to merge. */
export async function untilMerged(server: RealClickHouse): Promise<void> {
  const running = 'SELECT count() FROM system.merges';
  for (let quiet = 0; quiet < 10; quiet++) {
    if ((await numbers(server, running))[0] !== 0) quiet = 0;
    await Bun.sleep(POLL_MS);
  }
}

export interface Stored {
  rows: number;
  parts: number;
  /** All tables together. */
  bytes: number;
}

export async function storedAt(server: RealClickHouse): Promise<Stored> {
  const of = "FROM system.parts WHERE active AND database = 'ci'";
  const [parts = 0] = await numbers(server, `SELECT count() ${of} AND table = 'executions'`);
  const [bytes = 0] = await numbers(server, `SELECT sum(bytes_on_disk) ${of}`);
  return { rows: await rowsOf(server, 'executions'), parts, bytes };
}
