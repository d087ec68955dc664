/** Filters of the log and their opposites, and the counts of its events, compared with the events themselves. */
import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { INTERVALS_MS, INTERVALS_WANTED_MAX, intervalOf } from '../../src/domain/histogram.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { TEST_NOW } from '../support/clock.ts';
import { type EventInput, followPages, logOf, makeEventsJob, type ShownEvent } from '../support/events.ts';
import { setUpApp } from '../support/ingest.ts';
import { randomFrom } from '../support/random.ts';
import { uniqueRepository } from '../support/stores.ts';

const MINUTE_MS = 60_000;
const EVENTS = 90;
const TRIGGERS = ['@octocat', '@hubot', 'Rule: merge, when green'];

const checksEnd = (checks_conclusion: string, pull_request_numbers: number[]) => ({
  type: 'action.queue.checks_end',
  metadata: { speculative_check_pull_request: { checks_conclusion, pull_request_numbers } },
});
const KINDS = [
  { type: 'action.label', metadata: {} },
  { type: 'action.merge', metadata: {} },
  { type: 'action.queue.leave', metadata: { merged: false } },
  { type: 'action.queue.enter', metadata: {} },
  checksEnd('success', [7, 8]),
  checksEnd('failure', [8]),
] as const;

const repository = uniqueRepository();
const service = setUpApp();
/** By id, what the tests know of an event beyond what the log shows of it. */
let all: ShownEvent[] = [];

beforeAll(async () => {
  const random = randomFrom(1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (let i = 0; i < EVENTS; i += 30) {
    service.stores.clock.set(TEST_NOW - (EVENTS - i) * MINUTE_MS);
    const events = Array.from(
      { length: 30 },
      (_, j): EventInput => ({
        key: `event ${i + j}`,
        trigger: pick(TRIGGERS),
        pull_request: pick([null, 7, 8, 9]),
        base_ref: pick(['main', 'release/1.x']),
        ...pick(KINDS),
      }),
    );
    await service.stores.producers.of(prEvents).add(makeEventsJob(repository, events));
    await service.driver.settle();
  }
  service.stores.clock.set(TEST_NOW);
  all = (await followPages(service.app, logOf(repository, '?per_page=100'), 'next')).flat();
});

type Filters = Record<string, string[]>;
const searchOf = (filters: Filters): string =>
  `?${new URLSearchParams(Object.entries(filters).flatMap(([name, values]) => values.map((value): [string, string] => [name, value])))}`;

interface Event extends ShownEvent {
  outcome: string;
}
const batchOf = ({ metadata }: ShownEvent): string[] =>
  (
    (metadata.speculative_check_pull_request as { pull_request_numbers?: number[] } | null)?.pull_request_numbers ?? []
  ).map(String);
const FIELDS: Record<string, (event: Event) => string[]> = {
  pull_request: ({ pull_request }) => (pull_request === null ? [] : [String(pull_request)]),
  batch_pull: batchOf,
  event_type: ({ type }) => [type],
  outcome: ({ outcome }) => [outcome],
  trigger: ({ trigger }) => [trigger],
};
const FACET_FILTER = { by_trigger: 'trigger', by_pull_request: 'pull_request', by_batch_pull_request: 'batch_pull' };

/** The events that pass every filter, or all but those of one field. */
const matching = (filters: Filters, without?: string): Event[] =>
  (all as Event[]).filter((event) =>
    Object.entries(filters).every(([name, values]) => {
      const field = name.replace(/^not_/, '');
      if (field === without || values.length === 0) return true;
      const isAny = (FIELDS[field]?.(event) ?? []).some((value) => values.includes(value));
      return name.startsWith('not_') ? !isAny : isAny;
    }),
  );

function countsOf(events: readonly Event[], field: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const event of events)
    for (const value of FIELDS[field]?.(event) ?? []) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const oneOf = (field: string, values: readonly string[]) =>
  fc.record({ isNot: fc.boolean(), values: fc.subarray([...values]) }).map((chosen): Filters => {
    const name = chosen.isNot ? `not_${field}` : field;
    return chosen.values.length === 0 ? {} : { [name]: chosen.values };
  });
const filters = fc
  .tuple(
    oneOf('pull_request', ['7', '9', '99']),
    oneOf('batch_pull', ['7', '8', '99']),
    oneOf('event_type', ['action.label', 'action.merge', 'action.queue.checks_end']),
    oneOf('outcome', ['success', 'failure', 'pending', 'neutral']),
    oneOf('trigger', [...TRIGGERS, '@ghost']),
  )
  .map((parts): Filters => Object.assign({}, ...parts));

interface Counts {
  total: number;
  interval_size_seconds: number;
  histogram: { start: string; end: string; count: number }[];
  [facet: string]: unknown;
}
const aggregateOf = (search: string) =>
  service.app.get<Counts>(`/v1/repos/${repository.owner}/${repository.name}/logs/aggregate${search}`);
const recordOf = (counts: unknown) =>
  Object.fromEntries((counts as { value: string | number; count: number }[]).map(({ value, count }) => [value, count]));

test('the log holds events of every outcome', () => {
  expect(Object.keys(countsOf(all as Event[], 'outcome')).sort()).toEqual(['failure', 'neutral', 'pending', 'success']);
  expect(all).toHaveLength(EVENTS);
});

test('filters and their opposites select what they say, in any combination; counts are those of the events', async () => {
  await fc.assert(
    fc.asyncProperty(filters, async (chosen) => {
      const { events } = await service.app.get<{ events: Event[] }>(
        logOf(repository, `${searchOf(chosen)}&per_page=100`),
      );
      expect(events.map(({ id }) => id)).toEqual(matching(chosen).map(({ id }) => id));
      const counted = await aggregateOf(searchOf(chosen));
      expect(counted.total).toBe(events.length);
      expect(counted.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(events.length);
      for (const field of ['event_type', 'outcome'])
        expect(recordOf(counted[`by_${field}`])).toEqual(countsOf(events, field));
      for (const [facet, field] of Object.entries(FACET_FILTER))
        expect([facet, recordOf(counted[facet])]).toEqual([facet, countsOf(matching(chosen, field), field)]);
    }),
    { numRuns: 25 },
  );
});

describe('a filter', () => {
  test.each(['pull_request=7', 'batch_pull=7', 'event_type=action.label', 'outcome=success', 'trigger=a'])(
    'excludes its opposite: ?%s',
    async (one) => {
      for (const read of ['logs', 'logs/aggregate']) {
        const address = `/v1/repos/${repository.owner}/${repository.name}/${read}?${one}&not_${one}`;
        const response = await service.app.request(address);
        expect(response.status).toBe(422);
        expect(await response.json()).toMatchObject({ detail: expect.stringContaining('cannot be combined with') });
      }
    },
  );

  test.each(['outcome=great', 'trigger=', 'not_event_type=action.dance', 'batch_pull=0'])(
    '?%s is 422',
    async (query) => {
      expect((await service.app.request(logOf(repository, `?${query}`))).status).toBe(422);
      expect((await service.app.request(logOf(repository, `/aggregate?${query}`))).status).toBe(422);
    },
  );
});

describe('the histogram', () => {
  test('has every interval of the window, aligned to the epoch, and counts only what is in the window', async () => {
    const from = TEST_NOW - 61 * MINUTE_MS;
    const window = `?received_from=${new Date(from).toISOString()}&received_to=${new Date(TEST_NOW - 1).toISOString()}`;
    const { total, interval_size_seconds, histogram } = await aggregateOf(window);
    expect([total, interval_size_seconds]).toEqual([60, 120]);
    for (const [i, { start, end }] of histogram.entries()) {
      expect(Date.parse(start) % (interval_size_seconds * 1_000)).toBe(0);
      expect(Date.parse(end) - Date.parse(start)).toBe(interval_size_seconds * 1_000);
      if (i > 0) expect(start).toBe(histogram[i - 1]?.end ?? '');
    }
    expect(Date.parse(histogram[0]?.start ?? '')).toBeLessThanOrEqual(from);
    expect(Date.parse(histogram.at(-1)?.end ?? '')).toBeGreaterThanOrEqual(TEST_NOW - 1);
  });

  test('has the shortest interval of the interface of which the window has at most 120', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 93 * 86_400_000 }), fc.nat(TEST_NOW), (length, start) => {
        const interval = intervalOf({ start, end: start + length });
        const shorter = INTERVALS_MS.filter((one) => one < interval);
        expect(length / interval).toBeLessThanOrEqual(INTERVALS_WANTED_MAX);
        for (const one of shorter) expect(length / one).toBeGreaterThan(INTERVALS_WANTED_MAX);
      }),
    );
  });
});

test('a repository that was never written to has no events to count', async () => {
  const { owner, name } = uniqueRepository();
  const counted = await service.app.get<Counts>(`/v1/repos/${owner}/${name}/logs/aggregate`);
  expect(counted).toMatchObject({ total: 0, interval_size_seconds: 1_200, by_event_type: [], by_trigger: [] });
});
