/**
 * Gauges of the stores. They are read when Prometheus scrapes, but at most every few seconds and one reading at a time,
 * so that even many scrapers cost the stores next to nothing. If a store does not respond, its gauges are removed and
 * it is shown as down.
 */

import { Gauge } from '@prometheus-io/client';
import { registry } from '../observability/registry.ts';
import type { Backlog } from '../postgres/backlog.ts';
import { answerOf, isUp, type Probes } from '../probes.ts';
import { type QueueBacklog, waitingIn } from '../queue/backlog.ts';
import { DrainEstimate } from '../queue/drain.ts';
import type { StoreSizes } from './store-sizes.ts';

/** How long a reading is reused. */
const FRESH_MS = 5_000;
/** Sizes change slowly, and PostgreSQL looks at every file for its own. */
const SIZES_FRESH_MS = 60_000;

export interface GaugeReaders {
  probes: Probes;
  queues: Readonly<Record<string, () => Promise<QueueBacklog>>>;
  backlog(): Promise<Backlog>;
  /** Never throws. Undefined: sizes are not shown. */
  sizes?(): Promise<StoreSizes>;
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
  refused: gauge(
    'ci_insights_inserts_refused_seconds',
    'Age of the oldest block that ClickHouse refuses to store, though it responds; 0 if there is none.',
  ),
  evaluationLag: gauge('ci_insights_evaluation_lag_seconds', 'Age of the oldest stored block that is not evaluated.'),
  events: gauge(
    'ci_insights_events_waiting',
    'Events in the outbox that a consumer has yet to take, counted up to 10,000; relay is the event log.',
    ['consumer'],
  ),
  relayLag: gauge(
    'ci_insights_relay_lag_seconds',
    'Age of the oldest event that is not in the event log; 0 if there is none.',
  ),
  deadLetters: gauge('ci_insights_dead_letters_waiting', 'Dead letters that were not replayed, counted up to 10,000.'),
  pullsFailing: gauge(
    'ci_insights_pull_comments_failing',
    'Pull requests whose comment or check could not be written yet, counted up to 10,000.',
  ),
  lockWaits: gauge(
    'ci_insights_postgres_lock_waits',
    'Connections of the service to PostgreSQL that wait for a lock, such as evaluations for their turn.',
  ),
  storeBytes: gauge('ci_insights_store_bytes', 'Bytes that a store holds on disk.', ['store']),
  diskFree: gauge('ci_insights_disk_free_bytes', 'Free bytes of a disk; store data is the folder of embedded stores.', [
    'store',
    'disk',
  ]),
  diskTotal: gauge('ci_insights_disk_total_bytes', 'Bytes that fit on that disk.', ['store', 'disk']),
  groupsMoving: gauge(
    'ci_insights_failure_groups_moving',
    'Failure groups of an older fingerprint whose tests wait for their new ones, counted up to 10,000.',
  ),
};

interface QueueReading extends QueueBacklog {
  /** Until the queue is empty; Infinity if it does not get shorter, undefined if it is too early to say. */
  drainSeconds: number | undefined;
}

/** The result of a reading; undefined where a store did not respond. */
export interface ServiceReading {
  stores: Readonly<Record<string, boolean>>;
  queues: Readonly<Record<string, QueueReading | undefined>>;
  backlog: Backlog | undefined;
}

const NOTHING_READ: ServiceReading = { stores: {}, queues: {}, backlog: undefined };

/** Reads the stores into the gauges. Safe to call at every scrape; never throws. */
export class Sampler {
  #reading: Promise<ServiceReading> | undefined;
  #newest = NOTHING_READ;
  #readAt = Number.NEGATIVE_INFINITY;
  #sizesReadAt = Number.NEGATIVE_INFINITY;
  readonly #drains = new Map<string, DrainEstimate>();

  constructor(private readonly readers: GaugeReaders) {}

  /** The newest reading, a few seconds old at most. */
  async refresh(): Promise<ServiceReading> {
    if (performance.now() - this.#readAt < FRESH_MS) return this.#newest;
    this.#reading ??= this.#read().finally(() => {
      this.#readAt = performance.now();
      this.#reading = undefined;
    });
    this.#newest = await this.#reading;
    return this.#newest;
  }

  async #read(): Promise<ServiceReading> {
    const { probes, queues, backlog: readBacklog } = this.readers;
    const [stores, read, backlog] = await Promise.all([
      eachOf(probes, isUp),
      eachOf(queues, answerOf),
      answerOf(readBacklog),
    ]);
    const reading = { stores, queues: mapValues(read, (found, queue) => this.#withDrain(queue, found)), backlog };
    show(reading);
    await this.#readSizes();
    return reading;
  }

  async #readSizes(): Promise<void> {
    if (performance.now() - this.#sizesReadAt < SIZES_FRESH_MS) return;
    const sizes = await this.readers.sizes?.();
    this.#sizesReadAt = performance.now();
    if (sizes) showSizes(sizes);
  }

  #withDrain(queue: string, backlog: QueueBacklog | undefined): QueueReading | undefined {
    const drain = this.#drains.get(queue) ?? new DrainEstimate();
    this.#drains.set(queue, drain);
    return backlog && { ...backlog, drainSeconds: drain.observe(performance.now(), waitingIn(backlog)) };
  }
}

const mapValues = <T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));

const eachOf = async <T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T) => Promise<U>,
): Promise<Record<string, U>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(values).map(async ([name, value]) => [name, await change(value)] as const)),
  );

function show({ stores, queues, backlog }: ServiceReading): void {
  for (const [store, isStoreUp] of Object.entries(stores)) gauges.storeUp.set({ store }, isStoreUp ? 1 : 0);
  for (const [queue, reading] of Object.entries(queues)) showQueue(queue, reading);
  showBacklog(backlog);
}

const STATES = ['waiting', 'active', 'delayed', 'failed'];

function showQueue(queue: string, backlog: QueueReading | undefined): void {
  for (const state of STATES) {
    if (backlog) gauges.jobs.set({ queue, state }, backlog.jobs[state] ?? 0);
    else gauges.jobs.remove({ queue, state });
  }
  if (backlog) gauges.lag.set({ queue }, backlog.lagSeconds);
  else gauges.lag.remove({ queue });
  if (backlog?.drainSeconds === undefined) gauges.drain.remove({ queue });
  else gauges.drain.set({ queue }, backlog.drainSeconds);
}

function showBacklog(reading: Backlog | undefined): void {
  if (!reading) {
    gauges.blocks.reset();
    gauges.events.reset();
    const { refused, evaluationLag, relayLag, deadLetters, pullsFailing, lockWaits, groupsMoving } = gauges;
    const alone = [refused, evaluationLag, relayLag, deadLetters, pullsFailing, lockWaits, groupsMoving];
    for (const one of alone) one.remove();
    return;
  }
  gauges.blocks.set({ state: 'unstored' }, reading.blocksUnstored);
  gauges.blocks.set({ state: 'unevaluated' }, reading.blocksUnevaluated);
  gauges.refused.set(reading.refused.seconds);
  gauges.evaluationLag.set(reading.evaluationLagSeconds);
  for (const [consumer, events] of Object.entries(reading.eventsWaiting)) gauges.events.set({ consumer }, events);
  gauges.relayLag.set(reading.relayLagSeconds);
  gauges.deadLetters.set(reading.deadLettersWaiting);
  gauges.pullsFailing.set(reading.pullsFailing.count);
  gauges.lockWaits.set(reading.lockWaits);
  gauges.groupsMoving.set(reading.groupsMoving);
}

function showSizes({ bytes, disks }: StoreSizes): void {
  for (const all of [gauges.storeBytes, gauges.diskFree, gauges.diskTotal]) all.reset();
  for (const [store, size] of Object.entries(bytes)) gauges.storeBytes.set({ store }, size);
  for (const { store, disk, freeBytes, totalBytes } of disks) {
    gauges.diskFree.set({ store, disk }, freeBytes);
    gauges.diskTotal.set({ store, disk }, totalBytes);
  }
}
