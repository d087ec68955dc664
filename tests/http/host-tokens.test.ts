import { afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import type { Permission } from '../../src/http/auth.ts';
import { mount } from '../../src/http/operation.ts';
import { owner, repository } from '../../src/http/path.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { GitHubClient } from '../../src/keys/github-client.ts';
import { HostCredentials, hostCredentials } from '../../src/keys/host-credentials.ts';
import { createLogger, type Logger } from '../../src/observability/log.ts';
import { FakeHost, troubles } from '../support/fake-host.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { openTestStores, TEST_NOW, TestClock, type TestStores, uniqueRepository } from '../support/stores.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Silent hosts are given up on soon, so that the tests are not slow. */
const REQUEST_MS_MAX = 250;

const READER = `ghp_${'r'.repeat(36)}`;
const WRITER = `github_pat_${'w'.repeat(22)}_${'w'.repeat(59)}`;
const STRANGER = `gho_${'s'.repeat(36)}`;
const UNKNOWN = `ghu_${'u'.repeat(36)}`;
const JOB = `ghs_${'j'.repeat(36)}`;

let stores: TestStores;
let host: FakeHost;
let app: TestApp;
let clock: TestClock;
let log: Logger;
let logged: string[];
let path: { owner: string; name: string };
let fullName: string;

beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(async () => {
  host = await new FakeHost().start();
  await openApp();
});
afterEach(async () => {
  await host.stop();
});

/** An app that asks `host`, with nothing remembered yet, and a repository that nobody else uses. */
async function openApp(client = (url: string) => url): Promise<void> {
  path = uniqueRepository();
  fullName = `${path.owner}/${path.name}`;
  clock = new TestClock(TEST_NOW);
  logged = [];
  log = createLogger('debug', { write: (line) => void logged.push(line) });
  const asking = new GitHubClient({ clock, apiUrl: client(host.url), requestMsMax: REQUEST_MS_MAX });
  app = await openTestApp({
    log,
    credentials: [new HostCredentials(asking, { clock, log, repositories: stores.repositories })],
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
  host.addRepository(fullName);
  host.addUser('rita', READER);
  host.addUser('wim', WRITER);
  host.addUser('sam', STRANGER);
  host.allow('rita', fullName, { pull: true, push: false });
  host.allow('wim', fullName, { pull: true, push: true });
}

const search = (): string => `/v1/ci/${fullName.replace('/', '/repositories/')}/search/tests?test_name=*`;
const probe = (permission: Permission): string => `/v1/probe/${permission}/${fullName}`;
const ask = (token: string | null, address = search(), init: RequestInit = {}): Promise<Response> =>
  app.request(address, { token, ...init });
const statusOf = async (token: string | null, address = search()): Promise<number> =>
  (await ask(token, address)).status;
/** The status, and the seconds after which to try again. */
const outcomeOf = async (token: string, address = search()): Promise<[number, string | null]> => {
  const response = await ask(token, address);
  return [response.status, response.headers.get('retry-after')];
};

describe('where host tokens are off', () => {
  const tokens = [READER, WRITER, STRANGER, UNKNOWN, JOB, `ghr_${'x'.repeat(36)}`, 'ghp_', 'nonsense'];

  test('they are 403, and nothing is ever sent anywhere', async () => {
    const { githubApiUrl } = readConfig({ GITHUB_AUTH: 'off', GITHUB_API_URL: host.url });
    app = await openTestApp({ credentials: hostCredentials(githubApiUrl, { ...stores, clock }) });
    const fetched = spyOn(globalThis, 'fetch');
    for (const token of tokens)
      for (const address of [search(), search().replace(path.name, 'other'), '/v1/application'])
        expect([token, await statusOf(token, address)]).toEqual([token, 403]);
    expect(fetched).not.toHaveBeenCalled();
    expect(host.requests).toEqual([]);
    fetched.mockRestore();
  });

  test('they are off unless GITHUB_AUTH=on or an address is set, and GITHUB_AUTH=off wins', () => {
    const apiUrlOf = (environment: Record<string, string>) => readConfig(environment).githubApiUrl;
    expect(apiUrlOf({})).toBeUndefined();
    expect(apiUrlOf({ GITHUB_AUTH: '', GITHUB_API_URL: '' })).toBeUndefined();
    expect(apiUrlOf({ GITHUB_AUTH: 'off' })).toBeUndefined();
    expect(apiUrlOf({ GITHUB_AUTH: 'off', GITHUB_API_URL: 'https://git.example/api/v3' })).toBeUndefined();
    expect(apiUrlOf({ GITHUB_AUTH: 'on' })).toBe('https://api.github.com');
    expect(apiUrlOf({ GITHUB_API_URL: 'https://git.example/api/v3/' })).toBe('https://git.example/api/v3');
  });

  test('an address to which tokens would travel in clear, or that cannot be added to, is refused at start', () => {
    for (const address of [
      'http://git.example/api/v3',
      'http://127.0.0.1.example/',
      'ftp://git.example/',
      'https://user:secret@git.example/',
      'https://git.example/?x=1',
    ])
      expect(() => readConfig({ GITHUB_API_URL: address })).toThrow(/GITHUB_API_URL must/);
    for (const address of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
      expect(readConfig({ GITHUB_API_URL: address }).githubApiUrl).toBe(address);
  });
});

describe('where host tokens are on', () => {
  test('whatever is no host token is looked up as a key and 403, and never sent to the host', async () => {
    const others = [
      `ghr_${'x'.repeat(36)}`,
      'ghp_',
      'ghp-abc',
      'GHP_abc',
      'xghp_abc',
      'github_pat_',
      'ghp_a/b',
      'ghp_ä',
    ];
    for (const token of [...others, `ghp_${'a'.repeat(2_000)}`])
      expect([token, await statusOf(token)]).toEqual([token, 403]);
    expect(await statusOf(null)).toBe(403);
    const word = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })
      .map((text) => `k${text.replaceAll(/\s/g, '')}`);
    await fc.assert(
      fc.asyncProperty(word, async (token) => (await statusOf(token)) === 403),
      { numRuns: 50 },
    );
    expect(await statusOf(app.adminToken)).toBe(200);
    expect(host.requests).toEqual([]);
  });

  test('a token that the host does not know is 403, before anything else that is wrong', async () => {
    expect(await statusOf(UNKNOWN)).toBe(403);
    expect(await statusOf(UNKNOWN, `/v1/probe/read/no owner/${path.name}`)).toBe(403);
    expect(await statusOf(UNKNOWN, '/v1/application')).toBe(403);
    expect(host.count(`/repos/${fullName}`)).toBe(0);
  });

  test('checks come in order: credential, path, access, query', async () => {
    const bad = `${search()}&per_page=0`;
    expect(await statusOf(UNKNOWN, bad)).toBe(403);
    expect(await statusOf(READER, bad.replace(path.owner, 'no_owner'))).toBe(422);
    expect(await statusOf(STRANGER, bad)).toBe(404);
    expect(await statusOf(READER, bad)).toBe(422);
    expect(await statusOf(READER, probe('quarantine'))).toBe(403);
    expect(await statusOf(READER)).toBe(200);
  });

  test('who may pull reads insights and the event log; who may push also uploads and quarantines', async () => {
    const statuses = async (token: string) =>
      Object.fromEntries(
        await Promise.all(
          (['read', 'events', 'upload', 'quarantine'] as const).map(async (permission) => [
            permission,
            await statusOf(token, probe(permission)),
          ]),
        ),
      );
    expect(await statuses(READER)).toEqual({ read: 200, events: 200, upload: 403, quarantine: 403 });
    expect(await statuses(WRITER)).toEqual({ read: 200, events: 200, upload: 200, quarantine: 200 });
    expect(await statuses(STRANGER)).toEqual({ read: 404, events: 404, upload: 404, quarantine: 404 });
  });

  test('a report is taken from who may push, and refused from who may not', async () => {
    const junit = `/v1/ci/${path.owner}/repositories/${path.name}/junit?pipeline_name=CI&job_name=unit&run_id=1`;
    const body = '<testsuite><testcase name="a"/></testsuite>';
    const init = { method: 'POST', body, headers: { 'content-type': 'application/xml' } };
    expect((await ask(WRITER, junit, init)).status).toBe(202);
    expect((await ask(READER, junit, init)).status).toBe(403);
    expect((await ask(STRANGER, junit, init)).status).toBe(404);
  });

  test('HEAD is decided as GET', async () => {
    expect((await ask(READER, search(), { method: 'HEAD' })).status).toBe(200);
    expect((await ask(STRANGER, search(), { method: 'HEAD' })).status).toBe(404);
    expect((await ask(UNKNOWN, search(), { method: 'HEAD' })).status).toBe(403);
  });

  test('a repository of which the host shows nothing looks like one that is not there', async () => {
    const [hidden, absent] = await Promise.all([ask(STRANGER), ask(STRANGER, search().replace(path.name, 'nowhere'))]);
    expect([hidden.status, absent.status]).toEqual([404, 404]);
    expect(await hidden.json()).toEqual(await absent.json());
  });

  test('everyone with an account reads what is public, and nobody writes to it for that', async () => {
    host.addRepository(`${path.owner}/open`, { isPrivate: false });
    expect(await statusOf(STRANGER, `/v1/probe/read/${path.owner}/open`)).toBe(200);
    expect(await statusOf(STRANGER, `/v1/probe/quarantine/${path.owner}/open`)).toBe(403);
  });

  test('a classic token whose scopes do not let it write does not quarantine for a person who may push', async () => {
    const open = `${path.owner}/open`;
    host.addRepository(open, { isPrivate: false });
    host.allow('wim', open, { pull: true, push: true });
    for (const [scopes, onPrivate, onPublic] of [
      ['repo, gist', 200, 200],
      ['public_repo', 403, 200],
      ['read:org, repo:status', 403, 403],
      ['', 403, 403],
    ] as const) {
      const token = `ghp_scopes${onPrivate}${onPublic}${scopes.length}`;
      host.addUser('wim', token, scopes);
      expect([scopes, await statusOf(token, probe('quarantine'))]).toEqual([scopes, onPrivate]);
      expect([scopes, await statusOf(token, `/v1/probe/quarantine/${open}`)]).toEqual([scopes, onPublic]);
      expect(await statusOf(token)).toBe(200);
    }
  });

  test('the actor is the login of the user, and of an installation the bot of workflow runs', async () => {
    host.addInstallation(JOB, [fullName]);
    expect(await (await ask(READER, probe('read'))).json()).toEqual({ actor: 'rita' });
    expect(await (await ask(WRITER, probe('quarantine'))).json()).toEqual({ actor: 'wim' });
    expect(await (await ask(JOB, probe('read'))).json()).toEqual({ actor: 'github-actions[bot]' });
  });

  test('an installation reads the repositories that it is in, and writes to none: the host does not say that it may', async () => {
    host.addInstallation(JOB, [fullName]);
    host.addRepository(`${path.owner}/other`);
    expect(await statusOf(JOB)).toBe(200);
    expect(await statusOf(JOB, probe('events'))).toBe(200);
    expect(await statusOf(JOB, probe('upload'))).toBe(403);
    expect(await statusOf(JOB, `/v1/probe/read/${path.owner}/other`)).toBe(404);
    host.revoke(JOB);
    expect(await statusOf('ghs_never-seen.before', probe('read'))).toBe(403);
    expect(host.count('/user')).toBe(0);
  });

  test('there is no application key to describe: 403 that says so', async () => {
    const response = await ask(READER, '/v1/application');
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('no application key') });
  });

  test('names that a URL would take for a step in the path are not asked for', async () => {
    for (const name of ['.', '..'])
      expect(await new GitHubClient({ clock, apiUrl: host.url }).repository(READER, path.owner, name)).toEqual({
        kind: 'missing',
      });
    expect(host.requests).toEqual([]);
  });
});

describe('what is remembered', () => {
  test('a granted token is asked about once in minutes, however many requests come, also in parallel', async () => {
    const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(READER)));
    for (let i = 0; i < 20; i++) statuses.push(await statusOf(READER, i % 2 ? search() : probe('events')));
    clock.set(TEST_NOW + 4 * MINUTE);
    statuses.push(
      await statusOf(
        READER,
        search()
          .toUpperCase()
          .replace('/V1/CI/', '/v1/ci/')
          .replace('/REPOSITORIES/', '/repositories/')
          .replace('/SEARCH/TESTS?TEST_NAME', '/search/tests?test_name'),
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(host.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
      'GET /user',
      `GET /repos/${fullName}`,
    ]);
  });

  test('each token and each repository is asked about for itself', async () => {
    host.addRepository(`${path.owner}/other`);
    expect(await statusOf(READER)).toBe(200);
    expect(await statusOf(READER, `/v1/probe/read/${path.owner}/other`)).toBe(404);
    expect(await statusOf(STRANGER)).toBe(404);
    expect(host.count(`/repos/${fullName}`)).toBe(2);
  });

  test('a revoked token stops when the memory of it ends', async () => {
    expect(await statusOf(READER)).toBe(200);
    host.revoke(READER);
    clock.set(TEST_NOW + 5 * MINUTE - 1);
    expect(await statusOf(READER)).toBe(200);
    clock.set(TEST_NOW + 5 * MINUTE);
    expect(await statusOf(READER)).toBe(403);
  });

  test('access that was taken away ends when the memory of it ends', async () => {
    expect(await statusOf(WRITER, probe('quarantine'))).toBe(200);
    host.allow('wim', fullName, { pull: true, push: false });
    clock.set(TEST_NOW + 5 * MINUTE);
    expect(await statusOf(WRITER, probe('quarantine'))).toBe(403);
    expect(await statusOf(WRITER)).toBe(200);
  });

  test('a no is remembered for seconds only, of the token, the repository and the permission alike', async () => {
    expect(await statusOf(UNKNOWN)).toBe(403);
    expect(await statusOf(STRANGER)).toBe(404);
    expect(await statusOf(READER, probe('quarantine'))).toBe(403);
    const asked = host.requests.length;
    host.addUser('ute', UNKNOWN);
    for (const login of ['ute', 'sam', 'rita']) host.allow(login, fullName, { pull: true, push: true });
    clock.set(TEST_NOW + 10 * SECOND - 1);
    expect(await statusOf(UNKNOWN)).toBe(403);
    expect(await statusOf(STRANGER)).toBe(404);
    expect(await statusOf(READER, probe('quarantine'))).toBe(403);
    expect(host.requests.length).toBe(asked);
    clock.set(TEST_NOW + 10 * SECOND);
    expect(await statusOf(UNKNOWN)).toBe(200);
    expect(await statusOf(STRANGER)).toBe(200);
    expect(await statusOf(READER, probe('quarantine'))).toBe(200);
  });

  test('a clock that is set back lengthens nothing', async () => {
    expect(await statusOf(READER)).toBe(200);
    host.revoke(READER);
    clock.set(TEST_NOW - 60 * MINUTE);
    expect(await statusOf(READER)).toBe(403);
  });
});

describe('a host in trouble', () => {
  const cases = {
    'an error of the server': troubles.status(500),
    'a gateway that gives up': troubles.status(502),
    'a status that means nothing here': troubles.status(418),
    'no JSON': troubles.garbled('<html>'),
    'JSON of another shape': troubles.garbled('{"login":7,"permissions":{"pull":"yes"}}'),
    'an empty body': troubles.garbled(''),
    'a connection that breaks': troubles.dropped(),
    'no answer in time': troubles.silent(),
    'an answer that does not end': troubles.stuck(),
    'a redirect to itself': troubles.redirect('/user'),
    'a redirect to nowhere': troubles.redirect(''),
    'too many requests': troubles.status(429),
    'a rate limit that is used up': troubles.status(403, 'API rate limit exceeded', { 'x-ratelimit-remaining': '0' }),
    'a secondary rate limit': troubles.status(403, 'You have exceeded a secondary rate limit'),
  };

  for (const [name, trouble] of Object.entries(cases))
    test(`${name} is 503 with Retry-After, never a yes and never a no`, async () => {
      host.beInTrouble(trouble);
      const response = await ask(WRITER, probe('quarantine'));
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ title: 'Service unavailable', detail: expect.any(String) });
      host.beInTrouble();
      clock.set(TEST_NOW + MINUTE);
      expect(await statusOf(WRITER, probe('quarantine'))).toBe(200);
      // The same when only the second question meets it.
      clock.set(TEST_NOW + 4 * MINUTE);
      host.addRepository(`${path.owner}/second`);
      host.beInTrouble(trouble);
      expect(await statusOf(WRITER, `/v1/probe/read/${path.owner}/second`)).toBe(503);
      expect(logged.join('')).not.toContain(WRITER);
    });

  test('a host that refuses connections is 503, and asked again seconds later', async () => {
    await host.stop();
    expect(await outcomeOf(READER)).toEqual([503, '5']);
    await host.start();
    clock.set(TEST_NOW + 5 * SECOND - 1);
    expect(await outcomeOf(READER)).toEqual([503, '1']);
    expect(host.requests).toEqual([]);
    clock.set(TEST_NOW + 5 * SECOND);
    expect(await statusOf(READER)).toBe(200);
  });

  test('a wrong address of the API is 503 and not a no to everyone', async () => {
    await openApp((url) => `${url}/wrong`);
    host.beInTrouble(troubles.status(404, 'Not Found'));
    expect(await statusOf(READER)).toBe(503);
    expect(logged.join('')).toContain('GITHUB_API_URL');
  });

  test('a yes that has not run out serves while the host is away, and not longer', async () => {
    expect(await statusOf(READER)).toBe(200);
    await host.stop();
    clock.set(TEST_NOW + 4 * MINUTE);
    expect(await statusOf(READER)).toBe(200);
    // This needs a new answer, and its failure takes nothing away.
    expect(await statusOf(READER, probe('quarantine'))).toBe(503);
    expect(await statusOf(READER)).toBe(200);
    clock.set(TEST_NOW + 5 * MINUTE);
    expect(await statusOf(READER)).toBe(503);
  });

  test('a rate limit is passed on within bounds, and stops other tokens not', async () => {
    host.addUser('lea', 'ghp_limited');
    const limited = (headers: Record<string, string>) =>
      host.beInTrouble((request, response) =>
        request.headers.authorization === 'Bearer ghp_limited'
          ? troubles.status(403, 'API rate limit exceeded', { 'x-ratelimit-remaining': '0', ...headers })(
              request,
              response,
            )
          : false,
      );
    let now = TEST_NOW;
    for (const [headers, seconds] of [
      [{ 'retry-after': '17' }, '17'],
      [{ 'x-ratelimit-reset': String(Math.floor(TEST_NOW / SECOND) + 7_200) }, '60'],
      [{ 'x-ratelimit-reset': '0' }, '5'],
      [{ 'retry-after': 'soon' }, '30'],
    ] as [Record<string, string>, string][]) {
      limited(headers);
      expect([headers, ...(await outcomeOf('ghp_limited'))]).toEqual([headers, 503, seconds]);
      now += Number(seconds) * SECOND;
      clock.set(now);
    }
    // Ten in a row do not speak against the host.
    for (let i = 0; i < 10; i++) {
      now += MINUTE;
      clock.set(now);
      expect(await statusOf('ghp_limited')).toBe(503);
    }
    expect(await statusOf(READER)).toBe(200);
  });
});

describe('the circuit', () => {
  const token = (i: number): string => `ghp_circuit${i}`;
  let next = 0;
  /** Fails for as many tokens, each of which nothing is remembered of. */
  const fail = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) expect(await statusOf(token(next++))).toBe(503);
  };

  test('after five failures in a row the host is left alone, with 503 at once', async () => {
    host.beInTrouble(troubles.status(500));
    await fail(5);
    expect(host.requests.length).toBe(5);
    expect(await outcomeOf(READER)).toEqual([503, '15']);
    clock.set(TEST_NOW + 14 * SECOND);
    expect(await outcomeOf(READER)).toEqual([503, '1']);
    expect(host.requests.length).toBe(5);
    expect(logged.filter((line) => line.includes('left alone for a while')).length).toBe(1);
  });

  test('an answer in between begins the count anew, a no included', async () => {
    for (let i = 0; i < 3; i++) {
      host.beInTrouble(troubles.status(500));
      await fail(4);
      host.beInTrouble();
      expect(await statusOf(token(next++))).toBe(403);
    }
    expect(await statusOf(READER)).toBe(200);
  });

  test('then one request is tried while the others still wait; a failure leaves the host alone again', async () => {
    host.beInTrouble(troubles.status(500));
    await fail(5);
    clock.set(TEST_NOW + 15 * SECOND);
    host.forgetRequests();
    host.beInTrouble(troubles.silent());
    const outcomes = await Promise.all([0, 1, 2, 3].map(() => outcomeOf(token(next++))));
    expect(outcomes.map(([status]) => status)).toEqual([503, 503, 503, 503]);
    expect(outcomes.filter(([, after]) => after === '1').length).toBe(3);
    expect(host.requests.length).toBe(1);
    host.beInTrouble();
    expect(await outcomeOf(READER)).toEqual([503, '15']);
    expect(host.requests.length).toBe(1);
  });

  test('the first answer closes it for everyone', async () => {
    host.beInTrouble(troubles.status(500));
    await fail(5);
    expect(await statusOf(READER)).toBe(503);
    host.beInTrouble();
    clock.set(TEST_NOW + 15 * SECOND);
    expect(await statusOf(UNKNOWN)).toBe(403);
    expect(await statusOf(READER)).toBe(200);
    expect(await statusOf(WRITER, probe('quarantine'))).toBe(200);
    expect(logged.filter((line) => line.includes('answers again')).length).toBe(1);
  });

  test('while it is open, a yes that has not run out still serves and nobody else gets one', async () => {
    expect(await statusOf(READER)).toBe(200);
    host.beInTrouble(troubles.status(500));
    await fail(5);
    expect(await statusOf(READER)).toBe(200);
    expect(await statusOf(WRITER)).toBe(503);
    expect(await statusOf(app.adminToken)).toBe(200);
  });
});

describe('where requests go', () => {
  test('an enterprise host is asked below the path of its address, and named headers go with it', async () => {
    await host.stop();
    host = await new FakeHost('/api/v3').start();
    await openApp();
    expect(await statusOf(READER)).toBe(200);
    expect(host.requests).toEqual([
      { method: 'GET', path: '/api/v3/user', authorization: `Bearer ${READER}` },
      { method: 'GET', path: `/api/v3/repos/${fullName}`, authorization: `Bearer ${READER}` },
    ]);
  });

  test('a renamed repository is found under its old name, for those who may see it', async () => {
    host.rename(fullName, `${path.owner}/renamed`);
    expect(await statusOf(READER)).toBe(200);
    expect(await statusOf(STRANGER)).toBe(404);
    expect(await statusOf(READER, probe('quarantine'))).toBe(403);
    expect(await statusOf(WRITER, probe('quarantine'))).toBe(200);
  });

  test('a redirect to another origin is not followed: the token goes nowhere else', async () => {
    const other = await new FakeHost().start();
    other.addUser('rita', READER);
    other.addRepository(fullName);
    other.allow('rita', fullName, { pull: true, push: true });
    for (const [i, status] of [301, 302, 307, 308].entries()) {
      host.beInTrouble(troubles.redirect(`${other.url}/user`, status));
      clock.set(TEST_NOW + i * MINUTE);
      expect(await statusOf(READER)).toBe(503);
    }
    const sameHost = host.url.replace('127.0.0.1', 'localhost');
    host.beInTrouble(troubles.redirect(`${sameHost}/user`));
    clock.set(TEST_NOW + 5 * MINUTE);
    expect(await statusOf(READER)).toBe(503);
    expect(other.requests).toEqual([]);
    expect(host.requests.length).toBe(5);
    await other.stop();
  });

  test('no token stands in a log line, in an error or in an answer, whatever happens', async () => {
    host.addInstallation(JOB, [fullName]);
    const answers: string[] = [];
    const askAll = async (): Promise<void> => {
      for (const token of [READER, WRITER, STRANGER, UNKNOWN, JOB])
        for (const address of [search(), probe('quarantine'), '/v1/application'])
          answers.push(await (await ask(token, address)).text());
    };
    await askAll();
    clock.set(TEST_NOW + 10 * MINUTE);
    host.beInTrouble(troubles.garbled(JSON.stringify({ login: null, message: READER })));
    await askAll();
    await host.stop();
    clock.set(TEST_NOW + 20 * MINUTE);
    await askAll();
    expect(logged.length).toBeGreaterThan(0);
    for (const token of [READER, WRITER, STRANGER, UNKNOWN, JOB])
      for (const text of [...logged, ...answers]) expect(text).not.toContain(token.slice(4));
  });
});

describe('the default branch', () => {
  const branchOf = async (): Promise<[string | null, string | null] | undefined> => {
    const found = await stores.repositories.find(path.owner, path.name);
    return found && [found.defaultBranch, found.defaultBranchSource];
  };
  /** It is learned beside the requests; this waits for it. */
  const until = async (expected: [string, string]): Promise<void> => {
    for (let i = 0; i < 200; i++) {
      if (JSON.stringify(await branchOf()) === JSON.stringify(expected)) return;
      await Bun.sleep(10);
    }
    expect(await branchOf()).toEqual(expected);
  };
  const record = () => stores.repositories.record({ host: 'github.com', ...path });

  test('of a recorded repository is learned from the host, over what uploads said', async () => {
    await stores.repositories.learnDefaultBranch(await record(), 'from-upload', 'payload');
    host.setDefaultBranch(fullName, 'trunk');
    expect(await statusOf(READER)).toBe(200);
    await until(['trunk', 'host']);
  });

  test('is learned anew when the host names another one', async () => {
    await record();
    expect(await statusOf(READER)).toBe(200);
    await until(['main', 'host']);
    host.setDefaultBranch(fullName, 'trunk');
    clock.set(TEST_NOW + 5 * MINUTE);
    expect(await statusOf(READER)).toBe(200);
    await until(['trunk', 'host']);
  });

  test('is learned also when the repository is recorded only after the host was asked', async () => {
    expect(await statusOf(READER)).toBe(200);
    expect(await branchOf()).toBeUndefined();
    await record();
    expect(await statusOf(READER)).toBe(200);
    await until(['main', 'host']);
    expect(host.count(`/repos/${fullName}`)).toBe(1);
  });

  test('that somebody set is not overruled', async () => {
    await stores.repositories.set(await record(), { defaultBranch: 'release' }, 'a test');
    expect(await statusOf(READER)).toBe(200);
    // A second repository shows that learning had its time.
    const other = { owner: path.owner, name: `${path.name}-other` };
    await stores.repositories.record({ host: 'github.com', ...other });
    host.addRepository(`${other.owner}/${other.name}`);
    host.allow('rita', `${other.owner}/${other.name}`, { pull: true, push: false });
    const before = await branchOf();
    path = other;
    fullName = `${other.owner}/${other.name}`;
    expect(await statusOf(READER)).toBe(200);
    await until(['main', 'host']);
    expect(before).toEqual(['release', 'setting']);
    path = { owner: path.owner, name: path.name.replace('-other', '') };
    expect(await branchOf()).toEqual(['release', 'setting']);
  });

  test('of a repository that was never written to is not kept: asking records nothing', async () => {
    expect(await statusOf(READER)).toBe(200);
    await Bun.sleep(50);
    expect((await stores.repositories.list()).some(({ name }) => name === path.name)).toBe(false);
  });
});
