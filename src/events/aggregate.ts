/** How many events the log holds, by time, type, outcome, trigger and pull request. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { EVENT_OUTCOMES } from '../domain/event-metadata.ts';
import { EVENT_TYPES } from '../domain/events.ts';
import { intervalOf } from '../domain/histogram.ts';
import { formatMoment } from '../domain/moment.ts';
import { SECOND_MS } from '../domain/time.ts';
import { bucketStarts } from '../domain/window.ts';
import { type Http, mount } from '../http/operation.ts';
import { checkedWindow, filterParameters, filterQuery, filtersOf } from './filters.ts';
import { type EventsDeps, eventsPath } from './log.ts';

/** The most frequent ones of each list. Types and outcomes are fewer, and so are the intervals of the histogram. */
const VALUES_MAX = 200;

const FACETS = ['histogram', 'event_type', 'outcome', 'trigger', 'pull_request', 'batch_pull_request'] as const;
type Facet = (typeof FACETS)[number];

const aggregate = defineQuery(
  'events/aggregate',
  {
    repository_id: 'UUID',
    from_ms: 'Int64',
    to_ms: 'Int64',
    interval_ms: 'Int64',
    ...filterParameters,
    rows: 'UInt32',
  },
  z.object({ facet: z.enum(FACETS), value: z.string(), entries: z.int() }),
);
type Row = z.infer<(typeof aggregate)['row']>;

const count = z.int().meta({ example: 3 });
const counted = <V extends z.ZodType>(value: V, description: string) =>
  z.array(z.object({ value, count })).meta({ description: `${description}, most frequent first` });
const unfiltered = (what: string): string => `Up to ${VALUES_MAX} ${what}, counted without the filter by them`;

const aggregateSchema = z.object({
  total: z.int().meta({ description: 'Events that match all filters', example: 3 }),
  interval_size_seconds: z.int().meta({ example: 1_200 }),
  histogram: z
    .array(
      z.object({
        start: z.iso.datetime().meta({ example: '2026-11-21T09:20:00.000Z' }),
        end: z.iso.datetime().meta({ example: '2026-11-21T09:40:00.000Z' }),
        count,
      }),
    )
    .meta({
      description:
        'Every interval of the window, aligned to the epoch. The first and the last may reach beyond the window, and count only what is in it',
    }),
  by_event_type: counted(z.enum(EVENT_TYPES).meta({ example: 'action.merge' }), 'Types'),
  by_outcome: counted(z.enum(EVENT_OUTCOMES).meta({ example: 'success' }), 'Outcomes'),
  by_trigger: counted(z.string().meta({ example: '@octocat' }), unfiltered('triggers')),
  by_pull_request: counted(z.int().meta({ example: 7 }), unfiltered('pull requests')),
  by_batch_pull_request: counted(z.int().meta({ example: 7 }), unfiltered('pull requests of batches')),
});

export type EventCounts = z.output<typeof aggregateSchema>;

export const mountAggregate = (app: AnyElysia, http: Http, deps: EventsDeps): void =>
  mount(app, http, 'GET', '/v1/repos/:owner/:repository/logs/aggregate', {
    operationId: 'aggregateEvents',
    tag: 'Event log',
    summary: 'Count the events of the log',
    description:
      'In a window and by the filters of the log: in all, over time, and by type, outcome, trigger and pull request.',
    access: 'events',
    params: eventsPath,
    query: filterQuery,
    responses: { 200: { description: 'The counts.', schema: aggregateSchema } },
    isCoalesced: true,
    handle: async ({ params, query, signal }) => {
      const filters = filtersOf(query);
      const window = checkedWindow(query, deps.clock.now());
      const interval = intervalOf(window);
      const repository = await deps.repositories.find(params.owner, params.repository);
      const asked = { from_ms: window.start, to_ms: window.end, interval_ms: interval, ...filters, rows: VALUES_MAX };
      const rows = repository
        ? await deps.clickhouse.select(
            aggregate,
            { repository_id: repository.id, ...asked },
            { owner: params.owner, signal },
          )
        : [];
      const byFacet = Map.groupBy(rows, ({ facet }) => facet);
      const of = (facet: Facet): readonly Row[] => byFacet.get(facet) ?? [];
      const texts = (facet: Facet) => of(facet).map(({ value, entries }) => ({ value, count: entries }));
      const numbers = (facet: Facet) =>
        of(facet).map(({ value, entries }) => ({ value: Number(value), count: entries }));
      const byInterval = new Map(of('histogram').map(({ value, entries }) => [Number(value) * interval, entries]));
      return {
        body: {
          total: of('outcome').reduce((sum, { entries }) => sum + entries, 0),
          interval_size_seconds: interval / SECOND_MS,
          histogram: bucketStarts(window, interval).map((start) => ({
            start: formatMoment(start),
            end: formatMoment(start + interval),
            count: byInterval.get(start) ?? 0,
          })),
          by_event_type: texts('event_type'),
          by_outcome: texts('outcome'),
          by_trigger: texts('trigger'),
          by_pull_request: numbers('pull_request'),
          by_batch_pull_request: numbers('batch_pull_request'),
        },
      };
    },
  });
