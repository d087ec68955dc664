/** Replaces whole partitions of a table, so that a reader sees either the old ones or the new ones. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Statement } from '../clickhouse/query.ts';

/** Either the whole table is replaced, or only the partitions that the statements fill, or these partitions. */
type Extent = 'table' | 'partitions' | readonly string[];

/**
 * Fills a second table with the rows of the statements and swaps its partitions in. Of what is to be replaced, the partitions
 * that the second one does not have are dropped. The inserts carry no token: the second table is new, and equal rows of
 * two statements must both be kept.
 */
export async function replacePartitions(
  clickhouse: ClickHouse,
  table: string,
  extent: Extent,
  ...statements: Statement[]
): Promise<void> {
  const second = `${table}_rebuild`;
  await dropTable(clickhouse, second);
  await clickhouse.command(`CREATE TABLE ci.${second} AS ci.${table}`);
  for (const statement of statements) await clickhouse.fill(`ci.${second}`, statement);
  const filled = await partitionsOf(clickhouse, second);
  for (const partition of filled)
    await clickhouse.command(`ALTER TABLE ci.${table} REPLACE PARTITION ID '${partition}' FROM ci.${second}`);
  if (extent !== 'partitions')
    for (const partition of await partitionsOf(clickhouse, table))
      if (!filled.includes(partition) && (extent === 'table' || extent.includes(partition)))
        await clickhouse.command(`ALTER TABLE ci.${table} DROP PARTITION ID '${partition}'`);
  await dropTable(clickhouse, second);
}

/** Returns when the name can be used again. */
export const dropTable = (clickhouse: ClickHouse, table: string): Promise<void> =>
  clickhouse.command(`DROP TABLE IF EXISTS ci.${table} SYNC`);

async function partitionsOf(clickhouse: ClickHouse, table: string): Promise<string[]> {
  const rows = await clickhouse.rows(
    `SELECT DISTINCT partition_id FROM system.parts WHERE database = 'ci' AND active AND table = {table: String}`,
    { table },
  );
  return z
    .array(z.object({ partition_id: z.string() }))
    .parse(rows)
    .map((row) => row.partition_id);
}
