/**
 * How often identities ran. A pass adds what is new in one statement that reads nothing beforehand: additions commute, so
 * they need no order, and there is no plan that could go wrong. Under the lock of the partition.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type BeliefAt, unknownBelief } from '../domain/belief.ts';
import type { Position } from '../domain/execution.ts';
import { addToDay, addToMonth, type DayCounts, daysFrom, forEachDay, newestDays } from '../domain/flat-counts.ts';
import { healthConfidence, type Level } from '../domain/health-confidence.ts';
import type { IdentityTotals } from '../domain/identity-tally.ts';
import { passedOnly } from '../domain/only-passed.ts';
import { RATIO_DAYS } from '../domain/ratio-window.ts';
import { endOfMonth, monthOf, startOfMonth } from '../domain/retention.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { beliefOfPasses, type CountedPasses } from '../domain/suspect.ts';
import { type Identity, identityKey, identityOf as keyOf } from '../domain/test-identity.ts';
import { levelRank } from '../domain/test-metrics.ts';
import type { IdentitySummary } from '../domain/test-state.ts';
import { dayOf } from '../domain/time.ts';
import { readBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn, textColumn } from './columns.ts';
import { newestOf, newestText } from './newest-text.ts';
import { identities, suspects, testListings, tests } from './schema.ts';

/** Some executions of an identity, or all of them. */
export interface IdentityCounts extends Identity, IdentityTotals {
  testName: string;
  /** Null only if nothing is retained. */
  newest: IdentitySummary['newest'];
}

export interface RepositoryIdentityCounts extends IdentityCounts {
  repositoryId: string;
}

/** A row of an identity is some 500 bytes: this is a message of a megabyte. */
const ROWS_PER_STATEMENT = 2_000;

/**
 * Adds counts, of each identity once, and records tests that are new. In the order of keys, so that rows are found
 * together.
 */
export async function addIdentities(tx: Executor, added: readonly RepositoryIdentityCounts[]): Promise<void> {
  const ordered = added.toSorted(byKey);
  for (let from = 0; from < ordered.length; from += ROWS_PER_STATEMENT)
    await tx.execute(additionOf(ordered.slice(from, from + ROWS_PER_STATEMENT)));
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
  compare(one.jobName, other.jobName);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Separates the parts of a place, and comes before all that they may contain. */
const SEPARATOR = '\u0001';
const ATTEMPT_DIGITS = 10;
const ID_DIGITS = 20;

/** The place of a pass among those that finished at the same time, as a text that sorts like it; and its commit. */
const placeText = ({ at, commit }: CountedPasses): string =>
  at === null
    ? ''
    : `${at.runId}${SEPARATOR}${String(at.runAttempt).padStart(ATTEMPT_DIGITS, '0')}${SEPARATOR}${String(at.executionId).padStart(ID_DIGITS, '0')}${SEPARATOR}${commit}`;

function placeOf(passMs: number, text: string): { at: Position; commit: string } {
  const [runId = '', attempt = '0', executionId = '0', commit = ''] = text.split(SEPARATOR);
  return { at: { finishedAt: passMs, runId, runAttempt: Number(attempt), executionId: BigInt(executionId) }, commit };
}

/** The numbers of each list after the first three, as texts of arrays: mostly none. */
const restColumn = (lists: readonly (readonly number[])[]): SQL =>
  textColumn(lists.map((list) => (list.length <= 3 ? '{}' : `{${list.slice(3).join()}}`)));

const additionOf = (added: readonly RepositoryIdentityCounts[]): SQL => {
  const numbers = (pick: (row: RepositoryIdentityCounts) => number): SQL => plainColumn(added.map(pick));
  const texts = (pick: (row: RepositoryIdentityCounts) => string): SQL => textColumn(added.map(pick));
  const ids = (pick: (row: RepositoryIdentityCounts) => string): SQL => plainColumn(added.map(pick));
  return sql`
    with added as materialized (
      select repository_id, test_id, pipeline_name, job_name, left(name, 64) as name_start, name, executions, day, day_passed,
        day_failed, days::int[] as days, month, month_executions, month_first_ms, months::bigint[] as months,
        last_success_ms, last_failure_ms, newest_ms, newest, passes, pass_ms, pass_place
      from unnest(
        ${ids(({ repositoryId }) => repositoryId)}::uuid[], ${ids(({ testId }) => testId)}::uuid[],
        ${texts(({ pipelineName }) => pipelineName)}, ${texts(({ jobName }) => jobName)},
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
      ) as added (repository_id, test_id, pipeline_name, job_name, name, executions, day, day_passed, day_failed, days,
        month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms, newest_ms, newest, passes, pass_ms,
        pass_place)
    ),
    written as (
      insert into ${identities} as known (repository_id, test_id, pipeline_name, job_name, name_start, executions, day,
        day_passed, day_failed, days, month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms,
        newest_ms, newest, passes, pass_ms, pass_place)
      select repository_id, test_id, pipeline_name, job_name, name_start, executions, day, day_passed, day_failed, days,
        month, month_executions, month_first_ms, months, last_success_ms, last_failure_ms, newest_ms, newest, passes,
        pass_ms, pass_place
      from added
      on conflict (repository_id, test_id, pipeline_name, job_name) do update set
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
      returning known.repository_id, known.test_id, known.pipeline_name, known.job_name, known.name_start, known.executions,
        known.xmax = 0 as is_new
    ),
    listed as (
      insert into ${testListings} as known (repository_id, name_start, test_id, executions, identities)
      select written.repository_id, written.name_start, written.test_id, max(written.executions),
        count(*) filter (where written.executions > 0 and written.executions = added.executions)
      from written join added using (repository_id, test_id, pipeline_name, job_name)
      group by written.repository_id, written.name_start, written.test_id
      order by written.repository_id, written.name_start collate "C", written.test_id
      on conflict (repository_id, name_start, test_id) do update set
        executions = greatest(known.executions, excluded.executions), identities = known.identities + excluded.identities
        where excluded.executions > known.executions or excluded.identities > 0
    )
    insert into ${tests} (repository_id, test_id, name)
    select distinct on (repository_id, test_id) repository_id, test_id, added.name
    from written join added using (repository_id, test_id, pipeline_name, job_name) where is_new
    order by repository_id, test_id
    on conflict (repository_id, test_id) do nothing`;
};

/** An identity with all that insights show of it. */
export interface ShownIdentity extends Identity {
  summary: IdentitySummary;
  health: Health;
  /** After every execution. */
  belief: BeliefAt;
}

/** With what only the evaluation needs. */
export interface StoredIdentity extends ShownIdentity {
  passes: CountedPasses;
  /** When its first execution of each retained month finished; milliseconds since the epoch, in order. */
  firstExecutions: number[];
}

/** The columns of an identity and its suspect, of tables with these names: {@link withSuspects}. */
export const identityColumns = sql.raw(
  `${[
    'test_id, pipeline_name, job_name, day, day_passed, day_failed, days, month',
    'month_executions::float8 as month_executions, month_first_ms::float8 as month_first_ms, months::float8[] as months',
    'last_success_ms::float8 as last_success_ms, last_failure_ms::float8 as last_failure_ms, newest_ms::float8 as newest_ms',
    'newest, passes::float8 as passes, pass_ms::float8 as pass_ms, pass_place',
  ]
    .join(', ')
    .split(', ')
    .map((column) => `identities.${column}`)
    .join(', ')}, coalesce(suspects.health, 'healthy') as health, coalesce(suspects.after, '') as belief`,
);

/** Most identities have no suspect. */
export const withSuspects = sql`${identities} left join ${suspects} using (repository_id, test_id, pipeline_name, job_name)`;

export const identityRow = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  day: z.number(),
  day_passed: z.number(),
  day_failed: z.number(),
  days: z.array(z.number()),
  month: z.number(),
  month_executions: z.number(),
  month_first_ms: z.number(),
  months: z.array(z.number()),
  last_success_ms: z.number(),
  last_failure_ms: z.number(),
  newest_ms: z.number(),
  newest: z.string(),
  passes: z.number(),
  pass_ms: z.number(),
  pass_place: z.string(),
  health: z.enum(HEALTHS),
  belief: z.string(),
});
type IdentityRow = z.infer<typeof identityRow>;

/** Decodes a row. */
export function identityOf(row: IdentityRow): StoredIdentity {
  const passes = passesOf(row);
  const months: number[] = [];
  forEachTriple(monthsOf(row), (month, executions) => addToMonth(months, month, executions));
  return {
    testId: row.test_id,
    pipelineName: row.pipeline_name,
    jobName: row.job_name,
    health: row.health,
    // Only a suspect's is stored.
    belief: (row.belief === '' ? undefined : readBelief(row.belief)) ?? beliefOfPasses(passes) ?? unknownBelief(),
    passes,
    summary: {
      months,
      days: daysOf(row),
      lastSuccessAt: row.last_success_ms || null,
      lastFailureAt: row.last_failure_ms || null,
      newest: newestOf(row.newest_ms, row.newest),
    },
    firstExecutions: firstsOf(row),
  };
}

const passesOf = ({
  passes,
  pass_ms,
  pass_place,
}: Pick<IdentityRow, 'passes' | 'pass_ms' | 'pass_place'>): CountedPasses =>
  passes === 0 ? { passes, at: null, commit: '' } : { passes, ...placeOf(pass_ms, pass_place) };

const monthsOf = ({ month, month_executions, month_first_ms, months }: IdentityRow): readonly number[] =>
  month === 0 ? months : [month, month_executions, month_first_ms, ...months];

/** The days that a ratio can still ask for. */
export function daysOf({
  day,
  day_passed,
  day_failed,
  days,
}: Pick<IdentityRow, 'day' | 'day_passed' | 'day_failed' | 'days'>): DayCounts {
  const counts: number[] = [];
  if (day > 0) addToDay(counts, day, day_passed, day_failed);
  forEachTriple(days, (older, passed, failed) => {
    // An identity that has not run for years may have very old days.
    if (older > day - RATIO_DAYS) addToDay(counts, older, passed, failed);
  });
  return newestDays(counts, RATIO_DAYS);
}

function firstsOf(row: IdentityRow): number[] {
  const firsts = new Map<number, number>();
  forEachTriple(monthsOf(row), (month, executions, first) => {
    if (executions > 0) firsts.set(month, Math.min(first, firsts.get(month) ?? first));
  });
  return [...firsts.values()].sort((one, other) => one - other);
}

function forEachTriple(flat: readonly number[], visit: (a: number, b: number, c: number) => void): void {
  for (let i = 0; i + 2 < flat.length; i += 3) visit(flat[i] ?? 0, flat[i + 1] ?? 0, flat[i + 2] ?? 0);
}

/** How many executions are retained of each identity of some tests, skipped ones included; by `identityKey`. */
export async function countExecutions(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, executions::float8 as executions from ${identities}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return new Map(
    rows.map((row) => {
      const { test_id: testId, pipeline_name: pipelineName, job_name: jobName, executions } = countRow.parse(row);
      return [identityKey({ testId, pipelineName, jobName }), executions];
    }),
  );
}

const keyRow = identityRow.pick({ test_id: true, pipeline_name: true, job_name: true });
const countRow = keyRow.extend({ executions: z.number() });

/** Which of some identities have run on the default branch, by `identityKey`. */
export async function ranAmong(tx: Executor, repositoryId: string, asked: readonly Identity[]): Promise<Set<string>> {
  if (asked.length === 0) return new Set();
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name
    from unnest(${identityKeys(asked)}) as asked (test_id, pipeline_name, job_name)
      join ${identities} using (test_id, pipeline_name, job_name)
    where repository_id = ${repositoryId}`);
  return new Set(
    rows.map((row) => {
      const { test_id: testId, pipeline_name: pipelineName, job_name: jobName } = keyRow.parse(row);
      return identityKey({ testId, pipelineName, jobName });
    }),
  );
}

/** Every identity of some tests. */
export async function readIdentities(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<StoredIdentity[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${identityColumns} from ${withSuspects}
    where identities.repository_id = ${repositoryId} and identities.test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((row) => identityOf(identityRow.parse(row)));
}

/** The counts of an identity without a month that leaves, and without every month before it. Passes stay counted. */
export function withoutMonth(
  { summary, passes, firstExecutions, ...identity }: StoredIdentity,
  testName: string,
  month: number,
): IdentityCounts {
  const isKept = (at: number | null): at is number => at !== null && monthOf(at) > month;
  const firsts = new Map(firstExecutions.map((at) => [monthOf(at), at]));
  const months: number[] = [];
  let executions = 0;
  for (let i = summary.months.length - 2; i >= 0; i -= 2) {
    const [key = 0, count = 0] = summary.months.slice(i, i + 2);
    if (key <= month) continue;
    months.push(key, count, firsts.get(key) ?? 0);
    executions += count;
  }
  const days: number[] = [];
  forEachDay(daysFrom(summary.days, dayOf(endOfMonth(startOfMonth(month)))), (day, passed, failed) => {
    days.unshift(day, passed, failed);
  });
  return {
    ...keyOf(identity),
    ...{ testName, executions, months, days, passes },
    lastSuccessAt: isKept(summary.lastSuccessAt) ? summary.lastSuccessAt : 0,
    lastFailureAt: isKept(summary.lastFailureAt) ? summary.lastFailureAt : 0,
    newest: summary.newest !== null && isKept(summary.newest.finishedAt) ? summary.newest : null,
  };
}

/** So many clean passes make a healthy test as sure as that (src/domain/health-confidence.ts). */
function passesFor(level: Level): number {
  for (let passes = 1; ; passes++) {
    const at = { finishedAt: 0, runId: '', runAttempt: 0, executionId: 0n };
    if (healthConfidence('healthy', { at, belief: passedOnly(passes, '') }).confidence === level) return passes;
  }
}

const MEDIUM = sql.raw(String(passesFor('medium')));
const HIGH = sql.raw(String(passesFor('high')));

/**
 * Columns by which lists filter and sort {@link withSuspects}. If an identity is not a suspect, they follow from its
 * passes. Counts are in recent-columns.ts.
 */
export const listedColumns = {
  health: sql`coalesce(suspects.health, 'healthy')`,
  confidence: sql`coalesce(suspects.confidence, case when identities.passes >= ${HIGH} then ${levelRank('high')}::smallint
    when identities.passes >= ${MEDIUM} then ${levelRank('medium')}::smallint else ${levelRank('low')}::smallint end)`,
  lastFailedMs: sql`identities.last_failure_ms`,
};

/** The keys of identities, for `unnest`. */
export const identityKeys = (named: readonly Identity[]): SQL => sql`
  ${plainColumn(named.map(({ testId }) => testId))}::uuid[], ${textColumn(named.map(({ pipelineName }) => pipelineName))},
  ${textColumn(named.map(({ jobName }) => jobName))}`;

/** Whether each test with retained executions is healthy in every pipeline and CI job, by name: up to `limit` tests. */
export async function readHealths(
  db: Executor,
  repositoryId: string,
  limit: number,
): Promise<{ name: string; isHealthy: boolean }[]> {
  const { rows } = await db.execute(sql`
    select tests.name, bool_and(${listedColumns.health} = 'healthy') as is_healthy
    from ${withSuspects} join ${tests} using (repository_id, test_id)
    where identities.repository_id = ${repositoryId} and identities.executions > 0
    group by tests.name order by tests.name collate "C" limit ${limit}`);
  return rows.map((row) => {
    const { name, is_healthy: isHealthy } = healthRow.parse(row);
    return { name, isHealthy };
  });
}

const healthRow = z.object({ name: z.string(), is_healthy: z.boolean() });
