/** Who owns tests: what is sent, what follows from it, and where it is read. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import type { CodeownersAnswer } from '../../src/insights/codeowners.ts';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { TestDetails } from '../../src/insights/details.ts';
import type { OwnerList } from '../../src/insights/owners.ts';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const insights = setUpInsights();

const CODEOWNERS = '*.md @docs\n/src/cart/ @acme/cart dev@acme.com\n/src/pay/ @acme/pay\n/src/gone/ @acme/gone\n';
const failed: Pick<TestExecution, 'status' | 'failures'> = { status: 'failed', failures: [{ message: 'no' }] };

const send = (fixture: InsightsFixture, body: Record<string, unknown>, token = insights.app.adminToken) =>
  insights.app.request(`${fixture.base}/codeowners`, {
    method: 'PUT',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'github', path: 'CODEOWNERS', content: CODEOWNERS, ...body }),
  });
const settings = (fixture: InsightsFixture, body: unknown) =>
  insights.app.request(`${fixture.base}/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const ownersOf = async (fixture: InsightsFixture, name: string): Promise<string[]> =>
  (await insights.app.get<TestDetails>(fixture.test(name))).owners;
const list = (fixture: InsightsFixture, query = '') => insights.app.get<OwnerList>(`${fixture.base}/owners${query}`);
const found = async (fixture: InsightsFixture, query: Record<string, string | string[]>): Promise<string[]> => {
  const { tests } = await insights.app.get<TestSearchAnswer>(fixture.search({ sort: 'test_name', ...query }));
  return tests.map(({ test_name }) => test_name);
};

const IN_CART = { name: 'adds', filepath: '/home/ci/shop/src/cart/sums.test.ts' };
const IN_PAY = { name: 'pays', filepath: 'src/pay/card.test.ts' };
const ELSEWHERE = { name: 'else', filepath: 'lib/other.test.ts' };
const NOWHERE = { name: 'nowhere' };

/** With tests in four places, of which one fails from some commit on. */
async function filled(): Promise<InsightsFixture> {
  const fixture = insights.fixture.another();
  const day = (days: number, more: Partial<TestExecution> = {}) =>
    fixture.run([
      ...[IN_CART, { ...IN_PAY, ...more }, ELSEWHERE, NOWHERE].map((one) => ({ ...one, at: at(24 * days) })),
      ...beside(24 * days),
    ]);
  await fixture.ingest(day(9), day(8), day(7), day(3, failed), day(2, failed), day(1, failed));
  return fixture;
}

describe('the owners of tests', () => {
  test('follow from CODEOWNERS, also for tests that come later or move to another file', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(fixture.run([IN_CART, { ...ELSEWHERE, at: at(1) }]));
    expect(await ownersOf(fixture, 'adds')).toEqual([]);
    expect(await (await send(fixture, {})).json()).toEqual({ is_changed: true, patterns: 4, problems: [] });
    await fixture.settle();
    expect(await ownersOf(fixture, 'adds')).toEqual(['@acme/cart', 'dev@acme.com']);
    await fixture.ingest(fixture.run([IN_PAY, { ...ELSEWHERE, filepath: 'src/cart/moved.test.ts' }]));
    expect(await ownersOf(fixture, 'pays')).toEqual(['@acme/pay']);
    expect(await ownersOf(fixture, 'else')).toEqual(['@acme/cart', 'dev@acme.com']);
    await send(fixture, { content: '/src/cart/ @new' });
    await fixture.settle();
    expect(await ownersOf(fixture, 'adds')).toEqual(['@new']);
    expect(await ownersOf(fixture, 'pays')).toEqual([]);
  });

  test('the list of files tells where a test is, however its runner spells it', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(
      fixture.run([
        { name: 'short', filepath: 'sums.test.ts' },
        { name: 'two', filepath: 'same.test.ts' },
        { name: 'com.acme.PayTest.pays' },
      ]),
    );
    const files = [
      'src/cart/sums.test.ts',
      'src/cart/same.test.ts',
      'src/pay/same.test.ts',
      'src/pay/com/acme/PayTest.java',
    ];
    await send(fixture, { files: files.join('\n') });
    await fixture.settle();
    expect(await ownersOf(fixture, 'short')).toEqual(['@acme/cart', 'dev@acme.com']);
    expect(await ownersOf(fixture, 'two')).toEqual([]);
    expect(await ownersOf(fixture, 'com.acme.PayTest.pays')).toEqual(['@acme/pay']);
    expect(await insights.app.get<CodeownersAnswer>(`${fixture.base}/codeowners`)).toMatchObject({ files: 4 });
  });

  test('rules of the settings win, and go with the setting', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(fixture.run([IN_CART, NOWHERE]));
    await send(fixture, {});
    const rule = { test_name: '*', owners: ['@all'] };
    expect((await settings(fixture, { test_owners: [rule] })).status).toBe(200);
    await fixture.settle();
    expect([await ownersOf(fixture, 'adds'), await ownersOf(fixture, 'nowhere')]).toEqual([['@all'], ['@all']]);
    await settings(fixture, { test_owners: [] });
    await fixture.settle();
    expect(await ownersOf(fixture, 'nowhere')).toEqual([]);
    expect(await ownersOf(fixture, 'adds')).toEqual(['@acme/cart', 'dev@acme.com']);
  });

  test('are previewed for other rules, which are not saved', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(fixture.run([IN_CART, IN_PAY, NOWHERE]));
    await send(fixture, {});
    await fixture.settle();
    const preview = (rules: unknown, token = insights.app.adminToken) =>
      insights.app.request(`${fixture.base}/owners/preview`, {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ test_owners: rules }),
      });
    const rules = [
      { file: '/src/', owners: ['@acme/web'] },
      { test_name: 'pays', owners: ['@acme/pay'] },
      { test_name: 'gone *', owners: [] },
    ];
    expect(await (await preview(rules)).json()).toEqual({
      tests: 3,
      rules: [
        { matches: 2, tests: 1 },
        { matches: 1, tests: 1 },
        { matches: 0, tests: 0 },
      ],
      changed_tests: 1,
      changes: [
        {
          test_id: testIdOf(fixture.id, 'adds'),
          test_name: 'adds',
          owners_before: ['@acme/cart', 'dev@acme.com'],
          owners_after: ['@acme/web'],
        },
      ],
    });
    expect(await ownersOf(fixture, 'adds')).toEqual(['@acme/cart', 'dev@acme.com']);
    expect((await preview([{ owners: ['@acme/web'] }])).status).toBe(422);
    const unknown = insights.fixture.another();
    const nothing = await insights.app.request(`${unknown.base}/owners/preview`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_owners: rules }),
    });
    expect(await nothing.json()).toMatchObject({ tests: 0, changed_tests: 0, changes: [] });
  });

  test('are in the search, which finds tests by owner and those that have none', async () => {
    const fixture = await filled();
    const all = ['adds', 'else', 'nowhere', 'pays'];
    const mine = { test_name_exclude: 'beside *' };
    expect(await found(fixture, { ...mine, owner: '' })).toEqual(all);
    await send(fixture, {});
    await fixture.settle();
    expect(await found(fixture, { owner: '@acme/cart' })).toEqual(['adds']);
    expect(await found(fixture, { owner: ['@acme/cart', '@acme/pay'] })).toEqual(['adds', 'pays']);
    expect(await found(fixture, { ...mine, owner: '' })).toEqual(['else', 'nowhere']);
    expect(await found(fixture, { ...mine, owner: ['', '@acme/pay'] })).toEqual(['else', 'nowhere', 'pays']);
    expect(await found(fixture, { owner: '@acme' })).toEqual([]);
    const { tests } = await insights.app.get<TestSearchAnswer>(fixture.search({ test_name: 'adds' }));
    expect(tests[0]?.owners).toEqual(['@acme/cart', 'dev@acme.com']);
  });

  test('are counted, with what has none and what matches nothing', async () => {
    const fixture = await filled();
    await send(fixture, {});
    await fixture.settle();
    const { owners, ...rest } = await list(fixture);
    const healthy = { flaky_tests: 0, broken_tests: 0, quarantined_tests: 0, last_failure_at: null };
    expect(owners).toEqual([
      { owner: '@acme/pay', tests: 1, ...healthy, broken_tests: 1, last_failure_at: iso(at(24)) },
      { owner: '@acme/cart', tests: 1, ...healthy },
      { owner: 'dev@acme.com', tests: 1, ...healthy },
    ]);
    expect(rest).toEqual({
      ...{ size: 3, per_page: 10, total: 3, tests: 44, owned_tests: 2, has_codeowners: true, unmatched_total: 2 },
      unowned: { tests: 42, ...healthy },
      unmatched_patterns: [
        { line: 1, pattern: '*.md', owners: ['@docs'] },
        { line: 4, pattern: '/src/gone/', owners: ['@acme/gone'] },
      ],
    });
    const first = await insights.app.request(`${fixture.base}/owners?per_page=1`);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await insights.app.get<OwnerList>(`${new URL(next).pathname}${new URL(next).search}`);
    expect(second.owners.map(({ owner }) => owner)).toEqual(['@acme/cart']);
    // The search and the list count the same tests.
    for (const { owner, tests, broken_tests } of owners) {
      expect(await found(fixture, { owner })).toHaveLength(tests);
      expect(await found(fixture, { owner, health_status: 'broken' })).toHaveLength(broken_tests);
    }
  });

  test('of a repository without data are none', async () => {
    expect(await list(insights.fixture.another())).toMatchObject({ total: 0, tests: 0, has_codeowners: false });
  });

  test('are beside the failures of a commit, and own new quarantines', async () => {
    const fixture = await filled();
    await send(fixture, {});
    await fixture.settle();
    const { failures } = await insights.app.get<CommitFailures>(`${fixture.base}/commits/commit-6/failures`);
    expect(failures.map(({ test_name, owners }) => [test_name, owners])).toEqual([['pays', ['@acme/pay']]]);
    const quarantine = async (body: Record<string, unknown>) => {
      const response = await insights.app.request(`${fixture.base}/quarantines`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'r', branch: null, ...body }),
      });
      const { id } = (await response.json()) as { id: string };
      return (await insights.app.get<{ owner: string | null }>(`${fixture.base}/quarantines/${id}`)).owner;
    };
    expect(await quarantine({ test_name: 'pays' })).toBe('@acme/pay');
    expect(await quarantine({ test_name: 'adds', owner: '@ann' })).toBe('@ann');
    expect(await quarantine({ test_name: 'adds', owner: null, branch: 'main' })).toBe(null);
    expect(await quarantine({ test_name: 'else' })).toBe(null);
  });
});

describe('a CODEOWNERS file', () => {
  test('is answered as it was sent, with the lines that are not read', async () => {
    const fixture = insights.fixture.another();
    expect((await insights.app.request(`${fixture.base}/codeowners`)).status).toBe(404);
    const content = '[Docs] @docs\ndocs/\nlib someone\n';
    const problems = [{ line: 3, reason: 'someone is no owner' }];
    const answer = await send(fixture, { host: 'gitlab', path: '.gitlab/CODEOWNERS', content });
    expect(await answer.json()).toEqual({ is_changed: true, patterns: 2, problems });
    expect(await insights.app.get(`${fixture.base}/codeowners`)).toMatchObject({
      ...{ host: 'gitlab', path: '.gitlab/CODEOWNERS', content, files: 0, patterns: 2, problems },
    });
    const again = await send(fixture, { host: 'gitlab', path: '.gitlab/CODEOWNERS', content });
    expect(await again.json()).toMatchObject({ is_changed: false });
  });

  test('that is too long or has too many patterns is refused', async () => {
    const fixture = insights.fixture.another();
    for (const body of [
      { content: '#'.repeat(512 * 1024 + 1) },
      { content: 'a @b\n'.repeat(5_001) },
      { content: `${'x*'.repeat(500)} @b\n`.repeat(300) },
      { content: 'a\0 @b' },
      { files: 'a\n'.repeat(50_001) },
      { host: 'bitbucket' },
      { path: '' },
    ])
      expect((await send(fixture, body)).status).toBe(422);
    expect((await send(fixture, { files: 'a'.repeat(9 << 20) })).status).toBe(413);
  });
});

test('rules of the settings have bounds', async () => {
  const { fixture } = insights;
  for (const test_owners of [
    [{ owners: ['@a'] }],
    [{ test_name: '', owners: ['@a'] }],
    [{ test_name: '*', owners: ['two words'] }],
    [{ test_name: '*', owners: Array.from({ length: 11 }, (_, i) => `@${i}`) }],
    Array.from({ length: 101 }, () => ({ test_name: '*', owners: [] })),
    Array.from({ length: 100 }, () => ({
      test_name: '*',
      owners: ['x'.repeat(255), 'y'.repeat(255), 'z'.repeat(255)],
    })),
    [{ test_name: '*', owners: [], other: 1 }],
  ])
    expect((await settings(fixture, { test_owners })).status).toBe(422);
});
