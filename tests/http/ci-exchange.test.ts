/** Identity tokens of CI jobs for keys, with issuers that publish real keys: who gets one, for what, and who does not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SignedTokens, TokenRefused } from '../../src/access/signed-token.ts';
import { parseCiRules } from '../../src/domain/ci-rules.ts';
import { createLogger } from '../../src/observability/log.ts';
import { checkCiIssuers } from '../../src/operate/doctor/web.ts';
import { githubClaims, PULL_CLAIMS } from '../support/ci-claims.ts';
import { startCi, type TestCi } from '../support/ci-issuer.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

const { owner, name } = uniqueRepository();
const REPOSITORY = `${owner}/${name}`;
const AUDIENCE = 'http://ci.test';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** GitHub, GitHub Enterprise and an own GitLab, each with its owners. */
let github: TestCi;
let enterprise: TestCi;
let gitlab: TestCi;
let app: TestApp;
const lines: string[] = [];

beforeAll(async () => {
  [github, enterprise, gitlab] = await Promise.all([startCi(), startCi('/_services/token'), startCi()]);
  app = await openTestApp({
    log: createLogger('debug', { write: (line) => void lines.push(line) }),
    ciTokens: {
      issuers: [
        { name: 'github', kind: 'github', url: github.url },
        { name: 'ghe', kind: 'github', url: enterprise.url },
        { name: 'own', kind: 'gitlab', url: gitlab.url },
      ],
      audiences: [AUDIENCE, 'another'],
      rules: parseCiRules(`github:${REPOSITORY} ci *; ghe:corp upload ${owner}; own:${owner} upload *`) ?? [],
    },
  });
});
afterAll(() => Promise.all([github, enterprise, gitlab].map((ci) => ci.stop())));

const now = () => app.stores.clock.now();
const claimsOf = (more: Record<string, unknown> = {}) => githubClaims(REPOSITORY, more);
const exchangeBody = (body: string, headers: Record<string, string> = {}) =>
  app.request('/v1/auth/ci', {
    method: 'POST',
    token: null,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
const exchange = (token: string) => exchangeBody(JSON.stringify({ token }));

interface Made {
  token: string;
  expires_at: string;
  scope: string;
  owner: string;
  repository: string;
  pull_requests_only: boolean;
}
const made = async (token: string): Promise<Made> => {
  const response = await exchange(token);
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return (await response.json()) as Made;
};
/** Status and sentence of a refusal. */
const refusalOf = async (token: string): Promise<string> => {
  const response = await exchange(token);
  return `${response.status} ${((await response.json()) as { detail?: string }).detail ?? ''}`;
};
const statusOf = async (path: string, token: string, init: RequestInit = {}) =>
  (await app.request(`/v1/ci/${path}`, { ...init, token })).status;
const quarantine = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ test_name: crypto.randomUUID(), reason: 'because' }),
};

describe('a token', () => {
  test('becomes a key of an hour for its repository and no other, with the scope of the rule', async () => {
    const key = await made(await github.sign(claimsOf(), { now: now() }));
    const { token, expires_at, ...rest } = key;
    expect(rest).toEqual({ scope: 'ci', owner, repository: name, pull_requests_only: false });
    expect(Date.parse(expires_at)).toBe(now() + HOUR_MS);
    const base = `${owner}/repositories`;
    expect(await statusOf(`${base}/${name}/quarantines`, token)).toBe(200);
    expect(await statusOf(`${base}/${name}/quarantines`, token, quarantine)).toBe(201);
    expect(await statusOf(`${base}/other/quarantines`, token)).toBe(404);
    expect(await statusOf('another/repositories/shop/quarantines', token)).toBe(403);
    const clock = app.stores.clock;
    const before = clock.now();
    try {
      clock.set(before + HOUR_MS);
      expect(await statusOf(`${base}/${name}/quarantines`, token)).toBe(403);
    } finally {
      clock.set(before);
    }
  });

  test('leaves an entry in the trail, which counts the keys of a day with the same rights', async () => {
    const day = Math.floor(now() / DAY_MS);
    const clock = app.stores.clock;
    const before = clock.now();
    // Two days later: other tests got keys today.
    clock.set((day + 2) * DAY_MS + HOUR_MS);
    const from = new Date(now()).toISOString();
    try {
      const keys = [];
      for (const claims of [{}, {}, PULL_CLAIMS, {}]) {
        keys.push(await made(await github.sign(claimsOf(claims), { now: now() })));
        clock.set(now() + MINUTE_MS);
      }
      const last = new Date(now() - MINUTE_MS).toISOString();
      clock.set((day + 3) * DAY_MS);
      await made(await github.sign(claimsOf(), { now: now() }));
      clock.set(now() + MINUTE_MS);
      const { entries } = (await (
        await app.request(`/v1/audit?action=key.exchange&owner=${owner}&repository=${name}&from=${from}`)
      ).json()) as { entries: { at: string; object: { name: string }; after: Record<string, unknown> }[] };
      expect(entries.map(({ object }) => object.name)).toEqual([
        '1 key with scope ci',
        '1 key with scope upload, for pull requests only',
        '3 keys with scope ci',
      ]);
      expect(entries[2]).toMatchObject({
        at: from,
        actor: { kind: 'ci_job', name: `github:${REPOSITORY}`, key_id: null },
        action: 'key.exchange',
        after: { scope: 'ci', pull_requests_only: false, is_evidence: false, keys: 3, last_at: last },
      });
      for (const { token } of keys) expect(JSON.stringify(entries)).not.toContain(token);
    } finally {
      clock.set(before);
    }
  });

  test('of a pull request gives a key that cannot quarantine and is for pull requests only', async () => {
    const key = await made(await github.sign(claimsOf(PULL_CLAIMS), { now: now() }));
    expect([key.scope, key.pull_requests_only]).toEqual(['upload', true]);
    expect(await statusOf(`${owner}/repositories/${name}/quarantines`, key.token, quarantine)).toBe(403);
  });

  test('of GitHub Enterprise and of an own GitLab counts for its issuer', async () => {
    const ghe = await made(await enterprise.sign(githubClaims('corp/tools'), { now: now() }));
    expect([ghe.owner, ghe.repository, ghe.scope]).toEqual([owner, 'tools', 'upload']);
    const job = { project_path: REPOSITORY, pipeline_source: 'push', ref: 'main', ref_type: 'branch', aud: 'another' };
    const own = await made(await gitlab.sign(job, { now: now() }));
    expect([own.repository, own.pull_requests_only]).toEqual([name, false]);
    // One has what the other may not.
    expect(await refusalOf(await github.sign(githubClaims('corp/tools'), { now: now() }))).toContain('no rule');
    expect(await refusalOf(await enterprise.sign(claimsOf(), { now: now() }))).toContain('no rule');
  });

  test('of a repository that no rule names gives nothing', async () => {
    for (const repository of [`${owner}-evil/${name}`, `evil/${name}`, `${owner}/another`]) {
      const refusal = await refusalOf(await github.sign(githubClaims(repository), { now: now() }));
      expect(refusal).toStartWith(`403 github knows this job as one of ${repository}, but no rule`);
    }
  });

  test('of GitHub works once, also when it arrives twice at the same moment', async () => {
    const token = await github.sign(claimsOf(), { now: now() });
    const statuses = (await Promise.all([1, 2, 3].map(() => exchange(token)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 403, 403]);
    expect(await refusalOf(token)).toBe('403 The token was used before. Ask the CI for a new one.');
  });

  test('of GitLab, which steps of a job share, works until it expires, for an hour each time', async () => {
    const job = { project_path: REPOSITORY, pipeline_source: 'push', ref: 'main', ref_type: 'branch', aud: AUDIENCE };
    const token = await gitlab.sign(
      { ...job, jti: 'one of the job' },
      { now: now() - 2 * HOUR_MS, lifetimeSeconds: 3 * 3_600 },
    );
    for (let i = 0; i < 2; i++) expect(Date.parse((await made(token)).expires_at)).toBe(now() + HOUR_MS);
  });

  test('is accepted with a clock that differs by less than a minute, and not by more', async () => {
    const at = (ms: number) => github.sign(claimsOf(), { now: now() + ms, lifetimeSeconds: 300 });
    expect((await exchange(await at(50_000))).status).toBe(201);
    expect((await exchange(await at(-300_000 - 50_000))).status).toBe(201);
    expect(await refusalOf(await at(2 * MINUTE_MS))).toStartWith('403 The claim');
    expect(await refusalOf(await at(-300_000 - 2 * MINUTE_MS))).toBe(
      '403 The token has expired. Ask the CI for a new one.',
    );
    // However long its issuer lets it be valid.
    const old = await github.sign(claimsOf(), { now: now() - 2 * DAY_MS, lifetimeSeconds: 30 * 86_400 });
    expect((await exchange(old)).status).toBe(403);
  });

  test('for another audience is refused, also if it is signed', async () => {
    for (const aud of ['https://github.com/acme', `${AUDIENCE}/`, [], ''])
      expect(await refusalOf(await github.sign(claimsOf({ aud }), { now: now() }))).toContain('audience');
    expect((await exchange(await github.sign(claimsOf({ aud: ['x', 'another'] }), { now: now() }))).status).toBe(201);
  });

  test('of an issuer that is not configured, or signed by another one, is refused', async () => {
    const elsewhere = await startCi();
    try {
      expect(await refusalOf(await elsewhere.sign(claimsOf(), { now: now() }))).toContain('The issuer of the token');
      expect(elsewhere.fetches).toBe(0);
      const posing = claimsOf({ iss: github.url });
      expect(await refusalOf(await elsewhere.sign(posing, { now: now() }))).toContain('not signed by its issuer');
    } finally {
      await elsewhere.stop();
    }
    const ofGitlab = await gitlab.sign(claimsOf({ iss: github.url }), { now: now() });
    expect(await refusalOf(ofGitlab)).toContain('not signed by its issuer');
  });

  test('that is not signed, or with a secret that everyone knows, is refused', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const seconds = Math.floor(now() / 1_000);
    const claims = part({ ...claimsOf(), iss: github.url, iat: seconds, exp: seconds + 300 });
    const unsigned = ['none', 'NONE', ''].map((alg) => `${part({ alg, kid: 'key 1' })}.${claims}.`);
    const { SignJWT } = await import('jose');
    const published = JSON.stringify(await (await fetch(`${github.url}/keys`)).json());
    const symmetric = await new SignJWT({ ...claimsOf(), iss: github.url, iat: seconds, exp: seconds + 300 })
      .setProtectedHeader({ alg: 'HS256', kid: 'key 1' })
      .sign(Buffer.from(published));
    const forged = await github.sign(claimsOf(), { now: now(), key: await github.forged() });
    for (const token of [...unsigned, symmetric, forged])
      expect(await refusalOf(token)).toContain('not signed by its issuer');
    const good = await github.sign(claimsOf({ repository: 'evil/shop' }), { now: now() });
    const [head, , signature] = good.split('.');
    expect(await refusalOf(`${head}.${claims}.${signature}`)).toContain('not signed by its issuer');
  });

  test('is in no log line and no answer, whatever becomes of it', async () => {
    lines.length = 0;
    const token = await github.sign(claimsOf(), { now: now() });
    const { token: key } = await made(token);
    const answers = [await exchange(token), await exchange(`${token}x`)];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    const [, , signature = ''] = token.split('.');
    const refusals = (await Promise.all(answers.map((answer) => answer.text()))).join();
    expect(lines.length).toBeGreaterThan(2);
    for (const text of [lines.join(), refusals])
      for (const secret of [key, signature, token]) expect(text).not.toContain(secret);
  });
});

describe('the keys of an issuer', () => {
  test('are asked for again when a token has a new one, and an old one that is gone counts no more', async () => {
    const rotating = await startCi();
    try {
      const issuer = { name: 'github', kind: 'github', url: rotating.url } as const;
      const checker = new SignedTokens([issuer], [AUDIENCE], app.stores.clock, 0);
      const check = (token: string) => checker.check(issuer, token);
      const before = await rotating.sign(claimsOf(), { now: now() });
      expect((await check(before)).claims.repository).toBe(REPOSITORY);
      await rotating.rotate();
      const after = await rotating.sign(claimsOf(), { now: now() });
      for (const token of [after, before]) expect((await check(token)).claims.repository).toBe(REPOSITORY);
      await rotating.rotate(0);
      expect((await check(await rotating.sign(claimsOf(), { now: now() }))).subject).toBeString();
      expect(check(before)).rejects.toBeInstanceOf(TokenRefused);
    } finally {
      await rotating.stop();
    }
  });

  test('are asked for once, however many tokens name one that does not exist', async () => {
    await made(await gitlab.sign({ ...GITLAB_JOB, project_path: REPOSITORY }, { now: now() }));
    const before = gitlab.fetches;
    const key = { ...(await gitlab.forged()), kid: 'unknown' };
    for (let i = 0; i < 20; i++) {
      const token = await gitlab.sign({ ...GITLAB_JOB, project_path: REPOSITORY }, { now: now(), key });
      expect((await exchange(token)).status).toBe(403);
    }
    expect(gitlab.fetches - before).toBeLessThanOrEqual(1);
  });

  test('cannot be had while it is away: 503 with the time to wait, and later the same token works', async () => {
    const away = await startCi();
    away.isAway = true;
    const fresh = await openTestApp({
      ciTokens: {
        issuers: [{ name: 'github', kind: 'github', url: away.url }],
        audiences: [AUDIENCE],
        rules: parseCiRules(`github:${owner} upload *`) ?? [],
      },
    });
    try {
      const token = await away.sign(claimsOf(), { now: now() });
      const headers = { 'content-type': 'application/json' };
      const ask = () =>
        fresh.request('/v1/auth/ci', { method: 'POST', token: null, headers, body: JSON.stringify({ token }) });
      const refused = await ask();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      away.isAway = false;
      expect((await ask()).status).toBe(503);
      const { clock } = fresh.stores;
      clock.set(clock.now() + 5_000);
      expect((await ask()).status).toBe(201);
      clock.set(clock.now() - 5_000);
    } finally {
      await away.stop();
    }
  });
});

const GITLAB_JOB = { pipeline_source: 'push', ref: 'main', ref_type: 'branch', aud: AUDIENCE };

test('`doctor` says whether each issuer is who the configuration says', async () => {
  const levelsOf = async (...urls: string[]) => {
    const issuers = urls.map((url, i) => ({ name: `ci ${i}`, kind: 'github' as const, url }));
    const config = { ...app.stores.config, ciTokens: { issuers, audiences: [AUDIENCE], rules: [] } };
    return (await checkCiIssuers(config)).map(({ level }) => level);
  };
  expect(await levelsOf(github.url, `${github.url}/`, `${github.url}/elsewhere`)).toEqual(['ok', 'problem', 'warning']);
  expect(await checkCiIssuers({ ...app.stores.config, ciTokens: undefined })).toEqual([]);
});

describe('the exchange', () => {
  test('reads no body that is larger than any token, and says what is wrong with others', async () => {
    expect((await exchangeBody(JSON.stringify({ token: 'x'.repeat(16 * 1024) }))).status).toBe(413);
    for (const body of ['', '[', '"x"', '{}', '{"token":1}', '{"token":""}', '\u0000'])
      expect([body, (await exchangeBody(body)).status]).toEqual([body, 422]);
    for (const token of ['x', 'a.b.c', '..', `${'e30.'.repeat(3)}`]) expect((await exchange(token)).status).toBe(403);
  });

  test('does not exist without issuers', async () => {
    const without = await openTestApp();
    const response = await without.request('/v1/auth/ci', { method: 'POST', token: null, body: '{"token":"x"}' });
    expect(response.status).toBe(404);
  });

  test('makes keys that people do not see in the list, unless they ask, and that leave when they are long over', async () => {
    const { token } = await made(await github.sign(claimsOf(), { now: now() }));
    const id = ((await (await app.request('/v1/application', { token })).json()) as { id: string }).id;
    interface Listed {
      keys: { id: string; ci_subject: string | null }[];
    }
    const listed = async (query = '') => (await app.get<Listed>(`/v1/keys${query}`)).keys.find((key) => key.id === id);
    expect(await listed()).toBeUndefined();
    expect((await listed('?ci=include'))?.ci_subject).toBe(`${github.url} repo:${REPOSITORY}:ref:refs/heads/main`);
    const { clock } = app.stores;
    const before = clock.now();
    try {
      clock.set(before + 3 * DAY_MS);
      await made(await github.sign(claimsOf(), { now: now() }));
      expect(await listed('?ci=include')).toBeUndefined();
    } finally {
      clock.set(before);
    }
  });
});
