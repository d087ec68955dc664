/**
 * Compares everything derived with the executions and reports each difference: the one oracle, for tests and operators.
 * Only reads. What is not stored or evaluated yet is reported as pending.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { verifyJudgements } from '../evaluation/verify.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import { wronglyGrouped } from './regroup.ts';

const DIFFERENCES_SHOWN_MAX = 20;

/** A row for each difference, with a sentence about it. */
const difference = z.object({ difference: z.string() });
const CHECKS = [
  { name: 'executions: each is stored once', query: defineLongQuery('verify/executions', scope, difference) },
  {
    name: 'failures: as many as their executions report',
    query: defineLongQuery('verify/failures', scope, difference),
  },
  { name: 'catalog: totals and newest executions', query: defineLongQuery('verify/catalog', scope, difference) },
  {
    name: 'first failures: no retained failure is earlier',
    query: defineLongQuery('verify/first_failures', scope, difference),
  },
  { name: 'runs: totals of each day', query: defineLongQuery('verify/runs', scope, difference) },
];
const storedExecutions = defineLongQuery('verify/stored', {}, z.object({ executions: z.number() }));

export interface VerifyReport {
  isConsistent: boolean;
  executions: number;
  checks: { name: string; differences: string[]; count: number }[];
  /** Blocks that are recorded but not stored or not evaluated yet. What they bring is not compared. */
  pendingBlocks: number;
}

export interface VerifyDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  quarantines: QuarantineStore;
  log: Logger;
}

/** Verifies everything or one repository; the ledger is always compared as a whole. */
export async function verify(
  { clickhouse, postgres, quarantines }: VerifyDeps,
  repositoryId?: string,
): Promise<VerifyReport> {
  const checks: VerifyReport['checks'] = [];
  for (const { name, query } of CHECKS) {
    const rows = await clickhouse.select(query, scopeOf(repositoryId));
    checks.push({
      name,
      count: rows.length,
      differences: rows.slice(0, DIFFERENCES_SHOWN_MAX).map((row) => row.difference),
    });
  }
  const ledger = await compareLedger(clickhouse, postgres.db);
  const groups: string[] = [];
  const grouped = wronglyGrouped(clickhouse, FINGERPRINT_VERSION, repositoryId === undefined ? {} : { repositoryId });
  for await (const found of grouped)
    groups.push(
      ...found.map(({ testId, from, to }) => `a failure of test ${testId} is in group ${from}, but belongs in ${to}`),
    );
  const judged = await verifyJudgements({ clickhouse, db: postgres.db, quarantines }, repositoryId);
  for (const [name, differences] of [
    ['ledger: as many executions stored as claimed', ledger.differences],
    ['failure groups: as their fingerprints say', groups],
    ['verdicts, health and recovery: as the rules say', judged],
  ] as const)
    checks.push({ name, count: differences.length, differences: differences.slice(0, DIFFERENCES_SHOWN_MAX) });
  return {
    isConsistent: checks.every((check) => check.count === 0),
    executions: ledger.executions,
    checks,
    pendingBlocks: ledger.pendingBlocks,
  };
}

/** No more executions are stored than claimed. Fewer are possible: months leave, but their claims remain. */
async function compareLedger(clickhouse: ClickHouse, db: Database) {
  const [raw] = await clickhouse.select(storedExecutions, {});
  const ledger = await onPostgres(() =>
    db.execute<{ claimed: string; unstored: string; pending: string }>(sql`
      select coalesce(sum(executions) filter (where stored_at is not null), 0) as claimed,
             coalesce(sum(executions) filter (where stored_at is null), 0) as unstored,
             count(*) filter (where evaluated_at is null) as pending
      from ${ingestBlocks}`),
  );
  const executions = raw?.executions ?? 0;
  const claimed = Number(ledger.rows[0]?.claimed ?? 0);
  const unstored = Number(ledger.rows[0]?.unstored ?? 0);
  const differences =
    executions > claimed + unstored
      ? [`${executions} executions are stored, but only ${claimed + unstored} are claimed`]
      : [];
  return { executions, differences, pendingBlocks: Number(ledger.rows[0]?.pending ?? 0) };
}
