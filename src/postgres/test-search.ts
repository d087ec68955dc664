/** Search of identities by the names of their tests. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Level } from '../domain/health-confidence.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { failedPpm, levelRank, metricsOf, type TestMetrics } from '../domain/test-metrics.ts';
import type { DayCounts } from '../domain/test-state.ts';
import type { Shares } from '../fair-queue.ts';
import { abandonable } from './abandonable.ts';
import { readBelief } from './belief-text.ts';
import type { Database } from './client.ts';
import { readSummary } from './identity-summary.ts';
import { identities, NAME_START_LENGTH, quarantines, startOfName, tests } from './schema.ts';

/** By a name, or by a number, the greatest first. */
const NAME_SORTS = ['test_name', 'pipeline_name', 'job_name'] as const;
const NUMBER_SORTS = [
  'executions_count',
  'health_status',
  'health_confidence',
  'failed_executions_impact',
  'failed_executions_ratio',
  'failed_executions_count',
  'last_failure_at',
] as const;
export const SEARCH_SORTS = [...NUMBER_SORTS, ...NAME_SORTS] as const;
type SearchSort = (typeof SEARCH_SORTS)[number];
type NumberSort = (typeof NUMBER_SORTS)[number];

export const isNumberSort = (sort: SearchSort): sort is NumberSort => NUMBER_SORTS.some((one) => one === sort);

/** Of a health, the greatest is the worst. */
const healthRank = (health: Health): number => HEALTHS.indexOf(health) + 1;

/**
 * What a page begins beyond: the number, negative for "most first", or 0 when sorting by name, then the texts of the
 * order. Of the same number, names ascend.
 */
export type SearchKey = [count: number, text1: string, text2: string, text3: string];

/** Which identities are meant. */
export interface TestSelection {
  /** Tests by their whole names. */
  testIds: readonly string[];
  /** Patterns of LIKE; every test if one of them is `%`. */
  patterns: readonly string[];
  pipelines: readonly string[];
  pipelinesExcluded: readonly string[];
  jobs: readonly string[];
  jobsExcluded: readonly string[];
  /** Without these tests, and those whose names match one of these patterns. */
  testIdsExcluded: readonly string[];
  patternsExcluded: readonly string[];
  /** Only these; null: any. */
  healths: readonly Health[] | null;
  confidences: readonly Level[] | null;
  /** Healthy tests have the impact null. */
  impacts: readonly (Level | null)[] | null;
  /** Whether a quarantine of the test is open; null: either. */
  isQuarantined: boolean | null;
}

export interface TestSearch extends TestSelection {
  sort: SearchSort;
  isDescending: boolean;
  /** Against the order, from the key back. */
  isBackward: boolean;
  key: SearchKey | null;
  rows: number;
}

/**
 * Of searches by pattern, each of which keeps one core of PostgreSQL busy while it looks at many names. Of those with
 * many wildcards, which take seconds, one runs at a time: even the smallest server then has a core for the others.
 */
export const SEARCH_SHARES: Shares = {
  atOnce: 4,
  atOncePerOwner: 2,
  heavyAtOnce: 1,
  heavyAtOncePerOwner: 1,
  waitingPerOwner: 200,
  waitMs: 5_000,
};

const row = z.object({
  test_id: z.string(),
  name: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  executions: z.number(),
  health: z.enum(HEALTHS),
  summary: z.string(),
  belief: z.string(),
});
export interface FoundIdentity {
  test_id: string;
  name: string;
  pipeline_name: string;
  job_name: string;
  executions: number;
  metrics: TestMetrics;
  /** Of its summary. */
  days: readonly DayCounts[];
}

function foundOf({ summary: text, belief, ...found }: z.infer<typeof row>): FoundIdentity {
  const { summary } = readSummary(text);
  const metrics = metricsOf(summary, { health: found.health, belief: readBelief(belief) });
  return { ...found, metrics, days: summary.days };
}

const name = sql`tests.name collate "C"`;
const nameStart = sql.raw(`left(tests.name, ${NAME_START_LENGTH}) collate "C"`);
const pipeline = sql`identities.pipeline_name collate "C"`;
const job = sql`identities.job_name collate "C"`;
const textsOf = (sort: SearchSort): readonly [SQL, SQL, SQL] => {
  if (sort === 'pipeline_name') return [pipeline, name, job];
  return sort === 'job_name' ? [job, name, pipeline] : [name, pipeline, job];
};

/** The number of a sort, in SQL and of a row. A search by health is one for each health ({@link partsOf}). */
const NUMBERS: Readonly<
  Record<Exclude<NumberSort, 'health_status'>, { column: SQL; of(found: FoundIdentity): number }>
> = {
  executions_count: { column: sql`identities.executions`, of: ({ executions }) => executions },
  health_confidence: { column: sql`identities.confidence`, of: ({ metrics }) => levelRank(metrics.confidence) },
  failed_executions_impact: { column: sql`identities.impact`, of: ({ metrics }) => levelRank(metrics.impact) },
  failed_executions_ratio: { column: sql`identities.failed_ppm`, of: ({ metrics }) => failedPpm(metrics) },
  failed_executions_count: { column: sql`identities.failed`, of: ({ metrics }) => metrics.failures },
  last_failure_at: { column: sql`identities.last_failed_ms`, of: ({ metrics }) => metrics.lastFailureAt ?? 0 },
};

export function keyOf(
  { sort, isDescending }: Pick<TestSearch, 'sort' | 'isDescending'>,
  found: FoundIdentity,
): SearchKey {
  const { name: testName, pipeline_name, job_name } = found;
  if (sort === 'pipeline_name') return [0, pipeline_name, testName, job_name];
  if (sort === 'job_name') return [0, job_name, testName, pipeline_name];
  if (!isNumberSort(sort)) return [0, testName, pipeline_name, job_name];
  const number = sort === 'health_status' ? healthRank(found.metrics.health) : NUMBERS[sort].of(found);
  return [isDescending ? -number : number, testName, pipeline_name, job_name];
}

/**
 * Identities with retained executions, up to `rows` of them beyond the key, nearest first.
 *
 * @param signal aborted when the answer is no longer waited for: the search then ends
 */
export async function searchTests(
  db: Database,
  repositoryId: string,
  search: TestSearch,
  signal?: AbortSignal,
): Promise<FoundIdentity[]> {
  return abandonable(
    db,
    async (session) => {
      const found: FoundIdentity[] = [];
      for (const part of partsOf(search)) {
        const rows = search.rows - found.length;
        if (rows === 0) break;
        const answer = await session.execute(searchStatement(repositoryId, { ...part, rows }));
        found.push(...answer.rows.map((one) => foundOf(row.parse(one))));
      }
      return found;
    },
    { signal },
  );
}

type TestSearchPart = TestSearch & { sort: Exclude<SearchSort, 'health_status'> };

/**
 * What to look for, one after another, until a page is full. In order of health, each health is a part: the few tests that
 * are flaky or broken are found by their index, and the healthy ones come in the order of another, that of names.
 */
export function partsOf(search: TestSearch): TestSearchPart[] {
  const { sort, key, healths, isDescending, isBackward } = search;
  if (sort !== 'health_status') return [{ ...search, sort }];
  const sign = isDescending === isBackward ? 1 : -1;
  const ordered = HEALTHS.filter((health) => healths?.includes(health) ?? true).toSorted(
    (one, other) => sign * (healthRank(one) - healthRank(other)),
  );
  return ordered.flatMap((health): TestSearchPart[] => {
    const part = { ...search, sort: 'test_name', isDescending: false, healths: [health] } as const;
    if (key === null) return [part];
    const [number, ...texts] = key;
    const ahead = sign * (healthRank(health) - Math.abs(number));
    if (ahead < 0) return [];
    return [{ ...part, key: ahead === 0 ? [0, ...texts] : null }];
  });
}

/** How many identities a search finds on all its pages. */
export async function countTests(
  db: Database,
  repositoryId: string,
  search: TestSearch,
  signal?: AbortSignal,
): Promise<number> {
  const statement = sql`
    select count(*)::float8 as total from ${identities}
    where identities.repository_id = ${repositoryId} and identities.executions > 0 and ${matching(repositoryId, search)}`;
  const { rows } = await abandonable(db, (session) => session.execute(statement), { signal });
  return total.parse(rows[0]).total;
}

const total = z.object({ total: z.number() });

/**
 * Names by their letters (`tests_name`), then the identities of those; or, until a page is full, names in order
 * (`tests_start`) or identities with the most executions first (`identities_executions`).
 */
export const searchStatement = (repositoryId: string, search: TestSearchPart): SQL => sql`
  select identities.test_id, tests.name, identities.pipeline_name, identities.job_name,
    identities.executions::float8 as executions, identities.health, identities.summary, identities.belief
  from ${identities} join ${tests} using (repository_id, test_id)
  where identities.repository_id = ${repositoryId} and identities.executions > 0
    and ${matching(repositoryId, search)} and ${beyond(search)}
  order by ${orderOf(search)}
  limit ${search.rows}`;

/** A condition on `identities`. */
export function matching(repositoryId: string, selection: TestSelection): SQL {
  const { testIds, patterns, pipelines, pipelinesExcluded, jobs, jobsExcluded } = selection;
  const conditions: SQL[] = [];
  if (!patterns.includes('%')) {
    // Both conditions are on one table, so that each can use its index.
    const either = patterns.map((pattern) => sql`found.name like ${pattern}`);
    if (testIds.length > 0) either.push(sql`found.test_id = any(${sql.param(testIds)}::uuid[])`);
    conditions.push(sql`identities.test_id in (
      select found.test_id from ${tests} as found
      where found.repository_id = ${repositoryId} and (${sql.join(either, sql` or `)}))`);
  }
  const { testIdsExcluded, patternsExcluded, healths, confidences, impacts, isQuarantined } = selection;
  if (testIdsExcluded.length > 0)
    conditions.push(sql`not identities.test_id = any(${sql.param(testIdsExcluded)}::uuid[])`);
  if (patternsExcluded.length > 0)
    conditions.push(sql`identities.test_id not in (
      select found.test_id from ${tests} as found
      where found.repository_id = ${repositoryId}
        and (${sql.join(
          patternsExcluded.map((pattern) => sql`found.name like ${pattern}`),
          sql` or `,
        )}))`);
  if (healths) {
    conditions.push(sql`identities.health = any(${sql.param(healths)}::text[])`);
    // As the index of unhealthy tests has it.
    if (!healths.includes('healthy')) conditions.push(sql`identities.health <> 'healthy'`);
  }
  const ranked = (column: SQL, levels: readonly (Level | null)[]) =>
    sql`${column} = any(${sql.param(levels.map(levelRank))}::smallint[])`;
  if (confidences) conditions.push(ranked(sql`identities.confidence`, confidences));
  if (impacts) conditions.push(ranked(sql`identities.impact`, impacts));
  if (isQuarantined !== null)
    conditions.push(sql`${isQuarantined ? sql`` : sql`not `}exists (
      select from ${quarantines} where quarantines.repository_id = ${repositoryId}
        and quarantines.test_id = identities.test_id and quarantines.removed_at is null)`);
  const one = (column: SQL, names: readonly string[]) => sql`${column} = any(${sql.param(names)}::text[])`;
  if (pipelines.length > 0) conditions.push(one(sql`identities.pipeline_name`, pipelines));
  if (pipelinesExcluded.length > 0) conditions.push(sql`not ${one(sql`identities.pipeline_name`, pipelinesExcluded)}`);
  if (jobs.length > 0) conditions.push(one(sql`identities.job_name`, jobs));
  if (jobsExcluded.length > 0) conditions.push(sql`not ${one(sql`identities.job_name`, jobsExcluded)}`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** Names are in one direction; a count has its own, while names of the same count always go up. */
function directionsOf({ sort, isDescending, isBackward }: TestSearch): {
  count: 'asc' | 'desc';
  texts: 'asc' | 'desc';
} {
  const count = isDescending === isBackward ? 'asc' : 'desc';
  return { count, texts: isNumberSort(sort) ? (isBackward ? 'desc' : 'asc') : count };
}

function beyond(search: TestSearchPart): SQL {
  if (search.key === null) return sql`true`;
  const { count, texts } = directionsOf(search);
  const [k0, ...keys] = search.key;
  const after = sql`(${sql.join([...textsOf(search.sort)], sql`, `)}) ${sql.raw(texts === 'asc' ? '>' : '<')} (${keys[0]}, ${keys[1]}, ${keys[2]})`;
  if (search.sort === 'test_name')
    return sql`${nameStart} ${sql.raw(texts === 'asc' ? '>=' : '<=')} ${startOfName(keys[0])} and ${after}`;
  if (!isNumberSort(search.sort)) return after;
  const { column } = NUMBERS[search.sort];
  const further = sql.raw(count === 'asc' ? '>' : '<');
  const number = Math.abs(k0);
  return sql`${column} ${further}= ${number} and (${column} ${further} ${number} or ${after})`;
}

function orderOf(search: TestSearchPart): SQL {
  const { count, texts } = directionsOf(search);
  const order = textsOf(search.sort).map((column) => sql`${column} ${sql.raw(texts)}`);
  // As the indexes have it: how the name begins, after the executions.
  if (search.sort === 'test_name') order.unshift(sql`${nameStart} ${sql.raw(texts)}`);
  if (search.sort === 'executions_count') order.unshift(sql`identities.name_start collate "C" ${sql.raw(texts)}`);
  if (isNumberSort(search.sort)) order.unshift(sql`${NUMBERS[search.sort].column} ${sql.raw(count)}`);
  return sql.join(order, sql`, `);
}
