/** The app on the test stores, with requests as a client sends them. */
import { v7 as uuid7 } from 'uuid';
import { Confirmations } from '../../src/access/confirmation.ts';
import { KeyCredentials, SessionCredentials } from '../../src/access/credential.ts';
import { type AppDeps, buildApp } from '../../src/app.ts';
import { accessTokensOf, type CoreDeps, coreFeatures, docs, identityOf } from '../../src/features.ts';
import type { Feature } from '../../src/http/operation.ts';
import type { KeyStore, NewKey } from '../../src/postgres/keys.ts';
import { type Contract, contractOf } from './contract.ts';
import { openTestStores, type TestStores } from './stores.ts';

export const ORIGIN = 'http://ci.test';

export interface TestApp {
  app: ReturnType<typeof buildApp>;
  stores: TestStores;
  keys: KeyStore;
  /** A key for every owner. */
  adminToken: string;
  /** Makes a key and returns its token. */
  makeKey(key?: Partial<NewKey>): Promise<string>;
  /**
   * Sends a request, with the admin key unless `token` is given (null for none). Throws if the answer does not match the
   * OpenAPI document.
   */
  request(path: string, init?: RequestInit & { token?: string | null }): Promise<Response>;
  /** The same without checking the answer against the OpenAPI document: for thousands of pages of one kind. */
  requestUnchecked: TestApp['request'];
  /** Sends a GET and returns the JSON of a 200; throws with the body of anything else. */
  get<T = Record<string, unknown>>(path: string): Promise<T>;
}

/** Replaces parts of the app: by default it has the test stores. `features` are mounted beside the core ones. */
export type AppOverrides = Partial<AppDeps & CoreDeps> & {
  /** Instead of the core features, those mounted beside them, and the documentation. */
  all?: readonly Feature[];
};

export async function openTestApp({ features = [], all, ...overrides }: AppOverrides = {}): Promise<TestApp> {
  const stores = await openTestStores();
  const { keys } = stores;
  const deps = { ...stores, publicUrl: undefined, rateLimit: undefined, credentials: [], ...overrides };
  const app = buildApp({
    clock: deps.clock,
    log: deps.log,
    publicUrl: deps.publicUrl,
    rateLimit: deps.rateLimit,
    credentials: [...deps.credentials, new KeyCredentials(keys), ...accessTokensOf(deps.clock, deps.oidc)],
    sessions: new SessionCredentials(
      stores.sessions,
      new Confirmations({ ...deps, sessions: stores.sessions, identity: identityOf(deps.clock, deps.oidc) }),
    ),
    features: all ?? [...coreFeatures(deps), ...features, docs],
  });
  const makeKey = async (key: Partial<NewKey> = {}): Promise<string> => {
    const name = `key ${uuid7()}`;
    return (await keys.create({ name, owner: null, scope: 'ci', repositories: null, expiresAt: null, ...key })).token;
  };
  const adminToken = await makeKey({ scope: 'admin' });
  const asked = (path: string, { token = adminToken, ...init }: RequestInit & { token?: string | null }): Request => {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    return new Request(path.startsWith('http') ? path : `${ORIGIN}${path}`, { ...init, headers });
  };
  let contract: Promise<Contract> | undefined;
  const request: TestApp['request'] = async (path, init = {}) => {
    const sent = asked(path, init);
    const { method, url } = sent;
    const response = await app.handle(sent);
    contract ??= contractOf(app);
    const breach = await (await contract).breach({ method, pathname: new URL(url).pathname }, response);
    if (breach !== undefined) throw new Error(`not as the OpenAPI document says: ${breach}`);
    return response;
  };
  return {
    app,
    stores,
    keys,
    adminToken,
    makeKey,
    request,
    requestUnchecked: async (path, init = {}) => app.handle(asked(path, init)),
    get: async <T>(path: string): Promise<T> => {
      const response = await request(path);
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
  };
}

/** The addresses of a `Link` header by their relation. */
export function linksOf(response: Response): Record<string, string> {
  const links = [...(response.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)];
  return Object.fromEntries(links.map(([, url = '', rel = '']) => [rel, url]));
}
