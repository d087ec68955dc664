/** The failure groups of tests, kept up to date by the evaluation. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type FailureGroup, mergeGroups } from '../domain/failure-group.ts';
import type { Database, Executor } from './client.ts';
import { definePrepared } from './prepared.ts';
import { failureGroups } from './schema.ts';

export interface FailureGroupRecord extends FailureGroup {
  testId: string;
  failureId: string;
}

const row = z
  .object({
    test_id: z.string(),
    failure_id: z.string(),
    months: z.string(),
    last_ms: z.number(),
    last_execution: z.string(),
    last_attempt: z.number(),
    exception_type: z.string(),
    exception_message: z.string(),
  })
  .transform(
    (found): FailureGroupRecord => ({
      testId: found.test_id,
      failureId: found.failure_id,
      months: new Map(
        triplesOf(z.array(z.number()).parse(JSON.parse(found.months))).map(([month, failures, firstAt]) => [
          month,
          { failures, firstAt },
        ]),
      ),
      newest: {
        failedAt: found.last_ms,
        executionId: BigInt(found.last_execution),
        attempt: found.last_attempt,
        exceptionType: found.exception_type,
        exceptionMessage: found.exception_message,
      },
    }),
  );

export async function readFailureGroups(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<FailureGroupRecord[]> {
  const { rows } = await tx.execute(sql`
    select test_id, failure_id, months, last_ms::float8 as last_ms, last_execution, last_attempt, exception_type,
      exception_message
    from ${failureGroups} where repository_id = ${repositoryId} and test_id = any(${sql.param(testIds)}::uuid[])`);
  return rows.map((found) => row.parse(found));
}

/** Some groups of some tests, named by the two ids; those that the default branch has not shown are missing. */
export async function findFailureGroups(
  tx: Executor,
  repositoryId: string,
  asked: readonly { testId: string; failureId: string }[],
): Promise<FailureGroupRecord[]> {
  if (asked.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select test_id, failure_id, months, last_ms::float8 as last_ms, last_execution, last_attempt, exception_type,
      exception_message
    from ${failureGroups} join unnest(${sql.param(asked.map(({ testId }) => testId))}::uuid[],
      ${sql.param(asked.map(({ failureId }) => failureId))}::uuid[]) as asked (test_id, failure_id)
      using (test_id, failure_id)
    where repository_id = ${repositoryId}`);
  return rows.map((found) => row.parse(found));
}

const newest = definePrepared<{ repository: string; tests: string; limit: number }>(
  'newest_failure_groups',
  sql`
    select newest.* from unnest(${sql.placeholder('tests')}::uuid[]) as asked (test_id)
    cross join lateral (
      select test_id, failure_id, months, last_ms::float8 as last_ms, last_execution, last_attempt, exception_type,
        exception_message
      from ${failureGroups} where repository_id = ${sql.placeholder('repository')} and test_id = asked.test_id
      order by last_ms desc, failure_id limit ${sql.placeholder('limit')}) as newest`,
);

/** The groups of some tests, by test: up to `limit` of each, those with the newest failures first. */
export async function newestFailureGroups(
  db: Database,
  repositoryId: string,
  testIds: readonly string[],
  limit: number,
): Promise<Map<string, FailureGroupRecord[]>> {
  const found = await newest(db, { repository: repositoryId, tests: `{${testIds.join()}}`, limit });
  return Map.groupBy(
    found.map((one) => row.parse(one)),
    ({ testId }) => testId,
  );
}

export async function writeFailureGroups(
  tx: Executor,
  repositoryId: string,
  groups: readonly FailureGroupRecord[],
): Promise<void> {
  if (groups.length === 0) return;
  const column = <T>(pick: (group: FailureGroupRecord) => T) => sql.param(groups.map(pick));
  await tx.execute(sql`
    insert into ${failureGroups} (repository_id, test_id, failure_id, months, last_ms, last_execution, last_attempt,
      exception_type, exception_message)
    select ${repositoryId}, * from unnest(
      ${column(({ testId }) => testId)}::uuid[], ${column(({ failureId }) => failureId)}::uuid[],
      ${column(({ months }) => JSON.stringify([...months].flatMap(([month, { failures, firstAt }]) => [month, failures, firstAt])))}::text[],
      ${column(({ newest }) => newest.failedAt)}::bigint[],
      ${column(({ newest }) => newest.executionId.toString())}::text[],
      ${column(({ newest }) => newest.attempt)}::int[], ${column(({ newest }) => newest.exceptionType)}::text[],
      ${column(({ newest }) => newest.exceptionMessage)}::text[])
    on conflict (repository_id, test_id, failure_id) do update set months = excluded.months, last_ms = excluded.last_ms,
      last_execution = excluded.last_execution, last_attempt = excluded.last_attempt,
      exception_type = excluded.exception_type, exception_message = excluded.exception_message`);
}

/** Adds failures to the groups of tests: by test id, then by failure id. Under the lock of the partition. */
export async function addFailureGroups(
  tx: Executor,
  repositoryId: string,
  added: ReadonlyMap<string, ReadonlyMap<string, FailureGroup>>,
): Promise<void> {
  if (added.size === 0) return;
  const asked = [...added].flatMap(([testId, groups]) =>
    [...groups.keys()].map((failureId) => ({ testId, failureId })),
  );
  const known = await findFailureGroups(tx, repositoryId, asked);
  const before = new Map(known.map((group) => [`${group.testId}/${group.failureId}`, group]));
  const merged = [...added].flatMap(([testId, groups]) =>
    [...groups].map(([failureId, group]) => ({
      testId,
      failureId,
      ...mergeGroups(before.get(`${testId}/${failureId}`), group),
    })),
  );
  await writeFailureGroups(tx, repositoryId, merged);
}

export async function forgetFailureGroups(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<void> {
  await tx.execute(sql`
    delete from ${failureGroups} where repository_id = ${repositoryId} and test_id = any(${sql.param(testIds)}::uuid[])`);
}

/** A flat list of numbers in threes. */
function triplesOf(flat: readonly number[]): [number, number, number][] {
  const triples: [number, number, number][] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) triples.push([flat[i] ?? 0, flat[i + 1] ?? 0, flat[i + 2] ?? 0]);
  return triples;
}
