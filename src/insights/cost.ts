/** What red runs cost, by test, by cause or by owner. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type CostedRun, costAmong, costByTest, type PartCost, totalCost } from '../domain/cost.ts';
import { formatMoment } from '../domain/moment.ts';
import { RED_REASONS } from '../domain/red-run-reason.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  branchesParameter,
  cursorParameter,
  enumParameter,
  enumsParameter,
  perPageParameter,
} from '../http/parameters.ts';
import { readListedCauses } from '../postgres/cause-lists.ts';
import { onPostgres } from '../postgres/client.ts';
import { readOwners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readTests } from '../postgres/tests.ts';
import { costByCause, NO_CAUSE, REASONS_OF_CAUSES } from './cause-costs.ts';
import { causeIdOut } from './cause-schemas.ts';
import type { RedRunCauses } from './causes-of-red-runs.ts';
import * as common from './common.ts';
import { costFigures, costJson, partFigures, partJson, ratesOf } from './cost-figures.ts';
import { mostFirst, rowsBeyond } from './pages-in-memory.ts';
import type { LedgerWindow, RedRunLedgers } from './red-run-ledger.ts';
import { EMPTY_LEDGER, ledgerWindow } from './red-runs-by-day.ts';
import { REASONS_OF_TESTS } from './test-costs.ts';
import { LONG_WINDOW_DAYS, longWindowParameters } from './window.ts';

/** What costs are shared out among. */
const SHARED_AMONG = ['test', 'owner', 'cause'] as const;
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

const testSchema = z
  .object({
    test_id: common.testIdOut,
    test_name: common.testNameOut.nullable().meta({ description: 'Null if it never ran on the default branch' }),
    owners: common.ownersOut(),
    ...partFigures,
  })
  .meta({ id: 'TestCost' });
const ownerSchema = z
  .object({
    owner: z.string().nullable().meta({ description: 'Null for the tests without an owner', example: '@acme/cart' }),
    ...partFigures,
  })
  .meta({ id: 'OwnerCost' });
const causeSchema = z
  .object({
    cause_id: causeIdOut.nullable().meta({ description: 'Null for the failures without a cause' }),
    exception_type: z.string().nullable().meta({ example: 'ConnectionError' }),
    exception_message: z
      .string()
      .nullable()
      .meta({ description: 'Of its newest failure, normalised', example: 'connect ECONNREFUSED <address1>' }),
    ...partFigures,
  })
  .meta({ id: 'CauseCost' });
const response = z.object({
  ...common.pageFields,
  start: common.dateTimeOut,
  end: common.dateTimeOut,
  total_tests: z.int().meta({ description: 'Tests that failed in these runs', example: 31 }),
  total: z
    .object(costFigures)
    .meta({ description: 'Of all these runs: the sum over all tests, but for pull requests' }),
  tests: z.array(testSchema).meta({ description: 'Empty unless costs are shared out among tests' }),
  owners: z.array(ownerSchema).meta({ description: 'Empty unless costs are shared out among owners' }),
  causes: z.array(causeSchema).meta({ description: 'Empty unless costs are shared out among causes' }),
});
export type Costs = z.output<typeof response>;

type CostDeps = common.InsightsDeps & { redRunLedgers: RedRunLedgers; redRunCauses: RedRunCauses };

type Row = PartCost & { sort: Sort };
const pagedCosts: PagedList<Row, [number, string]> = {
  name: 'cost',
  keySchema: z.tuple([z.int(), z.string()]),
  keyOf: (row) => [mostFirst(SORTS[row.sort](row)), row.key],
};

export function mountCost(app: AnyElysia, http: Http, deps: CostDeps): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/cost', {
    operationId: 'listCost',
    tag: common.TAG,
    summary: 'List what red runs cost, by test, cause or owner',
    description: `For each test, each cause of failures, or each owner of tests: red runs, reruns, waiting authors and innocent departures from the merge queue, over a window of at most ${LONG_WINDOW_DAYS} days. Nothing is counted twice: what a run costs is shared out among the tests that failed in it, and the part of a test among its owners, or among the causes of its failures in the run, so that sums are the total. Up to a minute old.`,
    access: 'read',
    params: common.shortPath,
    query: {
      by: enumParameter(SHARED_AMONG, { description: 'What costs are shared out among; defaults to test.' }),
      reason: enumsParameter(RED_REASONS, {
        description:
          'Only runs that were red for these reasons; defaults to flaky and broken, which tests are to blame for, and by cause to infrastructure, too.',
        example: ['flaky'],
      }),
      sort: enumParameter(SORT_NAMES, { description: 'The most first; defaults to red_runs.' }),
      branch: branchesParameter({ description: 'Only runs of these branches.', example: ['main'] }),
      ...longWindowParameters(),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of tests, owners or causes.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url }) => {
      const { branch: branches, start, end } = query;
      const { sort = 'red_runs', by = 'test' } = query;
      const usual = by === 'cause' ? REASONS_OF_CAUSES : REASONS_OF_TESTS;
      const reasons = query.reason.length > 0 ? query.reason : usual;
      const repository = await deps.repositories.find(path.owner, path.repository);
      const rates = ratesOf(repository);
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
        const parts = repository ? await partsOf(deps, repository, { runs: meant, by, window }) : [];
        const costs = parts.map((cost): Row => Object.assign(cost, { sort }));
        shown = { ...window, total: totalCost(meant), tests: new Set(meant.flatMap(({ tests }) => tests)).size };
        return rowsBeyond(costs, pagedCosts.keyOf, { key, isForward: direction === 'next', limit: perPage + 1 });
      });
      const ids = page.items.map(({ key }) => key).filter((key) => key !== NO_CAUSE);
      const names = repository ? await namesOf(deps, repository, ids, by) : NO_NAMES;
      const reply =
        by === 'owner'
          ? pageReply(page, 'owners', (cost) => ({ owner: cost.key || null, ...partJson(cost, rates) }))
          : by === 'cause'
            ? pageReply(page, 'causes', (cost) => ({
                cause_id: cost.key || null,
                exception_type: names.causes.get(cost.key)?.exceptionType ?? null,
                exception_message: names.causes.get(cost.key)?.message ?? null,
                ...partJson(cost, rates),
              }))
            : pageReply(page, 'tests', (cost) => ({
                test_id: cost.key,
                test_name: names.tests.get(cost.key) ?? null,
                owners: names.owners.get(cost.key) ?? [],
                ...partJson(cost, rates),
              }));
      return {
        ...reply,
        body: {
          tests: [],
          owners: [],
          causes: [],
          ...reply.body,
          start: formatMoment(shown.start),
          end: formatMoment(shown.end),
          total_tests: shown.tests,
          total: costJson(shown.total, rates),
        },
      };
    },
  });
}

/** Owners are those that tests have now. */
async function partsOf(
  { db, redRunCauses }: CostDeps,
  repository: Repository,
  { runs, by, window }: { runs: readonly CostedRun[]; by: SharedAmong; window: Omit<LedgerWindow, 'branches'> },
): Promise<PartCost[]> {
  if (by === 'test') return costByTest(runs);
  if (by === 'cause') return costByCause(runs, await redRunCauses.of(repository, window));
  const testIds = [...new Set(runs.flatMap(({ tests }) => tests))];
  const owners = await onPostgres(() => readOwners(db, repository.id, testIds));
  return costAmong(runs, (testId) => owners.get(testId) ?? [NO_OWNER]);
}

interface Names {
  tests: ReadonlyMap<string, string>;
  owners: ReadonlyMap<string, string[]>;
  causes: ReadonlyMap<string, { exceptionType: string; message: string }>;
}
const NO_NAMES: Names = { tests: new Map(), owners: new Map(), causes: new Map() };
/** Only the text of a cause is shown: no failures are counted. */
const NO_DAYS = { from: 1, to: 0 };

async function namesOf({ db }: CostDeps, { id }: Repository, keys: readonly string[], by: SharedAmong): Promise<Names> {
  if (keys.length === 0 || by === 'owner') return NO_NAMES;
  if (by === 'cause') return { ...NO_NAMES, causes: await onPostgres(() => readListedCauses(db, id, keys, NO_DAYS)) };
  const [records, owners] = await onPostgres(() => Promise.all([readTests(db, id, keys), readOwners(db, id, keys)]));
  return { ...NO_NAMES, tests: new Map(records.map(({ testId, name }) => [testId, name])), owners };
}
