/** The event log as clients read it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EVENT_TYPES } from '../../src/domain/events.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { TEST_NOW } from '../support/clock.ts';
import {
  type EventInput,
  followPages,
  keyOfShown,
  labelled,
  logOf,
  makeEventsJob,
  type ShownEvent,
} from '../support/events.ts';
import { linksOf } from '../support/http.ts';
import { setUpApp } from '../support/ingest.ts';
import { explainable } from '../support/queries.ts';
import { uniqueRepository } from '../support/stores.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The seven events of the repository below, and how many hours ago each was received. */
const EVENTS: [hoursAgo: number, event: EventInput][] = [
  [94 * 24, labelled('ancient')],
  [50, labelled('older', { pull_request: 1 })],
  [24, labelled('a day ago', { pull_request: 1, base_ref: 'release/1.x' })],
  [3, { key: 'merged', type: 'action.merge', trigger: '@octocat', pull_request: 2, base_ref: 'main', metadata: {} }],
  [2, { key: 'paused', type: 'queue.pause.create', trigger: '@octocat', metadata: { reason: 'release' } }],
  [1, labelled('latest', { pull_request: 2 })],
  [0, labelled('now', { pull_request: 3 })],
];

const repository = uniqueRepository();
const service = setUpApp();
beforeAll(async () => {
  const { stores, driver } = service;
  for (const [hoursAgo, event] of EVENTS) {
    stores.clock.set(TEST_NOW - hoursAgo * HOUR);
    await stores.producers.of(prEvents).add(makeEventsJob(repository, [event]));
    await driver.settle();
  }
});

interface Log {
  size: number;
  per_page: number;
  events: ShownEvent[];
}

const nameOf = (event: ShownEvent): string => (event.type === 'action.label' ? keyOfShown(event) : event.type);
const iso = (hoursAgo: number): string => new Date(TEST_NOW - hoursAgo * HOUR).toISOString();
const read = async (query: Record<string, string | string[]> = {}) => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one);
  return service.app.get<Log>(logOf(repository, `?${search}`));
};
const names = async (query: Record<string, string | string[]> = {}) => (await read(query)).events.map(nameOf);

describe('windows', () => {
  test('the default is the last day, newest first; the start is inclusive, the end exclusive', async () => {
    expect(await names()).toEqual(['latest', 'queue.pause.create', 'action.merge', 'a day ago']);
    expect(await read()).toMatchObject({ size: 4, per_page: 10 });
  });

  test('`received_to` moves the day, `received_from` alone reaches until now', async () => {
    expect(await names({ received_to: iso(2) })).toEqual(['action.merge', 'a day ago']);
    expect(await names({ received_from: iso(2) })).toEqual(['latest', 'queue.pause.create']);
    expect(await names({ received_from: iso(50), received_to: iso(3) })).toEqual(['a day ago', 'older']);
    expect(await names({ received_from: iso(1), received_to: new Date(TEST_NOW + 1).toISOString() })).toEqual([
      'now',
      'latest',
    ]);
  });

  test('time zones are read, even if a + arrives as a space', async () => {
    const zoned = (zone: string) => `${new Date(TEST_NOW - 2 * HOUR + HOUR).toISOString().slice(0, 19)}${zone}`;
    for (const from of [zoned('%2B01:00'), zoned('+01:00'), zoned('%2B0100')]) {
      const { events } = await service.app.get<Log>(logOf(repository, `?received_from=${from}`));
      expect(events.map(nameOf)).toEqual(['latest', 'queue.pause.create']);
    }
  });

  test('a window is at most 93 days long', async () => {
    expect(await names({ received_from: iso(93 * 24) })).toHaveLength(5);
    const tooLong = await service.app.request(
      logOf(repository, `?received_from=${new Date(TEST_NOW - 93 * DAY - 1).toISOString()}`),
    );
    expect(tooLong.status).toBe(422);
    expect(await tooLong.json()).toMatchObject({ detail: expect.stringContaining('more than 93 days') });
  });

  test.each([
    `received_from=${iso(-1)}`,
    `received_from=${iso(1)}&received_to=${iso(1)}`,
    `received_from=${iso(1)}&received_to=${iso(2)}`,
    'received_from=2026-11-21',
    'received_to=2026-11-21T10:00:00',
    'pull_request=0',
    'pull_request=one',
    'pull_request=1,2',
    'base_ref=',
    `base_ref=${'b'.repeat(256)}`,
    'event_type=action.dance',
    'per_page=0',
    'per_page=101',
    'cursor=abc',
    Array.from({ length: 256 }, (_, i) => `pull_request=${i + 1}`).join('&'),
  ])('?%s is 422', async (query) => {
    expect((await service.app.request(logOf(repository, `?${query}`))).status).toBe(422);
  });
});

describe('filters', () => {
  test('pull requests and types match any of several, and filters are combined with AND', async () => {
    expect(await names({ pull_request: '2' })).toEqual(['latest', 'action.merge']);
    expect(await names({ pull_request: ['1', '2'], received_from: iso(51) })).toEqual([
      'latest',
      'action.merge',
      'a day ago',
      'older',
    ]);
    expect(await names({ event_type: 'queue.pause.create' })).toEqual(['queue.pause.create']);
    expect(await names({ event_type: ['action.merge', 'action.label'], pull_request: '2', base_ref: 'main' })).toEqual([
      'latest',
      'action.merge',
    ]);
    expect(await names({ base_ref: 'release/1.x' })).toEqual(['a day ago']);
    expect(await names({ base_ref: 'release/*' })).toEqual([]);
    expect(await names({ pull_request: '99' })).toEqual([]);
  });

  test('every type of event can be requested', async () => {
    for (const event_type of EVENT_TYPES) expect((await read({ event_type })).per_page).toBe(10);
  });
});

test('the OpenAPI document has one schema per type of event, discriminated by `type`', async () => {
  const document = (await (await service.app.request('/docs/json', { token: null })).json()) as {
    components: {
      schemas: Record<
        string,
        {
          oneOf?: { $ref: string }[];
          discriminator?: { propertyName: string; mapping: Record<string, string> };
          properties?: Record<string, { const?: string; properties?: object }>;
        }
      >;
    };
  };
  const { schemas } = document.components;
  const { oneOf = [], discriminator } = schemas.Event ?? {};
  expect(discriminator?.propertyName).toBe('type');
  expect(Object.keys(discriminator?.mapping ?? {})).toEqual([...EVENT_TYPES]);
  expect(oneOf.map(({ $ref }) => $ref)).toEqual(Object.values(discriminator?.mapping ?? {}));
  for (const [type, reference] of Object.entries(discriminator?.mapping ?? {})) {
    const shape = schemas[reference.split('/').at(-1) ?? '']?.properties;
    expect(shape?.type?.const).toBe(type);
    expect(shape?.metadata?.properties).toBeDefined();
  }
});

describe('access', () => {
  test('a ci key may not read the log, an admin key of the owner may, and one of another owner may not', async () => {
    const statusOf = async (token: string) => (await service.app.request(logOf(repository), { token })).status;
    expect(await statusOf(await service.app.makeKey({ scope: 'ci', owner: repository.owner }))).toBe(403);
    expect(await statusOf(await service.app.makeKey({ scope: 'admin', owner: repository.owner }))).toBe(200);
    expect(await statusOf(await service.app.makeKey({ scope: 'admin', owner: 'somebody-else' }))).toBe(403);
    const listed = { scope: 'admin', owner: repository.owner, repositories: ['another'] } as const;
    expect(await statusOf(await service.app.makeKey({ ...listed, repositories: [...listed.repositories] }))).toBe(404);
  });

  test('a repository that was never written to has an empty log', async () => {
    const log = await service.app.get<Log>(logOf(uniqueRepository()));
    expect(log).toEqual({ size: 0, per_page: 10, events: [] });
  });

  test('the log of a repository holds no events of others', async () => {
    const other = uniqueRepository();
    await service.stores.producers.of(prEvents).add(makeEventsJob(other, [labelled('theirs')]));
    await service.driver.settle();
    service.stores.clock.at += 1;
    expect((await service.app.get<Log>(logOf(other))).events.map(keyOfShown)).toEqual(['theirs']);
    expect(await names({ received_from: iso(1), received_to: iso(0) })).toEqual(['latest']);
    service.stores.clock.set(TEST_NOW);
  });
});

describe('pages', () => {
  const BURST = 2_010;
  const burst = uniqueRepository();
  const keys = Array.from({ length: BURST }, (_, i) => String(i));
  beforeAll(async () => {
    // All in the same millisecond except the last ten.
    service.stores.clock.set(TEST_NOW - HOUR);
    for (let i = 0; i < BURST; i += 500) {
      const part = keys.slice(i, i + 500).map((key) => labelled(key, { pull_request: 1 + (Number(key) % 3) }));
      if (i + 500 >= BURST) service.stores.clock.at += 1;
      await service.stores.producers.of(prEvents).add(makeEventsJob(burst, part));
      await service.driver.settle();
    }
    service.stores.clock.set(TEST_NOW);
  });

  test('thousands of events in the same millisecond are each seen once, in order, forwards and backwards', async () => {
    const first = logOf(burst, '?per_page=97');
    const forwards = (await followPages(service.app, first, 'next')).flat();
    expect(forwards.map(keyOfShown)).toEqual([...keys].reverse());
    const { last = '' } = linksOf(await service.app.request(first));
    const backwards = await followPages(service.app, last, 'prev');
    expect(backwards.reverse().flat()).toEqual(forwards);
  });

  test('a client may turn around on any page and gets the same rows, with filters or without', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('', '&pull_request=2', '&pull_request=1&pull_request=3&base_ref=main'),
        async (perPage, turns, filter) => {
          let url = logOf(burst, `?per_page=${perPage}${filter}`);
          const there: ShownEvent[][] = [];
          for (let i = 0; i <= turns; i++) {
            const response = await service.app.request(url);
            there.push(((await response.json()) as Log).events);
            if (i < turns) url = linksOf(response).next ?? '';
          }
          const back = await followPages(service.app, url, 'prev');
          expect(back.reverse()).toEqual(there);
        },
      ),
      { numRuns: 6 },
    );
  });

  test('events that arrive meanwhile move no page, because the cursor keeps the window', async () => {
    const moving = uniqueRepository();
    const add = async (key: string) => {
      await service.stores.producers.of(prEvents).add(makeEventsJob(moving, [labelled(key)]));
      await service.driver.settle();
      service.stores.clock.at += 10;
    };
    for (const key of ['a', 'b', 'c', 'd', 'e']) await add(key);
    const seen: string[] = [];
    for (let url: string | undefined = logOf(moving, '?per_page=2'); url !== undefined; ) {
      const response = await service.app.request(url);
      seen.push(...((await response.json()) as Log).events.map(keyOfShown));
      url = linksOf(response).next;
      await add(`meanwhile ${seen.length}`);
    }
    expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
    service.stores.clock.set(TEST_NOW);
  });

  test('a cursor belongs to its filters and its window', async () => {
    const { next = '' } = linksOf(await service.app.request(logOf(burst, '?per_page=5&pull_request=1')));
    const cursor = new URL(next).searchParams.get('cursor') ?? '';
    for (const query of ['', 'pull_request=2&', `received_from=${iso(2)}&pull_request=1&`])
      expect((await service.app.request(logOf(burst, `?${query}cursor=${cursor}`))).status).toBe(422);
    const remembered = await service.app.get<Log>(logOf(burst, `?pull_request=1&cursor=${cursor}`));
    expect(remembered.per_page).toBe(5);
  });

  test('a page is read in key order, within the time of the window, and stops when it is full', async () => {
    const { id = '' } = (await service.stores.repositories.find(burst.owner, burst.name)) ?? {};
    const literals = {
      repository_id: `'${id}'`,
      from_ms: String(TEST_NOW - DAY),
      to_ms: String(TEST_NOW),
      is_first: 'true',
      key_ms: '0',
      key_id: '0',
      pull_requests: '[]',
      base_refs: '[]',
      types: '[]',
    };
    const statement = explainable('events/log', { variant: 'backward', literals });
    const plan = JSON.stringify(await service.stores.clickhouse.rows(`EXPLAIN indexes = 1, actions = 1 ${statement}`));
    expect(plan).toContain('InReverseOrder');
    expect(plan).toContain('received_at');
    // LimitBy below the inner Limit would read the whole window before it returns a row.
    expect(plan.indexOf('LimitBy')).toBeLessThan(plan.indexOf('Limit 22'));
  });

  test('an event that was inserted twice, as after restoring a backup, is shown once', async () => {
    const twice = uniqueRepository();
    const keysOfTwice = Array.from({ length: 25 }, (_, i) => String(i));
    await service.stores.producers.of(prEvents).add(
      makeEventsJob(
        twice,
        keysOfTwice.map((key) => labelled(key)),
      ),
    );
    await service.driver.settle();
    const { id = '' } = (await service.stores.repositories.find(twice.owner, twice.name)) ?? {};
    await service.stores.clickhouse.command(
      'INSERT INTO ci.events SETTINGS insert_deduplicate = 0 SELECT * FROM ci.events WHERE repository_id = {id: UUID}',
      { id },
    );
    service.stores.clock.at += 1;
    for (const perPage of [1, 7, 24, 25, 100]) {
      const first = logOf(twice, `?per_page=${perPage}`);
      const pages = await followPages(service.app, first, 'next');
      expect(pages.flat().map(keyOfShown)).toEqual([...keysOfTwice].reverse());
    }
    service.stores.clock.set(TEST_NOW);
  });
});
