/** Deliveries of a host all the way into the log, on real stores: what the host sends twice is stored once. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { type PrEventsJob, prEvents } from '../../src/queue/pr-events.ts';
import { followPages, logOf } from '../support/events.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import {
  delivery,
  type Example,
  githubSite,
  MERGED,
  payloadOf,
  WEBHOOK_SECRET,
  webhookExamples,
} from '../support/webhooks.ts';

let stores: TestStores;
let app: TestApp;
let driver: IngestDriver;
/** By the key of the event: what the gateway queued, however often. */
const queued = new Map<string, { repository: PrEventsJob['repository']; type: string }>();

beforeAll(async () => {
  stores = await openTestStores();
  driver = new IngestDriver(stores);
  app = await openTestApp({
    features: [
      (elysia, http) =>
        mountWebhooks(elysia, http, {
          log: stores.log,
          hosts: [githubSite([WEBHOOK_SECRET])],
          enqueueEvents: async (jobId, job) => {
            for (const { key, type } of job.events) queued.set(key, { repository: job.repository, type });
            await stores.producers.of(prEvents).add(job, jobId);
          },
        }),
    ],
  });
});
afterAll(() => driver.stop());

const send = async ({ body, headers }: Example): Promise<void> => {
  const response = await app.request('/webhooks/github', { method: 'POST', body, headers: headers(), token: null });
  expect(response.status).toBe(202);
};

test('every example of the host, sent twice, puts each of its events into the log once', async () => {
  const examples = webhookExamples();
  for (const example of examples) await send(example);
  await driver.settle();
  for (const example of examples.toReversed()) await send(example);
  await driver.settle();
  stores.clock.at += 1;

  const expected = new Map<string, string[]>();
  for (const { repository, type } of queued.values()) {
    const path = `${repository.owner}/${repository.name}`.toLowerCase();
    expected.set(path, [...(expected.get(path) ?? []), type]);
  }
  // Bodies that versions of the host have alike are one delivery.
  expect(queued.size).toBeGreaterThanOrEqual(30);
  for (const [path, types] of expected) {
    const [owner = '', name = ''] = path.split('/');
    const events = (await followPages(app, logOf({ owner, name }, '?per_page=100'), 'next')).flat();
    const shown = events.map(({ type }) => type).filter((type) => type !== 'action.delete_head_branch');
    expect([path, shown.sort()]).toEqual([path, types.sort()]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  }
});

test('a merge and the deletion of its branch, delivered in either order, are two events of one pull request', async () => {
  for (const isDeletionFirst of [false, true]) {
    const { owner, name } = uniqueRepository();
    const repository = { name, owner: { login: owner } };
    const pull = { number: 12, head: { ref: 'topic', label: `${owner}:topic`, repo: { id: 1 } }, ...MERGED };
    const closing = payloadOf('pull_request', 'closed', { pull_request: pull, repository: { ...repository, id: 1 } });
    const label = `${name} ${isDeletionFirst}`;
    const merged = delivery('pull_request', closing, `merged ${label}`);
    const deletion = { ref: 'topic', ref_type: 'branch', repository };
    const deleted = delivery('delete', payloadOf('delete', undefined, deletion), `deleted ${label}`);
    for (const one of isDeletionFirst ? [deleted, merged] : [merged, deleted]) await send(one);
    await driver.settle();
    stores.clock.at += 1;
    const events = (await followPages(app, logOf({ owner, name }), 'next')).flat();
    expect(events.map(({ type, pull_request }) => [type, pull_request])).toEqual([
      ['action.delete_head_branch', pull.number],
      ['action.merge', pull.number],
    ]);
  }
});
