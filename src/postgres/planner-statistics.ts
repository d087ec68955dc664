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
import type { Executor, Transactor } from './client.ts';
import { plainColumn } from './columns.ts';
import { identities, repositoryCounts, testListings, tests } from './schema.ts';

/** Smaller repositories are quick to read, whatever the plan. */
const TESTS_MIN = 1_000;

/** An estimate that is further off leads to other plans. */
const FACTOR_MAX = 10;

/** Tables with at least a row for each test. The others are read by keys that lead to a few rows. */
const TABLES = [tests, identities, testListings];

/** A table with the rows of repositories. */
type StatisticsTable = PgTable & { repositoryId: PgColumn };

interface Filled {
  table: StatisticsTable;
  rows: number;
}

const countRow = z.object({ id: z.string(), count: z.number() });
/** How many tests a repository has. */
type Counted = z.infer<typeof countRow>;
const planRow = z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: z.object({ 'Plan Rows': z.number() }) })]) });

export class PlannerStatistics {
  /** By repository id: how many tests it had when it was last compared, in this process. */
  readonly #compared = new Map<string, number>();
  /** By repository id and tables: rows of the repository when they were last compared. */
  readonly #derived = new Map<string, number>();

  /** Analyzes tables whose statistics are far off for any of these repositories. That takes about half a second for each. */
  async keepUp(tx: Transactor, repositoryIds: readonly string[]): Promise<void> {
    const grown = await this.#grown(tx, repositoryIds);
    for (const { id, count } of grown) this.#compared.set(id, count);
    // In one order, in which all processes lock tables.
    const outdated: StatisticsTable[] = [];
    for (const table of TABLES) if (await isFarOff(tx, table, grown)) outdated.push(table);
    await analyze(tx, outdated);
  }

  /**
   * The same for what a refresh derives of a repository, once there is twice as much of it as when this process last looked.
   *
   * @param filled tables that the refresh fills, in one order, and how many rows each has of the repository
   */
  async keepUpDerived(tx: Transactor, repositoryId: string, filled: readonly Filled[]): Promise<void> {
    const key = `${repositoryId} ${filled.map(({ table }) => getTableName(table)).join()}`;
    const rows = filled.reduce((sum, { rows }) => sum + rows, 0);
    if (rows < TESTS_MIN || rows < 2 * (this.#derived.get(key) ?? 0)) return;
    this.#derived.set(key, rows);
    const outdated: StatisticsTable[] = [];
    for (const { table, rows: count } of filled)
      if (await isFarOff(tx, table, [{ id: repositoryId, count }])) outdated.push(table);
    await analyze(tx, outdated);
  }

  /** After a transaction that was taken back: these are compared again. */
  forget(repositoryIds: Iterable<string>): void {
    for (const id of repositoryIds) this.#compared.delete(id);
  }

  /** Repositories that have twice as many tests as when they were compared. */
  async #grown(tx: Executor, repositoryIds: readonly string[]): Promise<Counted[]> {
    const { rows } = await tx.execute(sql`
      select repository_id as id, tests as count from ${repositoryCounts}
      where repository_id = any(${plainColumn(repositoryIds)}::uuid[]) and tests >= ${TESTS_MIN}`);
    return rows.map((row) => countRow.parse(row)).filter(({ id, count }) => count >= 2 * (this.#compared.get(id) ?? 0));
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

async function isFarOff(tx: Executor, table: StatisticsTable, repositories: readonly Counted[]) {
  for (const { id, count } of repositories) if ((await estimateOf(tx, table, id)) * FACTOR_MAX < count) return true;
  return false;
}

/** How many rows of a repository the planner expects. */
async function estimateOf(tx: Executor, table: StatisticsTable, repositoryId: string): Promise<number> {
  const { rows } = await tx.execute(
    sql`explain (format json) select from ${table} where ${table.repositoryId} = ${repositoryId}`,
  );
  return planRow.parse(rows[0])['QUERY PLAN'][0].Plan['Plan Rows'];
}
