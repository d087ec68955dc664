import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { testIdOf } from '../../src/domain/identity.ts';
import { SEARCH_FILTERS } from '../../src/insights/search-filters.ts';
import { SEARCH_SORTS } from '../../src/postgres/test-search.ts';
import { TEST_NOW } from '../support/clock.ts';
import { linksOf, openTestApp } from '../support/http.ts';
import { type InsightsFixture, setUpInsights } from '../support/insights.ts';

interface Found {
  size: number;
  per_page: number;
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}

const LONG = `${'😀\\'.repeat(2_499)}\n${'z'.repeat(5_001)}`;
const NAMES = [
  'Cart > totals > sums [a, b] with 10% tax',
  'negative *x* {1}',
  'a.b.c',
  'a_b_c',
  'A.B.C',
  'back\\slash',
  'two\nlines',
  LONG,
];

const insights = setUpInsights(async (fixture) => {
  const month = Date.parse('2026-10-15T00:00:00Z');
  await fixture.ingest(
    fixture.run(NAMES.slice(0, -1).map((name) => ({ name }))),
    fixture.run([{ name: LONG }], { job_name: 'long' }),
    fixture.run(
      NAMES.slice(0, 3).map((name) => ({ name, status: 'skipped', at: month })),
      { job_name: 'e2e' },
    ),
    fixture.run(
      NAMES.slice(0, 2).map((name) => ({ name, at: month })),
      { job_name: 'e2e' },
    ),
    fixture.run(
      NAMES.slice(0, 1).map((name) => ({ name, at: TEST_NOW - 1_000 })),
      { job_name: 'e2e' },
    ),
    fixture.run([{ name: 'a.b.c' }], { pipeline_name: 'nightly, [weekly]' }),
    fixture.run([{ name: 'seen in a pull request' }], { branch: 'feature' }),
  );
});

const search = (query: Record<string, string | string[]>) =>
  insights.app.get<Found>(insights.fixture.search({ per_page: '100', ...query }));
const namesOf = async (test_name: string | string[]) =>
  [...new Set((await search({ test_name, sort: 'test_name' })).tests.map((found) => found.test_name))].sort();

describe('names', () => {
  test('every name finds itself, whatever characters it holds, even 10,000 of them', async () => {
    expect([...LONG]).toHaveLength(10_000);
    for (const name of NAMES) expect(await namesOf(name)).toEqual([name]);
    const [found] = (await search({ test_name: LONG })).tests;
    expect(found?.test_id).toBe(testIdOf(insights.fixture.id, LONG));
    expect(await insights.app.get(insights.fixture.test(LONG))).toMatchObject({ test_name: LONG });
  });

  test('wildcards match any or one character, on the whole name and with case', async () => {
    expect(await namesOf('a?b?c')).toEqual(['a.b.c', 'a_b_c']);
    expect(await namesOf('A*')).toEqual(['A.B.C']);
    expect(await namesOf('two*lines')).toEqual(['two\nlines']);
    expect(await namesOf('two?lines')).toEqual(['two\nlines']);
    expect(await namesOf('a.b')).toEqual([]);
    expect(await namesOf('*\\**')).toEqual(['negative *x* {1}']);
    expect(await namesOf('*\\*x\\**')).toEqual(['negative *x* {1}']);
    expect(await namesOf('back\\\\slash')).toEqual(['back\\slash']);
    expect(await namesOf('*10% tax')).toEqual(['Cart > totals > sums [a, b] with 10% tax']);
    expect(await namesOf('*')).toEqual([...NAMES].sort());
    expect(await namesOf('?'.repeat(10_000))).toEqual([LONG]);
  });

  test('several names are combined with OR', async () => {
    expect(await namesOf(['a.b.c', 'A*', 'nobody'])).toEqual(['A.B.C', 'a.b.c']);
  });

  test('a test seen only outside the default branch is not found', async () => {
    expect(await namesOf('seen*')).toEqual([]);
  });

  test('a repository that was never written to has no tests', async () => {
    const path = `/v1/ci/${insights.fixture.repository.owner}/repositories/unheard-of/search/tests?test_name=*`;
    expect(await insights.app.get<Found>(path)).toEqual({ size: 0, per_page: 10, total: 0, tests: [] } as never);
  });
});

describe('order and filters', () => {
  test('most executions first, over all months, including skipped ones; each pipeline and CI job separately', async () => {
    const { tests, size } = await search({ test_name: '*' });
    expect(size).toBe(tests.length);
    expect(tests.slice(0, 2)).toMatchObject([
      {
        test_id: testIdOf(insights.fixture.id, NAMES[0] as string),
        test_name: NAMES[0] as string,
        pipeline_name: 'CI',
        job_name: 'e2e',
      },
      {
        test_id: testIdOf(insights.fixture.id, NAMES[1] as string),
        test_name: NAMES[1] as string,
        pipeline_name: 'CI',
        job_name: 'e2e',
      },
    ]);
    const reversed = await search({ test_name: '*', direction: 'asc' });
    expect(reversed.tests.at(-1)).toEqual(tests[0]);
  });

  test('names sort in ascending order by default', async () => {
    const ascending = (await search({ test_name: '*', sort: 'job_name' })).tests.map(({ job_name }) => job_name);
    expect(ascending).toEqual([...ascending].sort());
    const descending = (await search({ test_name: '*', sort: 'job_name', direction: 'desc' })).tests;
    expect(descending.map(({ job_name }) => job_name)).toEqual([...ascending].reverse());
  });

  test('pipelines and CI jobs are exact names, including commas and brackets', async () => {
    const weekly = 'nightly, [weekly]';
    const only = await search({ test_name: '*', pipeline_name: weekly });
    expect(only.tests.map(({ test_name }) => test_name)).toEqual(['a.b.c']);
    const without = await search({ test_name: 'a.b.c', pipeline_name_exclude: [weekly, 'nobody'] });
    expect(without.tests.map(({ job_name }) => job_name).sort()).toEqual(['e2e', 'unit']);
    expect((await search({ test_name: '*', job_name: ['e2e'], job_name_exclude: ['e2e'] })).tests).toEqual([]);
    expect((await search({ test_name: '*', job_name: ['e2e', 'unit'], job_name_exclude: ['unit'] })).size).toBe(3);
    expect((await search({ test_name: '*', job_name: 'e2*' })).tests).toEqual([]);
  });
});

/** Forwards and backwards, pages have what one page of everything has, in its order. */
async function expectPages(
  fixture: InsightsFixture,
  query: Record<string, string | string[]>,
  perPage: string,
): Promise<void> {
  const { tests: whole } = await insights.app.get<Found>(fixture.search({ ...query, per_page: '100' }));
  const forwards: Found['tests'] = [];
  let response = await insights.app.request(fixture.search({ ...query, per_page: perPage }));
  expect(linksOf(response).prev).toBeUndefined();
  for (;;) {
    const page = (await response.json()) as Found;
    expect(page.per_page).toBe(Number(perPage));
    forwards.push(...page.tests);
    const { next } = linksOf(response);
    if (!next) break;
    response = await insights.app.request(next);
  }
  expect(forwards).toEqual(whole);
  const backwards: Found['tests'] = [];
  response = await insights.app.request(linksOf(response).last ?? '');
  expect(linksOf(response).next).toBeUndefined();
  for (;;) {
    backwards.unshift(...((await response.json()) as Found).tests);
    const { prev } = linksOf(response);
    if (!prev) break;
    response = await insights.app.request(prev);
  }
  expect(backwards).toEqual(whole);
  const first = await insights.app.get<Found>(linksOf(response).first ?? '');
  expect(first.tests).toEqual(whole.slice(0, Number(perPage)));
}

describe('pages', () => {
  const filters = fc.record({
    // The names of `?*` are found first, and their first page is counted with it.
    test_name: fc.constantFrom<string[]>(['*', 'a.b.c'], ['?*']),
    sort: fc.constantFrom(...SEARCH_SORTS),
    direction: fc.constantFrom('asc', 'desc'),
    per_page: fc.integer({ min: 1, max: 5 }).map(String),
  });

  test('forwards and backwards, pages repeat nothing, skip nothing and keep the order', async () => {
    await fc.assert(
      fc.asyncProperty(filters, async (query) => {
        const { per_page, ...of } = query;
        await expectPages(insights.fixture, { job_name_exclude: 'long', ...of }, per_page);
      }),
      { numRuns: 24 },
    );
  });

  test('links are absolute and keep every filter and the page size', async () => {
    const response = await insights.app.request(
      insights.fixture.search({ test_name: ['a*', '*'], job_name: 'unit', per_page: '2' }),
    );
    const { next = '' } = linksOf(response);
    expect(next).toStartWith('http://ci.test/v1/ci/');
    const url = new URL(next);
    expect(url.searchParams.getAll('test_name')).toEqual(['a*', '*']);
    url.searchParams.delete('per_page');
    expect((await insights.app.get<Found>(url.href)).per_page).toBe(2);
    url.searchParams.set('per_page', '3');
    expect((await insights.app.get<Found>(url.href)).size).toBe(3);
  });

  test('a header that clients would refuse is not sent: the least useful links are left out', async () => {
    const response = await insights.app.request(insights.fixture.search({ test_name: LONG }));
    expect(response.status).toBe(200);
    expect(response.headers.get('link')).toBeNull();
    const some = (length: number, cursor = '') =>
      insights.app.request(
        insights.fixture.search({ test_name: ['*', 'x'.repeat(length)], job_name: 'unit', per_page: '1', cursor }),
      );
    expect(Object.keys(linksOf(await some(3_000)))).toEqual(['first', 'next']);
    expect(Object.keys(linksOf(await some(5_000)))).toEqual(['next']);
    const alone = await some(9_000);
    expect(alone.headers.get('link')).toBeNull();
    const next = await some(9_000, alone.headers.get('x-next-cursor') ?? '');
    const back = await some(9_000, next.headers.get('x-previous-cursor') ?? '');
    expect(await back.json()).toEqual(await alone.json());
    expect(back.headers.get('x-previous-cursor')).toBeNull();
  });

  test('links use the public address if one is set', async () => {
    const behind = await openTestApp({ publicUrl: 'https://ci.example.com/insights' });
    const response = await behind.request(insights.fixture.search());
    expect(linksOf(response).first).toStartWith(
      `https://ci.example.com/insights${insights.fixture.base}/search/tests?`,
    );
  });

  test('an empty cursor is the first page; a cursor of another list, or a made-up one, is 422', async () => {
    const whole = await insights.app.get<Found>(insights.fixture.search({ test_name: '*' }));
    expect(await insights.app.get<Found>(insights.fixture.search({ test_name: '*', cursor: '' }))).toEqual(whole);
    const { last = '' } = linksOf(
      await insights.app.request(insights.fixture.search({ test_name: '*', per_page: '1' })),
    );
    const cursor = new URL(last).searchParams.get('cursor') ?? '';
    const json = Buffer.from(cursor, 'base64url').toString();
    const forged = [
      json.replace('[1', '[2'),
      json.replace('null,null', '["x"],null'),
      json.replace('null,null', '[1e300,"","",""],null'),
      '{}',
      '',
    ].map((text) => Buffer.from(text).toString('base64url') || 'x');
    for (const bad of [...forged, 'not base64 !'])
      expect([
        bad,
        (await insights.app.request(insights.fixture.search({ test_name: '*', cursor: bad }))).status,
      ]).toEqual([bad, 422]);
    expect((await insights.app.request(insights.fixture.search({ test_name: 'a*', cursor }))).status).toBe(422);
    expect(
      (await insights.app.request(insights.fixture.search({ test_name: '*', sort: 'test_name', cursor }))).status,
    ).toBe(422);
  });

  test('pages of rows that did not change stay complete while others arrive', async () => {
    const walk = { test_name: '*', sort: 'test_name', per_page: '3' };
    const moving = insights.fixture.another();
    const names = ['a.b.c', ...Array.from({ length: 10 }, (_, i) => `steady ${i}`)];
    await moving.ingest(moving.run(names.map((name) => ({ name }))));
    let response = await insights.app.request(moving.search(walk));
    const seen: string[] = [];
    for (let i = 0; ; i++) {
      const page = (await response.json()) as Found;
      seen.push(...page.tests.map((found) => JSON.stringify(found)));
      await moving.ingest(moving.run([{ name: 'a.b.c' }, { name: `!later ${i}` }]));
      const { next } = linksOf(response);
      if (!next) break;
      response = await insights.app.request(next);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(names.length);
  });
});

describe('metrics', () => {
  interface WithMetrics {
    total: number;
    tests: { test_name: string; metrics: Record<string, unknown> }[];
  }
  let other: InsightsFixture;
  const find = (query: Record<string, string | string[]> = {}) =>
    insights.app.get<WithMetrics>(other.search({ per_page: '100', ...query }));
  const found = async (query: Record<string, string | string[]>) =>
    (await find(query)).tests.map(({ test_name }) => test_name);

  beforeAll(async () => {
    other = insights.fixture.another();
    const hour = 3_600_000;
    const run = (hoursAgo: number, results: Record<string, 'passed' | 'failed'>, commit: string) =>
      other.run(
        Object.entries(results).map(([name, status]) => ({ name, status, at: TEST_NOW - hoursAgo * hour })),
        { commit },
      );
    await other.ingest(
      ...Array.from({ length: 8 }, (_, i) => run(100 - i, { healthy: 'passed', flaky: 'passed' }, `c${i}`)),
      ...Array.from({ length: 40 }, (_, i) => run(90 - i / 2, { healthy: 'passed' }, `h${i}`)),
    );
    await other.ingest(
      ...[60, 58, 56, 54].flatMap((hours) => [
        run(hours, { healthy: 'passed', flaky: 'failed' }, `f${hours}`),
        run(hours - 1, { healthy: 'passed', flaky: 'passed' }, `f${hours}`),
      ]),
      ...Array.from({ length: 6 }, (_, i) => run(40 - i, { healthy: 'passed', broken: 'failed' }, `b${i}`)),
    );
    const response = await insights.app.request(`${other.base}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'broken', reason: 'known' }),
    });
    expect(response.status).toBe(201);
  });

  test('come with every entry, also of a search by name', async () => {
    const { total, tests } = await find({ sort: 'test_name' });
    expect(total).toBe(3);
    expect(tests.map(({ test_name, metrics }) => [test_name, metrics])).toEqual([
      [
        'broken',
        {
          health_status: 'broken',
          is_active: true,
          health_confidence: 'high',
          health_probability: expect.any(Number),
          has_enough_runs: true,
          failed_executions_impact: 'medium',
          executions: 6,
          failed_executions: 6,
          failed_executions_by_day: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0],
          last_failure_at: new Date(TEST_NOW - 35 * 3_600_000).toISOString(),
          median_seconds: null,
          p95_seconds: null,
        },
      ],
      [
        'flaky',
        {
          health_status: 'flaky',
          is_active: true,
          health_confidence: 'high',
          health_probability: expect.any(Number),
          has_enough_runs: true,
          failed_executions_impact: 'low',
          executions: 16,
          failed_executions: 4,
          failed_executions_by_day: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0],
          last_failure_at: new Date(TEST_NOW - 54 * 3_600_000).toISOString(),
          ...{ median_seconds: 0.1, p95_seconds: 0.1 },
        },
      ],
      [
        'healthy',
        {
          health_status: 'healthy',
          is_active: false,
          health_confidence: 'medium',
          health_probability: expect.any(Number),
          has_enough_runs: true,
          failed_executions_impact: null,
          executions: 62,
          failed_executions: 0,
          failed_executions_by_day: new Array(14).fill(0),
          last_failure_at: null,
          ...{ median_seconds: 0.1, p95_seconds: 0.1 },
        },
      ],
    ]);
    for (const one of tests) expect(await find({ test_name: one.test_name })).toMatchObject({ total: 1, tests: [one] });
  });

  test('are filters and exclusions', async () => {
    const sort = 'test_name';
    expect(await found({ sort, health_status: ['flaky', 'broken'] })).toEqual(['broken', 'flaky']);
    expect(await found({ sort, health_status_exclude: 'broken' })).toEqual(['flaky', 'healthy']);
    expect(await found({ sort, health_status: 'broken', health_status_exclude: 'broken' })).toEqual([]);
    expect(await found({ sort, health_confidence: 'medium' })).toEqual(['healthy']);
    expect(await found({ sort, health_confidence_exclude: 'medium' })).toEqual(['broken', 'flaky']);
    expect(await found({ sort, failed_executions_impact: ['low', 'high'] })).toEqual(['flaky']);
    expect(await found({ sort, failed_executions_impact_exclude: 'low' })).toEqual(['broken', 'healthy']);
    expect(await found({ sort, test_name_exclude: ['*l?ky', 'healthy'] })).toEqual(['broken']);
    expect(await found({ sort, test_name: 'broken', test_name_exclude: 'broken' })).toEqual([]);
    expect(await found({ sort, is_quarantined: 'true' })).toEqual(['broken']);
    expect(await found({ sort, is_quarantined: 'false', test_name: ['broken', 'flaky'] })).toEqual(['flaky']);
  });

  test('are orders, the greatest first', async () => {
    const orders = {
      health_status: ['broken', 'flaky', 'healthy'],
      health_confidence: ['broken', 'flaky', 'healthy'],
      failed_executions_impact: ['broken', 'flaky', 'healthy'],
      failed_executions_ratio: ['broken', 'flaky', 'healthy'],
      failed_executions_count: ['broken', 'flaky', 'healthy'],
      last_failure_at: ['broken', 'flaky', 'healthy'],
      // What has never passed has no duration.
      median_seconds: ['flaky', 'healthy', 'broken'],
      p95_seconds: ['flaky', 'healthy', 'broken'],
      cost: ['broken', 'flaky', 'healthy'],
    };
    for (const [sort, expected] of Object.entries(orders)) {
      expect([sort, await found({ sort })]).toEqual([sort, expected]);
      for (const direction of ['asc', 'desc']) await expectPages(other, { sort, direction }, '1');
    }
  });
});

test.each(Object.entries(SEARCH_FILTERS))(
  '%s is a part of cursors: a page of a list belongs to its filters',
  async (name, { example }) => {
    const [value] = [example].flat();
    const [plain, filtered] = [{}, { [name]: String(value) }].map((query) =>
      insights.fixture.search({ test_name: '*', per_page: '1', ...query }),
    );
    const { last = '' } = linksOf(await insights.app.request(plain ?? ''));
    const cursor = new URL(last).searchParams.get('cursor') ?? '';
    expect((await insights.app.request(`${filtered}&cursor=${encodeURIComponent(cursor)}`)).status).toBe(422);
    expect((await insights.app.request(`${plain}&cursor=${encodeURIComponent(cursor)}`)).status).toBe(200);
  },
);
