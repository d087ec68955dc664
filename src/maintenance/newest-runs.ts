/** When the newest execution of a repository finished, as ClickHouse has it. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';

const newestRuns = defineLongQuery(
  'maintenance/newest_runs',
  scope,
  z.object({ repository_id: z.string(), newest_ms: z.number() }),
);

/**
 * When the newest stored execution of all repositories or of one finished, on any branch; by id, in milliseconds since the
 * epoch. Nothing of those without executions.
 */
export async function readNewestRuns(clickhouse: ClickHouse, repositoryId?: string): Promise<Map<string, number>> {
  const rows = await clickhouse.select(newestRuns, scopeOf(repositoryId));
  return new Map(rows.map((row) => [row.repository_id, row.newest_ms]));
}
