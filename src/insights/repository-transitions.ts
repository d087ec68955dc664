/** Which tests of a repository turned broken or flaky, recovered or were fixed. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { TURNS, type TurnOfTest, turnsOf } from '../domain/health-transitions.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS } from '../domain/status.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Window } from '../domain/window.ts';
import { keyMoment } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumsParameter, momentParameter, perPageParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { type HealthHistory, readChangedTests, readHealthHistories } from '../postgres/health-histories.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';
import { rowsBeyond } from './pages-in-memory.ts';
import { pullSchema, pullSummary } from './pull-summary.ts';

const DAYS = 7;
/** Of more in the window, those that changed last: what a bad night does to a suite is one event to its readers. */
const TESTS_MAX = 1_000;
/** All pages, filters and readers of a window share what was read. */
const KEPT_MS = 10_000;
const KEPT_MAX = 200;

type Change = HealthHistory['identities'][number]['changes'][number];
interface Row extends TurnOfTest<Change> {
  testId: string;
  testName: string;
}
interface Found {
  rows: Row[];
  isComplete: boolean;
}

const pagedTurns: PagedList<Row, [at: number, testId: string]> = {
  name: 'repository-transitions',
  keySchema: z.tuple([keyMoment, z.string()]),
  keyOf: ({ at, testId }) => [at, testId],
};

const transitionSchema = z
  .object({
    turn: z.enum(TURNS).meta({
      description: '`recovered`: a flaky test is healthy again; `fixed`: a broken one is',
      example: 'turned_broken',
    }),
    test_id: common.testIdOut,
    test_name: common.testNameOut,
    at: common.dateTimeOut.meta({ description: 'When the execution finished that changed it' }),
    before: z.enum(HEALTHS).meta({ example: 'healthy' }),
    health_status: z.enum(HEALTHS).meta({ description: 'From then on', example: 'broken' }),
    commit_sha: z.string().nullable().meta({
      description: 'Of the first failure of the episode; null on recovery, and if it is not known',
      example: '1111111111111111111111111111111111111111',
    }),
    exception_type: z.string().nullable().meta({ description: 'Of that failure', example: 'TimeoutError' }),
    pull_request: pullSchema.nullable().meta({
      description: 'The one that ran that failure or was merged as its commit, if known; null on recovery',
    }),
  })
  .meta({ id: 'RepositoryTransition' });
const response = z.object({
  ...common.pageFields,
  counts: z.object(Object.fromEntries(TURNS.map((turn) => [turn, z.int()]))).meta({
    description: 'Transitions of each kind in the window, on all pages and whatever the filter',
    example: Object.fromEntries(TURNS.map((turn, i) => [turn, i === 0 ? 1 : 0])),
  }),
  is_complete: z.boolean().meta({
    description: `False if more than ${TESTS_MAX} tests changed in the window: then those that changed last are listed`,
    example: true,
  }),
  transitions: z.array(transitionSchema),
});
export type RepositoryTransitions = z.output<typeof response>;

export function mountRepositoryTransitions(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const kept = new TtlCache<Found>(KEPT_MS, KEPT_MAX);
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/health-transitions', {
    operationId: 'listRepositoryHealthTransitions',
    tag: common.TAG,
    summary: 'List the tests whose health changed',
    description: `Which tests became flaky, broken or healthy on the default branch in the window, and with which commit that began, newest first. A test is as the worst of the pipelines and CI jobs in which it runs. The list is as of the last ten seconds. A test whose only unhealthy pipeline no longer runs is not in it.`,
    access: 'read',
    params: common.shortPath,
    query: {
      turn: enumsParameter(TURNS, { description: 'Only transitions of these kinds.', example: ['turned_broken'] }),
      start: momentParameter({
        description: `Start of the window, inclusive; defaults to ${DAYS} days before its end.`,
        example: '2026-11-20T10:00:00Z',
      }),
      end: momentParameter({ description: 'End of the window, exclusive; defaults to now.' }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of transitions.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url }) => {
      const { turn: turns, start, end } = query;
      const window = windowOf({ start, end }, deps.clock.now());
      const repository = await deps.repositories.find(path.owner, path.repository);
      const asked = {
        path,
        query,
        filters: { turns, start, end },
        window: (first = window) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      let found: Found = { rows: [], isComplete: true };
      const page = await readPage(pagedTurns, asked, async ({ key, direction, perPage, window: of }) => {
        // A default window moves with the clock, and is read again when the kept one has expired.
        const name = JSON.stringify([repository?.id, start, end ?? Math.floor(of.end / KEPT_MS)]);
        if (repository) found = await kept.get(name, () => readTurns(deps.db, repository.id, of));
        const rows = found.rows.filter((row) => turns.length === 0 || turns.includes(row.turn));
        return rowsBeyond(rows, pagedTurns.keyOf, { key, isForward: direction === 'previous', limit: perPage + 1 });
      });
      const counts = Object.fromEntries(
        TURNS.map((one) => [one, found.rows.filter(({ turn }) => turn === one).length]),
      );
      const reply = pageReply(page, 'transitions', toJson);
      return { ...reply, body: { ...reply.body, counts, is_complete: found.isComplete } };
    },
  });
}

function windowOf(query: { start: number | undefined; end: number | undefined }, now: number): Window {
  const end = query.end ?? now + 1;
  const start = query.start ?? Math.max(0, end - DAYS * DAY_MS);
  if (start >= end)
    throw unprocessable([{ loc: ['query', 'start'], msg: 'must be before end', type: 'invalid_window' }]);
  return { start, end };
}

async function readTurns(db: Database, repositoryId: string, window: Window): Promise<Found> {
  const changed = await onPostgres(() => readChangedTests(db, repositoryId, window, TESTS_MAX + 1));
  const shown = changed.slice(0, TESTS_MAX);
  const ids = shown.map(({ test_id: testId }) => testId);
  const histories =
    ids.length === 0
      ? new Map<string, HealthHistory>()
      : await onPostgres(() => readHealthHistories(db, repositoryId, ids));
  const rows = shown.flatMap(({ test_id: testId, name: testName }) =>
    turnsOf(histories.get(testId)?.identities ?? [])
      .filter(({ at }) => at >= window.start && at < window.end)
      .map((one) => ({ ...one, testId, testName })),
  );
  return { rows, isComplete: changed.length <= TESTS_MAX };
}

const toJson = ({ turn, testId, testName, at, before, after, cause }: Row): z.input<typeof transitionSchema> => ({
  turn,
  test_id: testId,
  test_name: testName,
  at: formatMoment(at),
  before,
  health_status: after,
  commit_sha: cause?.commit ?? null,
  exception_type: cause?.exceptionType ?? null,
  pull_request: cause?.pull ? pullSummary(cause.pull) : null,
});
