/**
 * Following the event log while it grows. A poller that does what docs/api.md says ("Following the log") misses no event
 * and sees none twice while several workers write, and pages lead through the whole log and back.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Worker } from 'bullmq';
import { systemClock } from '../../src/clock.ts';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { RepositoryStore } from '../../src/postgres/repositories.ts';
import { JOB_EVENTS_MAX, prEvents } from '../../src/queue/pr-events.ts';
import { consume } from '../../workers/consume.ts';
import { prEventsHandler } from '../../workers/pr-events.ts';
import { Relay } from '../../workers/relay.ts';
import { followPages, keyOfShown, labelled, logOf, makeEventsJob, type ShownEvent } from './events.ts';
import { linksOf, openTestApp, type TestApp } from './http.ts';
import { openTestStores, type TestStores, uniqueRepository } from './stores.ts';

type App = Pick<TestApp, 'request'>;
type RepositoryPath = ReturnType<typeof uniqueRepository>;

const WORKERS = 4;
/** Whatever takes this long never comes. */
const GIVE_UP_MS = 1_800_000;

/** A poller as docs/api.md describes it: asks from the time of the newest event it has, and skips the ids that it has. */
class Poller {
  readonly seen: ShownEvent[] = [];
  readonly #recent = new Map<number, string>();
  #from = new Date(Date.now() - 60_000).toISOString();

  constructor(
    private readonly app: App,
    private readonly repository: RepositoryPath,
  ) {}

  async poll(): Promise<void> {
    const fresh: ShownEvent[] = [];
    const query = `?per_page=100&received_from=${this.#from}`;
    for (let url: string | undefined = logOf(this.repository, query); url !== undefined; ) {
      const response = await this.app.request(url);
      expect(response.status).toBe(200);
      const { events } = (await response.json()) as { events: ShownEvent[] };
      fresh.push(...events.filter(({ id }) => !this.#recent.has(id)));
      url = linksOf(response).next;
    }
    const [newest] = fresh;
    if (newest) this.#from = newest.received_at;
    for (const { id, received_at } of fresh) this.#recent.set(id, received_at);
    for (const [id, at] of this.#recent) if (at < this.#from) this.#recent.delete(id);
    this.seen.push(...fresh.reverse());
  }
}

interface EventWorker {
  postgres: Postgres;
  worker: Worker;
  relay: Relay;
}

/** With its own connections, as a process has. */
function startWorker(stores: TestStores): EventWorker {
  const postgres = openPostgres(stores.databaseUrl, () => {});
  const { log, clickhouse } = stores;
  const repositories = new RepositoryStore(postgres.db, systemClock);
  const handler = prEventsHandler({ clock: systemClock, log, db: postgres.db, repositories, retentionDays: 365 });
  const relay = new Relay({ db: postgres.db, clickhouse, log });
  relay.loop.wake();
  return { postgres, relay, worker: consume({ ...prEvents, concurrency: 2 }, handler)(stores) };
}

/** Queues the events, as many to a job as it holds. */
async function produce(stores: TestStores, repository: RepositoryPath, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += JOB_EVENTS_MAX) {
    const events = keys.slice(at, at + JOB_EVENTS_MAX).map((key) => labelled(key));
    await stores.producers.of(prEvents).add(makeEventsJob(repository, events));
  }
}

/** Defines the test, with its workers. */
export function testFollowingTheLog(events: number): void {
  let stores: TestStores;
  let app: App;
  const workers: EventWorker[] = [];
  beforeAll(async () => {
    stores = await openTestStores();
    const { requestUnchecked } = await openTestApp({ clock: systemClock });
    app = { request: requestUnchecked };
    for (let i = 0; i < WORKERS; i++) workers.push(startWorker(stores));
  });
  afterAll(async () => {
    for (const { worker, relay, postgres } of workers) {
      await worker.close();
      await relay.loop.stop();
      await postgres.close();
    }
  });

  test(
    `a poller misses none of ${events} events that ${WORKERS} workers write, and pages lead through all of them and back`,
    async () => {
      const repository = uniqueRepository();
      const expected = Array.from({ length: events }, (_, i) => String(i).padStart(7, '0'));
      const producing = produce(stores, repository, expected);
      const poller = new Poller(app, repository);
      for (const end = Date.now() + GIVE_UP_MS; poller.seen.length < events && Date.now() < end; await Bun.sleep(20))
        await poller.poll();
      await producing;
      await poller.poll();
      expect(poller.seen.length).toBe(events);
      expect(poller.seen.map(keyOfShown).sort()).toEqual(expected);
      expect(poller.seen.every(({ id }, i) => i === 0 || id > (poller.seen[i - 1]?.id ?? 0))).toBe(true);

      const first = logOf(repository, '?per_page=100');
      const forwards = (await followPages(app, first, 'next')).flat();
      expect(forwards.map(({ id }) => id)).toEqual(poller.seen.map(({ id }) => id).reverse());
      const { last = '' } = linksOf(await app.request(first));
      const backwards = (await followPages(app, last, 'prev')).reverse().flat();
      expect(backwards.map(({ id }) => id)).toEqual(forwards.map(({ id }) => id));
    },
    GIVE_UP_MS,
  );
}
