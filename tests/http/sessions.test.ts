/** Sessions of browsers: how they begin, what they may do, and how they end. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { signInLink } from '../../src/access/sign-in-link.ts';
import { SESSIONS_OF_KEY_MAX } from '../../src/postgres/sessions.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

const DAY_MS = 86_400_000;
const { owner, name } = uniqueRepository();
const QUARANTINES = `/v1/ci/${owner}/repositories/${name}/quarantines`;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const sessionsSchema = z.object({ sessions: z.array(z.object({ id: z.string(), actor: z.string() })) });

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.stores.clock.set(TEST_NOW));

const signIn = (key: string, headers: Record<string, string> = OWN_PAGE, origin = '') =>
  app.request(`${origin}/v1/session`, {
    method: 'POST',
    token: null,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ key }),
  });

/** The cookie that a browser sends after it has signed in. */
async function cookieOf(key: string): Promise<string> {
  const response = await signIn(key);
  expect(response.status).toBe(201);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

const asked = (path: string, cookie: string, init: RequestInit = {}) =>
  app.request(path, { ...init, token: null, headers: { ...OWN_PAGE, cookie, ...(init.headers as object) } });
const statusOf = async (cookie: string): Promise<number> => (await asked('/v1/session', cookie)).status;
const quarantine = (cookie: string, headers: Record<string, string> = {}) =>
  asked(QUARANTINES, cookie, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ test_name: `a test ${crypto.randomUUID()}`, reason: '' }),
  });

describe('a session', () => {
  test('is a cookie that no script can read and no other site sends', async () => {
    const response = await signIn(await app.makeKey({ owner, scope: 'view', name: 'ann' }));
    expect(response.status).toBe(201);
    expect(response.headers.get('set-cookie')).toMatch(
      /^ci_insights_session=cis_[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/,
    );
    expect(await response.json()).toMatchObject({ actor: 'ann', scope: 'view', owner, is_operator: false });
  });

  test('leaves the cookie out of connections without TLS where the service has TLS', async () => {
    const secure = await openTestApp({ publicUrl: 'https://ci.example.com' });
    const response = await secure.request('/v1/session', {
      method: 'POST',
      token: null,
      headers: { 'content-type': 'application/json', ...OWN_PAGE },
      body: JSON.stringify({ key: await app.makeKey() }),
    });
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-ci_insights_session=.*; Path=\/; .*; Secure$/);
    const [pair = ''] = response.headers.get('set-cookie')?.split(';') ?? [];
    const status = async (cookie: string) =>
      (await secure.request('/v1/session', { token: null, headers: { cookie } })).status;
    expect(await status(pair)).toBe(200);
    // One that a host beside could plant.
    expect(await status(pair.replace('__Host-', ''))).toBe(403);
    const out = await secure.request('/v1/session', {
      method: 'DELETE',
      token: null,
      headers: { ...OWN_PAGE, cookie: pair },
    });
    expect(out.headers.get('set-cookie')).toMatch(/^__Host-ci_insights_session=; .*; Secure$/);
  });

  test('is for TLS also if only the page that signs in says that the service has it', async () => {
    const key = await app.makeKey({ owner });
    const response = await signIn(key, { origin: 'https://ci.test', host: 'ci.test' });
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-ci_insights_session=.*; Secure$/);
    const [pair = ''] = response.headers.get('set-cookie')?.split(';') ?? [];
    expect(await statusOf(pair)).toBe(200);
    // Beside it, a planted one does not count.
    const planted = await cookieOf(await app.makeKey({ owner, name: 'planted' }));
    const answer = await asked('/v1/session', `${planted}; ${pair}`);
    expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining('planted')]);
    const out = await asked('/v1/session', pair, { method: 'DELETE' });
    expect(out.headers.get('set-cookie')).toMatch(/^__Host-ci_insights_session=; .*; Secure$/);
  });

  test('is none if there are two with its name: one of them was planted', async () => {
    const [own, planted] = [await cookieOf(await app.makeKey({ owner })), await cookieOf(await app.makeKey({ owner }))];
    expect([await statusOf(own), await statusOf(planted)]).toEqual([200, 200]);
    expect([await statusOf(`${planted}; ${own}`), await statusOf(`${own}; a=b; ${planted}`)]).toEqual([403, 403]);
    expect(await statusOf(`a=b; ${own}; x_ci_insights_session=c`)).toBe(200);
  });

  test('is one of a hundred of its key: the oldest ends, and no row of it stays', async () => {
    const { key, token } = await app.keys.create({
      name: 'shared',
      owner,
      scope: 'view',
      repositories: null,
      expiresAt: null,
    });
    const cookies: string[] = [];
    for (let i = 0; i < SESSIONS_OF_KEY_MAX; i++) {
      // So many people do not sign in within a second.
      app.stores.clock.at += 1_000;
      cookies.push(await cookieOf(token));
    }
    expect(await statusOf(cookies[0] ?? '')).toBe(200);
    app.stores.clock.at += 1;
    const more = await Promise.all([1, 2, 3].map(() => cookieOf(token)));
    for (const cookie of cookies.slice(0, 3)) expect(await statusOf(cookie)).toBe(403);
    for (const cookie of [cookies[3] ?? '', ...more]) expect(await statusOf(cookie)).toBe(200);
    await cookieOf(await app.makeKey({ owner }));
    const { rows } = await app.stores.postgres.pool.query('select id from ci_insights.sessions where key_id = $1', [
      key.id,
    ]);
    expect(rows).toHaveLength(SESSIONS_OF_KEY_MAX);
  });

  test('may do what its key may, in the name of the key', async () => {
    const view = await cookieOf(await app.makeKey({ owner, scope: 'view' }));
    expect((await asked(QUARANTINES, view)).status).toBe(200);
    expect((await asked(`/v1/repos/${owner}/${name}/logs`, view)).status).toBe(200);
    expect((await quarantine(view)).status).toBe(403);
    const admin = await cookieOf(await app.makeKey({ owner, scope: 'admin', name: 'bea' }));
    expect((await quarantine(admin)).status).toBe(201);
    const { rows } = await app.stores.postgres.pool.query(`select 1 from ci_insights.quarantines where actor = 'bea'`);
    expect(rows).toHaveLength(1);
  });

  test('changes something only for pages of this service', async () => {
    const cookie = await cookieOf(await app.makeKey({ owner }));
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ]) {
      const refused = await quarantine(cookie, headers);
      expect([headers, refused.status]).toEqual([headers, 403]);
      expect(await refused.text()).toContain('only for pages of this service');
    }
    expect((await quarantine(cookie)).status).toBe(201);
  });

  test('is not given to a page of another site', async () => {
    const key = await app.makeKey({ owner });
    expect((await signIn(key, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signIn(key, {})).status).toBe(403);
    expect((await signIn(key, { origin: 'http://evil.example' })).status).toBe(403);
  });

  test.each(['cii_unknown', 'cis_unknown', 'cip_unknown', ' '])('is not given for %p', async (key) => {
    const response = await signIn(key);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
  });
});

describe('a session ends', () => {
  test('when its person signs out', async () => {
    const cookie = await cookieOf(await app.makeKey({ owner }));
    expect(await statusOf(cookie)).toBe(200);
    const out = await asked('/v1/session', cookie, { method: 'DELETE' });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0;')]);
    expect(await statusOf(cookie)).toBe(403);
  });

  test('after 14 days', async () => {
    const cookie = await cookieOf(await app.makeKey({ owner }));
    const now = app.stores.clock.now();
    app.stores.clock.set(now + 14 * DAY_MS - 1_000);
    expect(await statusOf(cookie)).toBe(200);
    app.stores.clock.set(now + 14 * DAY_MS);
    expect(await statusOf(cookie)).toBe(403);
    app.stores.clock.set(now);
  });

  test('when an operator revokes it, and then it is not listed', async () => {
    const cookie = await cookieOf(await app.makeKey({ owner, name: 'who leaves' }));
    const listed = async () => sessionsSchema.parse(await app.get('/v1/sessions')).sessions;
    const [found] = (await listed()).filter(({ actor }) => actor === 'who leaves');
    expect(found).toBeDefined();
    const revoke = () => app.request(`/v1/sessions/${found?.id}`, { method: 'DELETE' });
    expect((await revoke()).status).toBe(204);
    expect(await statusOf(cookie)).toBe(403);
    expect((await revoke()).status).toBe(404);
    expect((await listed()).filter(({ actor }) => actor === 'who leaves')).toEqual([]);
  });

  test('with the key that it was made from', async () => {
    const { key, token } = await app.keys.create({
      name: 'to be revoked',
      owner,
      scope: 'ci',
      repositories: null,
      expiresAt: null,
    });
    const cookie = await cookieOf(token);
    await app.keys.revoke(key.id);
    expect(await statusOf(cookie)).toBe(403);
    expect(sessionsSchema.parse(await app.get('/v1/sessions')).sessions.map(({ actor }) => actor)).not.toContain(
      'to be revoked',
    );
  });
});

describe('a link that signs in', () => {
  const offer = () =>
    app.stores.sessions.offer({ keyId: null, actor: 'demo', scope: 'admin', owner: null, repositories: null });

  test('works once, also when two use it at the same time', async () => {
    const { pass } = await offer();
    const answers = await Promise.all([signIn(pass), signIn(pass), signIn(pass)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    const cookie =
      answers
        .find(({ status }) => status === 201)
        ?.headers.get('set-cookie')
        ?.split(';')[0] ?? '';
    expect(await statusOf(cookie)).toBe(200);
  });

  test('says, once it is used up, how to make another, and says nothing of links to who sent a key', async () => {
    const detail = async (key: string): Promise<string> => {
      const answer = await signIn(key);
      expect(answer.status).toBe(403);
      return z.object({ detail: z.string() }).parse(await answer.json()).detail;
    };
    const { pass } = await offer();
    expect((await signIn(pass)).status).toBe(201);
    expect(await detail(pass)).toContain('ci-insights sessions link');
    expect(await detail('cii_unknown')).not.toContain('link');
  });

  test('ends with the key that it is for', async () => {
    const { key } = await app.keys.create({
      ...{ name: 'first', owner: null, scope: 'admin', repositories: null, expiresAt: null },
    });
    const link = await signInLink(app.stores.sessions, 'http://ci.test', { keyId: key.id, actor: key.name });
    const [address, pass = ''] = link.split('#');
    expect(address).toBe('http://ci.test/app/sign-in');
    const cookie = await cookieOf(pass);
    await app.keys.revoke(key.id);
    expect(await statusOf(cookie)).toBe(403);
  });

  test('is not a session, and is too old after ten minutes', async () => {
    const { pass } = await offer();
    expect(await statusOf(`ci_insights_session=${pass}`)).toBe(403);
    const now = app.stores.clock.now();
    app.stores.clock.set(now + 600_000);
    expect((await signIn(pass)).status).toBe(403);
    app.stores.clock.set(now);
  });
});
