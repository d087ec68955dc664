/** Judgements that the evaluation has written about the tests of one repository. */
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { makeJob, type TestExecution, type TestJob } from './jobs.ts';
import type { TestStores, uniqueRepository } from './stores.ts';

type Repository = ReturnType<typeof uniqueRepository>;

async function idOf(stores: TestStores, repository: Repository): Promise<string> {
  return (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
}

/** The health of each identity, by test; identities of one test by job. */
export async function healthsOf({ postgres }: TestStores, repository: Repository): Promise<Record<string, string[]>> {
  const { host, owner, name } = repository;
  const { rows } = await postgres.pool.query<{ name: string; health: string }>(
    `select name, coalesce(health, 'healthy') as health
     from ci_insights.identities left join ci_insights.suspects using (repository_id, test_id, pipeline_name, job_name, axes)
       join ci_insights.tests using (repository_id, test_id)
     where repository_id = $1 and not is_folded order by name, job_name`,
    [repositoryIdOf(host, owner, name)],
  );
  const byTest = Map.groupBy(rows, (row) => row.name);
  return Object.fromEntries([...byTest].map(([test, found]) => [test, found.map(({ health }) => health)]));
}

/** The health of each identity of a test, by job. */
export async function healthOf(stores: TestStores, repository: Repository, name: string): Promise<string[]> {
  return (await healthsOf(stores, repository))[name] ?? [];
}

/** Flaky executions as `name run#attempt`. */
export async function flakyOf(stores: TestStores, repository: Repository): Promise<string[]> {
  const { rows: flaky } = await stores.postgres.pool.query<{ id: string }>(
    'select execution_id::text as id from ci_insights.flaky_executions where repository_id = $1',
    [await idOf(stores, repository)],
  );
  const rows = await stores.clickhouse.rows(
    `SELECT test_name AS name, run_id AS run, run_attempt AS attempt FROM ci.executions
     WHERE repository_id = {id: UUID} AND execution_id IN {ids: Array(UInt64)} ORDER BY name, run, attempt`,
    { id: await idOf(stores, repository), ids: flaky.map(({ id }) => BigInt(id)) },
  );
  return (rows as { name: string; run: string; attempt: number }[]).map(
    (row) => `${row.name} ${row.run}#${row.attempt}`,
  );
}

export interface RunOf {
  repository: Repository;
  runId: string;
  attempt?: number;
  /** When its tests finished; milliseconds since the epoch. */
  at: number;
  results: Record<string, TestExecution['status']>;
  /** Message of the failures. */
  message?: string;
  run?: TestJob['run'];
  receivedAt: number;
}

/** Tests that pass beside others: with so many, a failure says something about its test. */
export const PASSING: Record<string, 'passed'> = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [`passing ${i}`, 'passed']),
);

/** One run of some tests, as one job; its commit is named after the run. */
export function runOf({ repository, runId, attempt = 1, at, results, message = 'no', run, receivedAt }: RunOf) {
  return makeJob({
    repository,
    receivedAt,
    source: `${runId}/${attempt}`,
    run: { run_id: runId, run_attempt: attempt, commit: `commit of ${runId}`, ...run },
    executions: Object.entries(results).map(([name, status]) => ({
      name,
      key: name,
      status: status ?? 'passed',
      at,
      failures: status === 'failed' ? [{ type: 'Error', message }] : [],
    })),
  });
}
