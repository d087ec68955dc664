/**
 * Who may speak for the default branch (docs/decisions.md): what a job of a pull request tries, with a key that is bound to pull
 * requests or with an identity token, against what the default branch's own job reports. Each way in is tried.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseCiRules } from '../../src/domain/ci-rules.ts';
import { boundsOfKey } from '../../src/domain/report-bounds.ts';
import { gatewayOf } from '../../src/features.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { githubClaims, PULL_CLAIMS } from '../support/ci-claims.ts';
import { startCi, type TestCi } from '../support/ci-issuer.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { otlpJson } from '../support/otlp.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

const AUDIENCE = 'http://ci.test';
let app: TestApp;
let driver: IngestDriver;
let ci: TestCi;
/** Repositories of all tests belong to one owner, which the rule names. */
const { owner } = uniqueRepository();

beforeAll(async () => {
  ci = await startCi();
  const stores = await openTestStores();
  app = await openTestApp({
    features: [(elysia, http) => mountIngest(elysia, http, gatewayOf(stores))],
    ciTokens: {
      issuers: [{ name: 'github', kind: 'github', url: ci.url }],
      audiences: [AUDIENCE],
      rules: parseCiRules(`github:${owner} ci *`) ?? [],
    },
  });
  driver = new IngestDriver(app.stores);
});
afterAll(async () => {
  await driver.stop();
  await ci.stop();
});

interface Case {
  name: string;
  base: string;
  /** A key for pull requests only. */
  pulls: string;
  /** A `ci` key, as that of the jobs of main. */
  main: string;
}
async function newCase(): Promise<Case> {
  const { name } = uniqueRepository();
  driver.watch({ owner, name });
  const pulls = await app.makeKey({ owner, scope: 'upload', bounds: boundsOfKey(true, null) });
  return { name, base: `/v1/ci/${owner}/repositories/${name}`, pulls, main: await app.makeKey({ owner }) };
}

const reportOf = (results: Record<string, 'passed' | 'failed'>): string => {
  const cases = Object.entries(results).map(([name, result]) =>
    result === 'passed' ? `<testcase name="${name}"/>` : `<testcase name="${name}"><failure message="no"/></testcase>`,
  );
  return `<testsuite name="s">${cases.join('')}</testsuite>`;
};
const OTHERS = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`other ${i}`, 'passed' as const]));

type Query = Record<string, string | number>;

/** Sends a report. */
function upload(
  { base }: Case,
  token: string,
  query: Query,
  body = reportOf({ ...OTHERS, login: 'passed' }),
  format = 'junit',
): Promise<Response> {
  const run = { pipeline_name: 'CI', job_name: 'unit', run_id: 1, commit: 'c0ffee', report: 'unit', ...query };
  const search = new URLSearchParams(Object.entries(run).map(([key, value]): [string, string] => [key, String(value)]));
  return app.request(`${base}/${format}?${search}`, { method: 'POST', token, body });
}

/** Sends a report, and returns its receipt once it is stored. */
async function send(one: Case, token: string, query: Query, body?: string, format?: string) {
  const { base } = one;
  const response = await upload(one, token, query, body, format);
  if (response.status !== 202) return { status: response.status, text: await response.text() };
  const { id } = (await response.json()) as { id: string };
  await driver.settle();
  const receipt = (await (await app.request(`${base}/uploads/${id}`, { token })).json()) as {
    accepted: number;
    duplicate: number;
    on_default_branch: number;
    warnings: string[];
  };
  return { ...receipt, status: 202 };
}
/** The ids of the test on the default branch, if it is there. */
const testsOn = async ({ base }: Case): Promise<string[]> => {
  const found = await app.get<{ tests: { test_id: string }[] }>(`${base}/search/tests?test_name=*login`);
  return found.tests.map(({ test_id }) => test_id);
};
const healthIn = async (one: Case): Promise<string[]> => {
  const found = (await testsOn(one)).map((id) => app.get<{ health_status: string }>(`${one.base}/tests/${id}`));
  return (await Promise.all(found)).map(({ health_status }) => health_status);
};
const MAIN = { branch: 'main', default_branch: 'main' };

describe('with a key for pull requests only', () => {
  test('no report of any format, and no trace, is on main, whatever it says', async () => {
    const one = await newCase();
    await send(one, one.main, { ...MAIN, run_id: 'first' }, reportOf({ other: 'passed' }));
    for (const { name, example } of FORMATS) {
      const receipt = await send(one, one.pulls, { ...MAIN, run_id: name }, example.text, name);
      expect([name, receipt.status, 'on_default_branch' in receipt && receipt.on_default_branch]).toEqual([
        name,
        202,
        0,
      ]);
      expect('warnings' in receipt && receipt.warnings.join()).toContain('for pull requests only');
    }
    const resource = { 'vcs.ref.head.name': 'main', 'vcs.ref.head.revision': 'c0ffee', 'cicd.pipeline.run.id': '9' };
    const body = otlpJson({ resource, spans: [{ name: 'login' }] });
    for (const path of [`${one.base}/traces`, `/v1/repos/${owner}/${one.name}/ci/traces`]) {
      const headers = { 'content-type': 'application/json' };
      const response = await app.request(path, { method: 'POST', token: one.pulls, headers, body });
      expect(response.status).toBe(200);
    }
    await driver.settle();
    expect(await testsOn(one)).toEqual([]);
    await driver.verify();
  });

  test('a passing report under the number of a run of main does not take the place of its failure', async () => {
    const one = await newCase();
    await send(one, one.main, { ...MAIN, run_id: 'first' });
    expect(await send(one, one.pulls, { ...MAIN, run_id: 77 })).toMatchObject({ accepted: 21 });
    const failed = reportOf({ ...OTHERS, login: 'failed' });
    expect(await send(one, one.main, { ...MAIN, run_id: 77 }, failed)).toMatchObject({ accepted: 21, duplicate: 0 });
    // A resend is a resend.
    expect(await send(one, one.pulls, { ...MAIN, run_id: 77 })).toMatchObject({ accepted: 0, duplicate: 21 });
    const found = await app.get<{ failures: { test_name: string }[] }>(
      `${one.base}/commits/c0ffee/failures?pipeline_name=CI&job_name=unit&branch=main`,
    );
    expect(found.failures.map(({ test_name }) => test_name)).toEqual([expect.stringMatching(/login$/)]);
  });

  test('invented contradictions make no test of main flaky, and those of a trusted key do', async () => {
    const one = await newCase();
    for (let i = 0; i < 12; i++) await upload(one, one.main, { ...MAIN, run_id: `m${i}`, commit: `m${i}` });
    await driver.settle();
    expect(await healthIn(one)).toEqual(['healthy']);
    const contradict = async (token: string, from: number) => {
      for (let pull = from; pull < from + 4; pull++)
        for (const [attempt, login] of [
          [1, 'failed'],
          [2, 'passed'],
        ] as const) {
          const query = {
            branch: 'evil',
            pull_request: pull,
            run_id: `p${pull}`,
            run_attempt: attempt,
            commit: `p${pull}`,
          };
          expect((await upload(one, token, query, reportOf({ ...OTHERS, login }))).status).toBe(202);
        }
      await driver.settle();
    };
    await contradict(one.pulls, 1);
    expect(await healthIn(one)).toEqual(['healthy']);
    await driver.verify();
    await contradict(one.main, 11);
    expect(await healthIn(one)).toEqual(['flaky']);
  });

  test('nothing is quarantined or released', async () => {
    const one = await newCase();
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ test_name: 'login', reason: 'because' });
    const made = await app.request(`${one.base}/quarantines`, { method: 'POST', headers, body, token: one.main });
    const { id } = (await made.json()) as { id: string };
    for (const [method, path, sent] of [
      ['POST', 'quarantines', body],
      ['PATCH', `quarantines/${id}`, '{}'],
      ['DELETE', `quarantines/${id}`, undefined],
      ['POST', 'backtests', '{}'],
    ] as const) {
      const response = await app.request(`${one.base}/${path}`, {
        ...{ method, headers, token: one.pulls },
        ...(sent !== undefined && { body: sent }),
      });
      expect([method, path, response.status]).toEqual([method, path, 403]);
    }
  });

  test('a session of the key is bound as the key is', async () => {
    const one = await newCase();
    await send(one, one.main, { ...MAIN, run_id: 'first' }, reportOf({ other: 'passed' }));
    const own = { 'sec-fetch-site': 'same-origin' };
    const begun = await app.request('/v1/session', {
      ...{ method: 'POST', token: null, body: JSON.stringify({ key: one.pulls }) },
      headers: { ...own, 'content-type': 'application/json' },
    });
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const query = new URLSearchParams({ branch: 'main', run_id: 's', commit: 'c0ffee' });
    const sent = await app.request(`${one.base}/junit?${query}`, {
      ...{ method: 'POST', token: null, headers: { ...own, cookie }, body: reportOf({ login: 'failed' }) },
    });
    expect(sent.status).toBe(202);
    await driver.settle();
    expect(await testsOn(one)).toEqual([]);
  });
});

describe('the default branch', () => {
  const settingsOf = async ({ base }: Case) => {
    const { default_branch, default_branch_source } = await app.get<{
      default_branch: string | null;
      default_branch_source: string | null;
    }>(`${base}/settings`);
    return [default_branch, default_branch_source];
  };

  test('of a repository with executions is moved by no upload, which gets a warning', async () => {
    const one = await newCase();
    await send(one, one.main, { branch: 'main' });
    expect(await settingsOf(one)).toEqual(['main', 'guess']);
    const evil = await send(one, one.main, { branch: 'evil', default_branch: 'evil', run_id: 2 });
    expect(evil).toMatchObject({ status: 202, on_default_branch: 0 });
    expect('warnings' in evil && evil.warnings).toContain(
      'The upload names evil as the default branch, but main is known and stays. If evil is right, set it with `ci-insights repos set`.',
    );
    expect(await settingsOf(one)).toEqual(['main', 'guess']);
    const failed = reportOf({ ...OTHERS, login: 'failed' });
    expect(await send(one, one.main, { ...MAIN, run_id: 3 }, failed)).toMatchObject({ on_default_branch: 21 });
  });

  test('is the first that an upload names, and no bound credential names one', async () => {
    const one = await newCase();
    await send(one, one.pulls, { branch: 'evil', default_branch: 'evil', pull_request: 7 });
    await send(one, one.pulls, { branch: 'main', default_branch: 'main', run_id: 2 });
    expect(await settingsOf(one)).toEqual([null, null]);
    await send(one, one.main, { branch: 'develop', default_branch: 'develop', run_id: 3 });
    await send(one, one.main, { branch: 'main', default_branch: 'main', run_id: 4 });
    expect(await settingsOf(one)).toEqual(['develop', 'payload']);
  });
});

test('a key for branches sends reports of these branches only, by reports and by traces', async () => {
  const one = await newCase();
  const key = await app.makeKey({ owner, scope: 'upload', bounds: boundsOfKey(false, ['main', 'release/*']) });
  expect(await send(one, key, MAIN)).toMatchObject({ status: 202, on_default_branch: 21 });
  expect(await send(one, key, { branch: 'release/1', run_id: 2 })).toMatchObject({ status: 202 });
  for (const query of [{ branch: 'feature' }, { pull_request: 7 }, {}] as Record<string, string>[]) {
    const refused = await send(one, key, { ...query, run_id: 3 });
    expect([query, refused.status]).toEqual([query, 403]);
    expect('text' in refused && refused.text).toContain('This credential is for the branches main, release/*');
  }
  const body = otlpJson({ resource: { 'vcs.ref.head.name': 'feature' }, spans: [{ name: 'a' }] });
  const headers = { 'content-type': 'application/json' };
  const traces = await app.request(`${one.base}/traces`, { method: 'POST', token: key, headers, body });
  expect(traces.status).toBe(403);
});

/** Sends CODEOWNERS, and returns who owns everything then, or the status of the refusal. */
async function sendOwners({ base }: Case, token: string, owners: string, run: Record<string, unknown>) {
  const sent = await app.request(`${base}/codeowners`, {
    method: 'PUT',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'github', path: 'CODEOWNERS', content: `* ${owners}`, ...run }),
  });
  if (sent.status !== 200) return sent.status;
  return (await app.get<{ content: string }>(`${base}/codeowners`)).content;
}

describe('who owns tests', () => {
  test('is said by runs of the default branch only, whatever key sends it', async () => {
    const one = await newCase();
    await send(one, one.main, MAIN);
    expect(await sendOwners(one, one.main, '@main', { branch: 'main' })).toBe('* @main');
    expect(await sendOwners(one, one.main, '@ref', { branch: 'refs/heads/main' })).toBe('* @ref');
    for (const run of [
      {},
      { branch: 'feature' },
      { branch: 'master' },
      { branch: 'main', pull_request: 7 },
      { branch: 'main', base_ref: 'main' },
      { branch: 'gh-readonly-queue/main/pr-7' },
    ])
      expect([run, await sendOwners(one, one.main, '@evil', run)]).toEqual([run, 403]);
    expect(await sendOwners(one, one.pulls, '@evil', { branch: 'main' })).toBe(403);
    const branches = await app.makeKey({ owner, scope: 'upload', bounds: boundsOfKey(false, ['release/*']) });
    expect(await sendOwners(one, branches, '@evil', { branch: 'main' })).toBe(403);
    const view = await app.makeKey({ owner, scope: 'view' });
    expect(await sendOwners(one, view, '@evil', { branch: 'main' })).toBe(403);
    expect((await app.get<{ content: string }>(`${one.base}/codeowners`)).content).toBe('* @ref');
    const admin = await app.makeKey({ owner, scope: 'admin' });
    expect(await sendOwners(one, admin, '@admin', {})).toBe('* @admin');
    await driver.verify();
  });

  test('is said for a repository without a default branch by main and master alone', async () => {
    const one = await newCase();
    expect(await sendOwners(one, one.main, '@evil', { branch: 'evil' })).toBe(403);
    expect(await sendOwners(one, one.main, '@main', { branch: 'main' })).toBe('* @main');
  });
});

describe('with an identity token', () => {
  test('who owns tests is said by the claims of a push to the default branch, not by words', async () => {
    const one = await newCase();
    await send(one, await keyFor(one), { run_id: 'first' });
    expect(await sendOwners(one, await keyFor(one), '@main', { branch: 'other', pull_request: 7 })).toBe('* @main');
    for (const claims of [PULL_CLAIMS, { event_name: 'workflow_run' }, { ref: 'refs/heads/feature' }])
      expect(await sendOwners(one, await keyFor(one, claims), '@evil', { branch: 'main' })).toBe(403);
    expect((await app.get<{ content: string }>(`${one.base}/codeowners`)).content).toBe('* @main');
  });

  const keyFor = async ({ name }: Case, more: Record<string, unknown> = {}): Promise<string> => {
    const token = await ci.sign(githubClaims(`${owner}/${name}`, more), { now: app.stores.clock.now() });
    const response = await app.request('/v1/auth/ci', {
      method: 'POST',
      token: null,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { token: string }).token;
  };
  const runsOf = async ({ base }: Case) => {
    const { runs } = await app.get<{ runs: Record<string, unknown>[] }>(`${base}/runs?per_page=100`);
    return runs.map(({ branch, pull_request, commit_sha, is_on_default_branch }) => ({
      ...{ branch, pull_request, commit_sha, is_on_default_branch },
    }));
  };

  test('the files that a commit changed are said by a job of that commit', async () => {
    const one = await newCase();
    const sent = async (commit: string, claims?: Record<string, unknown>) => {
      const response = await app.request(`${one.base}/commits/${commit}/changed-files`, {
        ...{ method: 'PUT', token: await keyFor(one, claims), headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ paths: ['a.ts'], branch: 'main' }),
      });
      return response.status;
    };
    expect(await sent('a'.repeat(40))).toBe(200);
    expect(await sent('b'.repeat(40))).toBe(403);
    // Its token names the merge, and no commit of the pull request; what it says counts off the default branch alone.
    expect(await sent('b'.repeat(40), PULL_CLAIMS)).toBe(200);
  });

  test('the claims of a push decide branch, commit and pull request', async () => {
    const one = await newCase();
    const key = await keyFor(one);
    const words = { branch: 'other', commit: 'c0ffee', pull_request: 9, default_branch: 'other' };
    expect(await send(one, key, words)).toMatchObject({ on_default_branch: 21 });
    const sha = 'a'.repeat(40);
    expect(await runsOf(one)).toMatchObject([{ branch: 'main', pull_request: null, commit_sha: sha }]);
  });

  test('a pull request that claims main in its query stays a pull request', async () => {
    const one = await newCase();
    await send(one, await keyFor(one), { run_id: 'first' });
    const key = await keyFor(one, PULL_CLAIMS);
    const failed = reportOf({ ...OTHERS, login: 'failed' });
    expect(await send(one, key, { ...MAIN, run_id: 'first' }, failed)).toMatchObject({
      on_default_branch: 0,
      accepted: 21,
    });
    expect(await healthIn(one)).toEqual(['healthy']);
    expect(await runsOf(one)).toContainEqual(expect.objectContaining({ branch: 'feature', pull_request: 7 }));
  });

  test('a job of workflow_run has the ref of main, and speaks for pull requests only', async () => {
    const one = await newCase();
    await send(one, await keyFor(one), { run_id: 'first' }, reportOf({ other: 'passed' }));
    for (const event_name of ['workflow_run', 'issue_comment', 'pull_request_target', 'repository_dispatch']) {
      const key = await keyFor(one, { event_name });
      expect(await send(one, key, { ...MAIN, run_id: event_name })).toMatchObject({ on_default_branch: 0 });
    }
    expect(await testsOn(one)).toEqual([]);
  });
});
