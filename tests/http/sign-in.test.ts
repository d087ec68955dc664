/** Signing in with an identity provider, tried with a real one: who gets a session, and who does not. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { parseSignInRules } from '../../src/domain/sign-in-rules.ts';
import { createLogger } from '../../src/observability/log.ts';
import { checkIdentityProvider } from '../../src/operate/doctor/web.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startProvider,
  type TestPerson,
  type TestProvider,
} from '../support/identity-provider.ts';
import { uniqueRepository } from '../support/stores.ts';

const PUBLIC_URL = 'http://ci.test/insights';
const HOUR_MS = 3_600_000;
const { owner, name } = uniqueRepository();
const ANN: TestPerson = { sub: 'ann-1', email: `ann@${owner}.example`, email_verified: true };
const BEA: TestPerson = { sub: 'bea-1', preferred_username: `bea of ${owner}`, groups: ['operators'] };
/** A name that people choose has beside it who they are. */
const BEA_SHOWN = `bea of ${owner} (bea-1)`;
const RULES = `group:operators admin *; domain:${owner}.example view ${owner}`;
const sessionsSchema = z.object({
  sessions: z.array(z.object({ id: z.string(), actor: z.string(), scope: z.string() })),
});

let provider: TestProvider;
let app: TestApp;
const lines: string[] = [];

const openApp = (issuer: string) =>
  openTestApp({
    publicUrl: PUBLIC_URL,
    log: createLogger('debug', { write: (line) => void lines.push(line) }),
    oidc: {
      issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      rules: parseSignInRules(RULES) ?? [],
      scopes: 'openid profile email groups',
      groupsClaim: 'groups',
      tenants: [],
      audiences: [],
      hasHostedDomains: false,
    },
  });

beforeAll(async () => {
  provider = await startProvider([`${PUBLIC_URL}/sign-in/oidc/callback`]);
  app = await openApp(provider.issuer);
});
afterAll(() => provider.stop());
afterEach(() => {
  provider.altered = undefined;
});

const ask = (path: string, cookie = '') => app.request(path, { token: null, headers: { cookie } });
const cookieNamed = (response: Response, cookie: string): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .find((pair) => pair.startsWith(`${cookie}=`)) ?? '';

/** Goes to the provider as a browser does. Returns the way back, and the cookie of the sign-in. */
async function goTo(person: TestPerson | null, to = '/'): Promise<{ back: string; cookie: string }> {
  provider.person = person;
  const begun = await ask(`/sign-in/oidc?to=${encodeURIComponent(to)}`);
  expect(begun.status).toBe(302);
  const back = new URL(await provider.visit(begun.headers.get('location') ?? ''));
  expect(back.href).toStartWith(`${PUBLIC_URL}/sign-in/oidc/callback?`);
  return { back: `/sign-in/oidc/callback${back.search}`, cookie: cookieNamed(begun, 'ci_insights_sign_in') };
}

/** Signs in. Returns the answer that ends it. */
async function signIn(person: TestPerson | null, to?: string): Promise<Response> {
  const { back, cookie } = await goTo(person, to);
  return ask(back, cookie);
}

async function expectRefused(response: Response, status: number, sentence: string): Promise<void> {
  const page = await response.text();
  expect([response.status, page]).toEqual([status, expect.stringContaining(sentence)]);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page).toContain('href="/insights/app/sign-in"');
  expect(cookieNamed(response, 'ci_insights_session')).toBe('');
}

describe('a person whom a rule names', () => {
  test('gets a session in their name that may do what the rule says, and lands where they wanted to be', async () => {
    const response = await signIn(ANN, `/${owner}/${name}/tests?q=a%20b`);
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      `/insights/app/${owner}/${name}/tests?q=a%20b`,
    ]);
    const session = cookieNamed(response, 'ci_insights_session');
    expect(response.headers.getSetCookie().join('\n')).toMatch(
      /ci_insights_session=cis_[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict\n.*ci_insights_sign_in=; .*Max-Age=0/,
    );
    expect(await (await ask('/v1/session', session)).json()).toMatchObject({
      actor: ANN.email,
      scope: 'view',
      owner,
      is_operator: false,
    });
    expect((await ask(`/v1/repos/${owner}/${name}/logs`, session)).status).toBe(200);
    expect((await ask(`/v1/repos/another/${name}/logs`, session)).status).toBe(403);
    expect((await ask('/v1/keys', session)).status).toBe(403);
  });

  test('operates the service if the rule of a group says so, is listed, and can be shut out', async () => {
    const session = cookieNamed(await signIn(BEA), 'ci_insights_session');
    expect((await ask('/v1/keys', session)).status).toBe(200);
    const listed = sessionsSchema
      .parse(await app.get('/v1/sessions'))
      .sessions.filter(({ actor }) => actor === BEA_SHOWN);
    expect(listed).toMatchObject([{ scope: 'admin' }]);
    await app.request(`/v1/sessions/${listed[0]?.id}`, { method: 'DELETE' });
    expect((await ask('/v1/keys', session)).status).toBe(403);
  });

  test('signs out, and is asked again after twelve hours', async () => {
    const first = cookieNamed(await signIn(ANN), 'ci_insights_session');
    const second = cookieNamed(await signIn(ANN), 'ci_insights_session');
    const headers = { cookie: first, 'sec-fetch-site': 'same-origin' };
    expect((await app.request('/v1/session', { method: 'DELETE', token: null, headers })).status).toBe(204);
    expect((await ask('/v1/session', first)).status).toBe(403);
    const now = app.stores.clock.now();
    app.stores.clock.set(now + 12 * HOUR_MS - 1);
    expect((await ask('/v1/session', second)).status).toBe(200);
    app.stores.clock.set(now + 12 * HOUR_MS);
    expect((await ask('/v1/session', second)).status).toBe(403);
    app.stores.clock.set(now);
  });

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'evil', '/a\nb'])(
    'is led nowhere else by %p',
    async (to) => {
      expect((await signIn(ANN, to)).headers.get('location')).toBe('/insights/app');
    },
  );
});

describe('no session is given', () => {
  test('to a person whom no rule names', async () => {
    const stranger = { sub: 'c', email: 'cyd@elsewhere.example', email_verified: true, groups: ['<b>'] };
    await expectRefused(await signIn(stranger), 403, 'knows you as cyd@elsewhere.example, but no rule');
    await expectRefused(await signIn({ sub: '<script>' }), 403, 'knows you as &lt;script&gt;, but');
  });

  test('for an address that the provider has not verified', async () => {
    const { email = '' } = ANN;
    await expectRefused(await signIn({ sub: 'dan', email }), 403, 'knows you as dan, but');
    await expectRefused(await signIn({ sub: 'dan', email, email_verified: false }), 403, 'knows you as dan, but');
  });

  test('to a person who does not want to', async () => {
    await expectRefused(await signIn(null), 403, 'did not sign you in');
  });

  test('with another state, without the cookie of the browser that began, or with that of another sign-in', async () => {
    const { back, cookie } = await goTo(ANN);
    const other = await goTo(ANN);
    for (const [path, sent] of [
      [back.replace(/state=[^&]+/, 'state=another'), cookie],
      [back.replace(/&?state=[^&]+/, ''), cookie],
      [back, ''],
      [back, other.cookie],
      [back, `${cookie}; ${other.cookie}`],
      [back, 'ci_insights_sign_in=e30'],
      [back, 'ci_insights_sign_in=!'],
    ] as const)
      await expectRefused(await ask(path, sent), 403, 'was not begun in this browser');
    expect((await ask(back, cookie)).status).toBe(302);
  });

  test('for a code that was used', async () => {
    const { back, cookie } = await goTo(ANN);
    expect((await ask(back, cookie)).status).toBe(302);
    await expectRefused(await ask(back, cookie), 403, 'it was finished before, or took too long');
    await expectRefused(await ask(back.replace(/code=[^&]+/, 'code=made-up'), cookie), 403, 'finished before');
  });

  test('for the code of another sign-in', async () => {
    const { back, cookie } = await goTo(ANN);
    const other = /code=([^&]+)/.exec((await goTo(BEA)).back)?.[1] ?? '';
    await expectRefused(await ask(back.replace(/code=[^&]+/, `code=${other}`), cookie), 403, 'no longer accepts');
  });

  test('ten minutes after it was begun', async () => {
    const { back, cookie } = await goTo(ANN);
    const now = app.stores.clock.now();
    app.stores.clock.set(now + 600_000);
    await expectRefused(await ask(back, cookie), 403, 'took too long');
    app.stores.clock.set(now);
  });

  test.each([
    ['for another audience', { claims: { aud: 'another-client' } }],
    ['from another issuer', { claims: { iss: 'https://evil.example' } }],
    ['that has expired', { claims: { exp: Math.floor(Date.now() / 1_000) - HOUR_MS } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['that the provider did not sign', { claims: { sub: 'ann-1' }, forged: true }],
  ])('for a token %s', async (_, altered) => {
    provider.altered = altered;
    await expectRefused(await signIn(ANN), 403, 'is not valid for this service');
  });
});

describe('a provider that is down', () => {
  test('is 503 with a sentence, is asked again later, and keys still sign in', async () => {
    const fresh = await openApp(provider.issuer);
    const begin = () => fresh.request('/sign-in/oidc', { token: null });
    const { back, cookie } = await goTo(ANN);
    const asked = provider.discoveries;
    await provider.stop();
    const refused = await begin();
    expect(refused.headers.get('retry-after')).toBe('5');
    await expectRefused(refused, 503, 'Try again later, or sign in with an application key.');
    await expectRefused(await ask(back, cookie), 503, 'unavailable right now');
    const byKey = await fresh.request('/v1/session', {
      method: 'POST',
      token: null,
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ key: await fresh.makeKey() }),
    });
    expect(byKey.status).toBe(201);

    await provider.start();
    // Left alone for some seconds.
    expect([(await begin()).status, provider.discoveries]).toEqual([503, asked]);
    const { clock } = fresh.stores;
    const now = clock.now();
    clock.set(now + 5_000);
    const answers = await Promise.all([begin(), begin(), begin()]);
    expect([answers.map(({ status }) => status), provider.discoveries]).toEqual([[302, 302, 302], asked + 1]);
    clock.set(now + HOUR_MS);
    expect([(await begin()).status, provider.discoveries]).toEqual([302, asked + 1]);
    clock.set(now);
  });

  test('still signs in with what is known of it once its description is too old', async () => {
    const fresh = await openApp(provider.issuer);
    const begin = async () => (await fresh.request('/sign-in/oidc', { token: null })).status;
    expect(await begin()).toBe(302);
    const { clock } = fresh.stores;
    const now = clock.now();
    await provider.stop();
    clock.set(now + 2 * HOUR_MS);
    expect([await begin(), await begin()]).toEqual([302, 302]);
    await provider.start();
    clock.set(now);
  });

  test('is 503 if it does not know this service, and the log has its reason', async () => {
    const { person, issuer } = provider;
    provider.person = ANN;
    const wrong = await openTestApp({
      publicUrl: PUBLIC_URL,
      log: createLogger('debug', { write: (line) => void lines.push(line) }),
      oidc: {
        issuer,
        clientId: CLIENT_ID,
        clientSecret: 'wrong',
        rules: [],
        scopes: 'openid',
        groupsClaim: 'groups',
        tenants: [],
        audiences: [],
        hasHostedDomains: false,
      },
    });
    const begun = await wrong.request('/sign-in/oidc', { token: null });
    const back = new URL(await provider.visit(begun.headers.get('location') ?? ''));
    const cookie = cookieNamed(begun, 'ci_insights_sign_in');
    const path = `/sign-in/oidc/callback${back.search}`;
    await expectRefused(await wrong.request(path, { token: null, headers: { cookie } }), 503, 'refuses this service');
    expect(lines.at(-2)).toMatch(/"reason":"\w+ 401"/);
    provider.person = person;
  });
});

test('the way to the provider has PKCE, a nonce and a cookie of this browser, which with TLS no other host can set', async () => {
  const begun = await ask('/sign-in/oidc');
  const asked = new URL(begun.headers.get('location') ?? '').searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: `${PUBLIC_URL}/sign-in/oidc/callback`,
    scope: 'openid profile email groups offline_access',
    code_challenge_method: 'S256',
  });
  for (const key of ['state', 'nonce', 'code_challenge']) expect(asked.get(key)).toMatch(/^[\w-]{43}$/);
  expect(begun.headers.get('set-cookie')).toMatch(
    /^ci_insights_sign_in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
  const secure = await openTestApp({
    publicUrl: 'https://ci.example.com',
    oidc: {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      rules: [],
      scopes: 'openid',
      groupsClaim: 'groups',
      tenants: [],
      audiences: [],
      hasHostedDomains: false,
    },
  });
  const secured = await secure.request('/sign-in/oidc', { token: null });
  expect(secured.headers.get('set-cookie')).toMatch(/^__Host-ci_insights_sign_in=.*; Path=\/; .*; Secure$/);
});

test('the doctor says whether the provider is there, and under which address', async () => {
  const levelAt = async (issuer: string) => {
    const oidc = {
      issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      rules: [],
      scopes: '',
      groupsClaim: '',
      tenants: [],
      audiences: [],
      hasHostedDomains: false,
    };
    return (await checkIdentityProvider({ ...app.stores.config, oidc })).map(({ level }) => level);
  };
  expect(await levelAt(`${provider.issuer}/`)).toEqual(['ok']);
  expect(await levelAt(provider.issuer.replace('localhost', '127.0.0.1'))).toEqual(['problem']);
  expect(await levelAt('http://localhost:1')).toEqual(['warning']);
  expect(await checkIdentityProvider({ ...app.stores.config, oidc: undefined })).toEqual([]);
});

test('a service without a provider says so', async () => {
  const plain = await openTestApp({ publicUrl: PUBLIC_URL });
  for (const path of ['/sign-in/oidc', '/sign-in/oidc/callback?code=x&state=y'])
    await expectRefused(await plain.request(path, { token: null }), 404, 'has no identity provider');
});

test('no secret, code, token or state has reached the log', async () => {
  const { back, cookie } = await goTo(ANN);
  const session = cookieNamed(await ask(back, cookie), 'ci_insights_session');
  await ask(back, cookie);
  const text = lines.join('');
  expect(text).toContain('a sign-in was refused');
  const parameters = [...new URL(back, PUBLIC_URL).searchParams].filter(([key]) => key !== 'iss');
  for (const secret of [CLIENT_SECRET, session, cookie, ...parameters.map(([, value]) => value)])
    expect([secret.slice(0, 8), text.includes(secret)]).toEqual([secret.slice(0, 8), false]);
  expect(text).not.toMatch(/eyJ[\w-]+\.|id_token|access_token|code_verifier/);
});
