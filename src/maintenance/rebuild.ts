/**
 * Recomputes everything derived from the executions: which of them are on the default branch, the catalog, first failures, failure
 * groups, totals of runs, verdicts and health. For a default branch that has changed, a rule or fingerprint that has, or a `verify` that
 * found a difference.
 *
 * Partitions are made anew beside the tables and swapped in whole, so that a reader meets either the old or the new one.
 * Inserts wait meanwhile: they share the lock that a rebuild holds alone.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Parameters } from '../clickhouse/parameters.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { evaluateAnew } from '../evaluation/evaluate.ts';
import { FigureStore } from '../evaluation/figures.ts';
import { drawVersion, lockEvaluation } from '../evaluation/lock.ts';
import { judgeQuarantines } from '../evaluation/quarantines.ts';
import { RunStore } from '../evaluation/run-store.ts';
import { EvaluationStore } from '../evaluation/store.ts';
import { judgeRunsAnew } from '../evaluation/troubles.ts';
import { testsOnDefaultBranches } from '../evaluation/verify.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { repositories } from '../postgres/schema.ts';
import { replacePartitions } from './partitions.ts';
import { regroupFailures } from './regroup.ts';

/** {@link isOnDefaultBranch} in SQL; a test compares the two. */
const ON_DEFAULT = `(branch != '' AND base_ref = '' AND pull_request = 0
  AND NOT match(branch, '^(gh-readonly-queue|mergify/merge-queue)/')
  AND branch = transform(toString(repository_id), {repository_ids: Array(String)}, {branches: Array(String)}, ''))`;

export interface RebuildDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  quarantines: QuarantineStore;
  log: Logger;
}

export interface RebuildReport {
  /** Executions that changed sides between default branch and not. */
  moved: number;
  tests: number;
  /** Texts of failures that changed groups. */
  regrouped: number;
}

export async function rebuild(deps: RebuildDeps, fingerprintVersion = FINGERPRINT_VERSION): Promise<RebuildReport> {
  return onPostgres(() =>
    deps.postgres.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      const known = await tx.select().from(repositories);
      const branches: Parameters = {
        repository_ids: known.map((repository) => repository.id),
        branches: known.map((repository) => repository.defaultBranch ?? ''),
      };
      const moved = await moveToDefaultBranch(deps.clickhouse, branches);
      deps.log.info({ moved }, 'executions are on the default branch or not as the settings say');
      await rebuildCatalog(deps.clickhouse);
      await rebuildFirstFailures(deps.clickhouse);
      await rebuildRuns(deps.clickhouse);
      const regrouped = await regroupFailures(deps.clickhouse, fingerprintVersion);
      await rebuildVerdictsWithinRuns(deps.clickhouse);
      for (const { id } of known)
        await deps.postgres.db.transaction(async (evaluation) => {
          await lockEvaluation(evaluation, id);
          await judgeRunsAnew(new RunStore(deps.clickhouse, id), await drawVersion(evaluation));
        });
      const enabled = new Map(known.map((repository) => [repository.id, repository.flakyDetectionEnabled]));
      let tests = 0;
      for await (const { repositoryId, testIds } of testsOnDefaultBranches(deps.clickhouse)) {
        await deps.postgres.db.transaction(async (evaluation) => {
          await lockEvaluation(evaluation, repositoryId);
          const stores = {
            executions: new EvaluationStore(deps.clickhouse, repositoryId),
            runs: new RunStore(deps.clickhouse, repositoryId),
          };
          const ends = await evaluateAnew(stores, testIds, {
            isFlakyDetectionEnabled: enabled.get(repositoryId) ?? true,
            version: await drawVersion(evaluation),
          });
          // Recovery follows from the executions; new quarantines are left to the next run of a test.
          const { quarantines } = deps;
          const figures = new FigureStore(deps.clickhouse, repositoryId);
          await judgeQuarantines({ repositoryId, mode: 'off', quarantines, figures }, ends);
        });
        tests += testIds.length;
      }
      return { moved, tests, regrouped };
    }),
  );
}

/** Rewrites the partitions in which an execution stands on the wrong side. Returns how many did. */
async function moveToDefaultBranch(clickhouse: ClickHouse, branches: Parameters): Promise<number> {
  const wrong = z
    .array(z.object({ month: z.number(), executions: z.number(), repositories: z.array(z.string()) }))
    .parse(
      await clickhouse.rows(
        `SELECT toYYYYMM(finished_at) AS month, count() AS executions, groupUniqArray(toString(repository_id)) AS repositories
         FROM ci.executions WHERE on_default != ${ON_DEFAULT} GROUP BY month ORDER BY month`,
        branches,
      ),
    );
  for (const { month } of wrong) {
    await replacePartitions(
      clickhouse,
      'executions',
      `SELECT * REPLACE (${ON_DEFAULT} AS on_default) FROM ci.executions WHERE toYYYYMM(finished_at) = ${month}`,
      branches,
    );
    await replacePartitions(
      clickhouse,
      'failures',
      `SELECT * REPLACE ((repository_id, execution_id) IN (
         SELECT repository_id, execution_id FROM ci.executions WHERE on_default AND toYYYYMM(finished_at) = ${month}
       ) AS on_default) FROM ci.failures WHERE toYYYYMM(failed_at) = ${month}`,
    );
  }
  const repositoryIds = [...new Set(wrong.flatMap((row) => row.repositories))];
  // Their healths are of another branch: all of the repository are folded anew from what is retained.
  if (repositoryIds.length > 0)
    await clickhouse.command(
      `ALTER TABLE ci.health DELETE WHERE repository_id IN {repository_ids: Array(UUID)} SETTINGS mutations_sync = 2`,
      { repository_ids: repositoryIds },
    );
  return wrong.reduce((sum, row) => sum + row.executions, 0);
}

async function rebuildCatalog(clickhouse: ClickHouse): Promise<void> {
  await replacePartitions(
    clickhouse,
    'catalog',
    `SELECT repository_id, test_id, pipeline_name, job_name, toStartOfMonth(toDate(finished_at, 'UTC')) AS month,
       anyLast(test_name), count(), maxIf(finished_at, status = 'passed'), maxIf(finished_at, status = 'failed'),
       max((finished_at, execution_id, status, toString(framework), toString(framework_version), toString(language), filepath,
         function))
     FROM ci.executions WHERE on_default GROUP BY repository_id, test_id, pipeline_name, job_name, month`,
  );
}

/** What is remembered from before the oldest retained month stands; the rest follows from the executions. */
async function rebuildFirstFailures(clickhouse: ClickHouse): Promise<void> {
  await replacePartitions(
    clickhouse,
    'first_failures',
    `SELECT repository_id, test_id, min((finished_at, execution_id, commit_sha, pull_request))
     FROM ci.executions WHERE on_default AND status = 'failed' GROUP BY repository_id, test_id
     UNION ALL
     SELECT repository_id, test_id, min(first) AS earliest FROM ci.first_failures GROUP BY repository_id, test_id
     HAVING tupleElement(earliest, 1) < (SELECT toStartOfMonth(min(finished_at)) FROM ci.executions)`,
  );
}

async function rebuildRuns(clickhouse: ClickHouse): Promise<void> {
  await replacePartitions(
    clickhouse,
    'runs',
    `SELECT repository_id, toDate(finished_at, 'UTC') AS day, pipeline_name, job_name, run_id, run_attempt,
       min(finished_at), max(finished_at), countIf(status = 'passed'), countIf(status = 'failed')
     FROM ci.executions WHERE on_default AND status != 'skipped'
     GROUP BY repository_id, day, pipeline_name, job_name, run_id, run_attempt`,
  );
}

async function rebuildVerdictsWithinRuns(clickhouse: ClickHouse): Promise<void> {
  await replacePartitions(
    clickhouse,
    'flaky_verdicts',
    `SELECT repository_id, test_id, finished_at, execution_id, true, 'within_run', 0
     FROM ci.executions WHERE on_default AND is_flaky AND status != 'skipped'`,
  );
}
