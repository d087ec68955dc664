/** A real OpenID provider on this machine, at which everyone is who the test says. Made of `oidc-provider`. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import { z } from 'zod';
import { freePort } from './free-port.ts';

export const CLIENT_ID = 'ci-insights';
export const CLIENT_SECRET = 'the-secret-of-the-client-0123456789';

/** Claims of a person, as the provider tells them. */
export interface TestPerson {
  sub: string;
  email?: string;
  email_verified?: boolean;
  preferred_username?: string;
  groups?: readonly string[];
  /** The organisation that manages the account. */
  hd?: string;
}

export interface TestProvider {
  issuer: string;
  /** Who signs in next; null: someone who does not want to. */
  person: TestPerson | null;
  /** Claims that replace those of the next ID tokens, signed with the key of the provider unless `forged`. */
  altered: { claims: Record<string, unknown>; forged?: boolean } | undefined;
  /** Told what it answers to a sign-in. */
  onTokens: ((tokens: z.infer<typeof tokensSchema>) => void) | undefined;
  /** Whether it gives tokens with which it can be asked again. */
  givesRefreshTokens: boolean;
  /** How often it was asked again with one. */
  refreshes: number;
  /** How often it was asked for its description of itself. */
  discoveries: number;
  /** Does in a browser what a person does there. Returns where the provider sends them. */
  visit(address: string): Promise<string>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const ALG = 'ES256';
const SCOPES = 'openid email profile groups offline_access';
const makeKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Returns a provider that runs. */
export async function startProvider(redirectUrls: readonly string[]): Promise<TestProvider> {
  const [key, otherKey] = [makeKey(), makeKey()];
  // Kept while it is stopped.
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirectUrls],
        id_token_signed_response_alg: ALG,
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), alg: ALG, use: 'sig', kid: 'one' }] },
    cookies: { keys: ['a key of the cookies of the provider'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified', 'hd'],
      profile: ['preferred_username'],
      groups: ['groups'],
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 600,
    },
    issueRefreshToken: () => self.givesRefreshTokens,
    features: {
      devInteractions: { enabled: false },
      // Who asks for a resource gets an access token for it, signed, with what the provider knows of the person.
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES,
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALG } },
        }),
        useGrantedResource: () => true,
      },
    },
    extraTokenClaims: () => ({ ...self.person, groups: [...(self.person?.groups ?? [])] }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    // Whom it no longer knows gets no new tokens.
    findAccount: (_, sub) => (self.person ? { accountId: sub, claims: () => ({ ...self.person, sub }) } : undefined),
    // No one is asked for consent.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope(SCOPES);
      const { resource } = oidc.params ?? {};
      if (typeof resource === 'string') grant.addResourceScope(resource, SCOPES);
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    if (context.path.endsWith('/openid-configuration')) self.discoveries++;
    if (context.oidc?.params?.grant_type === 'refresh_token') self.refreshes++;
    const answer = tokensSchema.safeParse(context.body);
    if (answer.success) self.onTokens?.(answer.data);
    if (!self.altered || !answer.success) return;
    const { claims, forged } = self.altered;
    context.body = { ...answer.data, id_token: resigned(answer.data.id_token, claims, forged ? otherKey : key) };
  });
  const answer = provider.callback();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
    const result = self.person ? { login: { accountId: self.person.sub }, consent: {} } : { error: 'access_denied' };
    void provider.interactionFinished(request, response, result);
  };

  let server: Server | undefined;
  const self: TestProvider = {
    issuer,
    person: null,
    altered: undefined,
    onTokens: undefined,
    givesRefreshTokens: true,
    refreshes: 0,
    discoveries: 0,
    visit: (address) => walk(address, issuer),
    start: async () => {
      server = createServer(handle);
      await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    },
    stop: async () => {
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
    },
  };
  await self.start();
  return self;
}

const tokensSchema = z.looseObject({ id_token: z.string() });

/** The token with other claims. */
function resigned(token: string, claims: Record<string, unknown>, key: KeyObject): string {
  const [header = '', body = ''] = token.split('.');
  const changed = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), ...claims };
  const signed = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** Follows redirects with cookies until one leads away from the provider. */
async function walk(address: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = address;
  for (let steps = 0; steps < 10; steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
    if (!url.startsWith(`${issuer}/`)) return url;
  }
  throw new Error('the provider redirects without end');
}
