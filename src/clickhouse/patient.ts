/** A ClickHouse for work that must not slow down reads. */
import type { ClickHouse } from './client.ts';

/** The same one, whose long statements take one thread, and wait for the others. */
export const onOneThread = (clickhouse: ClickHouse): ClickHouse => ({
  select: (query, params, turn) => clickhouse.select({ ...query, isPatient: true }, params, turn),
  rows: (sql, params) => clickhouse.rows(sql, params),
  command: (sql, params) => clickhouse.command(sql, params),
  insert: (table, lines, token) => clickhouse.insert(table, lines, token),
  fill: (target, select) => clickhouse.fill(target, select),
  ping: () => clickhouse.ping(),
  close: () => clickhouse.close(),
  isSharded: clickhouse.isSharded,
  database: clickhouse.database,
  shardOf: (repositoryId) => clickhouse.shardOf(repositoryId),
});
