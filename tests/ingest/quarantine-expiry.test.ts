/** Quarantines that end automatically, the announcement of their end, and the limit of automatic ones. */
import { afterAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { announceExpiring, endExpired } from '../../src/postgres/quarantine-expiry.ts';
import type { Repository } from '../../src/postgres/repositories.ts';
import { quarantines } from '../../src/postgres/schema.ts';
import { setUpApp } from '../support/ingest.ts';
import { openReplica, type Replica } from '../support/other-process.ts';
import { until } from '../support/patience.ts';
import { uniqueRepository } from '../support/stores.ts';

const service = setUpApp();
const ANN = { name: 'ann', actor: null };
const WORKERS = 6;

const recorded = (): Promise<Repository> => service.stores.repositories.record(uniqueRepository());

/** Quarantines a test, and moves its end to so many days from now, by the clock of PostgreSQL. */
async function quarantine({ id: repositoryId }: Repository, testName: string, days: number): Promise<string> {
  const wanted = { testName, reason: 'r', branch: null, owner: 'team', expiresAt: new Date(Date.now() + 365 * DAY_MS) };
  const created = await service.stores.quarantines.create(repositoryId, wanted, ANN);
  if (!created) throw new Error('it is quarantined already');
  await moveEnd(created.id, days);
  return created.id;
}

const moveEnd = (id: string, days: number) =>
  service.stores.postgres.db
    .update(quarantines)
    .set({ expiresAt: sql`date_trunc('milliseconds', now()) + ${days} * interval '1 day'` })
    .where(sql`${quarantines.id} = ${id}`);

interface Shown {
  type: string;
  trigger: string;
  metadata: Record<string, unknown>;
}

/** Events of a type, newest first. Those of an end have the time of PostgreSQL, others that of the test's clock. */
async function eventsOf({ owner, name }: Repository, type: string): Promise<Shown[]> {
  await service.driver.settle();
  const found = new Map<string, Shown>();
  for (const at of [Date.now(), service.stores.clock.now()]) {
    const window = `received_from=${new Date(at - HOUR_MS).toISOString()}&received_to=${new Date(at + HOUR_MS).toISOString()}`;
    const address = `/v1/repos/${owner}/${name}/logs?per_page=100&event_type=${type}&${window}`;
    const { events } = await service.app.get<{ events: Shown[] }>(address);
    for (const event of events) found.set(JSON.stringify(event), event);
  }
  return [...found.values()];
}

const testsOf = (events: readonly Shown[]): unknown[] => events.map(({ metadata }) => metadata.test_name).sort();

const open = async ({ id }: Repository): Promise<string[]> =>
  (await service.stores.quarantines.snapshot(id)).quarantines.map(({ testName }) => testName);

/** Several workers do at the same time what every worker does every few seconds. */
const everyWorker = (work: typeof endExpired): Promise<unknown> =>
  Promise.all(Array.from({ length: WORKERS }, () => work(service.stores.postgres.db)));

let replica: Replica | undefined;
afterAll(() => replica?.close());

describe('the end of a quarantine', () => {
  test('comes once, with one event, however many workers look for it', async () => {
    const repository = await recorded();
    const names = Array.from({ length: 30 }, (_, i) => `test ${i}`);
    for (const name of names) await quarantine(repository, name, -0.001);
    await quarantine(repository, 'later', 1);
    await everyWorker(endExpired);
    await everyWorker(endExpired);
    expect(await open(repository)).toEqual(['later']);
    const events = await eventsOf(repository, 'test.dequarantined');
    expect(testsOf(events)).toEqual(names.toSorted());
    expect(events[0]).toMatchObject({
      trigger: 'quarantine-expiry',
      metadata: {
        source: 'manual',
        owner: 'team',
        dequarantined_by: null,
        health_status_at_event: null,
        original_quarantine: { source: 'manual', reason: 'r', branch: null },
      },
    });
  });

  test('goes by the clock of PostgreSQL: a worker whose clock is off neither hastens nor delays it', async () => {
    const repository = await recorded();
    await quarantine(repository, 'ended', -0.001);
    await quarantine(repository, 'open', 0.04);
    const { clock } = service.stores;
    const at = clock.now();
    clock.set(at + 400 * DAY_MS);
    await everyWorker(endExpired);
    clock.set(at - 400 * DAY_MS);
    await everyWorker(endExpired);
    clock.set(at);
    expect(await open(repository)).toEqual(['open']);
  });

  test('reaches the lists in memory of every process at once', async () => {
    replica = await openReplica(service.stores);
    const repository = await recorded();
    const base = `/v1/ci/${repository.owner}/repositories/${repository.name}/quarantines`;
    const size = async (app: Pick<Replica, 'get'>) => (await app.get<{ size: number }>(base)).size;
    const id = await quarantine(repository, 'a', 1);
    expect([await size(service.app), await size(replica)]).toEqual([1, 1]);
    await moveEnd(id, -0.001);
    await everyWorker(endExpired);
    for (const app of [service.app, replica])
      await until(
        () => size(app),
        (listed) => listed === 0,
      );
    expect((await service.app.request(`${base}/${id}`)).status).toBe(404);
  });

  test('a person who moves the end, or removes it, and workers that end it agree on one of both', async () => {
    const repository = await recorded();
    const { stores } = service;
    const ids = [];
    for (let i = 0; i < 20; i++) ids.push(await quarantine(repository, `test ${i}`, -0.001));
    const later = new Date(Date.now() + 30 * DAY_MS);
    const outcomes = await Promise.all([
      ...ids.map((id, i) =>
        i % 2 === 0
          ? stores.quarantines.update(repository.id, id, { expiresAt: later }, ANN)
          : stores.quarantines.remove(repository.id, id, ANN),
      ),
      everyWorker(endExpired),
    ]);
    await everyWorker(endExpired);
    const kept = outcomes.slice(0, ids.length).filter((outcome, i) => i % 2 === 0 && outcome !== undefined);
    expect(await open(repository)).toHaveLength(kept.length);
    // Each that is gone has one event of its end, by a person or by a worker.
    const ends = await eventsOf(repository, 'test.dequarantined');
    expect(new Set(testsOf(ends)).size).toBe(ends.length);
    expect(ends).toHaveLength(ids.length - kept.length);
  });
});

describe('the announcement', () => {
  test('comes once for each end, as many days before as the repository says', async () => {
    const repository = await recorded();
    const { repositories } = service.stores;
    await quarantine(repository, 'in 2 days', 2);
    const id = await quarantine(repository, 'in 4 days', 4);
    const announced = async () => testsOf(await eventsOf(repository, 'test.quarantine.expiring'));
    await everyWorker(announceExpiring);
    await everyWorker(announceExpiring);
    expect(await announced()).toEqual(['in 2 days']);
    await repositories.set(repository, { quarantineWarningDays: 5 }, 'ann');
    await everyWorker(announceExpiring);
    expect(await announced()).toEqual(['in 2 days', 'in 4 days']);
    await moveEnd(id, 3);
    await everyWorker(announceExpiring);
    expect(await announced()).toEqual(['in 2 days', 'in 4 days', 'in 4 days']);
    expect((await eventsOf(repository, 'test.quarantine.expiring'))[0]).toMatchObject({
      trigger: 'quarantine-expiry',
      metadata: { owner: 'team', expires_at: expect.any(String), quarantined_at: expect.any(String) },
    });
  });

  test('0 days: there is none; and an end that has passed is not announced any more', async () => {
    const repository = await recorded();
    await service.stores.repositories.set(repository, { quarantineWarningDays: 0 }, 'ann');
    await quarantine(repository, 'soon', 0.01);
    await quarantine(repository, 'ended', -0.001);
    await everyWorker(announceExpiring);
    expect(await eventsOf(repository, 'test.quarantine.expiring')).toEqual([]);
  });
});

describe('a change of terms', () => {
  test('is an event with the terms before and after; what changes nothing is none', async () => {
    const repository = await recorded();
    const id = await quarantine(repository, 'a', 1);
    const { quarantines: store } = service.stores;
    for (let i = 0; i < 2; i++) await store.update(repository.id, id, { owner: 'ann', jobName: 'unit' }, ANN);
    const events = await eventsOf(repository, 'test.quarantine.updated');
    expect(events).toMatchObject([
      {
        trigger: 'ann',
        metadata: {
          owner: 'ann',
          job_name: 'unit',
          quarantine_attributes_before: { owner: 'team', job_name: null, ticket_url: null },
        },
      },
    ]);
  });
});

describe('the limit', () => {
  test('stops automatic quarantines, not people, and the log says so once until there is room again', async () => {
    const repository = await recorded();
    const { repositories, quarantines: store } = service.stores;
    await repositories.set(repository, { quarantineLimit: 2 }, 'ann');
    const automatically = (testName: string) =>
      store.createAutomatically(repository.id, { testName, reason: 'flaky', branch: null }, 'auto-quarantine');
    const byHand = (testName: string) => store.create(repository.id, { testName, reason: 'r', branch: null }, ANN);
    expect([await automatically('a'), await automatically('a'), await automatically('b')]).toEqual([
      'created',
      'known',
      'created',
    ]);
    expect(await Promise.all(['c', 'd', 'e'].map(automatically))).toEqual(['limited', 'limited', 'limited']);
    const [hand] = [await byHand('f')];
    expect(await automatically('g')).toBe('limited');
    const noted = () => eventsOf(repository, 'ci_insights.auto_quarantine.limit_reached');
    expect(await noted()).toMatchObject([{ trigger: 'auto-quarantine', metadata: { limit: 2, open_quarantines: 2 } }]);
    // Two are left, which is still no room.
    await store.remove(repository.id, hand?.id ?? '', ANN);
    expect(await automatically('g')).toBe('limited');
    expect(await noted()).toHaveLength(1);
    const [first] = (await store.snapshot(repository.id)).quarantines;
    await store.remove(repository.id, first?.id ?? '', ANN);
    expect([await automatically('g'), await automatically('h')]).toEqual(['created', 'limited']);
    expect(await noted()).toHaveLength(2);
    await repositories.set(repository, { quarantineLimit: null }, 'ann');
    expect(await automatically('h')).toBe('created');
  });
});
