/** How the service is doing, for operators: what its metrics show, in one answer that needs no Prometheus. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { version } from '../../package.json' with { type: 'json' };
import { MINUTE_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { waitingForLog } from '../postgres/backlog.ts';
import { RATE_MINUTES, type StoredRate } from '../postgres/stored-rate.ts';
import { answerOf } from '../probes.ts';
import { prEvents } from '../queue/pr-events.ts';
import type { ServiceReading } from './gauges.ts';

interface StateReaders {
  /** A few seconds old at most; must not throw. */
  reading(): Promise<ServiceReading>;
  rate(): Promise<StoredRate>;
}

const moment = z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' });
const count = (description: string, example: number) => z.int().meta({ description, example });
const seconds = (description: string, example: number) => z.number().meta({ description, example });

const queueSchema = z
  .object({
    name: z.string().meta({ example: 'test-runs' }),
    waiting: count('Jobs that wait for a worker', 0),
    active: count('Jobs that a worker has in hand', 2),
    delayed: count('Jobs that are tried again later', 0),
    failed: count('Jobs out of attempts; `ci-insights dead-letters retry-failed` puts them back', 0),
    lag_seconds: seconds('Age of the oldest job that waits; 0 if none does', 0),
    drain_seconds: z.number().nullable().meta({
      description:
        'Time until the queue is empty if it continues as in the last minutes; null if it does not get shorter, or if it is too early to say',
      example: 0,
    }),
    is_stalled: z.boolean().meta({ description: 'It has not become shorter in the last minutes', example: false }),
  })
  .meta({ id: 'QueueState' });

const ingestSchema = z
  .object({
    executions_per_second: z.number().nullable().meta({
      description: 'Stored in the last minute; null if PostgreSQL does not respond',
      example: 812.5,
    }),
    executions_over_time: z
      .array(z.object({ start: moment, end: moment, executions: count('Stored in this minute', 48_750) }))
      .meta({
        description: `The last ${RATE_MINUTES} minutes, the oldest first; fewer while very many small blocks are stored`,
      }),
    stored_after_seconds: z
      .object({ median: seconds('Half of them took at most this long', 0.4), p95: seconds('19 of 20 did', 1.2) })
      .nullable()
      .meta({ description: 'From arrival to storage, of the newest uploads of these minutes; null if there are none' }),
    lag_seconds: z.number().nullable().meta({
      description:
        'Age of the oldest upload that some reads do not show yet: it waits in a queue, or is stored but not evaluated. Null if it cannot be told, because a store does not respond',
      example: 0.8,
    }),
  })
  .meta({ id: 'IngestState' });

const backlogSchema = z
  .object({
    blocks_unstored: count('Blocks that are written down but not stored', 0),
    blocks_unevaluated: count('Blocks that are stored but not evaluated', 1),
    evaluation_lag_seconds: seconds('Age of the oldest of these', 0.8),
    events_waiting: count('Events that are not in the event log yet, counted up to 10,000', 0),
    relay_lag_seconds: seconds('Age of the oldest of these', 0),
    dead_letters: count('Dead letters that were not replayed, counted up to 10,000', 0),
  })
  .meta({ id: 'BacklogState' });

const response = z
  .object({
    version: z.string().meta({ description: 'Of the service that answers', example: '1.0.0' }),
    stores: z
      .record(z.string(), z.boolean())
      .meta({ description: 'Whether each responds', example: { clickhouse: true, postgres: true, queue: true } }),
    ingest: ingestSchema,
    queues: z.array(queueSchema).meta({ description: 'Empty if their store does not respond' }),
    backlog: backlogSchema.nullable().meta({ description: 'Null if PostgreSQL does not respond' }),
  })
  .meta({ id: 'ServiceState' });
export type ServiceState = z.output<typeof response>;

/** Events are no results of tests. */
const HOLDS_NO_RESULTS: string = prEvents.name;

export function mountServiceState(app: AnyElysia, http: Http, { reading, rate }: StateReaders): void {
  mount(app, http, 'GET', '/v1/service', {
    operationId: 'getServiceState',
    tag: 'Service',
    summary: 'How the service is doing',
    description:
      'How fast results are stored and how far behind it is, what waits in the queues and for how long, and whether the stores respond: the same numbers as its metrics, as of the last seconds. For keys of every owner with the scope admin.',
    access: 'operator',
    responses: { 200: { description: 'The state.', schema: response } },
    isCoalesced: true,
    handle: async () => {
      const [read, stored] = await Promise.all([reading(), answerOf(rate)]);
      return { body: stateOf(read, stored) };
    },
  });
}

export function stateOf(reading: ServiceReading, stored: StoredRate | undefined): ServiceState {
  const { stores, backlog } = reading;
  const queues = Object.entries(reading.queues);
  return {
    version,
    stores: { ...stores },
    ingest: {
      executions_per_second: stored ? (stored.minutes[0] ?? 0) / 60 : null,
      executions_over_time: stored ? seriesOf(stored) : [],
      stored_after_seconds: stored?.seconds ?? null,
      lag_seconds: lagOf(reading),
    },
    queues: queues.flatMap(([name, queue]) => (queue ? [queueJson(name, queue)] : [])),
    backlog: backlog
      ? {
          blocks_unstored: backlog.blocksUnstored,
          blocks_unevaluated: backlog.blocksUnevaluated,
          evaluation_lag_seconds: backlog.evaluationLagSeconds,
          events_waiting: waitingForLog(backlog.eventsWaiting),
          relay_lag_seconds: backlog.relayLagSeconds,
          dead_letters: backlog.deadLettersWaiting,
        }
      : null,
  };
}

function lagOf({ queues, backlog }: ServiceReading): number | null {
  const ofResults = Object.entries(queues).flatMap(([name, queue]) => (name === HOLDS_NO_RESULTS ? [] : [queue]));
  const lags = [...ofResults.map((queue) => queue?.lagSeconds), backlog?.evaluationLagSeconds];
  const known = lags.filter((lag) => lag !== undefined);
  return known.length === lags.length ? Math.max(0, ...known) : null;
}

const seriesOf = ({ now, minutes }: StoredRate): ServiceState['ingest']['executions_over_time'] =>
  minutes
    .map((executions, ago) => ({
      start: new Date(now - (ago + 1) * MINUTE_MS).toISOString(),
      end: new Date(now - ago * MINUTE_MS).toISOString(),
      executions,
    }))
    .toReversed();

const queueJson = (
  name: string,
  { jobs, lagSeconds, drainSeconds }: NonNullable<ServiceReading['queues'][string]>,
): ServiceState['queues'][number] => ({
  name,
  waiting: jobs.waiting ?? 0,
  active: jobs.active ?? 0,
  delayed: jobs.delayed ?? 0,
  failed: jobs.failed ?? 0,
  lag_seconds: lagSeconds,
  drain_seconds: drainSeconds === undefined || drainSeconds === Number.POSITIVE_INFINITY ? null : drainSeconds,
  is_stalled: drainSeconds === Number.POSITIVE_INFINITY,
});
