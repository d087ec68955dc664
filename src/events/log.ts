/** The log of what happened to a repository's pull requests, quarantines and settings: its route, its filters and its statement. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { Clock } from '../clock.ts';
import { EVENT_TYPE_ALIASES, EVENT_TYPES, eventTypeOf } from '../domain/events.ts';
import { NAME_LENGTH_MAX, PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { resolveWindow, type Window } from '../domain/window.ts';
import type { Turn } from '../fair-queue.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, type PageRequest, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  cursorParameter,
  enumsParameter,
  integersParameter,
  momentParameter,
  perPageParameter,
  type QueryOf,
  textParameter,
} from '../http/parameters.ts';
import { owner, repository } from '../http/path.ts';
import { unprocessable } from '../http/problems.ts';
import type { Repository, RepositoryStore } from '../postgres/repositories.ts';
import { logSchema } from './event.ts';

const WINDOW_DAYS_MAX = 93;

interface EventsDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  repositories: RepositoryStore;
}

const path = z.object({ owner, repository });

const olderNames = Object.entries(EVENT_TYPE_ALIASES)
  .map(([alias, type]) => `\`${alias}\` is an older name of \`${type}\``)
  .join('; ');

const query = {
  pull_request: integersParameter(1, PULL_REQUEST_NUMBER_MAX, {
    description: 'Only events of this pull request. Repeat it for several.',
    example: [7],
  }),
  base_ref: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only events of pull requests that target this branch.',
    example: 'main',
  }),
  event_type: enumsParameter([...EVENT_TYPES, ...Object.keys(EVENT_TYPE_ALIASES)], {
    description: `Only events of this type. Repeat it for several. ${olderNames}.`,
    example: ['action.merge'],
  }),
  received_from: momentParameter({ description: 'Start of the window, inclusive; defaults to a day before its end.' }),
  received_to: momentParameter({
    description: 'End of the window, exclusive; defaults to now.',
    example: '2026-11-21T22:00:00Z',
  }),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

/** The filters of a request as parameters of the statement; an empty list filters nothing. */
function filtersOf(asked: QueryOf<typeof query>) {
  return {
    pull_requests: asked.pull_request,
    base_refs: asked.base_ref === undefined ? [] : [asked.base_ref],
    types: [...new Set(asked.event_type.flatMap((type) => eventTypeOf(type) ?? []))].sort(),
  };
}
type EventFilters = ReturnType<typeof filtersOf>;

export const mountEvents = (app: AnyElysia, http: Http, deps: EventsDeps): void =>
  mount(app, http, 'GET', '/v1/repos/:owner/:repository/logs', {
    operationId: 'listEvents',
    tag: 'Event log',
    summary: 'Get the events log',
    description:
      'Newest first. Events become visible in the order of their ids, within two seconds. docs/api.md describes how to follow the log.',
    access: 'events',
    params: path,
    query: query,
    responses: { 200: { description: 'A page of events.', schema: logSchema, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params, query, url, signal }) => {
      const filters = filtersOf(query);
      const { received_from: from, received_to: to } = query;
      const asked = {
        path: params,
        query,
        filters: { filters, from, to },
        window: (first = checkedWindow(from, to, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const turn = { owner: params.owner, signal };
      const page = await readPage(eventLog, asked, async (request) => {
        const repository = await deps.repositories.find(params.owner, params.repository);
        return repository ? selectEvents(deps.clickhouse, repository, filters, request, turn) : [];
      });
      return pageReply(page, 'events', (row) => ({
        id: row.id,
        received_at: formatMoment(row.received_ms),
        trigger: row.trigger,
        repository: row.repository,
        pull_request: row.pull_request,
        base_ref: row.base_ref,
        type: row.type,
        metadata: JSON.parse(row.metadata),
      }));
    },
  });

/** Throws 422 for an empty window and for one that is too long. */
function checkedWindow(from: number | undefined, to: number | undefined, now: number): Window {
  const window = resolveWindow(from, to ?? now, now);
  if (window.start >= window.end) throw badWindow('must be before received_to, which defaults to now');
  if (window.end - window.start > WINDOW_DAYS_MAX * DAY_MS)
    throw badWindow(`is more than ${WINDOW_DAYS_MAX} days before received_to; ask for a shorter window`);
  return window;
}

const badWindow = (msg: string) => unprocessable([{ loc: ['query', 'received_from'], msg, type: 'invalid_window' }]);

const rowSchema = z.object({
  id: z.int(),
  received_ms: z.int(),
  type: z.string(),
  trigger: z.string(),
  pull_request: z.int().nullable(),
  base_ref: z.string().nullable(),
  metadata: z.string(),
});
interface EventRow extends z.infer<typeof rowSchema> {
  /** Name of the repository. */
  repository: string;
}

const parameters = {
  repository_id: 'UUID',
  from_ms: 'Int64',
  to_ms: 'Int64',
  is_first: 'Bool',
  key_ms: 'Int64',
  key_id: 'UInt64',
  pull_requests: 'Array(UInt32)',
  base_refs: 'Array(String)',
  types: 'Array(String)',
  rows: 'UInt32',
} as const;

// The list is newest first, so its next page lies backward in time.
const older = defineQuery('events/log', parameters, rowSchema, 'backward');
const newer = defineQuery('events/log', parameters, rowSchema, 'forward');

/** Time of receipt in milliseconds, then id. */
type EventKey = [receivedMs: number, id: number];

const eventLog: PagedList<EventRow, EventKey> = {
  name: 'events',
  keySchema: z.tuple([z.int(), z.int()]),
  keyOf: ({ received_ms, id }) => [received_ms, id],
};

/** A repository's events beyond a key, nearest first: up to one more than a page. */
async function selectEvents(
  clickhouse: ClickHouse,
  repository: Pick<Repository, 'id' | 'name'>,
  filters: EventFilters,
  { direction, key, perPage, window: { start, end } }: PageRequest<EventKey, Window>,
  turn: Turn,
): Promise<EventRow[]> {
  const isNext = direction === 'next';
  const isFirst = key === null;
  const [keyMs, keyId] = key ?? [0, 0];
  const rows = await clickhouse.select(
    isNext ? older : newer,
    {
      repository_id: repository.id,
      // No further than the key: the table is searched by time.
      from_ms: isFirst || isNext ? start : Math.max(start, keyMs),
      to_ms: isFirst || !isNext ? end : Math.min(end, keyMs + 1),
      is_first: isFirst,
      key_ms: keyMs,
      key_id: keyId,
      ...filters,
      rows: perPage + 1,
    },
    turn,
  );
  return rows.map((row) => ({ ...row, repository: repository.name }));
}
