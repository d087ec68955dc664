/** What the evaluation has written about the tests of one repository. */
import { and, eq } from 'drizzle-orm';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { identities, tests } from '../../src/postgres/schema.ts';
import { makeJob, type TestExecution, type TestJob } from './jobs.ts';
import type { TestStores, uniqueRepository } from './stores.ts';

type Repository = ReturnType<typeof uniqueRepository>;

async function idOf(stores: TestStores, repository: Repository): Promise<string> {
  return (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
}

/** The health of each identity, by test; identities of one test by job. */
export async function healthsOf({ postgres }: TestStores, repository: Repository): Promise<Record<string, string[]>> {
  const { host, owner, name } = repository;
  const rows = await postgres.db
    .select({ name: tests.name, health: identities.health })
    .from(identities)
    .innerJoin(tests, and(eq(tests.repositoryId, identities.repositoryId), eq(tests.testId, identities.testId)))
    .where(eq(identities.repositoryId, repositoryIdOf(host, owner, name)))
    .orderBy(tests.name, identities.jobName);
  const byTest = Map.groupBy(rows, (row) => row.name);
  return Object.fromEntries([...byTest].map(([test, found]) => [test, found.map(({ health }) => health)]));
}

/** The health of each identity of a test, by job. */
export async function healthOf(stores: TestStores, repository: Repository, name: string): Promise<string[]> {
  return (await healthsOf(stores, repository))[name] ?? [];
}

/** Flaky executions as `name run#attempt`. */
export async function flakyOf(stores: TestStores, repository: Repository): Promise<string[]> {
  const rows = await stores.clickhouse.rows(
    `SELECT e.test_name AS name, e.run_id AS run, e.run_attempt AS attempt FROM ci.flaky_verdicts AS v FINAL
     INNER JOIN ci.executions AS e ON e.repository_id = v.repository_id AND e.execution_id = v.execution_id
     WHERE v.repository_id = {id: UUID} AND v.is_flaky ORDER BY name, run, attempt`,
    { id: await idOf(stores, repository) },
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
  /** What the failures say. */
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
