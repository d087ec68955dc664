/**
 * Following the log while it grows: a poller that does what docs/api.md says ("Following the log") misses nothing and sees nothing
 * twice, while four workers write. And the whole log, paged to its end and back.
 *
 * In CI with 200,000 events; elsewhere with a tenth, because reading 4,000 pages takes a minute.
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
import { followPages, keyOfShown, labelled, logOf, makeEventsJob, type ShownEvent } from '../support/events.ts';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { HOOK_TIMEOUT_MS } from '../support/insights.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const EVENTS = process.env.CI === 'true' ? 200_000 : 20_000;
const WORKERS = 4;
const TIMEOUT_MS = 600_000;

let stores: TestStores;
let app: Pick<TestApp, 'request'>;
const workers: { postgres: Postgres; worker: Worker; relay: Relay }[] = [];
const repository = uniqueRepository();

beforeAll(async () => {
  stores = await openTestStores();
  const { requestUnchecked } = await openTestApp({ clock: systemClock });
  app = { request: requestUnchecked };
  // Each with connections of its own, as processes have.
  for (let i = 0; i < WORKERS; i++) {
    const postgres = openPostgres(stores.databaseUrl, () => {});
    const { log, clickhouse } = stores;
    const repositories = new RepositoryStore(postgres.db, systemClock);
    const handler = prEventsHandler({ clock: systemClock, log, db: postgres.db, repositories });
    const relay = new Relay({ db: postgres.db, clickhouse, log });
    relay.loop.wake();
    workers.push({ postgres, relay, worker: consume({ ...prEvents, concurrency: 2 }, handler)(stores) });
  }
}, HOOK_TIMEOUT_MS);
afterAll(async () => {
  for (const { worker, relay, postgres } of workers) {
    await worker.close();
    await relay.loop.stop();
    await postgres.close();
  }
}, HOOK_TIMEOUT_MS);

/** What docs/api.md tells a poller to do: ask from the time of the newest event it has, and skip the ids that it has. */
class Poller {
  readonly seen: ShownEvent[] = [];
  readonly #recent = new Map<number, string>();
  #from = new Date(Date.now() - 60_000).toISOString();

  async poll(): Promise<void> {
    const fresh: ShownEvent[] = [];
    const query = `?per_page=100&received_from=${this.#from}`;
    for (let url: string | undefined = logOf(repository, query); url !== undefined; ) {
      const response = await app.request(url);
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

test(
  `a poller misses none of ${EVENTS} events that ${WORKERS} workers write, and pages lead through all of them and back`,
  async () => {
    const jobs = EVENTS / JOB_EVENTS_MAX;
    const keyOf = (i: number): string => String(i).padStart(7, '0');
    const expected = Array.from({ length: EVENTS }, (_, i) => keyOf(i));
    const producing = (async () => {
      for (let job = 0; job < jobs; job++) {
        const keys = expected.slice(job * JOB_EVENTS_MAX, (job + 1) * JOB_EVENTS_MAX);
        await stores.producers.of(prEvents).add(
          makeEventsJob(
            repository,
            keys.map((key) => labelled(key)),
          ),
        );
      }
    })();
    const poller = new Poller();
    for (const end = Date.now() + TIMEOUT_MS; poller.seen.length < EVENTS && Date.now() < end; await Bun.sleep(20))
      await poller.poll();
    await producing;
    await poller.poll();
    expect(poller.seen.length).toBe(EVENTS);
    expect(poller.seen.map(keyOfShown).sort()).toEqual(expected);
    expect(poller.seen.every(({ id }, i) => i === 0 || id > (poller.seen[i - 1]?.id ?? 0))).toBe(true);

    const first = logOf(repository, '?per_page=100');
    const forwards = (await followPages(app, first, 'next')).flat();
    expect(forwards.map(({ id }) => id)).toEqual(poller.seen.map(({ id }) => id).reverse());
    const { last = '' } = linksOf(await app.request(first));
    const backwards = (await followPages(app, last, 'prev')).reverse().flat();
    expect(backwards.map(({ id }) => id)).toEqual(forwards.map(({ id }) => id));
  },
  TIMEOUT_MS,
);
