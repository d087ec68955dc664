/** The log of what happened to a repository's pull requests, quarantines and settings: a page of its events. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { asLookUp, defineQuery } from '../clickhouse/query.ts';
import type { Clock } from '../clock.ts';
import { formatMoment } from '../domain/moment.ts';
import type { Window } from '../domain/window.ts';
import type { Turn } from '../fair-queue.ts';
import { keyMoment } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, type PageRequest, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, perPageParameter } from '../http/parameters.ts';
import { owner, repository } from '../http/path.ts';
import type { Repository, RepositoryStore } from '../postgres/repositories.ts';
import { logSchema } from './event.ts';
import { checkedWindow, type EventFilters, filterParameters, filterQuery, filtersOf, shortEnough } from './filters.ts';

export interface EventsDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  repositories: RepositoryStore;
}

export const eventsPath = z.object({ owner, repository });

const query = { ...filterQuery, cursor: cursorParameter(), per_page: perPageParameter() };

export const mountLog = (app: AnyElysia, http: Http, deps: EventsDeps): void =>
  mount(app, http, 'GET', '/v1/repos/:owner/:repository/logs', {
    operationId: 'listEvents',
    tag: 'Event log',
    summary: 'Get the events log',
    description:
      'Newest first. Events become visible in the order of their ids, within two seconds. docs/api.md describes how to follow the log.',
    access: 'events',
    params: eventsPath,
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
        window: (first = checkedWindow(query, deps.clock.now())) => shortEnough(first),
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
        outcome: row.outcome,
        metadata: JSON.parse(row.metadata),
      }));
    },
  });

const rowSchema = z.object({
  id: z.int(),
  received_ms: z.int(),
  type: z.string(),
  outcome: z.string(),
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
  ...filterParameters,
  rows: 'UInt32',
} as const;

// The list is newest first, so its next page lies backward in time.
const older = asLookUp(defineQuery('events/log', parameters, rowSchema, 'backward'));
const newer = asLookUp(defineQuery('events/log', parameters, rowSchema, 'forward'));

/** Time of receipt in milliseconds, then id. */
type EventKey = [receivedMs: number, id: number];

const eventLog: PagedList<EventRow, EventKey> = {
  name: 'events',
  keySchema: z.tuple([keyMoment, z.int().nonnegative()]),
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
