/** Search of identities by the names of their tests. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Shares } from '../fair-queue.ts';
import { abandonable } from './abandonable.ts';
import type { Database } from './client.ts';
import { identities, tests } from './schema.ts';

export const SEARCH_SORTS = ['executions_count', 'test_name', 'pipeline_name', 'job_name'] as const;
type SearchSort = (typeof SEARCH_SORTS)[number];

/**
 * What a page begins beyond: the count, negative for "most first", or 0 when sorting by name, then the texts of the
 * order. Of as many executions, names ascend.
 */
export type SearchKey = [count: number, text1: string, text2: string, text3: string];

export interface TestSearch {
  /** Tests by their whole names. */
  testIds: readonly string[];
  /** Patterns of LIKE; every test if one of them is `%`. */
  patterns: readonly string[];
  pipelines: readonly string[];
  pipelinesExcluded: readonly string[];
  jobs: readonly string[];
  jobsExcluded: readonly string[];
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
});
export type FoundIdentity = z.infer<typeof row>;

const name = sql`tests.name collate "C"`;
const pipeline = sql`identities.pipeline_name collate "C"`;
const job = sql`identities.job_name collate "C"`;
const TEXTS: Readonly<Record<SearchSort, readonly [SQL, SQL, SQL]>> = {
  executions_count: [name, pipeline, job],
  test_name: [name, pipeline, job],
  pipeline_name: [pipeline, name, job],
  job_name: [job, name, pipeline],
};

export function keyOf(
  { sort, isDescending }: Pick<TestSearch, 'sort' | 'isDescending'>,
  found: FoundIdentity,
): SearchKey {
  const { name: testName, pipeline_name, job_name } = found;
  if (sort === 'pipeline_name') return [0, pipeline_name, testName, job_name];
  if (sort === 'job_name') return [0, job_name, testName, pipeline_name];
  const count = sort === 'test_name' ? 0 : isDescending ? -found.executions : found.executions;
  return [count, testName, pipeline_name, job_name];
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
  const statement = searchStatement(repositoryId, search);
  const found = await abandonable(db, (session) => session.execute(statement), { signal });
  return found.rows.map((one) => row.parse(one));
}

/**
 * Names by their letters (`tests_name`), then the identities of those; or identities with the most executions first
 * (`identities_executions`), until a page is full.
 */
export const searchStatement = (repositoryId: string, search: TestSearch): SQL => sql`
  select identities.test_id, tests.name, identities.pipeline_name, identities.job_name,
    identities.executions::float8 as executions
  from ${identities} join ${tests} using (repository_id, test_id)
  where identities.repository_id = ${repositoryId} and identities.executions > 0
    and ${matching(repositoryId, search)} and ${beyond(search)}
  order by ${orderOf(search)}
  limit ${search.rows}`;

function matching(repositoryId: string, search: TestSearch): SQL {
  const { testIds, patterns, pipelines, pipelinesExcluded, jobs, jobsExcluded } = search;
  const conditions: SQL[] = [];
  if (!patterns.includes('%')) {
    // Both conditions are on one table, so that each can use its index.
    const either = patterns.map((pattern) => sql`found.name like ${pattern}`);
    if (testIds.length > 0) either.push(sql`found.test_id = any(${sql.param(testIds)}::uuid[])`);
    conditions.push(sql`identities.test_id in (
      select found.test_id from ${tests} as found
      where found.repository_id = ${repositoryId} and (${sql.join(either, sql` or `)}))`);
  }
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
  return { count, texts: sort === 'executions_count' ? (isBackward ? 'desc' : 'asc') : count };
}

function beyond(search: TestSearch): SQL {
  if (search.key === null) return sql`true`;
  const { count, texts } = directionsOf(search);
  const [k0, ...keys] = search.key;
  const after = sql`(${sql.join([...TEXTS[search.sort]], sql`, `)}) ${sql.raw(texts === 'asc' ? '>' : '<')} (${keys[0]}, ${keys[1]}, ${keys[2]})`;
  if (search.sort !== 'executions_count') return after;
  const further = sql.raw(count === 'asc' ? '>' : '<');
  const executions = Math.abs(k0);
  return sql`identities.executions ${further}= ${executions} and (identities.executions ${further} ${executions} or ${after})`;
}

function orderOf(search: TestSearch): SQL {
  const { count, texts } = directionsOf(search);
  const order = TEXTS[search.sort].map((column) => sql`${column} ${sql.raw(texts)}`);
  // As the index has it: the executions, then how the name begins.
  if (search.sort === 'executions_count')
    order.unshift(
      sql`identities.executions ${sql.raw(count)}`,
      sql`identities.name_start collate "C" ${sql.raw(texts)}`,
    );
  return sql.join(order, sql`, `);
}
