/** Owners and tickets of causes: given by people, kept by merges, and derived from the tests that a cause hits. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/domain/time.ts';
import type { CausePage } from '../../src/insights/cause.ts';
import type { CauseList } from '../../src/insights/causes.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const days = (count: number): number => TEST_NOW - count * DAY_MS;
const failed = (name: string, at: number, message: string): TestExecution => ({
  ...{ name, at, status: 'failed' },
  failures: [{ type: 'ConnectionError', message }],
});
const outage = (tests: string, at: number): TestExecution[] =>
  [...tests].map((name, i) =>
    failed(`test ${name}`, at + i * SECOND_MS, `cannot reach '${name}db.internal' port closed by peer`),
  );

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([failed('old', days(20), 'ledger rounding went wrong')], { commit: 'c20' }),
    // Fewer tests than a burst has: three causes.
    fixture.run(outage('abc', days(2)), { commit: 'c2', run_id: '2' }),
    fixture.run([failed('alone', days(1), 'cart total became negative')], { commit: 'c1', run_id: '1' }),
  );
});
const base = () => `${insights.fixture.base}/causes`;
const list = async (query = ''): Promise<CauseList['causes']> =>
  ((await insights.app.get(`${base()}${query}`)) as CauseList).causes;
const one = async (id: string): Promise<CausePage> => (await insights.app.get(`${base()}/${id}`)) as CausePage;
const change = (id: string, body: unknown, token?: string): Promise<Response> =>
  insights.app.request(`${base()}/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(token !== undefined && { token }),
  });
async function idOf(words: string): Promise<string> {
  const [cause] = await list(`?q=${encodeURIComponent(words)}`);
  return cause?.cause_id ?? '';
}

describe('a cause', () => {
  test('is given an owner and a ticket, which list and details show, and the trail tells', async () => {
    const id = await idOf('negative');
    expect(await one(id)).toMatchObject({ owner: null, ticket_url: null, owners: [] });
    const response = await change(id, { owner: 'team-a', ticket_url: 'https://tickets.example/A-1' });
    expect([response.status, await response.json()]).toEqual([
      200,
      { cause_id: id, owner: 'team-a', ticket_url: 'https://tickets.example/A-1' },
    ]);
    for (const shown of [await one(id), (await list('?q=negative'))[0]])
      expect(shown).toMatchObject({ owner: 'team-a', ticket_url: 'https://tickets.example/A-1' });
    await change(id, { ticket_url: null });
    await change(id, { owner: 'team-a' });
    expect(await one(id)).toMatchObject({ owner: 'team-a', ticket_url: null });
    const { owner, name } = insights.fixture.repository;
    const { entries } = await insights.app.get<{ entries: Record<string, unknown>[] }>(
      `/v1/audit?owner=${owner}&repository=${name}&action=cause.update`,
    );
    // What is the same already is no change.
    expect(entries).toHaveLength(2);
    expect(entries[1]).toMatchObject({
      object: { id, name: 'cart total became negative' },
      before: { owner: null, ticket_url: null },
      after: { owner: 'team-a', ticket_url: 'https://tickets.example/A-1' },
    });
  });

  test('is found by its owner, and by the owners of the tests that it hits', async () => {
    const settings = await insights.app.request(`${insights.fixture.base}/settings`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        test_owners: [
          { test_name: 'test a', owners: ['@acme/net', '@acme/a'] },
          { test_name: 'alone', owners: ['@acme/cart'] },
        ],
      }),
    });
    expect(settings.status).toBe(200);
    await insights.fixture.settle();
    const typesOf = async (query: string) => (await list(query)).map(({ newest_test: { test_name: name } }) => name);
    expect(await typesOf('?owner=team-a')).toEqual(['alone']);
    expect(await typesOf('?owner=@acme/cart')).toEqual(['alone']);
    expect(await typesOf('?owner=@acme/net&owner=team-a')).toEqual(['alone', 'test a']);
    expect(await typesOf('?owner=&sort=failures')).toHaveLength(3);
    expect(await typesOf('?owner=nobody')).toEqual([]);
    const [found] = await list('?owner=@acme/net');
    expect(found?.owners).toEqual(['@acme/a', '@acme/net']);
    expect((await one(found?.cause_id ?? '')).owners).toEqual(['@acme/a', '@acme/net']);
  });

  test('refuses what it has no field for, an owner without a name, and those who may only read', async () => {
    const id = await idOf('negative');
    for (const body of [{ ownr: 'x' }, { owner: '' }, { ticket_url: 'ftp://x' }, { owner: 'x'.repeat(256) }])
      expect([body, (await change(id, body)).status]).toEqual([body, 422]);
    const token = await insights.app.makeKey({ scope: 'view' });
    expect((await change(id, { owner: 'x' }, token)).status).toBe(403);
    expect((await change('6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14', { owner: 'x' })).status).toBe(404);
  });
});

test('a merge keeps owner and ticket: first those of the cause that is left, then of what was merged into it', async () => {
  const [a, b, c] = [await idOf('adb'), await idOf('bdb'), await idOf('cdb')];
  expect(new Set([a, b, c]).size).toBe(3);
  await change(a, { owner: 'team-first' });
  await change(b, { owner: 'team-second', ticket_url: 'https://tickets.example/B' });
  await change(c, { ticket_url: 'https://tickets.example/C' });
  // An hour later, more tests meet it: now it is one.
  const again = outage('abcdef', days(2) + HOUR_MS);
  await insights.fixture.ingest(insights.fixture.run(again, { commit: 'c3', run_id: '3' }));
  const [merged, ...others] = await list('?q=closed');
  expect(others).toEqual([]);
  const kept = { owner: 'team-first', ticket_url: expect.stringMatching(/example\/[BC]$/) };
  expect(merged).toMatchObject({ cause_id: a, ...kept });
  for (const id of [a, b, c]) expect(await one(id)).toMatchObject({ cause_id: a, ...kept });
  // By the id of one that was merged, and for good: nothing of what was merged comes back.
  expect(await (await change(b, { owner: null, ticket_url: null })).json()).toMatchObject({ cause_id: a, owner: null });
  expect(await one(a)).toMatchObject({ owner: null, ticket_url: null });
  expect(await list('?owner=team-second')).toEqual([]);
});
