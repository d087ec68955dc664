/** The log of what happened to a repository's pull requests, quarantines and settings. */
import type { AnyElysia } from 'elysia';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Clock } from '../clock.ts';
import { eventTypeOf } from '../domain/events.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { resolveWindow, type Window } from '../domain/window.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { unprocessable } from '../http/problems.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { type EventFilters, eventLog, selectEvents } from './log.ts';
import * as schemas from './schemas.ts';

const WINDOW_DAYS_MAX = 93;

interface EventsDeps {
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
      'Newest first. Events become visible in the order of their ids, within two seconds. docs/api.md describes how to follow the log.',
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
      const asked = {
        path,
        query,
        filters: { filters, from, to },
        window: (first = checkedWindow(from, to, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const page = await readPage(eventLog, asked, async (request) => {
        const repository = await deps.repositories.find(path.owner, path.repository);
        return repository ? selectEvents(deps.clickhouse, repository, filters, request, signal) : [];
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
