/** A service that is killed while quarantines come, go and expire keeps what it answered, and every change has one event. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/patience.ts';
import { ServiceProcess } from '../support/service-process.ts';

const KILLS = 6;
/** Short, so that ends fall into every kill and every start. */
const EXPIRES_AFTER_MS = 2_000;
const QUARANTINES = '/v1/ci/acme/repositories/shop/quarantines';
const LOG = '/v1/repos/acme/shop/logs?per_page=100';

const dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-killed-'));
const service = ServiceProcess.onFolder(dataDir);
beforeAll(() => service.start());
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Quarantined {
  id: string;
  test_name: string;
  expires_at: string | null;
}
interface Shown {
  id: number;
  type: string;
  metadata: { quarantine_id: string };
}

const isDequarantined = (events: readonly Shown[], id: string): boolean =>
  events.some(({ type, metadata }) => type === 'test.dequarantined' && metadata.quarantine_id === id);

const list = async (): Promise<Quarantined[]> =>
  ((await (await service.request(QUARANTINES)).json()) as { quarantined_tests: Quarantined[] }).quarantined_tests;

async function log(): Promise<Shown[]> {
  const events: Shown[] = [];
  for (let url: string | undefined = LOG; url !== undefined; ) {
    const response = await service.request(url);
    expect(response.status).toBe(200);
    events.push(...((await response.json()) as { events: Shown[] }).events);
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    url = next?.slice(new URL(next).origin.length);
  }
  return events;
}

test('every quarantine that is open has one event, every one that was removed or expired has two, in order', async () => {
  const answered = new Set<string>();
  const removed = new Set<string>();
  let count = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    let isAlive = true;
    const clients = Array.from({ length: 4 }, async () => {
      while (isAlive) {
        try {
          const expiresAt = count % 3 === 0 ? new Date(Date.now() + EXPIRES_AFTER_MS).toISOString() : null;
          const body = JSON.stringify({ test_name: `test ${count++}`, reason: '', expires_at: expiresAt });
          const headers = { 'content-type': 'application/json' };
          const created = await service.request(QUARANTINES, { method: 'POST', headers, body });
          // Answered too late to have an end in the future.
          if (created.status === 422) continue;
          const { id } = (await created.json()) as { id: string };
          answered.add(id);
          if (count % 2 > 0) continue;
          const gone = await service.request(`${QUARANTINES}/${id}`, { method: 'DELETE' });
          if (gone.status === 204) removed.add(id);
        } catch {
          // The service died before it answered: the log must say what became of this one.
        }
      }
    });
    // After some more changes each time, and at a random point of what is going on.
    const enough = answered.size + 10 + 5 * kill;
    await until(() => answered.size >= enough);
    await Bun.sleep(50 * Math.random());
    await service.kill();
    isAlive = false;
    await Promise.all(clients);
    await service.start();
  }
  const open = await until(list, (all) => all.every(({ expires_at }) => expires_at === null), 500);
  const there = new Set(open.map(({ id }) => id));
  const ended = [...answered].filter((id) => !there.has(id));
  const isTold = (known: readonly Shown[]): boolean =>
    ended.every((id) => isDequarantined(known, id)) &&
    [...there].every((id) => known.some(({ metadata }) => metadata.quarantine_id === id));
  // The service looks for ends every ten seconds. Changes without an answer have events too, so the log is read until it no
  // longer grows.
  let events: Shown[] = [];
  let still = 0;
  const look = async (): Promise<number> => {
    const next = await log();
    still = next.length === events.length && isTold(next) ? still + 1 : 0;
    events = next;
    return still;
  };
  await until(look, (times) => times >= 4, 500);
  expect(answered.size).toBeGreaterThanOrEqual(KILLS * 10);
  for (const id of answered)
    if (!removed.has(id)) expect([id, there.has(id) || isDequarantined(events, id)]).toEqual([id, true]);
  for (const id of removed) expect(there.has(id)).toBe(false);

  const typesOf = new Map<string, string[]>();
  for (const { type, metadata } of events.toReversed())
    typesOf.set(metadata.quarantine_id, [...(typesOf.get(metadata.quarantine_id) ?? []), type]);
  for (const [id, all] of typesOf) {
    // The announcement of the end comes once, if it comes before the end.
    const types = all.filter((type) => type !== 'test.quarantine.expiring');
    expect([id, all.length - types.length <= 1]).toEqual([id, true]);
    expect([id, types]).toEqual([
      id,
      there.has(id) ? ['test.quarantined'] : ['test.quarantined', 'test.dequarantined'],
    ]);
  }
  for (const id of [...answered, ...there]) expect(typesOf.has(id)).toBe(true);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});
