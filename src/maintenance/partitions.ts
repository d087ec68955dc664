/** Swaps whole partitions: a reader meets either the old or the new ones. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Parameters } from '../clickhouse/parameters.ts';

/**
 * Fills a table beside the named one and swaps its partitions in. Partitions of the named table that the new one does not
 * have are dropped, unless the statement was about one month only (executions, failures).
 */
export async function replacePartitions(
  clickhouse: ClickHouse,
  table: string,
  select: string,
  parameters: Parameters = {},
): Promise<void> {
  const beside = `${table}_rebuild`;
  await clickhouse.command(`DROP TABLE IF EXISTS ci.${beside} SYNC`);
  await clickhouse.command(`CREATE TABLE ci.${beside} AS ci.${table}`);
  await clickhouse.command(`INSERT INTO ci.${beside} SETTINGS insert_deduplicate = 0 ${select}`, parameters);
  const made = await partitionsOf(clickhouse, beside);
  for (const partition of made)
    await clickhouse.command(`ALTER TABLE ci.${table} REPLACE PARTITION ID '${partition}' FROM ci.${beside}`);
  if (table !== 'executions' && table !== 'failures')
    for (const partition of await partitionsOf(clickhouse, table))
      if (!made.includes(partition))
        await clickhouse.command(`ALTER TABLE ci.${table} DROP PARTITION ID '${partition}'`);
  await clickhouse.command(`DROP TABLE ci.${beside} SYNC`);
}

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
