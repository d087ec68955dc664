/**
 * Gauges of the stores. They are read when Prometheus scrapes, but at most every few seconds and one reading at a time,
 * so that even many scrapers cost the stores next to nothing. If a store does not respond, its gauges are removed and
 * it is shown as down.
 */
import pTimeout from 'p-timeout';
import { Gauge } from 'prom-client';
import { registry } from '../observability/registry.ts';
import type { Backlog } from '../postgres/backlog.ts';
import { isUp, type Probes } from '../probes.ts';
import { type QueueBacklog, waitingIn } from '../queue/backlog.ts';
import { DrainEstimate } from '../queue/drain.ts';

/** How long a reading is reused. */
const FRESH_MS = 5_000;
/** What does not respond within this time is left out of the reading. */
const TIMEOUT_MS = 2_000;

export interface GaugeReaders {
  probes: Probes;
  queues: Readonly<Record<string, () => Promise<QueueBacklog>>>;
  backlog(): Promise<Backlog>;
}

const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
  new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });

const gauges = {
  storeUp: gauge('ci_insights_store_up', 'Whether a store responds: 1 or 0.', ['store']),
  jobs: gauge('ci_insights_queue_jobs', 'Jobs in a queue by state: waiting, active, delayed or failed.', [
    'queue',
    'state',
  ]),
  lag: gauge('ci_insights_queue_lag_seconds', 'Age of the oldest waiting job; 0 if none waits.', ['queue']),
  drain: gauge(
    'ci_insights_queue_drain_seconds',
    'Time until a queue is empty if it continues as in the last minutes; 0 if nothing waits, +Inf if it does not get shorter.',
    ['queue'],
  ),
  blocks: gauge(
    'ci_insights_blocks_unfinished',
    'Blocks that are claimed but not stored, or stored but not evaluated.',
    ['state'],
  ),
  evaluationLag: gauge('ci_insights_evaluation_lag_seconds', 'Age of the oldest stored block that is not evaluated.'),
  events: gauge('ci_insights_events_waiting', 'Events in the outbox, counted up to 10,000.'),
  relayLag: gauge('ci_insights_relay_lag_seconds', 'Age of the oldest event in the outbox.'),
  deadLetters: gauge('ci_insights_dead_letters_waiting', 'Dead letters that were not replayed, counted up to 10,000.'),
  groupsMoving: gauge(
    'ci_insights_failure_groups_moving',
    'Failure groups of an older fingerprint whose tests wait for their new ones, counted up to 10,000.',
  ),
};

/** Reads the stores into the gauges. Safe to call at every scrape; never throws. */
export class Sampler {
  #reading: Promise<void> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #drains = new Map<string, DrainEstimate>();

  constructor(private readonly readers: GaugeReaders) {}

  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return;
    this.#reading ??= this.#read().finally(() => {
      this.#readAt = performance.now();
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { probes, queues, backlog } = this.readers;
    await Promise.all([
      ...Object.entries(probes).map(async ([store, probe]) =>
        gauges.storeUp.set({ store }, (await isUp(probe)) ? 1 : 0),
      ),
      ...Object.entries(queues).map(async ([queue, read]) => this.#showQueue(queue, await answerOf(read))),
      answerOf(backlog).then(showBacklog),
    ]);
  }

  #showQueue(queue: string, backlog: QueueBacklog | undefined): void {
    showQueue(queue, backlog);
    const drain = this.#drains.get(queue) ?? new DrainEstimate();
    this.#drains.set(queue, drain);
    const seconds = backlog && drain.observe(performance.now(), waitingIn(backlog));
    if (seconds === undefined) gauges.drain.remove({ queue });
    else gauges.drain.set({ queue }, seconds);
  }
}

const STATES = ['waiting', 'active', 'delayed', 'failed'];

function showQueue(queue: string, backlog: QueueBacklog | undefined): void {
  for (const state of STATES) {
    if (backlog) gauges.jobs.set({ queue, state }, backlog.jobs[state] ?? 0);
    else gauges.jobs.remove({ queue, state });
  }
  if (backlog) gauges.lag.set({ queue }, backlog.lagSeconds);
  else gauges.lag.remove({ queue });
}

function showBacklog(reading: Backlog | undefined): void {
  if (!reading) {
    gauges.blocks.reset();
    const { evaluationLag, events, relayLag, deadLetters, groupsMoving } = gauges;
    for (const alone of [evaluationLag, events, relayLag, deadLetters, groupsMoving]) alone.remove();
    return;
  }
  gauges.blocks.set({ state: 'unstored' }, reading.blocksUnstored);
  gauges.blocks.set({ state: 'unevaluated' }, reading.blocksUnevaluated);
  gauges.evaluationLag.set(reading.evaluationLagSeconds);
  gauges.events.set(reading.eventsWaiting);
  gauges.relayLag.set(reading.relayLagSeconds);
  gauges.deadLetters.set(reading.deadLettersWaiting);
  gauges.groupsMoving.set(reading.groupsMoving);
}

/** The result, or undefined if the read fails or takes too long. */
const answerOf = <T>(read: () => Promise<T>): Promise<T | undefined> =>
  pTimeout(read(), { milliseconds: TIMEOUT_MS, message: false }).catch(() => undefined);
