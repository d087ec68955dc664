/** What red runs cost, by test or by owner. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import {
  type Cost,
  type CostedRun,
  costAmong,
  costByTest,
  moneyOf,
  type PartCost,
  type Rates,
  totalCost,
  WAIT_MS_MAX,
} from '../domain/cost.ts';
import { formatMoment } from '../domain/moment.ts';
import { RED_REASONS } from '../domain/red-run-reason.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  branchesParameter,
  cursorParameter,
  enumParameter,
  enumsParameter,
  perPageParameter,
} from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import { readOwners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readTests } from '../postgres/tests.ts';
import * as common from './common.ts';
import { mostFirst, rowsBeyond } from './pages-in-memory.ts';
import type { RedRunLedgers } from './red-run-ledger.ts';
import { EMPTY_LEDGER, ledgerWindow } from './red-runs-by-day.ts';
import { LONG_WINDOW_DAYS, longWindowParameters } from './window.ts';

/** What costs are shared out among. */
const SHARED_AMONG = ['test', 'owner'] as const;
type SharedAmong = (typeof SHARED_AMONG)[number];
/** Stands for the owner of what has none. */
const NO_OWNER = '';

const SORTS = {
  red_runs: ({ redRuns }) => redRuns,
  red_runs_alone: ({ redRunsAlone }) => redRunsAlone,
  pull_requests: ({ pullRequests }) => pullRequests.size,
  rerun_minutes: ({ rerunMs }) => rerunMs,
  waiting_hours: ({ waitMs }) => waitMs,
  queue_departures: ({ departures }) => departures,
} as const satisfies Record<string, (cost: PartCost) => number>;
type Sort = keyof typeof SORTS;
const SORT_NAMES: readonly Sort[] = [
  'red_runs',
  'red_runs_alone',
  'pull_requests',
  'rerun_minutes',
  'waiting_hours',
  'queue_departures',
];

const share = (description: string, example: number) => z.number().meta({ description, example });
const figures = {
  red_runs: share('Red runs, shared out evenly among the tests that failed in each', 4.5),
  reruns: share('Of these, those that ran again', 3.5),
  rerun_minutes: share('Minutes of CI in the attempts that followed', 42.5),
  waiting_hours: share(
    `Hours in which authors waited for a green run, at most ${WAIT_MS_MAX / HOUR_MS} after each failure; shared out among the red runs that a change waited for at the time`,
    6.25,
  ),
  queue_departures: share('Pull requests that left the merge queue because of it, by no failure of their change', 0.5),
  pull_requests: z.int().meta({ description: 'Pull requests with such a run: these are not shared out', example: 5 }),
  money: z.number().nullable().meta({
    description: 'By the prices in the settings of the repository; null without any',
    example: null,
  }),
};
const partFigures = {
  ...figures,
  red_runs_alone: z.int().meta({ description: 'Red runs in which nothing else failed', example: 3 }),
  failed_runs: z.int().meta({ description: 'Red runs in which it failed, whatever else did', example: 7 }),
};
const testSchema = z
  .object({
    test_id: common.testIdOut,
    test_name: common.testNameOut.nullable().meta({ description: 'Null if it never ran on the default branch' }),
    ...partFigures,
  })
  .meta({ id: 'TestCost' });
const ownerSchema = z
  .object({
    owner: z.string().nullable().meta({ description: 'Null for the tests without an owner', example: '@acme/cart' }),
    ...partFigures,
  })
  .meta({ id: 'OwnerCost' });
const response = z.object({
  ...common.pageFields,
  start: common.dateTimeOut,
  end: common.dateTimeOut,
  total_tests: z.int().meta({ description: 'Tests that failed in these runs', example: 31 }),
  total: z.object(figures).meta({ description: 'Of all these runs: the sum over all tests, but for pull requests' }),
  tests: z.array(testSchema).meta({ description: 'Empty unless costs are shared out among tests' }),
  owners: z.array(ownerSchema).meta({ description: 'Empty unless costs are shared out among owners' }),
});
export type Costs = z.output<typeof response>;

type Row = PartCost & { sort: Sort };
const pagedCosts: PagedList<Row, [number, string]> = {
  name: 'cost',
  keySchema: z.tuple([z.int(), z.string()]),
  keyOf: (row) => [mostFirst(SORTS[row.sort](row)), row.key],
};

export function mountCost(
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & { redRunLedgers: RedRunLedgers },
): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/cost', {
    operationId: 'listCost',
    tag: common.TAG,
    summary: 'List what red runs cost, by test or owner',
    description: `For each test, or each owner of tests: red runs, reruns, waiting authors and innocent departures from the merge queue, over a window of at most ${LONG_WINDOW_DAYS} days. Nothing is counted twice: what a run costs is shared out among the tests that failed in it, and the part of a test among its owners, so that sums are the total. Up to a minute old.`,
    access: 'read',
    params: common.shortPath,
    query: {
      by: enumParameter(SHARED_AMONG, { description: 'What costs are shared out among; defaults to test.' }),
      reason: enumsParameter(RED_REASONS, {
        description:
          'Only runs that were red for these reasons; defaults to flaky and broken, which tests are to blame for.',
        example: ['flaky'],
      }),
      sort: enumParameter(SORT_NAMES, { description: 'The most first; defaults to red_runs.' }),
      branch: branchesParameter({ description: 'Only runs of these branches.', example: ['main'] }),
      ...longWindowParameters(),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of tests or owners.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url }) => {
      const { branch: branches, start, end } = query;
      const { sort = 'red_runs', by = 'test' } = query;
      const reasons = query.reason.length > 0 ? query.reason : (['broken', 'flaky'] as const);
      const repository = await deps.repositories.find(path.owner, path.repository);
      const rates: Rates = {
        ciMinute: repository?.ciMinutePrice ?? null,
        waitingHour: repository?.waitingHourPrice ?? null,
      };
      let shown = { ...ledgerWindow(query, deps.clock.now()), total: totalCost([]), tests: 0 };
      const asked = {
        path,
        query,
        filters: { branches, reasons, sort, by, start, end },
        window: (first = { start: shown.start, end: shown.end }) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const page = await readPage(pagedCosts, asked, async ({ key, direction, perPage, window }) => {
        const { runs } = repository ? await deps.redRunLedgers.of(repository, { ...window, branches }) : EMPTY_LEDGER;
        const meant = runs.filter(({ reason }) => reasons.some((one) => one === reason));
        const parts = repository ? await partsOf(deps, repository, meant, by) : [];
        const costs = parts.map((cost): Row => Object.assign(cost, { sort }));
        shown = { ...window, total: totalCost(meant), tests: new Set(meant.flatMap(({ tests }) => tests)).size };
        return rowsBeyond(costs, pagedCosts.keyOf, { key, isForward: direction === 'next', limit: perPage + 1 });
      });
      const isByOwner = by === 'owner';
      const ids = isByOwner ? [] : page.items.map(({ key }) => key);
      const records =
        repository && ids.length > 0 ? await onPostgres(() => readTests(deps.db, repository.id, ids)) : [];
      const names = new Map(records.map(({ testId, name }) => [testId, name]));
      const reply = isByOwner
        ? pageReply(page, 'owners', (cost) => ({ owner: cost.key || null, ...partJson(cost, rates) }))
        : pageReply(page, 'tests', (cost) => ({
            test_id: cost.key,
            test_name: names.get(cost.key) ?? null,
            ...partJson(cost, rates),
          }));
      return {
        ...reply,
        body: {
          tests: [],
          owners: [],
          ...reply.body,
          start: formatMoment(shown.start),
          end: formatMoment(shown.end),
          total_tests: shown.tests,
          total: figuresJson(shown.total, rates),
        },
      };
    },
  });
}

/** Owners are those that tests have now. */
async function partsOf(
  { db }: common.InsightsDeps,
  repository: Repository,
  runs: readonly CostedRun[],
  by: SharedAmong,
): Promise<PartCost[]> {
  if (by === 'test') return costByTest(runs);
  const testIds = [...new Set(runs.flatMap(({ tests }) => tests))];
  const owners = await onPostgres(() => readOwners(db, repository.id, testIds));
  return costAmong(runs, (testId) => owners.get(testId) ?? [NO_OWNER]);
}

const figuresJson = (cost: Cost, rates: Rates) => ({
  red_runs: cost.redRuns,
  reruns: cost.reruns,
  rerun_minutes: cost.rerunMs / MINUTE_MS,
  waiting_hours: cost.waitMs / HOUR_MS,
  queue_departures: cost.departures,
  pull_requests: cost.pullRequests.size,
  money: moneyOf(cost, rates),
});

const partJson = (cost: PartCost, rates: Rates) => ({
  ...figuresJson(cost, rates),
  red_runs_alone: cost.redRunsAlone,
  failed_runs: cost.failedRuns,
});
