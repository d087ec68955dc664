/** Sessions of an identity provider: they last while it vouches for the person, and no longer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { parseSignInRules } from '../../src/domain/sign-in-rules.ts';
import { createLogger } from '../../src/observability/log.ts';
import type { OidcConfig } from '../../src/oidc-config.ts';
import { SESSIONS_OF_PERSON_MAX } from '../../src/postgres/sessions.ts';
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
const MINUTE_MS = 60_000;
const { owner } = uniqueRepository();
const DOMAIN = `${owner}.example`;
const RULES = `group:operators admin *; group:viewers view ${owner}; domain:${DOMAIN} view ${owner}`;
const TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';
const BEA: TestPerson = { sub: `bea ${owner}`, groups: ['operators'] };
const auditSchema = z.object({
  entries: z.array(
    z.looseObject({
      actor: z.looseObject({ kind: z.string(), name: z.string(), subject: z.string().nullable() }),
      before: z.record(z.string(), z.unknown()).nullable(),
      after: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
});

let provider: TestProvider;
let app: TestApp;
const lines: string[] = [];
const openApp = (more: Partial<OidcConfig> = {}) =>
  openTestApp({
    publicUrl: PUBLIC_URL,
    log: createLogger('debug', { write: (line) => void lines.push(line) }),
    oidc: {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      rules: parseSignInRules(RULES) ?? [],
      scopes: 'openid profile email groups',
      groupsClaim: 'groups',
      tenants: [],
      audiences: [],
      hasHostedDomains: false,
      ...more,
    },
  });

beforeAll(async () => {
  provider = await startProvider([`${PUBLIC_URL}/sign-in/oidc/callback`]);
  app = await openApp();
});
afterAll(() => provider.stop());
beforeEach(() => {
  provider.altered = undefined;
  provider.givesRefreshTokens = true;
  provider.refreshes = 0;
});

const ask = (path: string, cookie = '', on = app) => on.request(path, { token: null, headers: { cookie } });
const cookieNamed = (response: Response, cookie: string): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .find((pair) => pair.startsWith(`${cookie}=`)) ?? '';

async function answerOf(person: TestPerson, on = app): Promise<Response> {
  provider.person = person;
  const begun = await ask('/sign-in/oidc', '', on);
  const back = new URL(await provider.visit(begun.headers.get('location') ?? ''));
  return ask(`/sign-in/oidc/callback${back.search}`, cookieNamed(begun, 'ci_insights_sign_in'), on);
}
const signIn = async (person: TestPerson, on = app): Promise<string> =>
  cookieNamed(await answerOf(person, on), 'ci_insights_session');
const statusOf = async (cookie: string, path = '/v1/session', on = app) => (await ask(path, cookie, on)).status;
const later = (minutes: number): void => app.stores.clock.set(app.stores.clock.now() + minutes * MINUTE_MS);
const entries = async (subject: string, action: string) =>
  auditSchema
    .parse(await app.get(`/v1/audit?per_page=100&action=${action}`))
    .entries.filter((entry) => JSON.stringify(entry).includes(JSON.stringify(subject)));

describe('a session of a provider that can be asked again', () => {
  test('ends within fifteen minutes after the group did, and the trail says why', async () => {
    const cookie = await signIn(BEA);
    later(9);
    expect([await statusOf(cookie, '/v1/keys'), provider.refreshes]).toEqual([200, 0]);
    provider.person = { sub: BEA.sub, groups: [] };
    later(6);
    expect([await statusOf(cookie, '/v1/keys'), await statusOf(cookie)]).toEqual([403, 403]);
    expect(await entries(BEA.sub, 'session.end')).toMatchObject([
      {
        actor: { kind: 'service', name: 'identity provider' },
        after: { reason: 'no rule lets the person in any more' },
      },
    ]);
  });

  test('has the rights that the groups give now', async () => {
    const cookie = await signIn({ ...BEA, sub: `changes ${owner}` });
    provider.person = { sub: `changes ${owner}`, groups: ['viewers'] };
    later(15);
    expect([await statusOf(cookie, '/v1/keys'), await statusOf(cookie)]).toEqual([403, 200]);
    expect(await (await ask('/v1/session', cookie)).json()).toMatchObject({
      scope: 'view',
      owner,
      is_from_provider: true,
    });
    expect(await entries(`changes ${owner}`, 'session.change')).toMatchObject([
      { before: { scope: 'admin', owner: null }, after: { scope: 'view', owner } },
    ]);
  });

  test('continues while the provider says the same, and asks once for requests that come together', async () => {
    const cookie = await signIn(BEA);
    for (let i = 1; i <= 4; i++) {
      later(14);
      const statuses = await Promise.all([1, 2, 3, 4].map(() => statusOf(cookie, '/v1/keys')));
      expect([statuses, provider.refreshes]).toEqual([[200, 200, 200, 200], i]);
    }
  });

  test('asks once also if two replicas are asked at the same time', async () => {
    const other = await openApp();
    const cookie = await signIn(BEA);
    later(30);
    const asked = [app, other, app, other].map((replica) => statusOf(cookie, '/v1/keys', replica));
    expect([await Promise.all(asked), provider.refreshes]).toEqual([[200, 200, 200, 200], 1]);
  });

  test('ends when the provider no longer knows the person', async () => {
    const cookie = await signIn(BEA);
    provider.person = null;
    later(15);
    expect(await statusOf(cookie)).toBe(403);
    provider.person = BEA;
    expect(await statusOf(cookie)).toBe(403);
  });

  test('works while the provider is away for up to fifteen minutes after its last word, and then waits for it', async () => {
    const cookie = await signIn(BEA);
    await provider.stop();
    later(14);
    expect(await statusOf(cookie, '/v1/keys')).toBe(200);
    later(2);
    const waiting = await ask('/v1/keys', cookie);
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, '5']);
    await provider.start();
    later(1);
    expect(await statusOf(cookie, '/v1/keys')).toBe(200);
  });

  test('keeps what it asks with such that the database alone does not give it away', async () => {
    const given: string[] = [];
    const read = provider.onTokens;
    provider.onTokens = ({ refresh_token: token }) => void given.push(String(token));
    await signIn(BEA);
    provider.onTokens = read;
    expect(given).toHaveLength(1);
    const { rows } = await app.stores.postgres.pool.query(
      'select encode(renewal, $1) as renewal from ci_insights.sessions',
      ['escape'],
    );
    expect(JSON.stringify(rows)).not.toContain(given[0] ?? '');
    expect(lines.join('')).not.toContain(given[0] ?? '');
  });

  test('is one of a few of its person: the oldest ends', async () => {
    const person = { sub: `many ${owner}`, groups: ['viewers'] };
    const cookies: string[] = [];
    for (let i = 0; i <= SESSIONS_OF_PERSON_MAX; i++) {
      app.stores.clock.at += 1;
      cookies.push(await signIn(person));
    }
    const statuses = await Promise.all(cookies.map((cookie) => statusOf(cookie)));
    expect(statuses).toEqual([403, ...Array(SESSIONS_OF_PERSON_MAX).fill(200)]);
  });
});

describe('a session of a provider that cannot be asked again', () => {
  test('lasts fifteen minutes', async () => {
    provider.givesRefreshTokens = false;
    const response = await answerOf(BEA);
    expect(response.headers.getSetCookie().join()).toContain('Max-Age=900;');
    const cookie = cookieNamed(response, 'ci_insights_session');
    later(14);
    expect(await statusOf(cookie)).toBe(200);
    later(1);
    expect(await statusOf(cookie)).toBe(403);
  });
});

describe('a person', () => {
  test('has the address that one document says is verified, not the address of one and the word of the other', async () => {
    const own = { sub: 'mix', email: 'mix@elsewhere.example', email_verified: true };
    provider.altered = { claims: { email: `boss@${DOMAIN}` } };
    const refused = await answerOf(own);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('you as mix@elsewhere.example'),
    ]);
    provider.altered = { claims: { email: `boss@${DOMAIN}`, email_verified: true } };
    expect((await answerOf(own)).status).toBe(302);
  });

  test('with a chosen name is named with the subject beside it, in the session, the events and the trail', async () => {
    const chosen = { sub: 'c-17', preferred_username: `boss@${DOMAIN}`, groups: ['operators'] };
    const cookie = await signIn(chosen);
    expect(await (await ask('/v1/session', cookie)).json()).toMatchObject({ actor: `boss@${DOMAIN} (c-17)` });
    expect(await entries('c-17', 'session.begin')).toMatchObject([
      { actor: { kind: 'session', name: `boss@${DOMAIN} (c-17)`, subject: 'c-17' } },
    ]);
  });

  test('of a tenant that is not named stays outside', async () => {
    const tenants = await openApp({ tenants: [TENANT] });
    for (const [tid, status] of [
      [TENANT, 302],
      [TENANT.toUpperCase(), 302],
      ['72f988bf-86f1-41af-91ab-2d7cd011db47', 403],
      [undefined, 403],
    ] as const) {
      provider.altered = { claims: { tid } };
      expect([tid, (await answerOf(BEA, tenants)).status]).toEqual([tid, status]);
    }
  });

  test('with an address of a domain belongs to it only if the organisation manages the account, where that is told', async () => {
    const google = await openApp({ hasHostedDomains: true });
    const person = { sub: 'g', email: `ann@${DOMAIN}`, email_verified: true };
    for (const [hd, status] of [
      [undefined, 403],
      ['elsewhere.example', 403],
      [DOMAIN.toUpperCase(), 302],
    ] as const) {
      const claims = hd === undefined ? person : { ...person, hd };
      expect([hd, (await answerOf(claims, google)).status]).toEqual([hd, status]);
    }
    const begun = await ask('/sign-in/oidc', '', google);
    const asked = new URL(begun.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({ access_type: 'offline', scope: 'openid profile email groups' });
  });
});
