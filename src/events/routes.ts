/** Spec §4.1: the log of what happened on a repository's pull requests, its quarantines and its settings. */
import type { AnyElysia } from 'elysia';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Clock } from '../clock.ts';
import { eventTypeOf } from '../domain/events.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { resolveWindow, type Window } from '../domain/window.ts';
import { type Cursor, decodeCursor, hashFilters } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, linkHeaders, pageOf, pageRequest, publicUrlOf } from '../http/pages.ts';
import { unprocessable } from '../http/problems.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { type EventFilters, type EventRow, keyOf, keySchema, readEvents } from './log.ts';
import * as schemas from './schemas.ts';

const WINDOW_DAYS_MAX = 93;

export interface EventsDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  repositories: RepositoryStore;
}

export const mountEvents = (app: AnyElysia, http: Http, deps: EventsDeps): void =>
  mount(app, http, 'GET', '/v1/repos/:owner/:repository/logs', {
    operationId: 'listEvents',
    tag: 'Event log',
    summary: 'Get the events log',
    description:
      'Newest first. Events become visible in the order of their ids, within two seconds: docs/api.md says how to follow the log.',
    access: 'events',
    params: schemas.path,
    query: schemas.query,
    responses: { 200: { description: 'A page of events.', schema: schemas.logSchema, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const filters: EventFilters = {
        pullRequests: query.pull_request,
        baseRef: query.base_ref,
        types: [...new Set(query.event_type.flatMap((type) => eventTypeOf(type) ?? []))].sort(),
      };
      const { received_from: from, received_to: to } = query;
      const pathKey = `${path.owner}/${path.repository}`.toLowerCase();
      const hash = hashFilters({ list: 'events', path: pathKey, filters, from, to });
      const cursor = decodeCursor(query.cursor, hash, keySchema);
      const window = windowOf(cursor, from, to, deps.clock.now());
      const request = pageRequest(cursor, query.per_page);
      const repository = await deps.repositories.find(path.owner, path.repository);
      const page = repository
        ? await readEvents(deps.clickhouse, repository.id, window, filters, request, signal)
        : pageOf<EventRow>(request, []);
      const headers = linkHeaders({
        url: publicUrlOf(http.publicUrl, url),
        page,
        keyOf,
        window: [window.start, window.end],
        perPage: request.perPage,
        filters: hash,
      });
      const events = page.items.map((row) => ({
        id: row.id,
        received_at: formatMoment(row.received_ms),
        trigger: row.trigger,
        repository: repository?.name ?? path.repository,
        pull_request: row.pull_request,
        base_ref: row.base_ref,
        type: row.type,
        metadata: JSON.parse(row.metadata),
      }));
      return { body: { size: events.length, per_page: request.perPage, events }, headers };
    },
  });

/** As first resolved, so that a default "now" does not move between pages. */
function windowOf(cursor: Cursor | null, from: number | undefined, to: number | undefined, now: number): Window {
  if (cursor?.window) return { start: cursor.window[0], end: cursor.window[1] };
  const end = to ?? now;
  const window = resolveWindow(from, end, now);
  if (window.start >= window.end)
    throw unprocessable([
      {
        loc: ['query', 'received_from'],
        msg: 'must be before received_to, which is now when it is absent',
        type: 'invalid_window',
      },
    ]);
  if (window.end - window.start > WINDOW_DAYS_MAX * DAY_MS)
    throw unprocessable([
      {
        loc: ['query', 'received_from'],
        msg: `is more than ${WINDOW_DAYS_MAX} days before received_to; ask for a shorter window`,
        type: 'invalid_window',
      },
    ]);
  return window;
}
