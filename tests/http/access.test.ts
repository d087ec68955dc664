import { beforeAll, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { applicationKeys } from '../../src/postgres/schema.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { until } from '../support/patience.ts';

const TEST = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
const search = (owner = 'acme', name = 'shop') => `/v1/ci/${owner}/repositories/${name}/search/tests?test_name=*`;

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

const statusOf = async (path: string, token: string | null): Promise<number> =>
  (await app.request(path, { token })).status;

describe('access', () => {
  test('without an accepted credential everything is 403, even what would be 422 or 404', async () => {
    for (const path of [
      search(),
      '/v1/application',
      `/v1/ci/acme/repositories/shop/tests/${TEST}`,
      `${search()}&per_page=0`,
    ])
      for (const token of [null, 'nobody-knows-this']) expect([path, await statusOf(path, token)]).toEqual([path, 403]);
    expect((await app.request(search('%ZZ'), { token: null })).status).toBe(403);
    const basic = await app.request(search(), { token: null, headers: { authorization: 'Basic YTpi' } });
    expect(basic.status).toBe(403);
    expect(await basic.json()).toEqual({
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: expect.stringContaining('Authorization: Bearer'),
    });
  });

  test('a refusal says what is missing: the owner, the scope, or a kind of credential that is accepted', async () => {
    const detailOf = async (path: string, token: string) =>
      ((await (await app.request(path, { token })).json()) as { detail: string }).detail;
    const ci = await app.makeKey({ owner: 'acme' });
    expect(await detailOf(search('other'), ci)).toBe(
      'This credential may not read this repository. Use a key for its owner, or a host token that may pull.',
    );
    expect(await detailOf('/v1/repos/acme/shop/logs', ci)).toContain(
      'a key for its owner with the scope view or admin',
    );
    expect(await detailOf(search(), 'ghp_1234567890abcdefghij1234567890abcdef')).toContain(
      'HOST_AUTH does not name it',
    );
  });

  test('the scheme of the header is case-insensitive', async () => {
    const response = await app.request(search(), {
      token: null,
      headers: { authorization: `bearer ${app.adminToken}` },
    });
    expect(response.status).toBe(200);
  });

  test('a key works for its owner in any case, and is 403 for every other owner', async () => {
    const token = await app.makeKey({ owner: 'Acme' });
    expect(await statusOf(search('aCME'), token)).toBe(200);
    expect(await statusOf(search('other'), token)).toBe(403);
  });

  test('a repository outside the list of a key looks as if it did not exist', async () => {
    const token = await app.makeKey({ owner: 'acme', repositories: ['Shop'] });
    expect(await statusOf(search('acme', 'shop'), token)).toBe(200);
    expect(await statusOf(search('acme', 'bank'), token)).toBe(404);
    expect(await statusOf(search('other', 'shop'), token)).toBe(403);
  });

  test('an expiring key stops working at that moment', async () => {
    const { clock } = app.stores;
    const now = clock.now();
    const token = await app.makeKey({ expiresAt: new Date(now + 60_000) });
    expect(await statusOf(search(), token)).toBe(200);
    clock.set(now + 60_000);
    expect(await statusOf(search(), token)).toBe(403);
    clock.set(now);
  });

  test('a revoked key stops working at once in this process', async () => {
    const { key, token } = await app.keys.create({
      name: 'gone',
      owner: null,
      scope: 'ci',
      repositories: null,
      expiresAt: null,
    });
    expect(await statusOf(search(), token)).toBe(200);
    expect(await app.keys.revoke(key.id)).toBe(true);
    expect(await statusOf(search(), token)).toBe(403);
    expect(await app.keys.revoke(key.id)).toBe(false);
  });

  test('only the hash of a token is stored, and its last use is recorded', async () => {
    const { key, token } = await app.keys.create({
      name: 'used',
      owner: null,
      scope: 'ci',
      repositories: null,
      expiresAt: null,
    });
    await app.request(search(), { token });
    const { db } = app.stores.postgres;
    const read = () => db.select().from(applicationKeys).where(eq(applicationKeys.id, key.id));
    const [row] = await until(read, ([found]) => found?.lastUsedAt != null);
    expect(row?.lastUsedAt?.getTime()).toBe(app.stores.clock.now());
    expect(JSON.stringify(row)).not.toContain(token);
  });

  test('the key in use is described without its secret', async () => {
    const token = await app.makeKey({ name: 'pipeline', owner: 'acme', repositories: ['shop'] });
    const response = await app.request('/v1/application', { token });
    expect(await response.json()).toEqual({
      id: expect.any(String),
      name: 'pipeline',
      scope: 'ci',
      account_scope: { id: expect.any(Number), login: 'acme', repositories: ['shop'] },
    });
  });

  test('an owner has one whole number as its id with every key, and "every owner" is *', async () => {
    const scopeOf = async (owner: string | null) => {
      const response = await app.request('/v1/application', { token: await app.makeKey({ owner }) });
      return ((await response.json()) as { account_scope: { id: number } }).account_scope;
    };
    const acme = await scopeOf('acme');
    expect(Number.isSafeInteger(acme.id) && acme.id > 0).toBe(true);
    expect((await scopeOf('ACME')).id).toBe(acme.id);
    expect((await scopeOf('other')).id).not.toBe(acme.id);
    expect(await scopeOf(null)).toMatchObject({ id: 0, login: '*', repositories: null });
  });

  test('checks come in order: credential, path, access, query, existence', async () => {
    const token = await app.makeKey({ owner: 'acme', repositories: ['shop'] });
    const badQuery = '?start=yesterday';
    const path = (owner: string, name: string, id: string) =>
      `/v1/ci/${owner}/repositories/${name}/tests/${id}/executions`;
    expect(await statusOf(path('other', 'bank', 'no-uuid') + badQuery, null)).toBe(403);
    expect(await statusOf(path('other', 'bank', 'no-uuid') + badQuery, token)).toBe(422);
    expect(await statusOf(path('other', 'shop', TEST) + badQuery, token)).toBe(403);
    expect(await statusOf(path('acme', 'bank', TEST) + badQuery, token)).toBe(404);
    expect(await statusOf(path('acme', 'shop', TEST) + badQuery, token)).toBe(422);
    expect(await statusOf(path('acme', 'shop', TEST), token)).toBe(404);
  });
});
