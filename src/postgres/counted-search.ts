/**
 * The first page of a search, together with how many identities it finds on all pages, if few tests have such names.
 *
 *     names only:    listings in the order of the page ──► identities of the tests that come first
 *     with filters:  tests by their names ──► the identities of all of them
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { abandonable } from './abandonable.ts';
import type { Database, Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { identityColumns } from './identities.ts';
import { identities, suspects, testDurations, tests } from './schema.ts';
import {
  directionsOf,
  type FoundIdentity,
  foundOf,
  moreColumns,
  orderOf,
  partsOf,
  row,
  type TestSearch,
  type TestSearchPart,
  total,
} from './test-search.ts';
import { isByNamesOnly, matching, namedListings, namedTests } from './test-selection.ts';

/** How many tests may have such names. Of each, a page of its identities is read, or a fiftieth of a page of listings. */
const TESTS_MAX = 2_000;
const LISTINGS_MAX = 10_000;

/** Whether so many identities are likely to be of more tests than are counted with the first page. */
export const isWide = (identitiesFound: number): boolean => identitiesFound > LISTINGS_MAX;

interface CountedPage {
  rows: FoundIdentity[];
  /** On all pages. */
  total: number;
}

/**
 * Undefined if many tests have such names: then it is quicker to go through an index until a page is full, and to count
 * separately.
 *
 * @param signal aborted when the answer is no longer waited for: the search then ends
 */
export function searchAndCount(
  db: Database,
  repositoryId: string,
  search: TestSearch,
  signal?: AbortSignal,
): Promise<CountedPage | undefined> {
  const [part, ...others] = partsOf(search);
  if (!part || others.length > 0) return Promise.resolve(undefined);
  const named = namedTests(repositoryId, part);
  if (!named) return Promise.resolve(undefined);
  const order = isByNamesOnly(part) ? listingOrder(part) : undefined;
  return abandonable(
    db,
    (session) =>
      order ? pageByListings(session, repositoryId, part, order) : pageByTests(session, repositoryId, part, named),
    { signal },
  );
}

const testRow = z.object({ test_id: z.string() });
const listingRow = z.object({ test_id: z.string(), tests: z.number(), total: z.number() });

async function pageByTests(
  session: Executor,
  repositoryId: string,
  search: TestSearchPart,
  named: SQL,
): Promise<CountedPage | undefined> {
  const { rows } = await session.execute(sql`${named} limit ${TESTS_MAX + 1}`);
  if (rows.length > TESTS_MAX) return undefined;
  return readPage(
    session,
    repositoryId,
    search,
    rows.map((one) => testRow.parse(one).test_id),
  );
}

async function pageByListings(
  session: Executor,
  repositoryId: string,
  search: TestSearchPart,
  order: SQL,
): Promise<CountedPage | undefined> {
  const { rows } = await session.execute(firstListings(repositoryId, search, order));
  const found = rows.map((one) => listingRow.parse(one));
  const [{ tests, total } = { tests: 0, total: 0 }] = found;
  if (tests > LISTINGS_MAX) return undefined;
  const page = await readPage(
    session,
    repositoryId,
    search,
    found.map(({ test_id }) => test_id),
  );
  return { rows: page.rows, total };
}

/**
 * The first tests in the order of a page, as many as it has rows: each has at least one identity, so no identity of another
 * test is on the page. Tests whose listings are equal all count, because the listing does not say which comes first.
 */
const firstListings = (repositoryId: string, search: TestSearchPart, order: SQL): SQL => sql`
  with named as materialized (
    select * from (${namedListings(repositoryId, search)}) as named where identities > 0 limit ${LISTINGS_MAX + 1}
  ),
  ranked as (
    select test_id, rank() over (order by ${order}) as position,
      count(*) over ()::float8 as tests, sum(identities) over ()::float8 as total
    from named
  )
  select test_id, tests, total from ranked where position <= ${search.rows}`;

/** The order of listings; undefined if a search has an order that listings do not know. */
function listingOrder(search: TestSearchPart): SQL | undefined {
  const { count, texts } = directionsOf(search);
  const names = sql`name_start ${sql.raw(texts)}`;
  if (search.sort === 'test_name') return names;
  return search.sort === 'executions_count' && count === 'desc' ? sql`executions desc, ${names}` : undefined;
}

/** The first page of these tests, with how many identities they have. */
async function readPage(
  session: Executor,
  repositoryId: string,
  search: TestSearchPart,
  testIds: readonly string[],
): Promise<CountedPage> {
  const { rows } = await session.execute(pageOf(repositoryId, search, testIds));
  return {
    rows: rows.map((one) => foundOf(row.parse(one), search)),
    total: rows[0] ? total.parse(rows[0]).total : 0,
  };
}

/** Reads little of each identity; those of the page are read again, with all that is shown of them. */
function pageOf(repositoryId: string, search: TestSearchPart, testIds: readonly string[]): SQL {
  return sql`
    with found as materialized (
      select identities.test_id, tests.name, identities.pipeline_name, identities.job_name, identities.axes,
        row_number() over (order by ${orderOf(search)}) as position, count(*) over () as total
      from unnest(${plainColumn(testIds)}::uuid[]) as named (test_id)
        join ${tests} on tests.repository_id = ${repositoryId} and tests.test_id = named.test_id
        join ${identities} on identities.repository_id = ${repositoryId} and identities.test_id = named.test_id
        left join ${suspects} on suspects.repository_id = identities.repository_id
          and suspects.test_id = identities.test_id and suspects.pipeline_name = identities.pipeline_name
          and suspects.job_name = identities.job_name and suspects.axes = identities.axes
      where identities.executions > 0 and not identities.is_folded and ${matching(repositoryId, search, null)}
    ),
    page as materialized (select * from found order by position limit ${search.rows})
    select ${identityColumns}, ${moreColumns}, tests.total::float8 as total
    from page as tests join ${identities} using (test_id, pipeline_name, job_name, axes)
      left join ${suspects} using (repository_id, test_id, pipeline_name, job_name, axes)
      left join ${testDurations} using (repository_id, test_id, pipeline_name, job_name, axes)
    where identities.repository_id = ${repositoryId}
    order by tests.position`;
}
