/**
 * Moves what ClickHouse has of renamed tests to the test that each name belongs to, while nothing of their repository is stored:
 *
 *     copy the executions ─► copy, then remove the failures; note them at the runs of commits ─► remove the executions
 *
 * The wrong ones leave last, and each step leaves out what it has done. So a move that is cut off is made again, and a reader finds
 * every execution at each test once. What it costs follows from the executions of these tests: they are ranges of the key, and
 * rows are removed by a mask.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { namesOfTests } from '../clickhouse/test-rows.ts';
import { piecesOf } from '../pieces.ts';
import type { Database } from '../postgres/client.ts';
import { recordFormerGroups } from '../postgres/former-groups.ts';
import { currentGroupOf } from './regroup.ts';

const ofTests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;
const ofNames = { ...ofTests, names: 'Array(String)', tests: 'Array(String)' } as const;
const ofExecutions = { ...ofTests, execution_ids: 'Array(UInt64)', tests: 'Array(String)' } as const;
const rightIds = { right_ids: 'Array(UUID)' } as const;

const misnamedFailures = defineLongQuery(
  'maintenance/misnamed_failures',
  { ...ofNames, after_id: 'UInt64', rows: 'UInt32' },
  z.object({ id: z.string().transform(BigInt), test: z.string() }),
);
const groupsOfExecutions = defineLongQuery(
  'maintenance/groups_of_executions',
  ofExecutions,
  z.object({
    failure_id: z.string(),
    test: z.string(),
    newest: z.tuple([z.string(), z.string()]),
    last_ms: z.number(),
  }),
);
const renamedExecutions = defineStatement('maintenance/renamed_executions', { ...ofNames, ...rightIds });
const renamedFailures = defineStatement('maintenance/renamed_failures', {
  ...ofExecutions,
  ...rightIds,
  former: 'Array(String)',
  groups: 'Array(String)',
});

/** Names in one statement, which has them several times: with the longest names, some megabytes. */
const NAMES_AT_ONCE = 500;
/** Executions with failures in one statement. */
const FAILURES_AT_ONCE = 2_000;

/** Executions of a name that are stored under another test than the name belongs to. */
export interface Misnamed {
  name: string;
  /** The test that has them, and the one that the name belongs to. */
  from: string;
  to: string;
  executions: number;
}

/**
 * @param testIds all tests that may have executions of names that are not theirs
 * @param testOf the test that a name belongs to
 */
export async function findMisnamed(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
  testOf: (name: string) => string,
): Promise<Misnamed[]> {
  const rows = await clickhouse.select(namesOfTests, { repository_id: repositoryId, test_ids: testIds });
  return rows.flatMap(({ test_id: from, test_name: name, executions }) => {
    const to = testOf(name);
    return to === from ? [] : [{ name, from, to, executions }];
  });
}

export interface MoveDeps {
  clickhouse: ClickHouse;
  db: Database;
}

/** Call it while nothing of the repository is stored. */
export async function moveMisnamed(deps: MoveDeps, repositoryId: string, misnamed: readonly Misnamed[]): Promise<void> {
  // A name may be stored under several tests.
  const names = [...Map.groupBy(misnamed, ({ name }) => name).values()];
  for (const some of piecesOf(names, NAMES_AT_ONCE)) await moveSome(deps, repositoryId, some.flat());
}

async function moveSome(deps: MoveDeps, repositoryId: string, misnamed: readonly Misnamed[]): Promise<void> {
  const { clickhouse } = deps;
  const tests = new Map(misnamed.map(({ name, to }) => [name, to]));
  const from = [...new Set(misnamed.map((one) => one.from))];
  const wrong = { repository_id: repositoryId, test_ids: from, names: [...tests.keys()], tests: [...tests.values()] };
  await clickhouse.fill('ci.executions', renamedExecutions({ ...wrong, right_ids: [...new Set(tests.values())] }));
  for (let after = 0n; ; ) {
    const failed = await clickhouse.select(misnamedFailures, { ...wrong, after_id: after, rows: FAILURES_AT_ONCE });
    const last = failed.at(-1);
    if (!last) break;
    await moveFailures(deps, repositoryId, from, failed);
    after = last.id;
  }
  await clickhouse.command(
    `DELETE FROM ci.executions
     WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
       AND test_name IN {names: Array(String)}
       AND transform(test_name, {names: Array(String)}, {tests: Array(String)}, '') != toString(test_id)`,
    wrong,
  );
}

async function moveFailures(
  { clickhouse, db }: MoveDeps,
  repositoryId: string,
  from: readonly string[],
  failed: readonly z.infer<typeof misnamedFailures.row>[],
): Promise<void> {
  const tests = failed.map(({ test }) => test);
  const of = { repository_id: repositoryId, test_ids: from, execution_ids: failed.map(({ id }) => id), tests };
  const groups = (await clickhouse.select(groupsOfExecutions, of)).map(({ failure_id, test, newest, last_ms }) => ({
    ...{ repositoryId, testId: test, failureId: failure_id, lastAt: last_ms },
    movedTo: currentGroupOf(test, ...newest),
  }));
  // Before they move: a group that is gone must have its successor.
  await recordFormerGroups(db, groups, false);
  await clickhouse.fill(
    'ci.failures',
    renamedFailures({
      ...of,
      right_ids: [...new Set(tests)],
      former: groups.map(({ failureId, testId }) => `${failureId}/${testId}`),
      groups: groups.map(({ movedTo }) => movedTo),
    }),
  );
  await clickhouse.command(
    `DELETE FROM ci.failures
     WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
       AND execution_id IN {execution_ids: Array(UInt64)}
       AND transform(execution_id, {execution_ids: Array(UInt64)}, {tests: Array(String)}, '') != toString(test_id)`,
    of,
  );
  // The same function for both columns: an update sees the values from before it.
  const moved = `arrayMap(
    one -> CAST(
      (toUUID(transform(one.2, {execution_ids: Array(UInt64)}, {tests: Array(String)}, toString(one.1))), one.2, one.3),
      'Tuple(test_id UUID, execution_id UInt64, finished_ms Int64)'),
    failed_executions)`;
  await clickhouse.command(
    `ALTER TABLE ci.commit_runs UPDATE
       failed_tests = arrayDistinct(arrayMap(one -> one.1, ${moved})), failed_executions = ${moved}
     WHERE repository_id = {repository_id: UUID} AND hasAny(failed_tests, {test_ids: Array(UUID)})
     SETTINGS mutations_sync = 2`,
    of,
  );
}
