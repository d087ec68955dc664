/** Search of test identities by name. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type PartCost, type Place, placeKey, type Rates } from '../domain/cost.ts';
import { costOf } from '../domain/glob.ts';
import { LEVELS } from '../domain/health-confidence.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { SEARCH_COST_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { failuresByDay } from '../domain/repository-stats.ts';
import { HEALTHS } from '../domain/status.ts';
import { legKey } from '../domain/test-identity.ts';
import { metricsOf } from '../domain/test-metrics.ts';
import { executionsOf } from '../domain/test-state.ts';
import type { Window } from '../domain/window.ts';
import type { Turn } from '../fair-queue.ts';
import { isShortened, wholeKey } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import { onPostgres } from '../postgres/client.ts';
import { searchByCost } from '../postgres/cost-search.ts';
import { isWide, searchAndCount } from '../postgres/counted-search.ts';
import type { ShownIdentity } from '../postgres/identities.ts';
import { readOwners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import {
  countTests,
  type FoundIdentity,
  isNumberSort,
  keyOf,
  SEARCH_SORTS,
  type SearchKey,
  searchTests,
  type TestSearch,
} from '../postgres/test-search.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';
import { partFigures, partJson, ratesOf } from './cost-figures.ts';
import type { KnownTests } from './known-tests.ts';
import { directionParameter, orderOf } from './order.ts';
import { rowsBeyond } from './pages-in-memory.ts';
import { ledgerWindow } from './red-runs-by-day.ts';
import { askedIn, inMemory, SEARCH_FILTERS, selectionOf, testNames } from './search-filters.ts';
import type { TestCosts } from './test-costs.ts';
import { LONG_DEFAULT_DAYS } from './window.ts';

/** An entry; with its cost in the order of cost, else null. */
type Row = FoundIdentity & { cost: PartCost | null };

const listOf = (search: Pick<TestSearch, 'sort' | 'isDescending'>): PagedList<Row, SearchKey> => ({
  name: 'search',
  keySchema: z.tuple([z.int(), z.string(), z.string(), z.string(), z.guid()]),
  keyOf: (found) => keyOf(search, found),
});

/** How old the number of entries on all pages may be: it costs more than a page. */
const TOTAL_MS = 1_000;
const TOTALS_MAX = 1_000;

/** A search that costs more takes a smaller share: ten ordinary patterns cost about as much. */
const HEAVY_COST = 30;

/** Throws 422 for patterns that cost too much. */
export function checkCost(testNames: readonly string[]): void {
  if (costOf(testNames, SEARCH_COST_MAX) <= SEARCH_COST_MAX) return;
  const msg = REQUEST_LIMITS.SEARCH_COST_MAX.sentence();
  throw unprocessable([{ loc: ['query', 'test_name'], msg, type: 'too_expensive' }]);
}

/** Whether a search for such names takes a smaller share. */
export const isHeavy = (testNames: readonly string[]): boolean => costOf(testNames, HEAVY_COST) > HEAVY_COST;

const metricsSchema = z
  .object({
    health_status: z.enum(HEALTHS).meta({ example: 'flaky' }),
    is_active: common.isActiveOut(),
    ...common.confidenceFields,
    failed_executions_impact: z
      .enum(LEVELS)
      .nullable()
      .meta({ description: 'How much its failures cost; null for a healthy test', example: 'medium' }),
    executions: z.int().meta({ description: 'Passed and failed on the last 30 UTC days', example: 212 }),
    failed_executions: z.int().meta({ description: 'Failed in these days', example: 7 }),
    failed_executions_by_day: common.failuresByDayOut(),
    last_failure_at: common.lastFailureOut(),
    ...common.durationFields,
  })
  .meta({ id: 'TestMetrics' });

const response = z.object({
  ...common.pageFields,
  total: z.int().meta({ description: 'Entries on all pages, as of the last second', example: 1 }),
  tests: z.array(
    z.object({
      test_id: common.testIdOut,
      test_name: common.testNameOut,
      pipeline_name: common.pipelineNameOut,
      job_name: common.jobNameOut,
      owners: common.ownersOut(),
      metrics: metricsSchema,
      cost: z
        .object(partFigures)
        .nullable()
        .meta({
          description: `What it cost in this CI job in the last ${LONG_DEFAULT_DAYS} days, on all branches, by runs that were red because a test was flaky or broken; null unless the list is sorted by it`,
          example: null,
        }),
    }),
  ),
});

export type TestSearchAnswer = z.output<typeof response>;

/** What an entry says of its test besides what the search found. */
interface Beside {
  owners: ReadonlyMap<string, string[]>;
  rates: Rates;
  now: number;
}

const toJson = (found: Row, { owners, rates, now }: Beside) => ({
  test_id: found.test_id,
  test_name: found.name,
  pipeline_name: found.pipeline_name,
  job_name: found.job_name,
  owners: owners.get(found.test_id) ?? [],
  metrics: metricsJson(found, now),
  cost: found.cost && partJson(found.cost, rates),
});

const placeOf = ({ test_id: testId, pipeline_name: pipelineName, job_name: jobName }: FoundIdentity): Place => ({
  testId,
  pipelineName,
  jobName,
});

const metricsJson = ({ metrics, days, durations }: FoundIdentity, now: number): z.input<typeof metricsSchema> => ({
  health_status: metrics.health,
  is_active: metrics.isActive,
  ...common.confidenceJson(metrics),
  failed_executions_impact: metrics.impact,
  executions: metrics.executions,
  failed_executions: metrics.failures,
  failed_executions_by_day: failuresByDay(days, now),
  last_failure_at: metrics.lastFailureAt === null ? null : formatMoment(metrics.lastFailureAt),
  ...common.durationJson(durations),
});

interface Found {
  rows: FoundIdentity[];
  /** On all pages. */
  total: number;
}

/** The key of a cursor with its texts whole: the test that it names has them. */
async function wholeSearchKey(knownTests: KnownTests, repository: Repository, key: SearchKey): Promise<SearchKey> {
  if (!key.some(isShortened)) return key;
  const test = await knownTests.find(repository, key[4]);
  const places = (test?.identities ?? []).flatMap(({ pipelineName, jobName }) => [pipelineName, jobName]);
  return wholeKey(key, test ? [test.name, ...places] : places);
}

/** Tests by their whole names, together with everything else that is asked about tests at the same time. */
async function searchByNames(
  knownTests: KnownTests,
  repository: Repository,
  search: TestSearch,
  isMeant: (identity: ShownIdentity) => boolean,
): Promise<Found> {
  const tests = await Promise.all([...new Set(search.testIds)].map((testId) => knownTests.find(repository, testId)));
  const found = tests.flatMap((test) =>
    (test?.identities ?? []).filter(isMeant).map(({ testId, pipelineName, jobName, axes, summary, ...judged }) => ({
      test_id: testId,
      name: test?.name ?? '',
      pipeline_name: pipelineName,
      job_name: jobName,
      listed_executions: executionsOf(summary),
      metrics: metricsOf(summary, judged, search.now),
      days: summary.days,
      durations: test?.durations.get(legKey({ pipelineName, jobName, axes })) ?? null,
      costAmount: search.costs?.get(placeKey({ testId, pipelineName, jobName }))?.amount,
    })),
  );
  const isReversed = !isNumberSort(search.sort) && search.isDescending;
  const { key, rows: limit, isBackward } = search;
  const rows = rowsBeyond(found, (row) => keyOf(search, row), { key, isForward: isBackward === isReversed, limit });
  return { rows, total: found.length };
}

/** Takes its turn among those of other owners: a pattern may have to look at every name. */
async function searchByPatterns(
  { db, searches }: common.InsightsDeps,
  { id, owner }: Repository,
  { search, asked }: { search: TestSearch; asked: Record<string, unknown> },
  totals: TtlCache<number>,
  { isHeavy, signal }: Omit<Turn, 'owner'>,
): Promise<Found> {
  const { key, rows: rowsMax, isBackward } = search;
  const name = JSON.stringify([id, asked]);
  const isFirst = key === null && !isBackward;
  const keep = (total: number): Promise<number> => totals.get(name, () => Promise.resolve(total));
  const totalOf = async (rows: readonly FoundIdentity[]): Promise<number> => {
    if (isFirst && rows.length < rowsMax) return rows.length;
    const known = totals.recall(name);
    if (known !== undefined) return known;
    return keep(await countTests(db, id, search, signal));
  };
  const onEnded = await searches.take({ owner, isHeavy, signal });
  try {
    const { costs } = search;
    if (costs) {
      const rows = await searchByCost(db, id, { ...search, costs }, signal);
      return { rows, total: await totalOf(rows) };
    }
    const counted = isFirst && !isWide(totals.recall(name) ?? 0) && (await searchAndCount(db, id, search, signal));
    if (counted) return { rows: counted.rows, total: await keep(counted.total) };
    const rows = await searchTests(db, id, search, signal);
    return { rows, total: await totalOf(rows) };
  } finally {
    onEnded();
  }
}

async function ownersOfPage(
  { db }: common.InsightsDeps,
  repository: Repository | undefined,
  found: readonly FoundIdentity[],
): Promise<ReadonlyMap<string, string[]>> {
  const testIds = [...new Set(found.map(({ test_id }) => test_id))];
  return repository ? onPostgres(() => readOwners(db, repository.id, testIds)) : new Map();
}

const searchQuery = {
  ...testNames,
  ...SEARCH_FILTERS,
  sort: enumParameter(SEARCH_SORTS, {
    description:
      'Defaults to the number of executions. Numbers and levels sort highest first, healths worst first; flaky and broken tests then by failed executions, healthy ones by name. In an order by duration, those without one are at its lower end, by name. In the order of cost, those with the most red runs come first, and those that cost nothing are in the order of their names.',
    default: 'executions_count',
  }),
  direction: directionParameter(),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

const costWindow = (now: number): Window => ledgerWindow({ start: undefined, end: undefined }, now);

const searchAddress = '/v1/ci/:owner/repositories/:repository_name/search/tests';

export function mountSearch(app: AnyElysia, http: Http, deps: common.InsightsDeps & { testCosts: TestCosts }): void {
  const totals = new TtlCache<number>(TOTAL_MS, TOTALS_MAX);
  mount(app, http, 'GET', searchAddress, {
    operationId: 'searchTests',
    tag: common.TAG,
    summary: 'Search tests',
    description:
      'One entry for each combination of test name, pipeline and job that ran on the default branch. In names, `*` and `?` are wildcards; `\\` escapes them. Several values of a parameter are combined with OR, parameters with AND.',
    access: 'read',
    params: common.repositoryPath,
    query: searchQuery,
    responses: { 200: { description: 'A page of tests.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const names = [...query.test_name, ...query.test_name_exclude];
      checkCost(names);
      const now = deps.clock.now();
      const { sort, direction } = orderOf(query, isNumberSort);
      const filters = askedIn(SEARCH_FILTERS, query);
      const isMeant = inMemory(SEARCH_FILTERS, query);
      const asked = {
        ...{ path, query, filters: { filters, sort, direction } },
        // That of costs: the pages of a list are in one order.
        window: (first: Window | undefined) => (sort === 'cost' ? (first ?? costWindow(now)) : null),
        url: publicUrlOf(http.publicUrl, url),
      };
      const list = listOf({ sort, isDescending: direction === 'desc' });
      const repository = await deps.repositories.find(path.owner, path.repository_name);
      const known = repository && (await deps.names.of(repository.id));
      let total = 0;
      const page = await readPage(list, asked, async (request): Promise<Row[]> => {
        if (!repository || !known) return [];
        const costs = request.window ? await deps.testCosts.of(repository, request.window) : undefined;
        const key = request.key && (await wholeSearchKey(deps.knownTests, repository, request.key));
        const search = {
          ...selectionOf(SEARCH_FILTERS, query, { repositoryId: repository.id, names: known, now }),
          now,
          sort,
          isDescending: direction === 'desc',
          isBackward: request.direction === 'previous',
          key,
          rows: request.perPage + 1,
          ...(costs && { costs: costs.sorted }),
        };
        const found = isMeant
          ? await searchByNames(deps.knownTests, repository, search, isMeant)
          : await searchByPatterns(deps, repository, { search, asked: filters }, totals, {
              isHeavy: isHeavy(names),
              signal,
            });
        total = found.total;
        return found.rows.map((row): Row => ({ ...row, cost: costs?.costOf(placeOf(row)) ?? null }));
      });
      const beside = {
        owners: await ownersOfPage(deps, repository, page.items),
        rates: ratesOf(repository),
        now,
      };
      const reply = pageReply(page, 'tests', (found) => toJson(found, beside));
      return { ...reply, body: { ...reply.body, total } };
    },
  });
}
