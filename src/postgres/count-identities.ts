/**
 * How often identities ran. A pass adds what is new in one statement that reads nothing beforehand: additions commute, so
 * they need no order, and there is no plan that could go wrong. Under the lock of the partition.
 */
import { type SQL, sql } from 'drizzle-orm';
import { sumOf } from '../domain/fold-legs.ts';
import { ALL_LEGS, identityKey, type Leg } from '../domain/test-identity.ts';
import { piecesOf } from '../pieces.ts';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn, textColumn } from './columns.ts';
import type { IdentityCounts } from './identities.ts';
import { noteLegs } from './job-legs.ts';
import { newestText } from './newest-text.ts';
import { placeText } from './pass-place.ts';
import { identities, testListings, tests } from './schema.ts';

interface RepositoryIdentityCounts extends IdentityCounts {
  repositoryId: string;
  /** Whether another row stands for it in lists, whose axes are {@link ALL_LEGS}. */
  isFolded: boolean;
}

/** A row of an identity is some 500 bytes: this is a message of a megabyte. */
const ROWS_PER_STATEMENT = 2_000;

/**
 * Adds counts, of each identity once, and records tests that are new. In the order of keys, so that rows are found
 * together.
 *
 * @returns tests of which several legs are added up, by repository
 */
export async function addIdentities(
  tx: Executor,
  added: readonly (IdentityCounts & { repositoryId: string })[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = withFolds(added, await noteLegs(tx, added));
  const ordered = rows.toSorted(byKey);
  for (const some of piecesOf(ordered, ROWS_PER_STATEMENT)) await tx.execute(additionOf(some));
  const folded = new Map<string, Set<string>>();
  for (const { repositoryId, testId, axes } of rows)
    if (axes === ALL_LEGS) folded.set(repositoryId, (folded.get(repositoryId) ?? new Set()).add(testId));
  return folded;
}

/**
 * With a row for all legs together where a CI job has several.
 *
 * @param isSplit whether the CI job of a leg has several
 */
function withFolds(
  added: readonly (IdentityCounts & { repositoryId: string })[],
  isSplit: (leg: Leg & { repositoryId: string }) => boolean,
): RepositoryIdentityCounts[] {
  const folds = new Map<string, RepositoryIdentityCounts>();
  const legs = added.map((one): RepositoryIdentityCounts => {
    const isFolded = isSplit(one);
    if (isFolded) {
      const all = { ...one, axes: ALL_LEGS, isFolded: false };
      const key = `${one.repositoryId}\0${identityKey(all)}`;
      const known = folds.get(key);
      folds.set(key, known ? sumOf(known, one) : all);
    }
    return { ...one, isFolded };
  });
  return [...legs, ...folds.values()];
}

/** Writes identities as they are, in place of what is known of them. */
export async function replaceIdentities(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
  rows: readonly IdentityCounts[],
): Promise<void> {
  await forgetIdentities(tx, repositoryId, testIds);
  await addIdentities(
    tx,
    rows.map((row) => ({ ...row, repositoryId })),
  );
}

async function forgetIdentities(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  const these = sql`repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`;
  await tx.execute(sql`
    delete from ${testListings} as listed
    using (select test_id, left(name, 64) as name_start from ${tests} where ${these}) as gone
    where listed.repository_id = ${repositoryId} and listed.name_start = gone.name_start and listed.test_id = gone.test_id`);
  await tx.execute(sql`delete from ${identities} where ${these}`);
}

const byKey = (one: RepositoryIdentityCounts, other: RepositoryIdentityCounts): number =>
  compare(one.repositoryId, other.repositoryId) ||
  compare(one.testId, other.testId) ||
  compare(one.pipelineName, other.pipelineName) ||
  compare(one.jobName, other.jobName) ||
  compare(one.axes, other.axes);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The numbers of each list after the first three, as texts of arrays: mostly none. */
const restColumn = (lists: readonly (readonly number[])[]): SQL =>
  textColumn(lists.map((list) => (list.length <= 3 ? '{}' : `{${list.slice(3).join()}}`)));

const additionOf = (added: readonly RepositoryIdentityCounts[]): SQL => {
  const numbers = (pick: (row: RepositoryIdentityCounts) => number): SQL => plainColumn(added.map(pick));
  const texts = (pick: (row: RepositoryIdentityCounts) => string): SQL => textColumn(added.map(pick));
  const ids = (pick: (row: RepositoryIdentityCounts) => string): SQL => plainColumn(added.map(pick));
  return sql`
    with added as materialized (
      select repository_id, test_id, pipeline_name, job_name, axes, is_folded, left(name, 64) as name_start, name, executions, day, day_passed,
        day_failed, days::int[] as days, month, month_executions, month_first_ms, months::bigint[] as months,
        last_success_ms, last_failure_ms, newest_ms, newest, passes, pass_ms, pass_place
      from unnest(
        ${ids(({ repositoryId }) => repositoryId)}::uuid[], ${ids(({ testId }) => testId)}::uuid[],
        ${texts(({ pipelineName }) => pipelineName)}, ${texts(({ jobName }) => jobName)},
        ${texts(({ axes }) => axes)}, ${plainColumn(added.map(({ isFolded }) => String(isFolded)))}::boolean[],
        ${texts(({ testName }) => testName)},
        ${numbers(({ executions }) => executions)}::bigint[],
        ${numbers(({ days }) => days[0] ?? 0)}::int[], ${numbers(({ days }) => days[1] ?? 0)}::int[],
        ${numbers(({ days }) => days[2] ?? 0)}::int[], ${restColumn(added.map(({ days }) => days))},
        ${numbers(({ months }) => months[0] ?? 0)}::int[], ${numbers(({ months }) => months[1] ?? 0)}::bigint[],
        ${numbers(({ months }) => months[2] ?? 0)}::bigint[], ${restColumn(added.map(({ months }) => months))},
        ${numbers(({ lastSuccessAt }) => lastSuccessAt)}::bigint[],
        ${numbers(({ lastFailureAt }) => lastFailureAt)}::bigint[],
        ${numbers(({ newest }) => newest?.finishedAt ?? 0)}::bigint[],
        ${lineColumn(added.map(({ newest }) => newestText(newest)))},
        ${numbers(({ passes }) => passes.passes)}::bigint[], ${numbers(({ passes }) => passes.at?.finishedAt ?? 0)}::bigint[],
        ${texts(({ passes }) => placeText(passes))}
      ) as added (repository_id, test_id, pipeline_name, job_name, axes, is_folded, name, executions, day, day_passed, day_failed, days,
        month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms, newest_ms, newest, passes, pass_ms,
        pass_place)
    ),
    written as (
      insert into ${identities} as known (repository_id, test_id, pipeline_name, job_name, axes, is_folded, name_start, executions, day,
        day_passed, day_failed, days, month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms,
        newest_ms, newest, passes, pass_ms, pass_place)
      select repository_id, test_id, pipeline_name, job_name, axes, is_folded, name_start, executions, day, day_passed, day_failed, days,
        month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms, newest_ms, newest, passes,
        pass_ms, pass_place
      from added
      on conflict (repository_id, test_id, pipeline_name, job_name, axes) do update set
        executions = known.executions + excluded.executions,
        day = greatest(known.day, excluded.day),
        day_passed = case when excluded.day < known.day then known.day_passed when excluded.day = known.day
          then known.day_passed + excluded.day_passed else excluded.day_passed end,
        day_failed = case when excluded.day < known.day then known.day_failed when excluded.day = known.day
          then known.day_failed + excluded.day_failed else excluded.day_failed end,
        days = case
          when excluded.day = 0 or (excluded.day = known.day and excluded.days = '{}') then known.days
          when excluded.day = known.day then known.days || excluded.days
          when known.day = 0 then excluded.days
          when excluded.day > known.day
            then ci_insights.joined_days(known.days || array[known.day, known.day_passed, known.day_failed] || excluded.days, excluded.day)
          else ci_insights.joined_days(known.days || array[excluded.day, excluded.day_passed, excluded.day_failed] || excluded.days, known.day)
        end,
        month = greatest(known.month, excluded.month),
        month_executions = case when excluded.month < known.month then known.month_executions when excluded.month = known.month
          then known.month_executions + excluded.month_executions else excluded.month_executions end,
        month_first_ms = case when excluded.month < known.month then known.month_first_ms when excluded.month = known.month
          then least(known.month_first_ms, excluded.month_first_ms) else excluded.month_first_ms end,
        months = case
          when excluded.month = 0 or (excluded.month = known.month and excluded.months = '{}') then known.months
          when excluded.month = known.month then known.months || excluded.months
          when known.month = 0 then excluded.months
          when excluded.month > known.month then ci_insights.joined_months(
            known.months || array[known.month, known.month_executions, known.month_first_ms] || excluded.months)
          else ci_insights.joined_months(
            known.months || array[excluded.month, excluded.month_executions, excluded.month_first_ms] || excluded.months)
        end,
        last_success_ms = greatest(known.last_success_ms, excluded.last_success_ms),
        last_failure_ms = greatest(known.last_failure_ms, excluded.last_failure_ms),
        newest_ms = greatest(known.newest_ms, excluded.newest_ms),
        newest = case when (excluded.newest_ms, excluded.newest) > (known.newest_ms, known.newest)
          then excluded.newest else known.newest end,
        passes = known.passes + excluded.passes,
        pass_ms = greatest(known.pass_ms, excluded.pass_ms),
        pass_place = case when (excluded.pass_ms, excluded.pass_place) > (known.pass_ms, known.pass_place)
          then excluded.pass_place else known.pass_place end
      returning known.repository_id, known.test_id, known.pipeline_name, known.job_name, known.axes, known.name_start, known.executions,
        known.xmax = 0 as is_new
    ),
    listed as (
      insert into ${testListings} as known (repository_id, name_start, test_id, executions, identities)
      select written.repository_id, written.name_start, written.test_id, max(written.executions),
        count(*) filter (where written.executions > 0 and written.executions = added.executions)
      from written join added using (repository_id, test_id, pipeline_name, job_name, axes) where not added.is_folded
      group by written.repository_id, written.name_start, written.test_id
      order by written.repository_id, written.name_start collate "C", written.test_id
      on conflict (repository_id, name_start, test_id) do update set
        executions = greatest(known.executions, excluded.executions), identities = known.identities + excluded.identities
        where excluded.executions > known.executions or excluded.identities > 0
    )
    insert into ${tests} (repository_id, test_id, name)
    select distinct on (repository_id, test_id) repository_id, test_id, added.name
    from written join added using (repository_id, test_id, pipeline_name, job_name, axes) where is_new
    order by repository_id, test_id
    on conflict (repository_id, test_id) do nothing`;
};
