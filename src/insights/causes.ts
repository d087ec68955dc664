/** The causes of a repository: what many failures have in common. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { signatureOf } from '../domain/cause-signature.ts';
import { noCost, type PartCost, type Rates } from '../domain/cost.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { MESSAGE_SEARCH_LENGTH_MAX, parseMessageSearch } from '../domain/message-search.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS } from '../domain/status.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { Days, Window } from '../domain/window.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  branchParameter,
  cursorParameter,
  enumParameter,
  enumsParameter,
  momentParameter,
  perPageParameter,
  textParameter,
  textsParameter,
} from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import {
  CAUSE_SORTS,
  type CauseKey,
  type CauseOrder,
  type CauseSelection,
  findCauseIds,
  type ListedCause,
  readListedCauses,
} from '../postgres/cause-lists.ts';
import { readCauseOwners } from '../postgres/cause-owners.ts';
import { type QuarantinedCause, readQuarantinedCauses } from '../postgres/cause-quarantines.ts';
import { type CauseTerms, causesAssignedTo, readCauseTerms } from '../postgres/cause-terms.ts';
import { causesOfSignatures } from '../postgres/causes.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { costOfCauses } from './cause-costs.ts';
import { CauseRankings } from './cause-rankings.ts';
import {
  causeIdOut,
  countOut,
  daysJson,
  daysOut,
  quarantineJson,
  quarantineOut,
  termsJson,
  termsOut,
  testOut,
} from './cause-schemas.ts';
import type { RedRunCauses } from './causes-of-red-runs.ts';
import * as common from './common.ts';
import { partFigures, partJson, ratesOf } from './cost-figures.ts';
import { mostFirst, rowsBeyond } from './pages-in-memory.ts';
import type { RedRunLedgers } from './red-run-ledger.ts';
import { LONG_WINDOW_DAYS } from './window.ts';

const WINDOW_DAYS = 30;
/** Of a branch, so many of the newest failures are looked up. */
const BRANCH_FAILURES_MAX = 5_000;
const DAY_MAX = 65_535;

const failuresOfBranch = defineQuery(
  'insights/failures_of_branch',
  { repository_id: 'UUID', branch: 'String', from_day: 'UInt16', to_day: 'UInt16', limit: 'UInt32' },
  z.object({ test_id: z.string(), type: z.string(), message: z.string() }),
);

/** So many causes are sorted by their cost: those with the most failures. */
const COSTED_MAX = 100_000;
const SORTS = [...CAUSE_SORTS, 'cost'] as const;

/** A cause with the value that its list is sorted by, and what it costs if that is what sorts. */
type Row = ListedCause & {
  value: number;
  cost: PartCost | null;
  terms: CauseTerms | undefined;
  owners: string[] | undefined;
  quarantine: QuarantinedCause | undefined;
};

const pagedCauses: PagedList<Row, CauseKey> = {
  name: 'causes',
  keySchema: z.tuple([z.int(), z.guid()]),
  keyOf: ({ value, causeId }) => [value, causeId],
};

const causeSchema = z
  .object({
    cause_id: causeIdOut,
    exception_type: z.string().meta({ example: 'ConnectionError' }),
    exception_message: z.string().meta({
      description:
        'Of the newest failure, with placeholders for what differs from run to run; its first 1,000 characters',
      example: 'connect ECONNREFUSED <address1>',
    }),
    newest_test: testOut.meta({ description: 'The test that failed last' }),
    failure_count: countOut('Failed attempts in the window', 42),
    test_count: countOut('Tests that failed in the window', 9),
    leg_count: countOut('Legs of CI jobs in which they failed in the window', 3),
    first_failure_at: common.dateTimeOut,
    last_failure_at: common.dateTimeOut,
    failures_by_day: daysOut,
    ...termsOut,
    quarantine: quarantineOut,
    cost: z
      .object(partFigures)
      .nullable()
      .meta({ description: 'What it cost in the window, on all branches; null unless the list is sorted by it' }),
  })
  .meta({ id: 'Cause' });

const response = z.object({ ...common.pageFields, causes: z.array(causeSchema) });
export type CauseList = z.output<typeof response>;

const address = '/v1/ci/:owner/repositories/:repository/causes';

type CausesDeps = common.InsightsDeps & { redRunLedgers: RedRunLedgers; redRunCauses: RedRunCauses };

export function mountCauses(app: AnyElysia, http: Http, deps: CausesDeps): void {
  const rankings = new CauseRankings(deps.db);
  mount(app, http, 'GET', address, {
    operationId: 'listCauses',
    tag: common.TAG,
    summary: 'List causes of failures',
    description: `What many failures of the default branch have in common, across tests, legs and commits: failures with the same exception type and normalised message, joined where they broke out together. The window is counted in whole UTC days, by default the last ${WINDOW_DAYS}. New failures are joined within minutes.`,
    access: 'read',
    params: common.shortPath,
    query: {
      start: momentParameter({
        description: `Causes that failed on this UTC day or later; defaults to ${WINDOW_DAYS} days before \`end\`.`,
        example: '2026-11-01T00:00:00Z',
      }),
      end: momentParameter({ description: 'Causes that failed before this moment; defaults to now.' }),
      branch: branchParameter({
        description: `Only causes with which something failed on this branch in the window; of its newest ${BRANCH_FAILURES_MAX} failures.`,
        example: 'feature/rounding',
      }),
      q: textParameter(1, MESSAGE_SEARCH_LENGTH_MAX, {
        description:
          'Only causes with a type or message that has all these words, in any case and order; a phrase in quotes is searched for as it is. Words are letters and digits; numbers that differ from run to run are not part of messages.',
        example: 'refused "port closed"',
      }),
      health: enumsParameter(HEALTHS, {
        description: 'Only causes that hit a test of one of these healths in the window.',
        example: ['flaky'],
      }),
      owner: textsParameter(
        NAME_LENGTH_MAX,
        {
          description:
            'Only causes of these owners: given to them, or with a test of theirs that failed in the window; empty: with a test that has none.',
          example: ['@acme/cart'],
        },
        0,
      ),
      sort: enumParameter(SORTS, {
        description: `By their newest failure, or by failures, tests or the red runs that are their cost in the window; most first. By cost, the window is at most ${LONG_WINDOW_DAYS} days.`,
        default: 'newest',
      }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of causes.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const { branch, q, health: healths, owner: owners, sort = 'newest', start, end } = query;
      const asked = {
        path,
        query,
        filters: { branch, q, healths, owners, sort, start, end },
        window: (first = windowOf(query, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const repository = await deps.repositories.find(path.owner, path.repository);
      const page = await readPage(pagedCauses, asked, async ({ window, key, direction, perPage }): Promise<Row[]> => {
        if (!repository) return [];
        const days = daysOf(window);
        const selection = {
          ...{ days, healths, ...parseMessageSearch(q ?? '') },
          owners: owners.length === 0 ? null : await ownersWith(deps, repository, owners),
          among: branch === undefined ? null : await causesOfBranch(deps, { repository, branch, days }, signal),
        };
        if (q !== undefined && selection.words === '' && selection.phrases.length === 0) return [];
        const order = { key, direction, limit: perPage + 1 };
        const found =
          sort === 'cost'
            ? await findByCost(deps, repository, selection, order)
            : (await rankings.page(repository.id, selection, { sort, ...order })).map((one) => ({
                ...one,
                cost: null,
              }));
        const ids = found.map(({ cause_id: id }) => id);
        const [causes, terms, ownersOf, quarantined] = await onPostgres(() =>
          Promise.all([
            readListedCauses(deps.db, repository.id, ids, days),
            readCauseTerms(deps.db, repository.id, ids),
            readCauseOwners(deps.db, repository.id, ids, days),
            readQuarantinedCauses(deps.db, repository.id, ids),
          ]),
        );
        return found.flatMap(({ cause_id: id, value, cost }) => {
          const cause = causes.get(id);
          return cause
            ? [
                {
                  ...cause,
                  value,
                  cost,
                  terms: terms.get(id),
                  owners: ownersOf.get(id),
                  quarantine: quarantined.get(id),
                },
              ]
            : [];
        });
      });
      const rates = ratesOf(repository);
      return pageReply(page, 'causes', (cause) => toJson(cause, rates));
    },
  });
}

function windowOf(query: { start: number | undefined; end: number | undefined }, now: number): Window {
  // A failure of the millisecond of the request is part of the list.
  const end = query.end ?? now + 1;
  const start = query.start ?? Math.max(0, end - WINDOW_DAYS * DAY_MS);
  if (start >= end)
    throw unprocessable([{ loc: ['query', 'start'], msg: 'must be before end', type: 'invalid_window' }]);
  return { start, end };
}

const daysOf = ({ start, end }: Window): Days => ({
  from: Math.min(Math.max(dayOf(start), 0), DAY_MAX),
  to: Math.min(Math.max(dayOf(end - 1), 0), DAY_MAX),
});

const ownersWith = async ({ db }: CausesDeps, { id }: Repository, names: string[]) => ({
  names,
  assigned: await onPostgres(() => causesAssignedTo(db, id, names)),
});

/** Costs are counted in memory, so a page is taken from the whole list. Those that cost nothing come last. */
async function findByCost(
  deps: CausesDeps,
  repository: Repository,
  selection: CauseSelection,
  { key, direction, limit }: Omit<CauseOrder, 'sort'>,
): Promise<{ cause_id: string; value: number; cost: PartCost }[]> {
  const window = { start: selection.days.from * DAY_MS, end: (selection.days.to + 1) * DAY_MS };
  if (window.end - window.start > LONG_WINDOW_DAYS * DAY_MS)
    throw unprocessable([
      {
        loc: ['query', 'start'],
        msg: `must be at most ${LONG_WINDOW_DAYS} days before end to sort by cost`,
        type: 'invalid_window',
      },
    ]);
  const all = { sort: 'failures', key: null, direction: 'next', limit: COSTED_MAX } as const;
  const [found, costs] = await Promise.all([
    onPostgres(() => findCauseIds(deps.db, repository.id, selection, all)),
    costOfCauses(deps, repository, window),
  ]);
  const costed = found.map(({ cause_id: id }) => {
    const cost = costs.get(id) ?? noCost(id);
    return { cause_id: id, value: mostFirst(cost.redRuns), cost };
  });
  return rowsBeyond(costed, (one): CauseKey => [one.value, one.cause_id], {
    ...{ key, limit },
    isForward: direction === 'next',
  });
}

/** The causes of what failed on a branch. Off the default branch, nothing is stored of causes. */
async function causesOfBranch(
  { clickhouse, db }: common.InsightsDeps,
  { repository: { id, owner }, branch, days }: { repository: Repository; branch: string; days: Days },
  signal?: AbortSignal,
): Promise<string[]> {
  const rows = await clickhouse.select(
    failuresOfBranch,
    { repository_id: id, branch, from_day: days.from, to_day: days.to, limit: BRANCH_FAILURES_MAX },
    { owner, signal },
  );
  const signatures = new Set(rows.map((row) => signatureOf(id, row.test_id, row.type, row.message).id));
  return [...new Set((await onPostgres(() => causesOfSignatures(db, id, [...signatures]))).values())];
}

const toJson = (cause: Row, rates: Rates): z.input<typeof causeSchema> => ({
  cause_id: cause.causeId,
  exception_type: cause.exceptionType,
  exception_message: cause.message,
  newest_test: { test_id: cause.testId, test_name: cause.testName },
  failure_count: cause.failures,
  test_count: cause.tests,
  leg_count: cause.legs,
  first_failure_at: formatMoment(cause.firstAt),
  last_failure_at: formatMoment(cause.lastAt),
  failures_by_day: daysJson(cause.days),
  ...termsJson(cause.terms, cause.owners),
  quarantine: quarantineJson(cause.quarantine),
  cost: cause.cost && partJson(cause.cost, rates),
});
