/** Identities as they are stored, with their suspects. They are counted in count-identities.ts. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type BeliefAt, unknownBelief } from '../domain/belief.ts';
import { addToDay, addToMonth, type DayCounts, daysFrom, forEachDay, newestDays } from '../domain/flat-counts.ts';
import { healthConfidence, type Level } from '../domain/health-confidence.ts';
import type { IdentityTotals } from '../domain/identity-tally.ts';
import { passedOnly } from '../domain/only-passed.ts';
import { RATIO_DAYS } from '../domain/ratio-window.ts';
import { endOfMonth, monthOf, startOfMonth } from '../domain/retention.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { beliefOfPasses, type CountedPasses } from '../domain/suspect.ts';
import { ALL_LEGS, type Identity, identityKey, identityOf as keyOf } from '../domain/test-identity.ts';
import { levelRank } from '../domain/test-metrics.ts';
import type { IdentitySummary } from '../domain/test-state.ts';
import { dayOf } from '../domain/time.ts';
import { readBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { newestOf } from './newest-text.ts';
import { placeOf } from './pass-place.ts';
import { identities, suspects, tests } from './schema.ts';

/** Some executions of an identity, or all of them. */
export interface IdentityCounts extends Identity, IdentityTotals {
  testName: string;
  /** Null only if nothing is retained. */
  newest: IdentitySummary['newest'];
}

/** An identity with all that insights show of it. */
export interface ShownIdentity extends Identity {
  /** Whether another row stands for it in lists, whose axes are {@link ALL_LEGS}. */
  isFolded: boolean;
  summary: IdentitySummary;
  /** When its first execution of each retained month finished; milliseconds since the epoch, in order. */
  firstExecutions: number[];
  health: Health;
  /** When it last failed on its own (src/domain/activity.ts); milliseconds since the epoch, 0 for never. */
  ownFailureAt: number;
  /** After every execution. */
  belief: BeliefAt;
}

/** With what only the evaluation needs. */
export interface StoredIdentity extends ShownIdentity {
  passes: CountedPasses;
}

export const identityRow = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  is_folded: z.boolean(),
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
  own_failure_ms: z.number(),
});
type IdentityRow = z.infer<typeof identityRow>;

/** The columns of an identity and its suspect, of tables with these names: {@link withSuspects}. */
const expressions: Record<keyof IdentityRow, string> = {
  test_id: 'identities.test_id',
  pipeline_name: 'identities.pipeline_name',
  job_name: 'identities.job_name',
  axes: 'identities.axes',
  is_folded: 'identities.is_folded',
  day: 'identities.day',
  day_passed: 'identities.day_passed',
  day_failed: 'identities.day_failed',
  days: 'identities.days',
  month: 'identities.month',
  month_executions: 'identities.month_executions::float8',
  month_first_ms: 'identities.month_first_ms::float8',
  months: 'identities.months::float8[]',
  last_success_ms: 'identities.last_success_ms::float8',
  last_failure_ms: 'identities.last_failure_ms::float8',
  newest_ms: 'identities.newest_ms::float8',
  newest: 'identities.newest',
  passes: 'identities.passes::float8',
  pass_ms: 'identities.pass_ms::float8',
  pass_place: 'identities.pass_place',
  health: "coalesce(suspects.health, 'healthy')",
  belief: "coalesce(suspects.after, '')",
  own_failure_ms: 'coalesce(suspects.own_failure_ms, 0)::float8',
};
export const identityColumns = sql.raw(
  Object.entries(expressions)
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(', '),
);

/**
 * The columns as one JSON array, for {@link identityOfArray}. An object would repeat their names in each identity, and rows
 * take longer to read: of a test with 40 legs 3.7 ms instead of 2.5.
 */
export const identityArray = sql.raw(`json_build_array(${Object.values(expressions).join(', ')})`);

/** Decodes {@link identityArray}. */
export function identityOfArray(values: readonly unknown[]): StoredIdentity {
  const row: Record<string, unknown> = {};
  for (const [i, name] of Object.keys(expressions).entries()) row[name] = values[i];
  return identityOf(identityRow.parse(row));
}

/** Most identities have no suspect. */
export const withSuspects = sql`${identities} left join ${suspects} using (repository_id, test_id, pipeline_name, job_name, axes)`;

/**
 * The same for a whole repository, however few rows the planner expects of it: with a join, it may read all suspects once for
 * each identity, and a subquery with a limit is read by its key. With 100,000 identities this takes 0.12 s, and the join 0.05 s
 * where the planner knows the repository.
 */
export const withSuspectsByKey = sql`${identities} left join lateral (
    select known.* from ${suspects} as known
    where known.repository_id = identities.repository_id and known.test_id = identities.test_id
      and known.pipeline_name = identities.pipeline_name and known.job_name = identities.job_name
      and known.axes = identities.axes limit 1) as suspects on true`;

/** Decodes a row. */
export function identityOf(row: IdentityRow): StoredIdentity {
  const passes = passesOf(row);
  const months: number[] = [];
  forEachTriple(monthsOf(row), (month, executions) => addToMonth(months, month, executions));
  return {
    testId: row.test_id,
    pipelineName: row.pipeline_name,
    jobName: row.job_name,
    axes: row.axes,
    isFolded: row.is_folded,
    health: row.health,
    ownFailureAt: row.own_failure_ms,
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
    select test_id, pipeline_name, job_name, axes, executions::float8 as executions from ${identities}
    where axes <> ${ALL_LEGS} and repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return new Map(
    rows.map((row) => {
      const found = countRow.parse(row);
      return [identityKey(namedIn(found)), found.executions];
    }),
  );
}

const keyRow = identityRow.pick({ test_id: true, pipeline_name: true, job_name: true, axes: true });
const namedIn = (found: z.infer<typeof keyRow>): Identity => ({
  testId: found.test_id,
  pipelineName: found.pipeline_name,
  jobName: found.job_name,
  axes: found.axes,
});
const countRow = keyRow.extend({ executions: z.number() });

/** Which of some identities have run on the default branch, by `identityKey`. */
export async function ranAmong(tx: Executor, repositoryId: string, asked: readonly Identity[]): Promise<Set<string>> {
  if (asked.length === 0) return new Set();
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, axes
    from unnest(${identityKeys(asked)}) as asked (test_id, pipeline_name, job_name, axes)
      join ${identities} using (test_id, pipeline_name, job_name, axes)
    where repository_id = ${repositoryId}`);
  return new Set(rows.map((row) => identityKey(namedIn(keyRow.parse(row)))));
}

/** Every identity of some tests: each of their legs. */
export const readIdentities = (
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<StoredIdentity[]> => readRows(tx, repositoryId, testIds, sql`identities.axes <> ${ALL_LEGS}`);

/** The rows that add up the legs of CI jobs, of some tests. */
export const readFolds = (tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<StoredIdentity[]> =>
  readRows(tx, repositoryId, testIds, sql`identities.axes = ${ALL_LEGS}`);

async function readRows(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
  condition: SQL,
): Promise<StoredIdentity[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${identityColumns} from ${withSuspects}
    where identities.repository_id = ${repositoryId} and identities.test_id = any(${plainColumn(testIds)}::uuid[])
      and ${condition}`);
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
  ${textColumn(named.map(({ jobName }) => jobName))}, ${textColumn(named.map(({ axes }) => axes))}`;

/** Whether each test with retained executions is healthy in every pipeline and CI job, by name: up to `limit` tests. */
export async function readHealths(
  db: Executor,
  repositoryId: string,
  limit: number,
): Promise<{ name: string; isHealthy: boolean }[]> {
  const { rows } = await db.execute(sql`
    select tests.name, bool_and(${listedColumns.health} = 'healthy') as is_healthy
    from ${withSuspects} join ${tests} using (repository_id, test_id)
    where identities.repository_id = ${repositoryId} and identities.executions > 0 and not identities.is_folded
    group by tests.name order by tests.name collate "C" limit ${limit}`);
  return rows.map((row) => {
    const { name, is_healthy: isHealthy } = healthRow.parse(row);
    return { name, isHealthy };
  });
}

const healthRow = z.object({ name: z.string(), is_healthy: z.boolean() });
