import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { hostCredentials } from '../../src/access/host-credentials.ts';
import { readConfig } from '../../src/config.ts';
import { HOSTS } from '../../src/hosts/hosts.ts';
import { TEST_NOW } from '../support/clock.ts';
import { JOB, MINUTE, READER, SECOND, STRANGER, setUpHostApp, UNKNOWN, WRITER } from '../support/host-app.ts';
import { openTestApp } from '../support/http.ts';

const t = setUpHostApp();

describe('where host tokens are off', () => {
  const tokens = [READER, WRITER, STRANGER, UNKNOWN, JOB, `ghr_${'x'.repeat(36)}`, 'ghp_', 'nonsense'];

  test('they are 403, and nothing is ever sent to a host', async () => {
    const { hosts } = readConfig({ HOSTS: `github=github:${t.host.url}` });
    const app = await openTestApp({ credentials: hostCredentials(hosts, t.stores) });
    const fetched = spyOn(globalThis, 'fetch');
    for (const token of tokens)
      for (const address of [t.search, t.search.replace(t.path.name, 'other'), '/v1/application'])
        expect([token, (await app.request(address, { token })).status]).toEqual([token, 403]);
    expect(fetched).not.toHaveBeenCalled();
    expect(t.host.requests).toEqual([]);
    fetched.mockRestore();
  });

  test('they are off unless HOST_AUTH names the host', () => {
    const isAsked = (environment: Record<string, string>) => readConfig(environment).hosts[0]?.isAsked;
    expect(isAsked({})).toBe(false);
    expect(isAsked({ HOST_AUTH: '' })).toBe(false);
    expect(isAsked({ HOST_AUTH: 'github' })).toBe(true);
  });

  test('an address to which tokens would travel unencrypted, or that paths cannot be appended to, is refused at start', () => {
    for (const address of [
      'http://git.example',
      'http://127.0.0.1.example/',
      'ftp://git.example/',
      'https://user:secret@git.example/',
      'https://git.example/?x=1',
    ])
      expect(() => readConfig({ HOSTS: `github=github:${address}` })).toThrow(/HOSTS must/);
    for (const address of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
      expect(readConfig({ HOSTS: `github=github:${address}` }).hosts[0]?.apiUrl).toBe(`${address}/api/v3`);
  });
});

describe('where host tokens are on', () => {
  test('anything but a host token is looked up as a key and 403, and never sent to the host', async () => {
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
      expect([token, await t.statusOf(token)]).toEqual([token, 403]);
    expect(await t.statusOf(null)).toBe(403);
    const word = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })
      .map((text) => `k${text.replaceAll(/\s/g, '')}`);
    await fc.assert(
      fc.asyncProperty(word, async (token) => (await t.statusOf(token)) === 403),
      { numRuns: 50 },
    );
    expect(await t.statusOf(t.app.adminToken)).toBe(200);
    expect(t.host.requests).toEqual([]);
  });

  test('a token that the host does not know is 403, before any other problem', async () => {
    expect(await t.statusOf(UNKNOWN)).toBe(403);
    expect(await t.statusOf(UNKNOWN, `/v1/probe/read/no owner/${t.path.name}`)).toBe(403);
    expect(await t.statusOf(UNKNOWN, '/v1/application')).toBe(403);
    expect(t.host.count(`/repos/${t.fullName}`)).toBe(0);
  });

  test('checks come in order: credential, path, access, query', async () => {
    const bad = `${t.search}&per_page=0`;
    expect(await t.statusOf(UNKNOWN, bad)).toBe(403);
    expect(await t.statusOf(READER, bad.replace(t.path.owner, 'no_owner'))).toBe(422);
    expect(await t.statusOf(STRANGER, bad)).toBe(404);
    expect(await t.statusOf(READER, bad)).toBe(422);
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(403);
    expect(await t.statusOf(READER)).toBe(200);
  });

  test('pull access reads insights and the event log; push access also uploads and quarantines', async () => {
    const statuses = async (token: string) =>
      Object.fromEntries(
        await Promise.all(
          (['read', 'events', 'upload', 'quarantine'] as const).map(async (permission) => [
            permission,
            await t.statusOf(token, t.probe(permission)),
          ]),
        ),
      );
    expect(await statuses(READER)).toEqual({ read: 200, events: 200, upload: 403, quarantine: 403 });
    expect(await statuses(WRITER)).toEqual({ read: 200, events: 200, upload: 200, quarantine: 200 });
    expect(await statuses(STRANGER)).toEqual({ read: 404, events: 404, upload: 404, quarantine: 404 });
  });

  test('a report is accepted with push access, and refused without', async () => {
    const junit = `/v1/ci/${t.path.owner}/repositories/${t.path.name}/junit?pipeline_name=CI&job_name=unit&run_id=1`;
    const body = '<testsuite><testcase name="a"/></testsuite>';
    const init = { method: 'POST', body, headers: { 'content-type': 'application/xml' } };
    expect((await t.ask(WRITER, junit, init)).status).toBe(202);
    expect((await t.ask(READER, junit, init)).status).toBe(403);
    expect((await t.ask(STRANGER, junit, init)).status).toBe(404);
  });

  test('HEAD needs the same access as GET', async () => {
    expect((await t.ask(READER, t.search, { method: 'HEAD' })).status).toBe(200);
    expect((await t.ask(STRANGER, t.search, { method: 'HEAD' })).status).toBe(404);
    expect((await t.ask(UNKNOWN, t.search, { method: 'HEAD' })).status).toBe(403);
  });

  test('a repository that the host does not show looks as if it did not exist', async () => {
    const [hidden, absent] = await Promise.all([
      t.ask(STRANGER),
      t.ask(STRANGER, t.search.replace(t.path.name, 'nowhere')),
    ]);
    expect([hidden.status, absent.status]).toEqual([404, 404]);
    expect(await hidden.json()).toEqual(await absent.json());
  });

  test('so does one that the host shows without pull access', async () => {
    t.host.allow('sam', t.fullName, { pull: false, push: false });
    expect(await t.statusOf(STRANGER)).toBe(404);
    expect(await t.statusOf(STRANGER, t.probe('upload'))).toBe(404);
  });

  test('anyone with an account reads public repositories, but may not write to them', async () => {
    t.host.addRepository(`${t.path.owner}/open`, { isPrivate: false });
    expect(await t.statusOf(STRANGER, `/v1/probe/read/${t.path.owner}/open`)).toBe(200);
    expect(await t.statusOf(STRANGER, `/v1/probe/quarantine/${t.path.owner}/open`)).toBe(403);
  });

  test('a classic token without write scopes does not quarantine, even if its user may push', async () => {
    const open = `${t.path.owner}/open`;
    t.host.addRepository(open, { isPrivate: false });
    t.host.allow('wim', open, { pull: true, push: true });
    for (const [scopes, onPrivate, onPublic] of [
      ['repo, gist', 200, 200],
      ['public_repo', 403, 200],
      ['read:org, repo:status', 403, 403],
      ['', 403, 403],
    ] as const) {
      const token = `ghp_scopes${onPrivate}${onPublic}${scopes.length}`;
      t.host.addUser('wim', token, scopes);
      expect([scopes, await t.statusOf(token, t.probe('quarantine'))]).toEqual([scopes, onPrivate]);
      expect([scopes, await t.statusOf(token, `/v1/probe/quarantine/${open}`)]).toEqual([scopes, onPublic]);
      expect(await t.statusOf(token)).toBe(200);
    }
  });

  test('the actor is the login of the user, or the bot of workflow runs for an installation', async () => {
    t.host.addInstallation(JOB, [t.fullName]);
    expect(await (await t.ask(READER, t.probe('read'))).json()).toEqual({ actor: 'rita' });
    expect(await (await t.ask(WRITER, t.probe('quarantine'))).json()).toEqual({ actor: 'wim' });
    expect(await (await t.ask(JOB, t.probe('read'))).json()).toEqual({ actor: 'github-actions[bot]' });
  });

  test('an installation reads its repositories and writes to none: the host does not say whether it may', async () => {
    t.host.addInstallation(JOB, [t.fullName]);
    t.host.addRepository(`${t.path.owner}/other`);
    expect(await t.statusOf(JOB)).toBe(200);
    expect(await t.statusOf(JOB, t.probe('events'))).toBe(200);
    expect(await t.statusOf(JOB, t.probe('upload'))).toBe(403);
    expect(await t.statusOf(JOB, `/v1/probe/read/${t.path.owner}/other`)).toBe(404);
    t.host.revoke(JOB);
    expect(await t.statusOf('ghs_never-seen.before', t.probe('read'))).toBe(403);
    expect(t.host.count('/user')).toBe(0);
  });

  test('a host token cannot be described as an application key: 403 says so', async () => {
    const response = await t.ask(READER, '/v1/application');
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('not an application key') });
  });

  test('names that a URL would resolve as steps in the path are not asked for', async () => {
    for (const name of ['.', '..'])
      expect(
        await HOSTS.github
          .tokens({ clock: t.clock, apiUrl: t.host.url })
          .repository(READER, { owner: t.path.owner, name }),
      ).toEqual({
        kind: 'missing',
      });
    expect(t.host.requests).toEqual([]);
  });
});

describe('what is cached', () => {
  test('the host is asked once in minutes about a granted token, however many requests come, even in parallel', async () => {
    const statuses = await Promise.all(Array.from({ length: 50 }, () => t.statusOf(READER)));
    for (let i = 0; i < 20; i++) statuses.push(await t.statusOf(READER, i % 2 ? t.search : t.probe('events')));
    t.clock.set(TEST_NOW + 4 * MINUTE);
    const inCapitals = t.search.replace(t.path.owner, t.path.owner.toUpperCase());
    statuses.push(await t.statusOf(READER, inCapitals));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(t.host.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
      'GET /user',
      `GET /repos/${t.fullName}`,
    ]);
  });

  test('the host is asked separately about each token and each repository', async () => {
    t.host.addRepository(`${t.path.owner}/other`);
    expect(await t.statusOf(READER)).toBe(200);
    expect(await t.statusOf(READER, `/v1/probe/read/${t.path.owner}/other`)).toBe(404);
    expect(await t.statusOf(STRANGER)).toBe(404);
    expect(t.host.count(`/repos/${t.fullName}`)).toBe(2);
  });

  test('a revoked token stops working when its cached answer expires', async () => {
    expect(await t.statusOf(READER)).toBe(200);
    t.host.revoke(READER);
    t.clock.set(TEST_NOW + 5 * MINUTE - 1);
    expect(await t.statusOf(READER)).toBe(200);
    t.clock.set(TEST_NOW + 5 * MINUTE);
    expect(await t.statusOf(READER)).toBe(403);
  });

  test('revoked access ends when its cached answer expires', async () => {
    expect(await t.statusOf(WRITER, t.probe('quarantine'))).toBe(200);
    t.host.allow('wim', t.fullName, { pull: true, push: false });
    t.clock.set(TEST_NOW + 5 * MINUTE);
    expect(await t.statusOf(WRITER, t.probe('quarantine'))).toBe(403);
    expect(await t.statusOf(WRITER)).toBe(200);
  });

  test('a no is cached for seconds only, whether about token, repository or permission', async () => {
    expect(await t.statusOf(UNKNOWN)).toBe(403);
    expect(await t.statusOf(STRANGER)).toBe(404);
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(403);
    const asked = t.host.requests.length;
    t.host.addUser('ute', UNKNOWN);
    for (const login of ['ute', 'sam', 'rita']) t.host.allow(login, t.fullName, { pull: true, push: true });
    t.clock.set(TEST_NOW + 10 * SECOND - 1);
    expect(await t.statusOf(UNKNOWN)).toBe(403);
    expect(await t.statusOf(STRANGER)).toBe(404);
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(403);
    expect(t.host.requests.length).toBe(asked);
    t.clock.set(TEST_NOW + 10 * SECOND);
    expect(await t.statusOf(UNKNOWN)).toBe(200);
    expect(await t.statusOf(STRANGER)).toBe(200);
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(200);
  });

  test('a clock that is set back keeps no answer for longer', async () => {
    expect(await t.statusOf(READER)).toBe(200);
    t.host.revoke(READER);
    t.clock.set(TEST_NOW - 60 * MINUTE);
    expect(await t.statusOf(READER)).toBe(403);
  });
});
