/** Hosts other than GitHub: their tokens as credentials, their deliveries over HTTP, and repositories of the same name. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { hostCredentials } from '../../src/access/host-credentials.ts';
import { readConfig } from '../../src/config.ts';
import type { HostKindName } from '../../src/domain/host-page.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { HOSTS } from '../../src/hosts/hosts.ts';
import { mount } from '../../src/http/operation.ts';
import { owner, repository } from '../../src/http/path.ts';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import type { PrEventsJob } from '../../src/queue/pr-events.ts';
import { TEST_NOW, TestClock } from '../support/clock.ts';
import {
  center,
  cloud,
  gitea,
  HEADERS,
  mergeRequest,
  SECRET,
  SIGNING_TOKEN,
  signedByGitlab,
} from '../support/deliveries.ts';
import { HostApiServer, type Kind } from '../support/host-apis.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { openTestStores } from '../support/stores.ts';

const KINDS: readonly Kind[] = ['gitlab', 'gitea', 'bitbucket-cloud', 'bitbucket-data-center'];
const TOKENS: Record<Kind, (letter: string) => string> = {
  gitlab: (letter) => `glpat-${letter.repeat(20)}`,
  gitea: (letter) => letter.repeat(40),
  'bitbucket-cloud': (letter) => `ATCTT3xFfGN0${letter.repeat(30)}`,
  'bitbucket-data-center': (letter) => `BBDC-${letter.repeat(40)}`,
};

/** An app whose default host is GitHub, and which also accepts the tokens of this host, under the name `own`. */
async function openWith(server: HostApiServer) {
  const stores = await openTestStores();
  const clock = new TestClock(TEST_NOW);
  const log = createLogger('error', { write: () => {} });
  const { hosts } = readConfig({ HOSTS: `github; own=${server.kind}:${server.origin}`, HOST_AUTH: 'own' });
  return {
    clock,
    stores,
    app: await openTestApp({
      log,
      credentials: hostCredentials(hosts, { clock, log, repositories: stores.repositories }),
      features: [
        (elysia, http) => {
          for (const permission of ['read', 'upload'] as const)
            mount(elysia, http, 'GET', `/v1/ci/:owner/probe/:repository/${permission}`, {
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
      ],
    }),
  };
}

describe.each(KINDS)('tokens of %s', (kind) => {
  let server: HostApiServer;
  let opened: Awaited<ReturnType<typeof openWith>>;
  const [reader, writer, stranger] = ['a', 'b', 'c'].map(TOKENS[kind]) as [string, string, string];

  beforeEach(async () => {
    server = new HostApiServer(kind);
    server.repositories.set('acme/shop', { isPrivate: true, defaultBranch: 'trunk' });
    const login = kind === 'bitbucket-cloud' ? null : 'rita';
    server.tokens.set(reader, { login, level: kind === 'gitlab' ? 20 : 1, scopes: ['read_api', 'repository'] });
    server.tokens.set(writer, { login, level: kind === 'gitlab' ? 30 : 2, scopes: ['api', 'repository:write'] });
    server.tokens.set(stranger, { login, level: 0, scopes: ['api'] });
    opened = await openWith(server);
  });
  afterEach(() => server.stop());

  const ask = (token: string, permission = 'read', path = 'own--acme/probe/shop') =>
    opened.app.request(`/v1/ci/${path}/${permission}`, { token });
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status;

  test('read and write what the host says they may', async () => {
    const response = await ask(reader);
    expect([response.status, await response.json()]).toEqual([
      200,
      { actor: kind === 'bitbucket-cloud' ? 'access-token' : 'rita' },
    ]);
    expect(await status(reader, 'upload')).toBe(403);
    // Gitea does not say what the token may do.
    expect(await status(writer, 'upload')).toBe(kind === 'gitea' ? 403 : 200);
    expect(await status(stranger)).toBe(404);
    expect(await status(TOKENS[kind]('d'))).toBe(403);
  });

  test('are asked about once in five minutes, and a no for ten seconds', async () => {
    await status(reader);
    const asked = server.requests.length;
    await status(reader);
    expect(server.requests).toHaveLength(asked);
    server.tokens.delete(reader);
    opened.clock.at += 5 * 60_000 + 1;
    expect(await status(reader)).toBe(403);
  });

  test('go to no other host: not for a repository of the default host, and what is no token of the host never', async () => {
    expect(await status(reader, 'read', 'acme/probe/shop')).toBe(403);
    for (const other of [`ghp_${'x'.repeat(36)}`, 'cii_abcdefgh', 'nonsense']) expect(await status(other)).toBe(403);
    expect(server.requests).toEqual([]);
  });

  test('are 503 while the host limits or fails, never a yes', async () => {
    server.trouble = () => new Response('{}', { status: 429, headers: { 'retry-after': '20' } });
    const limited = await ask(reader);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([503, '20']);
    opened.clock.at += 60_000;
    server.trouble = () => new Response('oops', { status: 502 });
    expect(await status(reader)).toBe(503);
    opened.clock.at += 60_000;
    server.trouble = () => new Response('not json');
    expect(await status(reader)).toBe(503);
    opened.clock.at += 60_000;
    server.trouble = () => Response.redirect('https://elsewhere.example/');
    expect(await status(reader)).toBe(503);
    opened.clock.at += 60_000;
    server.trouble = () => undefined;
    expect(await status(reader)).toBe(200);
  });
});

describe('tokens of GitLab', () => {
  let server: HostApiServer;
  beforeAll(() => {
    server = new HostApiServer('gitlab');
    server.repositories.set('acme/web/shop', { isPrivate: true, defaultBranch: 'trunk' });
    server.repositories.set('acme/open', { isPrivate: false, defaultBranch: null });
  });
  afterAll(() => server.stop());
  const api = () =>
    HOSTS.gitlab.tokens({ clock: new TestClock(TEST_NOW), apiUrl: HOSTS.gitlab.apiUrlOf(server.origin) });

  test('name a project in groups with dots, as uploads do', async () => {
    server.tokens.set('glpat-dev', { login: 'dev', level: 40, scopes: ['api'] });
    const repository = { owner: 'acme', name: 'web.shop' };
    expect(await api().repository('glpat-dev', repository)).toEqual({
      kind: 'found',
      value: { pull: true, push: true, defaultBranch: 'trunk' },
    });
    expect(await api().repository('glpat-dev', { owner: 'acme', name: 'web.other' })).toEqual({ kind: 'missing' });
  });

  test('without the scope api do not write, even of an owner', async () => {
    server.tokens.set('glpat-half', { login: 'dev', level: 50, scopes: ['read_api', 'write_repository'] });
    const found = await api().repository('glpat-half', { owner: 'acme', name: 'web.shop' });
    expect(found).toMatchObject({ value: { pull: true, push: false } });
  });

  test('of a guest read no code, and of anyone a public project', async () => {
    server.tokens.set('glpat-guest', { login: 'guest', level: 10, scopes: ['api'] });
    expect(await api().repository('glpat-guest', { owner: 'acme', name: 'web.shop' })).toMatchObject({
      value: { pull: false, push: false },
    });
    expect(await api().repository('glpat-guest', { owner: 'acme', name: 'open' })).toMatchObject({
      value: { pull: true, push: false },
    });
  });

  test('of a job read its own project, also of a fork, and no other', async () => {
    const job = `${server.origin}/acme/web/shop/-/jobs/7`;
    server.tokens.set('glcbt-64_job', { login: 'dev', level: 0, scopes: [], job });
    expect(await api().actor('glcbt-64_job')).toEqual({ kind: 'found', value: 'dev' });
    const pull = async (name: string, owner = 'acme') => {
      const answer = await api().repository('glcbt-64_job', { owner, name });
      return answer.kind === 'found' && [answer.value.pull, answer.value.push];
    };
    expect(await pull('web.shop')).toEqual([true, false]);
    expect(await pull('open')).toEqual([false, false]);
    expect(await pull('shop', 'web')).toEqual([true, false]);
  });
});

const SAMPLES: [string, HostKindName, Record<string, string>, string, string][] = [
  ['gitlab', 'gitlab', {}, JSON.stringify(mergeRequest('close')), 'gitlab--acme/web.shop'],
  ['tea', 'gitea', {}, JSON.stringify(gitea.pull('closed')), 'tea--acme/shop'],
  ['cloud', 'bitbucket-cloud', {}, JSON.stringify(cloud.pull({ state: 'DECLINED' })), 'cloud--acme/shop'],
  ['dc', 'bitbucket-data-center', {}, JSON.stringify(center.pull('pr:declined')), 'dc--ACME/shop'],
];
const EVENTS: Record<Kind, string> = {
  gitlab: 'Merge Request Hook',
  gitea: 'pull_request',
  'bitbucket-cloud': 'pullrequest:rejected',
  'bitbucket-data-center': 'pr:declined',
};
const GLOBEX = 'the secret of globex alone';

describe('deliveries', () => {
  let app: TestApp;
  let queued: [string, PrEventsJob][] = [];
  let isQueueDown = false;

  beforeAll(async () => {
    const log = createLogger('error', { write: () => {} });
    const { hosts } = readConfig({
      HOSTS:
        'github; gitlab; tea=gitea:https://git.acme.example; cloud=bitbucket-cloud:https://bitbucket.org; dc=bitbucket-data-center:https://b.acme.example; quiet=gitea:https://quiet.example',
      HOST_WEBHOOK_SECRETS: `gitlab=${SECRET},gitlab=${SIGNING_TOKEN},tea=${SECRET},cloud=${SECRET},dc=${SECRET},tea/globex=${GLOBEX.replaceAll(' ', '-')}`,
    });
    app = await openTestApp({
      log,
      features: [
        (elysia, http) =>
          mountWebhooks(elysia, http, {
            log,
            hosts,
            enqueueEvents: async (id, job) => {
              if (isQueueDown) throw new StoreUnavailable('queue', new Error('down'));
              queued.push([id, job]);
            },
          }),
      ],
    });
  });
  beforeEach(() => {
    queued = [];
    isQueueDown = false;
  });

  const send = (name: string, body: string, headers: Record<string, string>, query = '') =>
    app.request(`/webhooks/${name}${query}`, {
      method: 'POST',
      token: null,
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });

  test.each(SAMPLES)(
    'of %s (%s) are queued for the repository of that host, once',
    async (name, kind, _, body, path) => {
      const headers = HEADERS[kind as Kind](EVENTS[kind as Kind], body);
      for (let i = 0; i < 2; i++) {
        const response = await send(name, body, headers);
        expect(response.status).toBe(202);
        expect(await response.json()).toMatchObject({ status: 'queued', events: 1, reason: null });
      }
      expect(new Set(queued.map(([id]) => id)).size).toBe(1);
      const [, job] = queued[0] as [string, PrEventsJob];
      expect(`${job.repository.owner}/${job.repository.name}`).toBe(path);
      expect(job.events).toMatchObject([{ type: 'action.close' }]);
      const wrong = await send(
        name,
        body,
        HEADERS[kind as Kind](EVENTS[kind as Kind], body, 'a secret of someone else'),
      );
      expect(wrong.status).toBe(403);
      expect(await wrong.json()).toMatchObject({ detail: expect.stringContaining('HOST_WEBHOOK_SECRETS') });
      expect((await send(name, '{', HEADERS[kind as Kind](EVENTS[kind as Kind], '{'))).status).toBe(422);
      expect((await send(name, body, { ...headers, 'content-type': 'text/plain' })).status).toBe(422);
      isQueueDown = true;
      expect((await send(name, body, headers)).status).toBe(503);
    },
  );

  test('of GitLab may be signed with the signing token', async () => {
    const body = JSON.stringify(mergeRequest('close'));
    expect((await send('gitlab', body, signedByGitlab('Merge Request Hook', body))).status).toBe(202);
    expect((await send('gitlab', `${body} `, signedByGitlab('Merge Request Hook', body))).status).toBe(403);
  });

  test('of an owner with its own secret need that secret, which counts for no other owner', async () => {
    const secret = GLOBEX.replaceAll(' ', '-');
    const globex = JSON.stringify({
      ...gitea.pull('closed'),
      repository: { ...gitea.repository, owner: { id: 2, login: 'Globex' } },
    });
    const acme = JSON.stringify(gitea.pull('closed'));
    const signed = (body: string, by: string) => HEADERS.gitea('pull_request', body, by);
    expect((await send('tea', globex, signed(globex, SECRET))).status).toBe(403);
    expect((await send('tea', acme, signed(acme, secret), '?owner=globex')).status).toBe(403);
    expect((await send('tea', globex, signed(globex, secret), '?owner=globex')).status).toBe(202);
  });

  test('are 404 for a host that the configuration does not name, and 403 for one without a secret', async () => {
    expect((await send('other', '{}', {})).status).toBe(404);
    expect((await send('quiet', '{}', {})).status).toBe(403);
    expect((await send('github', '{}', {})).status).toBe(403);
  });
});

describe('the configuration', () => {
  const hostsOf = (environment: Record<string, string>) => readConfig(environment).hosts;

  test('has GitHub, or the hosts that are named, the default host first', () => {
    expect(hostsOf({}).map(({ name, isDefault }) => [name, isDefault])).toEqual([['github', true]]);
    const hosts = hostsOf({
      HOSTS: 'own=gitea:https://git.example.com/; gitlab; ghe=github:https://ghe.example.com',
      HOST_AUTH: 'own,ghe',
    });
    expect(hosts.map(({ name, isDefault, isAsked, apiUrl }) => [name, isDefault, isAsked, apiUrl])).toEqual([
      ['own', true, true, 'https://git.example.com/api/v1'],
      ['gitlab', false, false, 'https://gitlab.com/api/v4'],
      ['ghe', false, true, 'https://ghe.example.com/api/v3'],
    ]);
    expect(HOSTS.github.apiUrlOf('https://github.com')).toBe('https://api.github.com');
    expect(HOSTS.github.apiUrlOf('https://acme.ghe.com')).toBe('https://api.acme.ghe.com');
  });

  test.each([
    [{ HOSTS: 'gitea' }, 'HOSTS'],
    [{ HOSTS: 'own=gitea:http://git.example.com' }, 'HOSTS'],
    [{ HOSTS: 'own=svn:https://git.example.com' }, 'HOSTS'],
    [{ HOSTS: 'own=gitea:https://ann:secret@git.example.com' }, 'HOSTS'],
    [{ HOSTS: 'a--b=gitea:https://git.example.com' }, 'HOSTS'],
    [{ HOSTS: ';' }, 'HOSTS'],
    [{ HOSTS: 'gitlab; gitlab' }, 'HOSTS'],
    [{ HOST_AUTH: 'gitlab' }, 'HOST_AUTH names gitlab'],
    [{ HOST_TOKENS: 'gitlab=glpat-0123456789' }, 'HOST_TOKENS names gitlab'],
    [{ HOSTS: 'gitlab', HOST_WEBHOOK_SECRETS: 'gitlab=short' }, 'HOST_WEBHOOK_SECRETS'],
    [{ HOST_WEBHOOK_SECRETS: 'own=0123456789abcdef' }, 'HOST_WEBHOOK_SECRETS names own'],
  ])('refuses %j at start, and shows no secret', (environment, message) => {
    expect(() => readConfig(environment)).toThrow(message);
  });
});
