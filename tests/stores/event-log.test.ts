/** The log in ClickHouse keeps more of an event than its metadata: its outcome, and the pull requests of its batch. */
import { beforeAll, expect, test } from 'bun:test';
import { newEvent } from '../../src/domain/events.ts';
import { recordEvents } from '../../src/postgres/outbox.ts';
import { Relay } from '../../workers/relay.ts';
import { untilRelayed } from '../support/ingest.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const by = { trigger: 'test' };
const checks = (checks_conclusion: string, pull_request_numbers: number[]) => ({
  speculative_check_pull_request: { checks_conclusion, pull_request_numbers },
});
const EVENTS = [
  { event: newEvent('action.merge', {}, by), outcome: 'success', batch_pull_requests: [] },
  {
    event: newEvent('action.queue.checks_end', checks('timed_out', [8, 7, 8]), by),
    outcome: 'failure',
    batch_pull_requests: [7, 8],
  },
  {
    event: newEvent(
      'action.queue.batch_bisection_start',
      { original_batch_pr_numbers: [9, 7], pull_requests: [7] },
      by,
    ),
    outcome: 'pending',
    batch_pull_requests: [7, 9],
  },
  { event: newEvent('action.queue.enter', {}, by), outcome: 'pending', batch_pull_requests: [] },
  {
    event: {
      ...newEvent('action.label', {}, by),
      metadata: { rule: null, added: [], removed: [], pull_requests: [7] },
    },
    outcome: 'neutral',
    batch_pull_requests: [],
  },
];

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

test('an event has the outcome that was written with it, and each pull request of its batch once, in order', async () => {
  const { postgres, clickhouse, repositories, clock, log } = stores;
  const { id } = await repositories.record(uniqueRepository());
  const events = EVENTS.map(({ event }) => event);
  await postgres.db.transaction((tx) => recordEvents(tx, id, events, clock.now()));
  await untilRelayed(stores, new Relay({ db: postgres.db, clickhouse, log }));
  expect(
    await clickhouse.rows(
      'SELECT type, outcome, batch_pull_requests FROM ci.events WHERE repository_id = {id: UUID} ORDER BY id',
      { id },
    ),
  ).toEqual(EVENTS.map(({ event: { type }, ...stored }) => ({ type, ...stored })));
});
