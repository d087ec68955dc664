/** Quarantines as newer clients ask for them, and the features that clients ask for and go on without. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

interface States {
  size: number;
  per_page: number;
  test_states: { id: string; test_name: string; branch_name: string | null; state: string }[];
}

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

function freshRepository() {
  const { owner, name } = uniqueRepository();
  const base = `/v1/ci/${owner}/repositories/${name}`;
  const send = (method: string, path: string, body?: unknown, token?: string) =>
    app.request(`${base}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
      ...(token === undefined ? {} : { token }),
    });
  const quarantine = async (test_name: string, branch_name?: string): Promise<string> => {
    const response = await send('POST', '/test-states', {
      state: 'quarantined',
      test_name,
      reason: 'flaky',
      branch_name,
    });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  };
  const names = async (query: string): Promise<string[]> =>
    (await app.get<States>(`${base}/test-states${query}`)).test_states.map(({ test_name }) => test_name);
  return { owner, name, base, send, quarantine, names };
}

describe('test states', () => {
  test('a state is a quarantine: made, read and removed under either address, with the same id', async () => {
    const { base, quarantine, send } = freshRepository();
    const id = await quarantine('Cart > sums', 'main');
    const record = await app.get(`${base}/quarantines/${id}`);
    const { branch, ...rest } = record;
    expect(await app.get(`${base}/test-states/${id}`)).toEqual({
      ...rest,
      state: 'quarantined',
      branch_name: branch,
      pipeline_name: null,
      job_name: null,
      issue_url: null,
    });
    expect((await send('DELETE', `/test-states/${id}`)).status).toBe(204);
    expect((await app.request(`${base}/quarantines/${id}`)).status).toBe(404);
    expect((await send('DELETE', `/test-states/${id}`)).status).toBe(404);

    const made = await send('POST', '/quarantines', { test_name: 'Cart > adds', reason: 'clock' });
    const { id: other } = (await made.json()) as { id: string };
    expect((await app.get<States>(`${base}/test-states?state=quarantined`)).test_states[0]?.id).toBe(other);
  });

  test('a test that is quarantined on the same branch already is 409, under either address', async () => {
    const { quarantine, send } = freshRepository();
    await quarantine('a', 'main');
    const body = { test_name: 'a', reason: 'again' };
    expect((await send('POST', '/quarantines', { ...body, branch: 'main' })).status).toBe(409);
    expect((await send('POST', '/test-states', { ...body, state: 'quarantined', branch_name: 'main' })).status).toBe(
      409,
    );
    expect((await send('POST', '/test-states', { ...body, state: 'quarantined', branch_name: 'other' })).status).toBe(
      201,
    );
  });

  test('branch and name narrow the list; pipeline and job do not, because a quarantine is for all of them', async () => {
    const { quarantine, names } = freshRepository();
    await quarantine('everywhere');
    await quarantine('on main', 'main');
    await quarantine('on releases', 'release/*');
    expect(await names('?state=quarantined&branch_name=main&pipeline_name=CI&job_name=unit&per_page=100')).toEqual([
      'everywhere',
      'on main',
    ]);
    expect(await names('?branch_name=release/1&job_name=other')).toEqual(['everywhere', 'on releases']);
    expect(await names('?test_name=on%20main')).toEqual(['on main']);
    expect(await names('?test_name=ON%20main')).toEqual([]);
    expect(await names('?source=auto')).toEqual([]);
  });

  test('a quarantine of one pipeline or job only is refused: a wider one would hide failures', async () => {
    const { send, names } = freshRepository();
    const body = { state: 'quarantined', test_name: 'a', reason: 'flaky' };
    for (const [field, value] of [
      ['pipeline_name', 'CI'],
      ['job_name', 'unit'],
      ['issue_url', 'https://example.com/1'],
      ['state', 'muted'],
    ]) {
      const response = await send('POST', '/test-states', { ...body, [field as string]: value });
      const problem = (await response.json()) as { errors: { loc: string[] }[] };
      expect([response.status, problem.errors.map(({ loc }) => loc)]).toEqual([422, [['body', field as string]]]);
    }
    expect((await send('POST', '/test-states', { ...body, pipeline_name: null, job_name: null })).status).toBe(201);
    expect(await names('')).toEqual(['a']);
  });

  test('next links, followed as they are, lead through the whole list once', async () => {
    const { base, quarantine } = freshRepository();
    const all = Array.from({ length: 25 }, (_, i) => `test ${String(i).padStart(2, '0')}`);
    for (const name of all) await quarantine(name);
    const seen: string[] = [];
    let next: string | undefined = `${base}/test-states?state=quarantined&branch_name=main&per_page=10`;
    while (next !== undefined) {
      const response = await app.request(next);
      seen.push(...((await response.json()) as States).test_states.map(({ test_name }) => test_name));
      next = linksOf(response).next;
      if (next !== undefined) expect(next).toStartWith('http://ci.test/v1/');
    }
    expect(seen).toEqual(all);
  });

  test('a key of another owner sees and changes nothing', async () => {
    const { send, quarantine, names } = freshRepository();
    const id = await quarantine('a');
    const token = await app.makeKey({ owner: 'somebody-else' });
    const body = { state: 'quarantined', test_name: 'b', reason: 'flaky' };
    for (const [method, path, sent] of [
      ['GET', '/test-states', undefined],
      ['POST', '/test-states', body],
      ['GET', `/test-states/${id}`, undefined],
      ['DELETE', `/test-states/${id}`, undefined],
    ] as const)
      expect((await send(method, path, sent, token)).status).toBe(403);
    expect(await names('')).toEqual(['a']);
  });
});

test.each(['flaky-detection-context', 'test-retry-context', 'test-selection?branch=main&head_sha=1f3a9c2'])(
  '%s is 404, which clients take for "not enabled", and says what there is instead',
  async (path) => {
    const { send } = freshRepository();
    const response = await send('GET', `/${path}`);
    const { detail } = (await response.json()) as { detail: string };
    expect([response.status, detail]).toEqual([404, expect.stringContaining('not offered here')]);
    expect((await send('GET', `/${path}`, undefined, 'cii_unknown')).status).toBe(403);
  },
);

test('an ordinary refusal carries nothing of a rate limit: clients would wait instead of telling of it', async () => {
  const { base } = freshRepository();
  for (const token of [null, 'cii_unknown', await app.makeKey({ owner: 'somebody-else' })]) {
    const response = await app.request(`${base}/test-states`, { token });
    expect(response.status).toBe(403);
    const names = [...response.headers.keys()].filter((name) => /rate-?limit|retry-after/i.test(name));
    expect(names).toEqual([]);
  }
});
