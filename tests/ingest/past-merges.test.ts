/** Merges that an import tells: in the event log once, where the host would have put them, and unseen by who follows it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { v7 as uuid7 } from 'uuid';
import { newEvent } from '../../src/domain/events.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { renoteMerges } from '../../src/maintenance/reconcile-events.ts';
import { readBacklog } from '../../src/postgres/backlog.ts';
import { recordPastEvents } from '../../src/postgres/outbox.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { mergesOf } from '../../workers/past-merges.ts';
import { TEST_NOW } from '../support/clock.ts';
import { type EventInput, followPages, labelled, logOf, makeEventsJob, type ShownEvent } from '../support/events.ts';
import { setUpIngest } from '../support/ingest.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
let app: ServiceApp;
beforeAll(async () => {
  app = await openServiceApp();
});
afterAll(() => app.stop());

type Path = ReturnType<typeof uniqueRepository>;

interface Merged {
  number: number;
  at: number;
  by?: string;
}

const commitOf = (number: number): string => String(number).padStart(40, 'c');
const versionOf = (number: number, at: number) => ({
  ...{ number, id: 9_000 + number, title: `Change ${number}`, author: null },
  ...{ base_ref: 'main', head_ref: `change-${number}`, head_commit: null, merge_commit: commitOf(number) },
  updated_at: new Date(at).toISOString(),
});

/** As the webhook of a host says it when it happens. */
async function mergeLive(repository: Path, { number, at, by = 'ann' }: Merged): Promise<void> {
  const { stores, driver } = ingest;
  stores.clock.set(at);
  const event: EventInput = labelled(`merge ${number}`, {
    ...{ type: 'action.merge', trigger: `@${by}`, pull_request: number, base_ref: 'main' },
    metadata: { branch: 'main', commit: commitOf(number) },
  });
  const job = makeEventsJob(repository, [event], { pull_requests: [versionOf(number, at)] });
  await stores.producers.of(prEvents).add(job, uuid7());
  await driver.settle();
}

async function importMerges({ owner, name }: Path, merges: readonly Merged[]): Promise<void> {
  const pull_requests = merges.map(({ number, at, by }) => ({
    ...versionOf(number, at),
    ...{ merged_at: new Date(at).toISOString(), merged_by: by },
  }));
  const response = await app.request(`/v1/ci/${owner}/repositories/${name}/pull-requests`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ pull_requests }),
  });
  expect(response.status).toBe(202);
  await ingest.driver.settle();
}

const windowFrom = (from: number): string =>
  `?per_page=100&received_from=${new Date(from).toISOString()}&received_to=${new Date(TEST_NOW + DAY_MS).toISOString()}`;
const eventsSince = async (repository: Path, from: number): Promise<ShownEvent[]> =>
  (await followPages(app, logOf(repository, windowFrom(from)), 'next')).flat();

const START = TEST_NOW - 40 * DAY_MS;
const PAST: Merged[] = Array.from({ length: 12 }, (_, i) => ({
  ...{ number: i + 1, at: START + i * 3 * DAY_MS + i * HOUR_MS },
  by: i % 3 === 0 ? 'bob' : 'ann',
}));

describe('merges of the past', () => {
  test('are in the log, and counted by day, as those that the host told when they happened', async () => {
    const [live, imported] = [uniqueRepository(), uniqueRepository()];
    for (const merged of PAST) await mergeLive(live, merged);
    ingest.stores.clock.set(TEST_NOW);
    // Newest first, as hosts list them.
    await importMerges(imported, PAST.toReversed());
    const said = async (repository: Path) => {
      const { owner, name } = repository;
      const events = await eventsSince(repository, START - DAY_MS);
      const counts = await app.get(
        `/v1/repos/${owner}/${name}/logs/aggregate${windowFrom(START - DAY_MS)}`.replace('per_page=100&', ''),
      );
      return { counts, events: events.map(({ id, repository: _, ...rest }) => rest) };
    };
    const told = await said(imported);
    expect(told.events).toHaveLength(PAST.length);
    expect(told).toEqual(await said(live));
  }, 60_000);

  test('are there once, however often they are imported, and whether a webhook said so before', async () => {
    const repository = uniqueRepository();
    const [first] = PAST;
    if (!first) throw new Error('the past is empty');
    await mergeLive(repository, first);
    ingest.stores.clock.set(TEST_NOW);
    await importMerges(repository, PAST);
    await importMerges(repository, PAST.toReversed());
    await Promise.all([importMerges(repository, PAST.slice(3)), importMerges(repository, PAST.slice(0, 9))]);
    const events = await eventsSince(repository, START - DAY_MS);
    expect(events.map(({ pull_request }) => pull_request)).toEqual(PAST.map(({ number }) => number).toReversed());
    expect(new Set(events.map(({ id }) => id)).size).toBe(PAST.length);
  }, 60_000);

  test('stay out of sight of who follows the log, and leave the times of later events alone', async () => {
    const repository = uniqueRepository();
    ingest.stores.clock.set(TEST_NOW);
    await mergeLive(repository, { number: 100, at: TEST_NOW - HOUR_MS });
    const [newest] = await eventsSince(repository, START);
    if (!newest) throw new Error('there is no event');
    const since = Date.parse(newest.received_at);
    await importMerges(repository, PAST);
    expect((await eventsSince(repository, since)).map(({ id }) => id)).toEqual([newest.id]);
    await mergeLive(repository, { number: 101, at: TEST_NOW });
    const followed = await eventsSince(repository, since);
    expect(followed.map(({ pull_request }) => pull_request)).toEqual([101, 100]);
    expect(followed[0]?.received_at).toBe(new Date(TEST_NOW).toISOString());
    expect(await eventsSince(repository, START)).toHaveLength(PAST.length + 2);
  }, 60_000);

  test('are there once after a restore, whichever store is older', async () => {
    const { stores } = ingest;
    const { clickhouse } = stores;
    const { db } = stores.postgres;
    const repository = uniqueRepository();
    const [kept, lost] = [PAST.slice(0, 1), PAST.slice(1, 2)];
    await importMerges(repository, [...kept, ...lost]);
    const { id } = await stores.repositories.record(repository);
    // PostgreSQL has forgotten one merge, and ClickHouse the other.
    await db.update(pullRequests).set({ isMergeLogged: false }).where(eq(pullRequests.repositoryId, id));
    await clickhouse.command(
      `ALTER TABLE ci.events DELETE WHERE repository_id = {id: UUID} AND pull_request = {number: UInt32}
       SETTINGS mutations_sync = 2`,
      { id, number: lost[0]?.number ?? 0 },
    );
    await renoteMerges({ db, clickhouse });
    await importMerges(repository, [...kept, ...lost]);
    const numbers = (await eventsSince(repository, START)).map(({ pull_request: number }) => number);
    expect(numbers.toSorted()).toEqual([...kept, ...lost].map(({ number }) => number).toSorted());
  });

  test('do not look as if they had waited for weeks to be relayed', async () => {
    const { stores } = ingest;
    const { id } = await stores.repositories.record(uniqueRepository());
    const event = newEvent('action.merge', {}, { trigger: 'import', pullRequest: 1 });
    const lag = await stores.postgres.db.transaction(async (tx) => {
      await recordPastEvents(tx, id, [{ event, receivedAt: new Date(START) }], TEST_NOW);
      return (await readBacklog(tx, TEST_NOW)).relayLagSeconds;
    });
    expect(lag).toBe(0);
  });

  test('are left out if the log keeps events for less time, and are never in the future', () => {
    const kept = { retentionDays: 365, eventRetentionDays: null };
    const moment = fc.integer({ min: TEST_NOW - 800 * DAY_MS, max: TEST_NOW + HOUR_MS });
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 20 }), fc.integer({ min: 1, max: 300 }), (times, days) => {
        const versions = times.map((at, number) => ({
          ...versionOf(number + 1, at),
          merged_at: new Date(at).toISOString(),
        }));
        const merges = mergesOf(versions, { ...kept, eventRetentionDays: days }, TEST_NOW);
        const at = merges.map(({ event }) => event.receivedAt.getTime());
        expect(at).toEqual(at.toSorted((one, other) => one - other));
        for (const one of at) expect(one).toBeWithin(TEST_NOW - (days + 1) * DAY_MS, TEST_NOW + 1);
        const isWellWithin = (time: number) => time >= TEST_NOW - days * DAY_MS;
        expect(at.length).toBeGreaterThanOrEqual(times.filter(isWellWithin).length);
        expect(mergesOf(versions, kept, TEST_NOW).length).toBeGreaterThanOrEqual(merges.length);
      }),
    );
    expect(mergesOf([versionOf(1, TEST_NOW)], kept, TEST_NOW + MINUTE_MS)).toEqual([]);
  });
});
