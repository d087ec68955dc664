/**
 * Compares everything derived with the raw executions, and says where they differ: the one oracle of the tests and of an
 * operator who wants to know. Reads only. What is still on its way (written down, not evaluated) is reported as pending.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Parameters } from '../clickhouse/parameters.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { verifyJudgements } from '../evaluation/verify.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import { wronglyGrouped } from './regroup.ts';

/**
 * A comparison: a statement that returns a row for every difference, with a sentence about it. `scope` is the condition on the
 * repository: one of two constants.
 */
interface Check {
  name: string;
  statement(scope: string): string;
}

const EVERYWHERE = 'true';
const IN_REPOSITORY = 'repository_id = {repository_id: UUID}';

const DIFFERENCES_SHOWN_MAX = 20;

const CHECKS: readonly Check[] = [
  {
    name: 'executions: each is stored once',
    statement: (scope) => `
      SELECT format('execution {} of repository {} is stored {} times', toString(execution_id), toString(repository_id), toString(count())) AS difference
      FROM ci.executions WHERE ${scope} GROUP BY repository_id, execution_id HAVING count() > 1`,
  },
  {
    name: 'failures: as many as their executions say',
    statement: (scope) => `
      SELECT format('execution {} of repository {} says {} failures, {} are stored', toString(execution_id), toString(repository_id), toString(said), toString(stored)) AS difference
      FROM (
        SELECT repository_id, execution_id, sum(failures) AS said, sum(events) AS stored
        FROM (
          SELECT repository_id, execution_id, toInt64(failures) AS failures, toInt64(0) AS events FROM ci.executions WHERE ${scope}
          UNION ALL
          SELECT repository_id, execution_id, 0, 1 FROM ci.failures WHERE ${scope}
        )
        GROUP BY repository_id, execution_id
      )
      WHERE said != stored`,
  },
  {
    name: 'catalog: totals and newest executions',
    statement: (scope) => `
      SELECT format('{} in {} / {} ({}): the catalog has {}, the executions give {}', toString(test_id), pipeline_name, job_name, toString(month), anyIf(row, from = 'catalog'), anyIf(row, from = 'raw')) AS difference
      FROM (
        SELECT 'catalog' AS from, repository_id, test_id, pipeline_name, job_name, month,
          toString((anyLast(test_name), sum(executions), max(last_success_at), max(last_failure_at), max(last))) AS row
        FROM ci.catalog WHERE ${scope} GROUP BY repository_id, test_id, pipeline_name, job_name, month
        UNION ALL
        SELECT 'raw', repository_id, test_id, pipeline_name, job_name, toStartOfMonth(toDate(finished_at, 'UTC')) AS month,
          toString((anyLast(test_name), count(), maxIf(finished_at, status = 'passed'), maxIf(finished_at, status = 'failed'),
            max((finished_at, execution_id, status, toString(framework), toString(framework_version), toString(language), filepath, function))))
        FROM ci.executions WHERE on_default AND ${scope} GROUP BY repository_id, test_id, pipeline_name, job_name, month
      )
      GROUP BY repository_id, test_id, pipeline_name, job_name, month
      HAVING count() != 2 OR uniqExact(row) != 1`,
  },
  {
    name: 'first failures: no retained failure is earlier',
    statement: (scope) => `
      SELECT format('test {} failed at {} first, remembered is {}', toString(test_id), toString(raw), toString(remembered)) AS difference
      FROM (
        SELECT repository_id, test_id, min(least_raw) AS raw, min(least_remembered) AS remembered, count() AS sides
        FROM (
          SELECT repository_id, test_id, min(finished_at) AS least_raw, toDateTime64('2100-01-01', 3, 'UTC') AS least_remembered
          FROM ci.executions WHERE on_default AND status = 'failed' AND ${scope} GROUP BY repository_id, test_id
          UNION ALL
          SELECT repository_id, test_id, toDateTime64('2100-01-01', 3, 'UTC'), tupleElement(min(first), 1)
          FROM ci.first_failures WHERE ${scope} GROUP BY repository_id, test_id
        )
        GROUP BY repository_id, test_id
      )
      WHERE remembered > raw`,
  },
  {
    name: 'runs: totals of each day',
    statement: (scope) => `
        SELECT format('run {} attempt {} of {} / {} on {}: stored is {}, the executions give {}', run_id, toString(run_attempt), pipeline_name, job_name, toString(day), anyIf(row, from = 'runs'), anyIf(row, from = 'raw')) AS difference
        FROM (
          SELECT 'runs' AS from, repository_id, day, pipeline_name, job_name, run_id, run_attempt,
            toString((min(first_at), max(last_at), sum(passed), sum(failed))) AS row
          FROM ci.runs WHERE ${scope} GROUP BY repository_id, day, pipeline_name, job_name, run_id, run_attempt
          UNION ALL
          SELECT 'raw', repository_id, toDate(finished_at, 'UTC') AS day, pipeline_name, job_name, run_id, run_attempt,
            toString((min(finished_at), max(finished_at), countIf(status = 'passed'), countIf(status = 'failed')))
          FROM ci.executions WHERE on_default AND status != 'skipped' AND ${scope}
          GROUP BY repository_id, day, pipeline_name, job_name, run_id, run_attempt
        )
        GROUP BY repository_id, day, pipeline_name, job_name, run_id, run_attempt
        HAVING count() != 2 OR uniqExact(row) != 1`,
  },
];

export interface VerifyReport {
  isConsistent: boolean;
  executions: number;
  checks: { name: string; differences: string[]; count: number }[];
  /** Blocks that are written down and not yet stored or evaluated: what they bring is not compared yet. */
  pendingBlocks: number;
}

export interface VerifyDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  quarantines: QuarantineStore;
  log: Logger;
}

/** Of everything, or of one repository; the ledger is always compared whole. */
export async function verify(
  { clickhouse, postgres, quarantines }: VerifyDeps,
  repositoryId?: string,
): Promise<VerifyReport> {
  const scope = repositoryId === undefined ? EVERYWHERE : IN_REPOSITORY;
  const parameters: Parameters = repositoryId === undefined ? {} : { repository_id: repositoryId };
  const checks: VerifyReport['checks'] = [];
  for (const { name, statement } of CHECKS) {
    const rows = z
      .array(z.object({ difference: z.string() }))
      .parse(await clickhouse.rows(statement(scope), parameters));
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
      ...found.map(({ testId, from, to }) => `a failure of test ${testId} is in group ${from}, not in ${to}`),
    );
  const judged = await verifyJudgements({ clickhouse, db: postgres.db, quarantines }, repositoryId);
  for (const [name, differences] of [
    ['ledger: as many executions stored as claimed', ledger.differences],
    ['failure groups: as the fingerprint gives them', groups],
    ['verdicts, health and recovery: as the rules give them', judged],
  ] as const)
    checks.push({ name, count: differences.length, differences: differences.slice(0, DIFFERENCES_SHOWN_MAX) });
  return {
    isConsistent: checks.every((check) => check.count === 0),
    executions: ledger.executions,
    checks,
    pendingBlocks: ledger.pendingBlocks,
  };
}

/** The raw table holds no more than what stored blocks claim; less only by months that have left. */
async function compareLedger(clickhouse: ClickHouse, db: Database) {
  const [raw] = z
    .array(z.object({ executions: z.number() }))
    .parse(await clickhouse.rows('SELECT count() AS executions FROM ci.executions'));
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
    executions > claimed + unstored ? [`${executions} executions are stored, ${claimed + unstored} are claimed`] : [];
  return { executions, differences, pendingBlocks: Number(ledger.rows[0]?.pending ?? 0) };
}
