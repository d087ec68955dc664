/** Signing in to the tools for agents with an identity provider: by the client of the SDK, and with tokens that are wrong. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { parseSignInRules } from '../../src/domain/sign-in-rules.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { startCi, type TestCi } from '../support/ci-issuer.ts';
import { ORIGIN, openTestApp, type TestApp } from '../support/http.ts';
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from '../support/identity-provider.ts';
import { openMcp } from '../support/mcp.ts';
import { uniqueRepository } from '../support/stores.ts';

const REDIRECT = 'http://localhost:9/callback';
const RESOURCE = `${ORIGIN}/mcp`;
const { owner, name } = uniqueRepository();
const repository = `${owner}/${name}`;

const openApp = (issuer: string) =>
  openTestApp({
    publicUrl: ORIGIN,
    oidc: {
      issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      rules: parseSignInRules(`group:testers ci ${owner}; group:readers view ${owner}`) ?? [],
      scopes: 'openid email groups',
      groupsClaim: 'groups',
      tenants: [],
      audiences: [RESOURCE],
      hasHostedDomains: false,
    },
  });

describe('a client of the SDK', () => {
  let provider: TestProvider;
  let app: TestApp;
  beforeAll(async () => {
    provider = await startProvider([REDIRECT]);
    app = await openApp(provider.issuer);
    // The provider's clock is that of the machine.
    app.stores.clock.set(Date.now());
  });
  afterAll(() => provider.stop());

  test('finds the provider, signs its person in, and may do what the rules say', async () => {
    provider.person = { sub: 'ann-1', email: 'ann@example.com', email_verified: true, groups: ['testers'] };
    let address = '';
    let verifier = '';
    let discovered: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
    let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
    const authProvider: OAuthClientProvider = {
      redirectUrl: REDIRECT,
      clientMetadata: { redirect_uris: [REDIRECT] },
      clientInformation: () => ({ client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
      tokens: () => tokens,
      saveTokens: (given) => {
        tokens = given;
      },
      redirectToAuthorization: ({ href }) => {
        address = href;
      },
      saveCodeVerifier: (given) => {
        verifier = given;
      },
      codeVerifier: () => verifier,
      saveDiscoveryState: (given) => {
        discovered = given;
      },
      discoveryState: () => discovered,
    };
    const ask = (url: string | URL, init: RequestInit = {}) =>
      String(url).startsWith(ORIGIN) ? app.requestUnchecked(String(url), { ...init, token: null }) : fetch(url, init);
    const connect = () => new StreamableHTTPClientTransport(new URL(RESOURCE), { authProvider, fetch: ask });

    const first = connect();
    await expect(new Client({ name: 'agent', version: '1' }).connect(first)).rejects.toThrow('Unauthorized');
    expect(new URL(address).searchParams.get('resource')).toBe(RESOURCE);
    expect(new URL(address).searchParams.get('scope')).toBe('openid email groups');
    const back = new URL(await provider.visit(address));
    await first.finishAuth(back.searchParams);

    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(connect());
    const added = await client.callTool({
      name: 'quarantine_test',
      arguments: { repository, test_name: 'a test', reason: 'shown flaky' },
    });
    expect(added.isError).toBe(false);
    const { entries } = await app.get<{ entries: { actor: unknown }[] }>(`/v1/audit?owner=${owner}`);
    expect(entries[0]?.actor).toMatchObject({ kind: 'access_token', name: 'ann@example.com', subject: 'ann-1' });
  });
});

describe('an access token', () => {
  let issuer: TestCi;
  let app: TestApp;
  beforeAll(async () => {
    issuer = await startCi();
    app = await openApp(issuer.url);
  });
  afterAll(() => issuer.stop());

  const CLAIMS = { sub: 'bea-1', groups: ['readers'] };
  const sign = (claims: Record<string, unknown>, signing = {}) =>
    issuer.sign({ ...CLAIMS, aud: RESOURCE, ...claims }, { now: app.stores.clock.now(), ...signing });
  const statusOf = async (token: string | null): Promise<[number, string | null]> => {
    const response = await app.request('/mcp', {
      token,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    return [response.status, response.headers.get('www-authenticate')];
  };
  const WHERE = `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="openid email groups"`;

  test('for this service opens what the rules say, and no more', async () => {
    const mcp = await openMcp(app, await sign({}));
    expect((await mcp.call('search_tests', { repository })).isError).toBe(false);
    const refused = await mcp.call('quarantine_test', { repository, test_name: 'a', reason: 'b' });
    expect(refused.json).toMatchObject({ refused: { status: 403 } });
  });

  test('for another audience, of another issuer, over, or signed by someone else is no credential', async () => {
    const wrong = [
      await sign({ aud: CLIENT_ID }),
      await sign({ aud: 'https://other.example/mcp' }),
      await sign({ iss: 'https://other.example' }),
      await sign({}, { now: app.stores.clock.now() - 2 * HOUR_MS }),
      await sign({}, { key: await issuer.forged() }),
      'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x',
      'nothing',
    ];
    for (const token of wrong) expect(await statusOf(token)).toEqual([401, `Bearer error="invalid_token", ${WHERE}`]);
    expect(await statusOf(null)).toEqual([401, `Bearer ${WHERE}`]);
  });

  test('of a person whom no rule names is refused, and signing in again would not help', async () => {
    expect(await statusOf(await sign({ groups: ['others'] }))).toEqual([403, null]);
  });

  test('cannot be told while the provider is away', async () => {
    const other = await startCi();
    const away = await openApp(other.url);
    const token = await other.sign({ ...CLAIMS, aud: RESOURCE }, { now: app.stores.clock.now() });
    other.isAway = true;
    const response = await away.request('/mcp', {
      token,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0"}',
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    await other.stop();
  });

  test('is described at two addresses', async () => {
    const resource = z.object({ resource: z.string(), authorization_servers: z.array(z.string()) });
    for (const below of ['', '/mcp']) {
      const response = await app.request(`/.well-known/oauth-protected-resource${below}`, { token: null });
      expect(resource.parse(await response.json())).toEqual({
        resource: RESOURCE,
        authorization_servers: [issuer.url],
      });
    }
    const without = await openTestApp();
    expect((await without.request('/.well-known/oauth-protected-resource', { token: null })).status).toBe(404);
  });
});
