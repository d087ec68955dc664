/** Puts the totals of repositories right: from their identities, and from when their newest execution finished. */
import { asc } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';
import { lockEvaluation } from '../evaluation/lock.ts';
import type { Logger } from '../observability/log.ts';
import type { Database } from '../postgres/client.ts';
import { countRepository, replaceTotals } from '../postgres/repository-totals.ts';
import { repositories } from '../postgres/schema.ts';

const newestRuns = defineLongQuery(
  'maintenance/newest_runs',
  scope,
  z.object({ repository_id: z.string(), newest_ms: z.number() }),
);

export interface RecountDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  log: Logger;
}

/**
 * Counts every test of each repository, and replaces the totals. The evaluation of a repository waits meanwhile. Under the
 * rebuild lock: nothing is stored after the newest runs were read.
 */
export async function recountRepositories({ clickhouse, postgres: { db }, log }: RecountDeps): Promise<void> {
  const newest = await readNewestRuns(clickhouse);
  const listed = await db.select({ id: repositories.id }).from(repositories).orderBy(asc(repositories.id));
  for (const [i, { id }] of listed.entries()) {
    await db.transaction(async (tx) => {
      await lockEvaluation(tx, id);
      await replaceTotals(tx, id, await countRepository(tx, id), newest.get(id) ?? 0);
    });
    if ((i + 1) % 1_000 === 0) log.info({ counted: i + 1, total: listed.length }, 'counting the tests of repositories');
  }
}

/**
 * When the newest stored execution of all repositories or of one finished, on any branch; by id, in milliseconds since the
 * epoch. Nothing of those without executions.
 */
export async function readNewestRuns(clickhouse: ClickHouse, repositoryId?: string): Promise<Map<string, number>> {
  const rows = await clickhouse.select(newestRuns, scopeOf(repositoryId));
  return new Map(rows.map((row) => [row.repository_id, row.newest_ms]));
}
