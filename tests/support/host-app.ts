/** The app with a repository host on this machine behind it. */
import { afterEach, beforeEach } from 'bun:test';
import { z } from 'zod';
import { HostCredentials } from '../../src/access/host-credentials.ts';
import { HOSTS } from '../../src/hosts/hosts.ts';
import type { Permission } from '../../src/http/auth.ts';
import { mount } from '../../src/http/operation.ts';
import { owner, repository } from '../../src/http/path.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import { TEST_NOW, TestClock } from './clock.ts';
import { FakeHost } from './fake-host.ts';
import { openTestApp, type TestApp } from './http.ts';
import { PATIENCE_MS } from './patience.ts';
import { openTestStores, type TestStores, uniqueRepository } from './stores.ts';

/** For hosts whose answers do not end, so that the tests are not slow. */
const ENDLESS_MS = 250;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** Tokens of `rita`, who may pull the repository, `wim`, who may push to it, and `sam`, who may do neither. */
export const READER = `ghp_${'r'.repeat(36)}`;
export const WRITER = `github_pat_${'w'.repeat(22)}_${'w'.repeat(59)}`;
export const STRANGER = `gho_${'s'.repeat(36)}`;
/** The host does not know it. */
export const UNKNOWN = `ghu_${'u'.repeat(36)}`;
/** For an installation, once a test adds it. */
export const JOB = `ghs_${'j'.repeat(36)}`;

export interface HostApp {
  host: FakeHost;
  app: TestApp;
  stores: TestStores;
  /** The clock of remembered permissions; begins at TEST_NOW. */
  clock: TestClock;
  /** Lines of the log, from `debug` on. */
  logged: string[];
  /** A repository of the host that no other test uses. */
  path: { owner: string; name: string };
  fullName: string;
  /** A read of insights. */
  search: string;
  /** An operation that requires a permission and returns the actor. */
  probe(permission: Permission, fullName?: string): string;
  /** Sends a GET, by default for the search. */
  ask(token: string | null, address?: string, init?: RequestInit): Promise<Response>;
  statusOf(token: string | null, address?: string): Promise<number>;
  /** The status, and the seconds after which to retry. */
  outcomeOf(token: string, address?: string): Promise<[number, string | null]>;
}

/** Opens a host and an app for each test of a file. The object returned has those of the current test. */
export function setUpHostApp(): HostApp {
  const current = {} as HostApp;
  beforeEach(async () => {
    Object.assign(current, await openHostApp());
  });
  afterEach(() => current.host.stop());
  return current;
}

/** A new app, which has no remembered permissions, and a host that knows the tokens above. The caller stops the host. */
export async function openHostApp(prefix = ''): Promise<HostApp> {
  const host = await new FakeHost(prefix).start();
  const stores = await openTestStores();
  const clock = new TestClock(TEST_NOW);
  const logged: string[] = [];
  const log = createLogger('debug', { write: (line) => void logged.push(line) });
  const patient = HOSTS.github.tokens({ clock, apiUrl: host.url, requestMsMax: PATIENCE_MS });
  const impatient = HOSTS.github.tokens({ clock, apiUrl: host.url, requestMsMax: ENDLESS_MS });
  const client = new Proxy(patient, {
    get: (_, name) => {
      const asked = host.isEndless ? impatient : patient;
      const member: unknown = Reflect.get(asked, name, asked);
      return typeof member === 'function' ? member.bind(asked) : member;
    },
  });
  const app = await openTestApp({
    log,
    credentials: [new HostCredentials(client, { clock, log, repositories: stores.repositories })],
    features: [
      (elysia, http) => {
        for (const permission of ['read', 'upload', 'quarantine', 'events'] as const)
          mount(elysia, http, 'GET', `/v1/probe/${permission}/:owner/:repository`, {
            operationId: `probe-${permission}`,
            tag: 'Test',
            summary: 'Says who asks',
            description: 'Says who asks.',
            access: permission,
            params: z.object({ owner, repository }),
            responses: { 200: { description: 'Who asks.', schema: z.object({ actor: z.string() }) } },
            handle: ({ credential }) => ({ body: { actor: credential?.actor ?? 'nobody' } }),
          });
      },
      (elysia, http) => mountIngest(elysia, http, { clock, log, enqueue: async () => {}, receipt: async () => null }),
    ],
  });

  const path = uniqueRepository();
  const fullName = `${path.owner}/${path.name}`;
  host.addRepository(fullName);
  host.addUser('rita', READER);
  host.addUser('wim', WRITER);
  host.addUser('sam', STRANGER);
  host.allow('rita', fullName, { pull: true, push: false });
  host.allow('wim', fullName, { pull: true, push: true });

  const search = `/v1/ci/${path.owner}/repositories/${path.name}/search/tests?test_name=*`;
  const ask: HostApp['ask'] = (token, address = search, init = {}) => app.request(address, { token, ...init });
  return {
    host,
    app,
    stores,
    clock,
    logged,
    path,
    fullName,
    search,
    probe: (permission, name = fullName) => `/v1/probe/${permission}/${name}`,
    ask,
    statusOf: async (token, address) => (await ask(token, address)).status,
    outcomeOf: async (token, address) => {
      const response = await ask(token, address);
      return [response.status, response.headers.get('retry-after')];
    },
  };
}
