/** Search of identities by the names of their tests. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Place, placeKey } from '../domain/cost.ts';
import type { DayCounts } from '../domain/flat-counts.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { failedPpm, levelRank, metricsOf, type TestMetrics } from '../domain/test-metrics.ts';
import type { Shares } from '../fair-queue.ts';
import { abandonable } from './abandonable.ts';
import type { Database } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { identityColumns, identityOf, identityRow, listedColumns, withSuspects } from './identities.ts';
import { hasHealth } from './identity-conditions.ts';
import { recentColumns } from './recent-columns.ts';
import { startOfName, testDurations, tests } from './schema.ts';
import { isByNamesOnly, matching, namedListings, startOf, type TestSelection } from './test-selection.ts';

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
  'median_seconds',
  'p95_seconds',
  'cost',
] as const;
export const SEARCH_SORTS = [...NUMBER_SORTS, ...NAME_SORTS] as const;
type SearchSort = (typeof SEARCH_SORTS)[number];
type NumberSort = (typeof NUMBER_SORTS)[number];

export const isNumberSort = (sort: SearchSort): sort is NumberSort => NUMBER_SORTS.some((one) => one === sort);

/** Worse is greater. */
const healthRank = (health: Health): number => HEALTHS.indexOf(health) + 1;

/** More than an identity can fail in 30 days. */
const FAILURES_END = 1_000_000_000;

/**
 * A place in the order of health: by the health, then by the failures of the ratio's days. Healthy tests are in the order of
 * their names: to count the failures of each of 20,000 that failed lately takes half a second.
 */
const healthNumber = (health: Health, failures: number): number =>
  healthRank(health) * FAILURES_END + (health === 'healthy' ? 0 : failures);

/**
 * The key that a page begins beyond: the number, negative for "most first", or 0 when sorting by name, then the texts of the
 * order. With the same number, names ascend. The test is not part of the order: it leads to its name, which may be long.
 */
export type SearchKey = [count: number, text1: string, text2: string, text3: string, testId: string];

export interface TestSearch extends TestSelection {
  sort: SearchSort;
  isDescending: boolean;
  /** Against the order, from the key back. */
  isBackward: boolean;
  key: SearchKey | null;
  rows: number;
  /** Counts cover the 30 days up to this moment; milliseconds since the epoch. */
  now: number;
  /** What the order by cost is made of, by `placeKey`; absent in other orders. It is read by src/postgres/cost-search.ts. */
  costs?: PlaceCosts;
}

/** A test in a CI job with what it costs, as a whole number: the greater, the more. */
export interface PlaceCost extends Place {
  amount: number;
}
export type PlaceCosts = ReadonlyMap<string, PlaceCost>;

/**
 * Shares of searches by pattern, each of which keeps one core of PostgreSQL busy while it looks at many names. A search with
 * many wildcards takes seconds, so one runs at a time: even the smallest server then has a core for the others.
 */
export const SEARCH_SHARES: Shares = {
  atOnce: 4,
  atOncePerOwner: 2,
  heavyAtOnce: 1,
  heavyAtOncePerOwner: 1,
  waitingPerOwner: 200,
  waitMs: 5_000,
};

export const row = identityRow.extend({
  name: z.string(),
  listed_executions: z.number(),
  median_us: z.number().nullable(),
  p95_us: z.number().nullable(),
});
/** The columns of {@link row} that are not of the identity, of {@link withDurations}. */
export const moreColumns = sql`tests.name, identities.executions::float8 as listed_executions,
    test_durations.median_us::float8 as median_us, test_durations.p95_us::float8 as p95_us`;
/** Identities with their durations, if they have passed in the days that these are of. */
const withDurations = sql`${withSuspects}
    left join ${testDurations} using (repository_id, test_id, pipeline_name, job_name, axes)`;

/** Only identities with a cost: the amounts are not stored, but come with the statement. */
function joinedCosts(costs: PlaceCosts): SQL {
  const places = [...costs.values()];
  return sql`join unnest(
      ${plainColumn(places.map(({ testId }) => testId))}::uuid[], ${textColumn(places.map(({ pipelineName }) => pipelineName))},
      ${textColumn(places.map(({ jobName }) => jobName))}, ${plainColumn(places.map(({ amount }) => amount))}::bigint[]
    ) as costs (test_id, pipeline_name, job_name, amount) using (test_id, pipeline_name, job_name)`;
}

/** How long a test takes (src/postgres/durations.ts), in microseconds. */
interface Durations {
  medianUs: number;
  p95Us: number;
}

export interface FoundIdentity {
  test_id: string;
  name: string;
  pipeline_name: string;
  job_name: string;
  /** The number that lists are ordered by. */
  listed_executions: number;
  metrics: TestMetrics;
  /** Counts by day, from its summary. */
  days: DayCounts;
  /** Null if it has not passed in the days that durations are of. */
  durations: Durations | null;
  /** In the order by cost, if it has one there. */
  costAmount: number | undefined;
}

export function foundOf(
  { name, listed_executions, median_us: medianUs, p95_us: p95Us, ...found }: z.infer<typeof row>,
  { now, costs }: Pick<TestSearch, 'now' | 'costs'>,
): FoundIdentity {
  const { testId, pipelineName, jobName, summary, ...judged } = identityOf(found);
  return {
    ...{ test_id: testId, name, pipeline_name: pipelineName, job_name: jobName, listed_executions },
    metrics: metricsOf(summary, judged, now),
    days: summary.days,
    durations: medianUs === null || p95Us === null ? null : { medianUs, p95Us },
    costAmount: costs?.get(placeKey({ testId, pipelineName, jobName }))?.amount,
  };
}

const name = sql`tests.name collate "C"`;
const nameStart = startOf(sql`tests.name`);
const pipeline = sql`identities.pipeline_name collate "C"`;
const job = sql`identities.job_name collate "C"`;
const textsOf = (sort: SearchSort): readonly [SQL, SQL, SQL] => {
  if (sort === 'pipeline_name') return [pipeline, name, job];
  return sort === 'job_name' ? [job, name, pipeline] : [name, pipeline, job];
};

/** The number of a sort, in SQL and of a row. A search by health is one for each health ({@link partsOf}). */
const NUMBERS: Readonly<
  Record<Exclude<NumberSort, 'health_status'>, { column(now: number): SQL; of(found: FoundIdentity): number }>
> = {
  executions_count: { column: () => sql`identities.executions`, of: (found) => found.listed_executions },
  health_confidence: { column: () => listedColumns.confidence, of: ({ metrics }) => levelRank(metrics.confidence) },
  failed_executions_impact: {
    column: (now) => recentColumns(now).impact,
    of: ({ metrics }) => levelRank(metrics.impact),
  },
  failed_executions_ratio: { column: (now) => recentColumns(now).failedPpm, of: ({ metrics }) => failedPpm(metrics) },
  failed_executions_count: { column: (now) => recentColumns(now).failed, of: ({ metrics }) => metrics.failures },
  last_failure_at: { column: () => listedColumns.lastFailedMs, of: ({ metrics }) => metrics.lastFailureAt ?? 0 },
  median_seconds: { column: () => sql`test_durations.median_us`, of: ({ durations }) => placeOf(durations?.medianUs) },
  p95_seconds: { column: () => sql`test_durations.p95_us`, of: ({ durations }) => placeOf(durations?.p95Us) },
  cost: { column: () => sql`costs.amount`, of: ({ costAmount }) => placeOf(costAmount) },
};

/** In an order by duration or cost, 0 is what has none: even a test that took no time at all is beyond it. */
const placeOf = (value: number | undefined): number => (value === undefined ? 0 : value + 1);
const isDurationSort = (sort: SearchSort): sort is 'median_seconds' | 'p95_seconds' =>
  sort === 'median_seconds' || sort === 'p95_seconds';

export function keyOf(
  { sort, isDescending }: Pick<TestSearch, 'sort' | 'isDescending'>,
  found: FoundIdentity,
): SearchKey {
  const { name: testName, pipeline_name, job_name, test_id } = found;
  if (sort === 'pipeline_name') return [0, pipeline_name, testName, job_name, test_id];
  if (sort === 'job_name') return [0, job_name, testName, pipeline_name, test_id];
  if (!isNumberSort(sort)) return [0, testName, pipeline_name, job_name, test_id];
  const number =
    sort === 'health_status' ? healthNumber(found.metrics.health, found.metrics.failures) : NUMBERS[sort].of(found);
  return [isDescending ? -number : number, testName, pipeline_name, job_name, test_id];
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
        found.push(...answer.rows.map((one) => foundOf(row.parse(one), search)));
      }
      return found;
    },
    { signal },
  );
}

export type TestSearchPart = TestSearch & { sort: Exclude<SearchSort, 'health_status'> };

/**
 * Searches to run one after another until a page is full. In order of health, flaky and broken ones are two parts each: those
 * that failed in the ratio's days, by how often, and the others by name. These few are found by their index, and nearly all
 * tests, which are healthy, in the order of another index, that of names.
 */
export function partsOf(search: TestSearch): TestSearchPart[] {
  const { sort, key, conditions, isDescending, isBackward } = search;
  if (isDurationSort(sort)) return partsByDuration({ ...search, sort });
  if (sort !== 'health_status') return [{ ...search, sort }];
  const sign = isDescending === isBackward ? 1 : -1;
  const ordered = HEALTHS.toSorted((one, other) => sign * (healthRank(one) - healthRank(other)));
  const [number, ...texts] = key ?? [0, '', '', '', ''];
  const rank = Math.floor(Math.abs(number) / FAILURES_END);
  const failures = Math.abs(number) % FAILURES_END;
  const { failed } = recentColumns(search.now);
  return ordered.flatMap((health): TestSearchPart[] => {
    const ofHealth = [...conditions, hasHealth([health])];
    const failing: TestSearchPart = {
      ...search,
      sort: 'failed_executions_count',
      conditions: [...ofHealth, sql`${failed} > 0`],
    };
    const byName: TestSearchPart = { ...search, isDescending: false, sort: 'test_name', conditions: ofHealth };
    const others = { ...byName, conditions: [...ofHealth, sql`${failed} = 0`] };
    const ahead = key === null ? 1 : sign * (healthRank(health) - rank);
    if (ahead < 0) return [];
    if (health === 'healthy') return [{ ...byName, key: ahead > 0 ? null : [0, ...texts] }];
    const [first, second] = sign < 0 ? [failing, others] : [others, failing];
    if (ahead > 0) return [first, second].map((part) => ({ ...part, key: null }));
    // The key is within this health: in its first part, or in its second.
    const within: TestSearchPart =
      failures > 0
        ? { ...failing, key: [isDescending ? -failures : failures, ...texts] }
        : { ...others, key: [0, ...texts] };
    const isInFirst = failures > 0 === (first === failing);
    return isInFirst ? [within, { ...second, key: null }] : [within];
  });
}

/**
 * In order of a duration: those that have one, and the others in the order of their names. Of every test, the first follow from
 * an index. With filters they do not: a planner without statistics would apply the filters to one after the other.
 */
function partsByDuration(search: TestSearchPart): TestSearchPart[] {
  const { key, conditions, isDescending, isBackward } = search;
  const [number, ...texts] = key ?? [0, '', '', '', ''];
  const isKnown =
    isByNamesOnly(search) && search.patterns.includes('%')
      ? sql`test_durations.median_us is not null`
      : sql`coalesce(test_durations.median_us, -1) >= 0`;
  const known = { ...search, key: null, conditions: [...conditions, isKnown] };
  const others: TestSearchPart = {
    ...search,
    ...{ isDescending: false, sort: 'test_name', key: null },
    conditions: [...conditions, sql`test_durations.median_us is null`],
  };
  const parts = isDescending === isBackward ? [others, known] : [known, others];
  if (key === null) return parts;
  // The key is in one of them; before it is what other pages have.
  const within: TestSearchPart =
    number === 0
      ? { ...others, key: [0, ...texts] }
      : { ...known, key: [Math.sign(number) * (Math.abs(number) - 1), ...texts] };
  return (number === 0) === (parts[0] === others) ? [within, ...parts.slice(1)] : [within];
}

/** How many identities a search finds on all its pages. */
export async function countTests(
  db: Database,
  repositoryId: string,
  search: TestSearch,
  signal?: AbortSignal,
): Promise<number> {
  const statement = isByNamesOnly(search)
    ? sql`select coalesce(sum(identities), 0)::float8 as total from (${namedListings(repositoryId, search)}) as listed`
    : sql`
        select count(*)::float8 as total from ${withSuspects}
        where identities.repository_id = ${repositoryId} and identities.executions > 0 and not identities.is_folded
          and ${matching(repositoryId, search)}`;
  const { rows } = await abandonable(db, (session) => session.execute(statement), { signal });
  return total.parse(rows[0]).total;
}

export const total = z.object({ total: z.number() });

/**
 * Names by their letters (`tests_name`), then the identities of those; or, until a page is full, names in order
 * (`tests_start`) or identities with the most executions first (`identities_executions`).
 */
export const searchStatement = (repositoryId: string, search: TestSearchPart): SQL => sql`
  select ${identityColumns}, ${moreColumns}
  from ${withDurations} ${search.sort === 'cost' && search.costs ? joinedCosts(search.costs) : sql``} join ${tests} using (repository_id, test_id)
  where identities.repository_id = ${repositoryId} and identities.executions > 0 and not identities.is_folded
    and ${matching(repositoryId, search)} and ${beyond(search)}
  order by ${orderOf(search)}
  limit ${search.rows}`;

/** Names are in one direction; a count has its own, while names of the same count always go up. */
export function directionsOf({ sort, isDescending, isBackward }: TestSearch): {
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
  const column = NUMBERS[search.sort].column(search.now);
  const further = sql.raw(count === 'asc' ? '>' : '<');
  // Any whole number: a narrower column compares with a bigint as well.
  const number = sql`${Math.abs(k0)}::bigint`;
  return sql`${column} ${further}= ${number} and (${column} ${further} ${number} or ${after})`;
}

export function orderOf(search: TestSearchPart): SQL {
  const { count, texts } = directionsOf(search);
  const order = textsOf(search.sort).map((column) => sql`${column} ${sql.raw(texts)}`);
  // Same order as in the indexes: how the name begins, after the executions.
  if (search.sort === 'test_name') order.unshift(sql`${nameStart} ${sql.raw(texts)}`);
  if (search.sort === 'executions_count') order.unshift(sql`identities.name_start collate "C" ${sql.raw(texts)}`);
  if (isNumberSort(search.sort)) order.unshift(sql`${NUMBERS[search.sort].column(search.now)} ${sql.raw(count)}`);
  return sql.join(order, sql`, `);
}
