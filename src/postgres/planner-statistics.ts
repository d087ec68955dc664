/**
 * Keeps PostgreSQL's planner informed of the size of repositories.
 *
 * If the statistics of a table do not name a repository, the planner expects a row or two of it. It then makes plans that
 * read the whole repository once for each row: a search among 20,000 new tests took longer than a read may. PostgreSQL
 * analyzes a table once a tenth of it has changed, which may take days. So the transaction that counts the tests of a
 * repository also analyzes the tables, and no search meets a large repository that the planner does not know.
 */
import { getTableName, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { TestCounts } from '../domain/repository-stats.ts';
import type { Executor, Transactor } from './client.ts';
import { identities, suspects, testListings, tests } from './schema.ts';

/** Fewer are quick to read, whatever the plan. */
const ROWS_MIN = 1_000;

/** An estimate that is further off leads to other plans. */
const FACTOR_MAX = 10;

/** A table with the rows of repositories. */
type StatisticsTable = PgTable & { repositoryId: PgColumn };

/** A table of which a repository may have many rows, and how many it has now. */
interface Filled {
  table: StatisticsTable;
  rows: number;
}

/** Tables of which a repository with so many tests may have many rows. The others are read by keys that lead to a few. */
export const filledByTests = ({ tests: all, flaky, broken }: TestCounts): Filled[] => [
  ...[tests, identities, testListings].map((table) => ({ table, rows: all })),
  { table: suspects, rows: flaky + broken },
];

const planRow = z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: z.object({ 'Plan Rows': z.number() }) })]) });

export class PlannerStatistics {
  /** By repository id and table: how many rows of the repository there were when this process last compared them. */
  readonly #compared = new Map<string, number>();

  /**
   * Analyzes tables whose statistics are far off for a repository. That takes about half a second for each.
   *
   * @param filled in one order, in which all processes lock tables
   */
  async keepUp(tx: Transactor, repositoryId: string, filled: readonly Filled[]): Promise<void> {
    const outdated: StatisticsTable[] = [];
    for (const { table, rows } of filled)
      if (this.#hasGrown(`${repositoryId} ${getTableName(table)}`, rows))
        if ((await estimateOf(tx, table, repositoryId)) * FACTOR_MAX < rows) outdated.push(table);
    await analyze(tx, outdated);
  }

  /** Whether there are many rows, and twice as many as when they were compared. */
  #hasGrown(key: string, rows: number): boolean {
    if (rows < ROWS_MIN || rows < 2 * (this.#compared.get(key) ?? 0)) return false;
    this.#compared.set(key, rows);
    return true;
  }
}

async function analyze(tx: Transactor, tables: readonly StatisticsTable[]): Promise<void> {
  if (tables.length === 0) return;
  await tx
    .transaction(async (inner) => {
      for (const table of tables) await inner.execute(sql`analyze ${table}`);
    })
    // Reads are slower until PostgreSQL analyzes the tables, but nothing is wrong.
    .catch(() => {});
}

/** How many rows of a repository the planner expects. */
async function estimateOf(tx: Executor, table: StatisticsTable, repositoryId: string): Promise<number> {
  const { rows } = await tx.execute(
    sql`explain (format json) select from ${table} where ${table.repositoryId} = ${repositoryId}`,
  );
  return planRow.parse(rows[0])['QUERY PLAN'][0].Plan['Plan Rows'];
}
