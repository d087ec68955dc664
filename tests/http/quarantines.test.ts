/** The quarantine operations. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { validate } from 'uuid';
import { testIdOf } from '../../src/domain/identity.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

interface Record {
  id: string;
  test_id: string;
  test_name: string;
  reason: string;
  branch: string | null;
  created_at: string;
  source: string;
  is_recovered: boolean;
}
interface List {
  size: number;
  per_page: number | null;
  quarantined_tests: Record[];
}

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

function freshRepository() {
  const { owner, name } = uniqueRepository();
  const base = `/v1/ci/${owner}/repositories/${name}/quarantines`;
  const post = (body: unknown, init: RequestInit & { token?: string | null } = {}) =>
    app.request(base, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      ...init,
    });
  const create = async (test_name: string, branch: string | null = null, reason = 'flaky'): Promise<string> => {
    const response = await post({ test_name, reason, branch });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  };
  const list = (query = '') => app.get<List>(`${base}${query}`);
  const names = async (query = '') => (await list(query)).quarantined_tests.map(({ test_name }) => test_name);
  const remove = (id: string, headers: { [name: string]: string } = {}) =>
    app.request(`${base}/${id}`, { method: 'DELETE', headers });
  return { owner, name, base, post, create, list, names, remove };
}

describe('the life of a quarantine', () => {
  test('it is created, listed, read and removed, and then it is gone', async () => {
    const { base, post, list, remove, owner, name } = freshRepository();
    const created = await post({ test_name: 'Cart > sums', reason: 'clock', branch: 'main' });
    expect(created.status).toBe(201);
    const { id, ...rest } = (await created.json()) as { id: string };
    expect(rest).toEqual({});
    expect(validate(id)).toBe(true);
    expect(created.headers.get('location')).toBe(`http://ci.test${base}/${id}`);

    const repository = await app.stores.repositories.find(owner, name);
    const record = {
      id,
      test_id: testIdOf(repository?.id ?? '', 'Cart > sums'),
      test_name: 'Cart > sums',
      reason: 'clock',
      branch: 'main',
      created_at: new Date(app.stores.clock.now()).toISOString(),
      source: 'manual',
      is_recovered: false,
      pipeline_name: null,
      job_name: null,
      axes: null,
      failure_ids: null,
      cause_id: null,
      expires_at: null,
      owner: null,
      ticket_url: null,
    };
    expect(await list()).toEqual({ size: 1, per_page: null, quarantined_tests: [record] });
    expect(await app.get<Record>(`${base}/${id}`)).toEqual(record);
    expect(await app.get<Record>(`${base}/${id.toUpperCase()}`)).toEqual(record);

    const removed = await remove(id);
    expect([removed.status, await removed.text()]).toEqual([204, '']);
    expect(await list()).toEqual({ size: 0, per_page: null, quarantined_tests: [] });
    expect((await app.request(`${base}/${id}`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
  });

  test('a removed one may be created again, as a new record', async () => {
    const { create, remove, names } = freshRepository();
    const first = await create('a');
    await remove(first);
    expect(await create('a')).not.toBe(first);
    expect(await names()).toEqual(['a']);
  });

  test('`Prefer: return=representation` answers 200 with the removed record', async () => {
    const { create, remove, base } = freshRepository();
    for (const prefer of ['return=representation', 'respond-async, Return = "representation"; x=1']) {
      const id = await create('a');
      const record = await app.get<Record>(`${base}/${id}`);
      const removed = await remove(id, { prefer });
      expect(removed.status).toBe(200);
      expect(await removed.json()).toEqual(record);
      expect(removed.headers.get('preference-applied')).toBe('return=representation');
    }
    const id = await create('b');
    expect((await remove(id, { prefer: 'return=minimal' })).status).toBe(204);
  });

  test('a repository that was never written to has an empty list and no quarantine', async () => {
    const { base, list, remove } = freshRepository();
    expect(await list()).toEqual({ size: 0, per_page: null, quarantined_tests: [] });
    expect(await list('?per_page=5')).toEqual({ size: 0, per_page: 5, quarantined_tests: [] });
    const id = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
    expect((await app.request(`${base}/${id}`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
  });

  test('owner and repository are compared without case', async () => {
    const { base, create, names } = freshRepository();
    await create('a');
    const { quarantined_tests } = await app.get<List>(
      base
        .replace(/owner|repo/g, (part) => part.toUpperCase())
        .replace('/OWNER', '/OWNER')
        .replace('/REPOsitories', '/repositories'),
    );
    expect(quarantined_tests).toHaveLength(1);
    expect(await names()).toEqual(['a']);
  });
});

describe('duplicates', () => {
  test('the same test on the same branch is 409 with its name; on another branch it is another quarantine', async () => {
    const { create, post, list } = freshRepository();
    await create('a', null);
    await create('a', 'main');
    await create('a', 'release/*');
    for (const branch of [undefined, null, 'main', 'release/*']) {
      const response = await post({ test_name: 'a', reason: 'other', branch });
      expect(response.status).toBe(409);
      expect(await response.json()).toMatchObject({ status: 409, detail: "Test 'a' is already quarantined" });
    }
    expect((await list()).size).toBe(3);
  });

  test.each([['main'], [null]])(
    'of concurrent requests for branch %p one wins and the others are 409',
    async (branch) => {
      const { post, list } = freshRepository();
      const statuses = await Promise.all(
        Array.from({ length: 12 }, async () => (await post({ test_name: 'a', reason: 'r', branch })).status),
      );
      expect(statuses.sort()).toEqual([201, ...Array(11).fill(409)]);
      expect((await list()).size).toBe(1);
    },
  );

  test('names that differ in case, spaces or Unicode form are different tests', async () => {
    const { create, names } = freshRepository();
    const all = ['a', 'A', ' a', 'é', 'e\u0301'];
    for (const name of all) await create(name);
    expect(await names()).toEqual(all);
  });
});

describe('filters', () => {
  test('`branch` selects what applies to it: every branch, this one, or a matching pattern', async () => {
    const { create, names } = freshRepository();
    await create('every', null);
    await create('main', 'main');
    await create('star', 'release/*');
    await create('deep', 'release/**');
    await create('one', 'v?');
    expect(await names('?branch=main')).toEqual(['every', 'main']);
    expect(await names('?branch=release/1')).toEqual(['every', 'star', 'deep']);
    expect(await names('?branch=release/1/fix')).toEqual(['every', 'deep']);
    expect(await names('?branch=v1')).toEqual(['every', 'one']);
    expect(await names('?branch=release%2F*')).toEqual(['every', 'star', 'deep']);
    expect(await names('?branch=other')).toEqual(['every']);
    expect(await names()).toEqual(['every', 'main', 'star', 'deep', 'one']);
  });

  test('`test_id` and `source` are combined with AND', async () => {
    const { create, names, list, owner, name } = freshRepository();
    await create('a', 'main');
    await create('b');
    const id = (await list()).quarantined_tests[1]?.test_id;
    const repository = await app.stores.repositories.find(owner, name);
    if (!repository) throw new Error('the repository is not recorded');
    const wanted = { testName: 'c', reason: 'flaky', branch: null };
    await app.stores.quarantines.createAutomatically(repository.id, wanted, 'auto-quarantine');
    expect(await names(`?test_id=${id}`)).toEqual(['b']);
    expect(await names(`?test_id=${id?.toUpperCase()}&source=manual`)).toEqual(['b']);
    expect(await names(`?test_id=${id}&source=auto`)).toEqual([]);
    expect(await names('?source=auto')).toEqual(['c']);
    expect(await names('?source=manual&branch=x')).toEqual(['b']);
  });
});

describe('access and input', () => {
  test('a quarantine of another repository or owner looks as if it did not exist', async () => {
    const mine = freshRepository();
    const other = freshRepository();
    const id = await mine.create('a');
    await other.create('b');
    for (const base of [other.base, '/v1/ci/somebody-else/repositories/shop/quarantines']) {
      expect((await app.request(`${base}/${id}`)).status).toBe(404);
      expect((await app.request(`${base}/${id}`, { method: 'DELETE' })).status).toBe(404);
    }
    const foreign = await app.makeKey({ owner: 'somebody-else' });
    expect((await app.request(`${mine.base}/${id}`, { token: foreign })).status).toBe(403);
    const listed = await app.makeKey({ owner: mine.owner, repositories: ['something-else'] });
    expect((await app.request(mine.base, { token: listed })).status).toBe(404);
    expect(await mine.names()).toEqual(['a']);
  });

  test('a ci key may quarantine and release', async () => {
    const { base, owner } = freshRepository();
    const token = await app.makeKey({ owner, scope: 'ci' });
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ test_name: 'a', reason: '' });
    const created = await app.request(base, { method: 'POST', token, headers, body });
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    expect((await app.request(`${base}/${id}`, { method: 'DELETE', token })).status).toBe(204);
  });

  test('names and reasons of 10,000 characters come back unchanged, even in a 409', async () => {
    const { post, list } = freshRepository();
    const text = '😀\\\n"\t\u0001é%'.repeat(1_250);
    expect([...text]).toHaveLength(10_000);
    const body = { test_name: text, reason: text };
    expect((await post(body)).status).toBe(201);
    expect((await list()).quarantined_tests[0]).toMatchObject(body);
    const again = await post(body);
    expect(again.status).toBe(409);
    expect(((await again.json()) as { detail: string }).detail).toBe(`Test '${text}' is already quarantined`);
  });

  const long = '😀'.repeat(10_001);
  test.each([
    ['an empty name', { test_name: '', reason: '' }, 'test_name'],
    ['no name', { reason: '' }, 'test_name'],
    ['no reason', { test_name: 'a' }, 'reason'],
    ['a name that is not text', { test_name: 1, reason: '' }, 'test_name'],
    ['a name that is too long', { test_name: long, reason: '' }, 'test_name'],
    ['a reason that is too long', { test_name: 'a', reason: long }, 'reason'],
    ['an empty branch', { test_name: 'a', reason: '', branch: '' }, 'branch'],
    ['a branch that is too long', { test_name: 'a', reason: '', branch: 'b'.repeat(256) }, 'branch'],
    ['a NUL', { test_name: 'a\0', reason: '' }, 'test_name'],
    ['half a surrogate pair', '{"test_name": "a", "reason": "\\ud83d"}', 'reason'],
  ])('%s is 422 and quarantines nothing', async (_, body, field) => {
    const { post, list } = freshRepository();
    const response = await post(body);
    expect(response.status).toBe(422);
    const problem = (await response.json()) as { errors: { loc: string[] }[]; detail: string };
    expect(problem.errors.map(({ loc }) => loc)).toEqual([['body', field]]);
    expect(problem.detail).toContain(`body.${field}:`);
    expect((await list()).size).toBe(0);
  });

  test('an empty reason, unknown fields and a test that was never seen are accepted', async () => {
    const { post, list } = freshRepository();
    expect((await post({ test_name: 'never seen', reason: '', colour: 'red' })).status).toBe(201);
    expect((await list()).quarantined_tests[0]).toMatchObject({ reason: '', branch: null });
  });

  test('malformed JSON and other media types are 422', async () => {
    const { post } = freshRepository();
    expect((await post('{"test_name":')).status).toBe(422);
    const body = JSON.stringify({ test_name: 'a', reason: '' });
    expect((await post(body, { headers: { 'content-type': 'text/plain' } })).status).toBe(422);
  });

  test.each([
    'branch=',
    `branch=${'b'.repeat(256)}`,
    'test_id=7',
    'source=robot',
    'per_page=0',
    'per_page=101',
    'cursor=x',
  ])('?%s is 422', async (query) => {
    const { base } = freshRepository();
    expect((await app.request(`${base}?${query}`)).status).toBe(422);
  });

  test('an id that is not a UUID is 422', async () => {
    const { base } = freshRepository();
    expect((await app.request(`${base}/seven`)).status).toBe(422);
    expect((await app.request(`${base}/seven`, { method: 'DELETE' })).status).toBe(422);
  });
});

describe('the check of older clients', () => {
  test('splits the names by whether they are quarantined on the branch', async () => {
    const { base, create } = freshRepository();
    await create('every', null);
    await create('main', 'main');
    await create('pattern', 'release/*');
    const check = async (branch: string | null | undefined) => {
      const body = JSON.stringify({ tests_names: ['main', 'every', 'unknown', 'pattern'], branch });
      const headers = { 'content-type': 'application/json' };
      const response = await app.request(`${base}/check`, { method: 'POST', body, headers });
      expect(response.status).toBe(200);
      return response.json();
    };
    expect(await check('main')).toEqual({
      quarantined_tests_names: ['main', 'every'],
      non_quarantined_tests_names: ['unknown', 'pattern'],
    });
    expect(await check('release/1')).toEqual({
      quarantined_tests_names: ['every', 'pattern'],
      non_quarantined_tests_names: ['main', 'unknown'],
    });
    for (const branch of [null, undefined])
      expect(await check(branch)).toMatchObject({ quarantined_tests_names: ['every'] });
  });

  test('bad bodies are 422', async () => {
    const { base } = freshRepository();
    for (const body of ['{}', '{"tests_names":"a"}', '{"tests_names":[""]}', '[]']) {
      const headers = { 'content-type': 'application/json' };
      expect((await app.request(`${base}/check`, { method: 'POST', body, headers })).status).toBe(422);
    }
  });
});
