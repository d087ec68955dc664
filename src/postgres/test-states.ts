/** The current state of tests: names, first failures, and what the evaluation knows of each identity. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { HEALTHS, type Health } from '../domain/status.ts';
import type { IdentitySummary } from '../domain/test-state.ts';
import { readBelief, type StoredBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { readSummary, type StoredSummary } from './identity-summary.ts';
import { identities, tests } from './schema.ts';

/** The series of executions that a health describes. */
export interface Identity {
  testId: string;
  pipelineName: string;
  jobName: string;
}

export interface FirstFailure {
  /** Milliseconds since the epoch. */
  failedAt: number;
  executionId: bigint;
  /** Empty when unknown. */
  commit: string;
}

export interface TestState {
  testId: string;
  name: string;
  firstFailure: FirstFailure | null;
  /** Flaky executions by UTC day (days since the epoch). */
  flakyDays: readonly (readonly [day: number, executions: number])[];
  /** When its first execution of each retained month finished, skipped ones included: milliseconds since the epoch, in order. */
  firstExecutions: readonly number[];
  /**
   * The newest UTC day on which it passed or failed, in days since the epoch. Null if none is retained, or if it has not
   * run since this is kept.
   */
  lastDay: number | null;
}

/** What insights show of an identity. */
export interface ShownIdentity extends Identity {
  summary: IdentitySummary;
  health: Health;
  /** After every execution. */
  belief: StoredBelief;
}

export interface IdentityRecord extends ShownIdentity, StoredSummary {}

const moment = z.number().nullable();
export const identityRow = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  health: z.enum(HEALTHS),
  summary: z.string(),
  belief: z.string(),
});
export const testRow = z.object({
  test_id: z.string(),
  name: z.string(),
  failed_ms: moment,
  execution: z.string().nullable(),
  commit: z.string().nullable(),
  flaky_days: z.array(z.tuple([z.number(), z.number()])),
  first_executions: z.array(z.number()),
  last_day: z.number().nullable(),
});

/** Milliseconds since the epoch, as a number that JSON carries exactly. */
export const ms = (column: unknown) => sql`(extract(epoch from ${column}) * 1000)::float8`;

export async function readTests(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<TestState[]> {
  const { rows } = await tx.execute(sql`
    select test_id, name, ${ms(tests.firstFailedAt)} as failed_ms, first_failed_execution as execution,
      first_failed_commit as commit, flaky_days, first_executions, last_day
    from ${tests} where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((row) => testOf(testRow.parse(row)));
}

export const testOf = ({ failed_ms, execution, commit, ...row }: z.infer<typeof testRow>): TestState => ({
  testId: row.test_id,
  name: row.name,
  firstFailure:
    failed_ms === null ? null : { failedAt: failed_ms, executionId: BigInt(execution ?? 0), commit: commit ?? '' },
  flakyDays: row.flaky_days,
  firstExecutions: row.first_executions,
  lastDay: row.last_day,
});

export async function readIdentities(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<IdentityRecord[]> {
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, health, summary, belief
    from ${identities} where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((row) => identityOf(identityRow.parse(row)));
}

/** Those of the same tests, pipelines and CI jobs, as far as there are any. A test has many, and few of them run together. */
export async function readSameIdentities(
  tx: Executor,
  repositoryId: string,
  named: readonly Identity[],
): Promise<IdentityRecord[]> {
  if (named.length === 0) return [];
  const { rows } = await tx.execute(sameIdentities(repositoryId, named));
  return rows.map((row) => identityOf(identityRow.parse(row)));
}

/**
 * A join reads the identities of the repository at most once. Looked up one by one, each would cost a read of all of them
 * while the statistics of the table do not name the repository: then any index that begins with its id looks as good as the
 * primary key.
 */
export const sameIdentities = (repositoryId: string, named: readonly Identity[]): SQL => sql`
  select identities.test_id, identities.pipeline_name, identities.job_name, health, summary, belief
  from unnest(
    ${plainColumn(named.map(({ testId }) => testId))}::uuid[],
    ${textColumn(named.map(({ pipelineName }) => pipelineName))},
    ${textColumn(named.map(({ jobName }) => jobName))}
  ) as named (test_id, pipeline_name, job_name)
  join ${identities} on identities.repository_id = ${repositoryId} and identities.test_id = named.test_id
    and identities.pipeline_name = named.pipeline_name and identities.job_name = named.job_name`;

/** Which of some tests are flaky or broken in a pipeline and CI job. */
export async function unhealthyAmong(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.execute(sql`
    select distinct test_id from ${identities}
    where repository_id = ${repositoryId} and health <> 'healthy' and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((row) => testIdRow.parse(row).test_id);
}

const testIdRow = z.object({ test_id: z.string() });

/** Whether each test with retained executions is healthy in every pipeline and CI job, by name: up to `limit` tests. */
export async function readHealths(
  db: Executor,
  repositoryId: string,
  limit: number,
): Promise<{ name: string; isHealthy: boolean }[]> {
  const { rows } = await db.execute(sql`
    select tests.name, bool_and(identities.health = 'healthy') as is_healthy
    from ${identities} join ${tests} using (repository_id, test_id)
    where identities.repository_id = ${repositoryId} and identities.executions > 0
    group by tests.name order by tests.name collate "C" limit ${limit}`);
  return rows.map((row) => {
    const { name, is_healthy: isHealthy } = healthRow.parse(row);
    return { name, isHealthy };
  });
}

const healthRow = z.object({ name: z.string(), is_healthy: z.boolean() });

/** As it is stored. */
export function identityOf(row: z.infer<typeof identityRow>): IdentityRecord {
  const { summary, checkpointAt } = readSummary(row.summary);
  return {
    testId: row.test_id,
    pipelineName: row.pipeline_name,
    jobName: row.job_name,
    health: row.health,
    belief: readBelief(row.belief),
    summary,
    checkpointAt,
  };
}

/** A flat list of numbers in threes. */
export function triplesOf(flat: readonly number[]): [number, number, number][] {
  const triples: [number, number, number][] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) triples.push([flat[i] ?? 0, flat[i + 1] ?? 0, flat[i + 2] ?? 0]);
  return triples;
}
