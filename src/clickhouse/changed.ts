/** A ClickHouse of which some methods differ: the one list of what the others pass on. */
import type { ClickHouse } from './client.ts';

/** The same ClickHouse, but for what is given. */
export const changed = (clickhouse: ClickHouse, differing: Partial<ClickHouse>): ClickHouse => ({
  select: (query, params, turn) => clickhouse.select(query, params, turn),
  rows: (sql, params) => clickhouse.rows(sql, params),
  command: (sql, params, options) => clickhouse.command(sql, params, options),
  insert: (table, lines, token, shard) => clickhouse.insert(table, lines, token, shard),
  fill: (target, select) => clickhouse.fill(target, select),
  ping: () => clickhouse.ping(),
  close: () => clickhouse.close(),
  isSharded: clickhouse.isSharded,
  database: clickhouse.database,
  shardCount: () => clickhouse.shardCount(),
  shardOf: (repositoryId) => clickhouse.shardOf(repositoryId),
  ...differing,
});
