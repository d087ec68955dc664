/** The outcome of each event and the pull requests of its batch, which ClickHouse works out of type and metadata. */
import { beforeAll, expect, test } from 'bun:test';
import { v4 as uuid4 } from 'uuid';
import { EVENT_OUTCOMES, EVENT_TYPES } from '../../src/domain/events.ts';
import { PUBLIC_METADATA } from '../support/public-events.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const check = (checks_conclusion: string | null) => ({ speculative_check_pull_request: { checks_conclusion } });
const CASES: [type: string, metadata: object, outcome: (typeof EVENT_OUTCOMES)[number]][] = [
  ['action.merge', {}, 'success'],
  ['action.queue.merged', {}, 'success'],
  ['action.queue.leave', { merged: true }, 'success'],
  ['action.queue.leave', { merged: false }, 'failure'],
  ['action.queue.leave', { merged: null }, 'neutral'],
  ['action.queue.enter', {}, 'pending'],
  ['action.queue.checks_start', check('success'), 'pending'],
  ['action.queue.checks_end', check('success'), 'success'],
  ['action.queue.checks_end', check('failure'), 'failure'],
  ['action.queue.checks_end', check('timed_out'), 'failure'],
  ['action.queue.checks_end', check('pending'), 'pending'],
  ['action.queue.checks_end', check('neutral'), 'neutral'],
  ['action.queue.checks_end', check(null), 'neutral'],
  ['action.queue.checks_end', { speculative_check_pull_request: null }, 'neutral'],
  ['action.queue.checks_not_started', {}, 'failure'],
  ['action.queue.conflict_deferred', {}, 'pending'],
  ['action.queue.batch_bisection_start', {}, 'pending'],
  ['action.queue.batch_bisection_end', { culprit_found: true }, 'neutral'],
  ['action.post_check', { conclusion: 'success' }, 'success'],
  ['action.post_check', { conclusion: 'action_required' }, 'failure'],
  ['action.post_check', { conclusion: 'skipped' }, 'neutral'],
  ['action.post_check', { conclusion: null }, 'pending'],
  ['action.review', { review_type: 'APPROVE' }, 'success'],
  ['action.review', { review_type: 'REQUEST_CHANGES' }, 'failure'],
  ['action.review', { review_type: 'COMMENT' }, 'neutral'],
  ['action.backport', { conflicts: true, pull_request_number: 13 }, 'failure'],
  ['action.copy', { conflicts: false, pull_request_number: 13 }, 'success'],
  ['action.copy', {}, 'neutral'],
  ['ci_insights.job_retried', { outcome: null }, 'pending'],
  ['ci_insights.job_retried', { outcome: 'skipped_quota_exceeded' }, 'failure'],
  ['ci_insights.auto_quarantine.limit_reached', {}, 'failure'],
  ['test.quarantine.expiring', {}, 'pending'],
  ['test.quarantined', { health_status_at_event: 'broken' }, 'neutral'],
  ['action.label', { conclusion: 'failure', merged: false }, 'neutral'],
];

const BATCHES: [type: string, metadata: object, pulls: number[]][] = [
  ['action.queue.checks_end', { speculative_check_pull_request: { pull_request_numbers: [8, 7, 8] } }, [7, 8]],
  ['action.queue.batch_bisection_start', { original_batch_pr_numbers: [9, 7], pull_requests: [7] }, [7, 9]],
  ['action.queue.enter', {}, []],
  ['action.label', { pull_requests: [7] }, []],
];

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const lineOf = (repositoryId: string, type: string, metadata: object, i: number): string =>
  JSON.stringify({
    repository_id: repositoryId,
    received_at: new Date(stores.clock.now()).toISOString(),
    id: i + 1,
    type,
    trigger: 'test',
    metadata: JSON.stringify(metadata),
  });

interface Stored {
  outcome: string;
  batch_pull_requests: number[];
}
const storedIn = (table: string, repositoryId: string) =>
  stores.clickhouse.rows(
    `SELECT outcome, batch_pull_requests FROM ${table} WHERE repository_id = {id: UUID} ORDER BY id`,
    { id: repositoryId },
  ) as Promise<Stored[]>;

async function stored(events: readonly (readonly [type: string, metadata: object, ...unknown[]])[]): Promise<Stored[]> {
  const repositoryId = uuid4();
  const lines = events.map(([type, metadata], i) => lineOf(repositoryId, type, metadata, i));
  await stores.clickhouse.insert('ci.events', lines.join('\n'), uuid4());
  return storedIn('ci.events', repositoryId);
}

test('an event has the outcome that its metadata tell, and is neutral if they tell none', async () => {
  const found = await stored(CASES);
  expect(CASES.map(([type, metadata], i) => [type, metadata, found[i]?.outcome])).toEqual(CASES);
});

test('every type has one of the four outcomes, with all and with none of its metadata', async () => {
  const events = EVENT_TYPES.flatMap((type) => [[type, PUBLIC_METADATA[type]] as const, [type, {}] as const]);
  const found = await stored(events);
  expect(found).toHaveLength(events.length);
  for (const { outcome } of found) expect(EVENT_OUTCOMES as readonly string[]).toContain(outcome);
});

test('the pull requests of a batch are each there once, in order', async () => {
  const found = await stored(BATCHES);
  expect(BATCHES.map(([type, metadata], i) => [type, metadata, found[i]?.batch_pull_requests])).toEqual(BATCHES);
});
