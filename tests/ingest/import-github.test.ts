/** `import github` as a process, from a server that answers as GitHub does, into real stores. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { DAY_MS } from '../../src/domain/time.ts';
import { makeFolder } from '../support/folder.ts';
import { FakeGithub } from '../support/github-actions.ts';
import { setUpIngest } from '../support/ingest.ts';
import { type PastReport, pastOf } from '../support/past.ts';
import { until } from '../support/patience.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const MAIN = resolve(import.meta.dir, '../../src/client/package-main.ts');
const folder = makeFolder('import-github');
const ingest = setUpIngest();
let app: ServiceApp;
/** The command counts days back from now by the clock of the machine. */
const NOW = Math.floor(Date.now() / DAY_MS) * DAY_MS;
beforeAll(async () => {
  app = await openServiceApp();
  ingest.stores.clock.set(NOW + DAY_MS);
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = (github: FakeGithub, state: string, more: readonly string[] = []) =>
  Bun.spawn(
    [
      process.execPath,
      MAIN,
      'import',
      'github',
      pathOf(github),
      '--since',
      '30d',
      '--api-url',
      github.url,
      '--state',
      state,
      ...more,
    ],
    {
      env: {
        PATH: process.env.PATH,
        CI_INSIGHTS_URL: `http://127.0.0.1:${app.port}`,
        CI_INSIGHTS_TOKEN: app.adminToken,
        GITHUB_TOKEN: 'gh-token',
      },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );

async function run(github: FakeGithub, state: string, more: readonly string[] = []) {
  const child = start(github, state, [...more, '--json']);
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(err);
  return { receipt: JSON.parse(out), err };
}

const paths = new WeakMap<FakeGithub, string>();
const pathOf = (github: FakeGithub): string => paths.get(github) ?? '';

function githubOf(reports: readonly PastReport[]): { github: FakeGithub; base: string } {
  const { owner, name } = uniqueRepository();
  ingest.driver.watch({ owner, name });
  const github = new FakeGithub(`${owner}/${name}`, reports);
  paths.set(github, `${owner}/${name}`);
  return { github, base: `/v1/ci/${owner}/repositories/${name}` };
}

const past = (seed: number, days: number) => pastOf({ seed, until: NOW - DAY_MS, days });

interface Listed {
  tests: { test_name: string; pipeline_name: string; job_name: string; axes: Record<string, string> }[];
}

interface Logged {
  events: { type: string; trigger: string; pull_request: number | null; received_at: string }[];
}

describe('import github', () => {
  test('takes reports by their content, with workflow, job, leg, attempt and pull request; again, it takes nothing', async () => {
    const reports = past(11, 4);
    const { github, base } = githubOf(reports);
    const first = await run(github, `${folder}/first.state`);
    expect(first.receipt).toMatchObject({
      is_complete: true,
      reports: { stored: reports.length, queued: 0, left_out: 0 },
      executions: { accepted: 24 * reports.length, duplicate: 0, rejected: 0, conflicting: 0 },
    });
    await ingest.driver.settle();
    const { tests } = await app.get<Listed>(`${base}/search/tests?per_page=100`);
    expect(new Set(tests.map(({ pipeline_name, job_name }) => `${pipeline_name}/${job_name}`))).toEqual(
      new Set(['CI/unit']),
    );
    const pulled = reports.find(({ run: of }) => of.pull_request !== undefined);
    expect(await app.get(`${base}/pulls/${pulled?.run.pull_request}`)).toMatchObject({ user: { login: 'octocat' } });
    const pulls = new Set(reports.map(({ run: of }) => Number(of.pull_request)));
    const merges = new Set([...pulls].filter((number) => number % 2 === 1));
    const log = base.replace('/ci/', '/repos/').replace('/repositories/', '/');
    const from = new Date(NOW - 30 * DAY_MS).toISOString();
    const loggedMerges = async () => {
      const { events } = await app.get<Logged>(`${log}/logs?per_page=100&received_from=${from}`);
      return events.map(({ type, trigger, pull_request, received_at }) => [type, trigger, pull_request, received_at]);
    };
    const logged = await loggedMerges();
    expect(new Set(logged.map(([, , pull]) => Number(pull)))).toEqual(merges);
    expect(new Set(logged.map(([type, trigger]) => `${type} by ${trigger}`))).toEqual(
      new Set(['action.merge by import']),
    );
    expect(existsSync(`${folder}/first.state.artifacts`)).toBe(false);
    const asked = github.asked.length;
    const again = await run(github, `${folder}/first.state`);
    expect(again.receipt.reports.stored).toBe(reports.length);
    // What is done is neither listed in detail nor fetched again.
    expect(github.asked.slice(asked).filter(({ path }) => /artifacts|jobs|blob/.test(path))).toEqual([]);
    const apart = await run(github, `${folder}/apart.state`);
    expect(apart.receipt.executions).toMatchObject({ accepted: 0, duplicate: 24 * reports.length });
    await ingest.driver.settle();
    expect(await loggedMerges()).toEqual(logged);
    await ingest.driver.verify();
    await github.stop();
  }, 240_000);

  test('waits where GitHub says so, survives outages, and says what it left out', async () => {
    const reports = past(12, 2);
    const { github } = githubOf(reports);
    const [expired, gone] = github.runs.flatMap(({ artifacts }) => artifacts);
    if (!expired || !gone) throw new Error('the past is too short');
    expired.isExpired = true;
    const limited = (status: number, headers: Record<string, string>, message: string) => () =>
      Response.json({ message }, { status, headers });
    github.trouble.push(
      { part: '/pulls', answer: limited(429, { 'retry-after': '1' }, 'You have exceeded a secondary rate limit') },
      { part: '/actions/runs', answer: limited(403, { 'retry-after': '1' }, 'API rate limit exceeded') },
      { part: '/jobs', answer: limited(502, {}, 'Server Error') },
      { part: `/artifacts/${gone.id}`, answer: limited(410, {}, 'Artifact has expired') },
      // The store breaks off in the middle.
      { part: '/blob/artifact', answer: () => new Response('', { status: 503 }) },
    );
    const { receipt, err } = await run(github, `${folder}/trouble.state`, ['--no-logs']);
    expect(err).toContain('GitHub asks to wait for 1 s');
    expect(receipt.reports).toMatchObject({ stored: reports.length - 2, left_out: 2 });
    expect(receipt.left_out).toEqual([{ reason: 'the artifact has expired', count: 2, examples: expect.any(Array) }]);
    expect(github.trouble).toEqual([]);
    await github.stop();
  }, 120_000);

  test('killed in the middle and started again, it loses and doubles nothing, and asks for what changed only', async () => {
    const reports = past(13, 4);
    const { github } = githubOf(reports);
    const state = `${folder}/killed.state`;
    for (const lines of [8, 30]) {
      const child = start(github, state);
      const count = () => (existsSync(state) ? readFileSync(state, 'utf8').split('\n').length : 0);
      await until(() => count() >= lines || child.exitCode !== null, Boolean, 5);
      child.kill('SIGKILL');
      await child.exited;
    }
    const { receipt } = await run(github, state);
    expect(receipt.reports).toMatchObject({ stored: reports.length, left_out: 0 });
    expect(github.count('/pulls', 304)).toBeGreaterThan(0);
    await ingest.driver.verify();
    await github.stop();
  }, 180_000);

  test('reads the log of a job that left no report, and marks its results', async () => {
    const { github, base } = githubOf(past(14, 1).slice(0, 1));
    const [only] = github.runs;
    if (!only) throw new Error('the past is empty');
    only.artifacts = [];
    const job = Number(only.jobs[0]?.id);
    github.logs.set(
      job,
      '2026-11-20T10:00:00.0000000Z --- PASS: TestAdds (0.01s)\n2026-11-20T10:00:00.0000000Z --- FAIL: TestPays (0.02s)\n',
    );
    const { receipt } = await run(github, `${folder}/log.state`);
    expect(receipt.executions.accepted).toBe(2);
    await ingest.driver.settle();
    const { tests } = await app.get<{ tests: { test_id: string; test_name: string }[] }>(`${base}/search/tests`);
    expect(tests.map(({ test_name }) => test_name).sort()).toEqual(['TestAdds', 'TestPays']);
    const { executions } = await app.get<{ executions: { place: unknown }[] }>(
      `${base}/tests/${tests[0]?.test_id}/history`,
    );
    expect(executions[0]?.place).toMatchObject({ source: 'log' });
    await github.stop();
  }, 60_000);

  test('takes only what lies between --since and --until', async () => {
    const reports = past(15, 4);
    const { github } = githubOf(reports);
    const until = NOW - 3 * DAY_MS;
    const expected = github.runs.filter(({ createdAt }) => createdAt < until);
    const { receipt } = await run(github, `${folder}/until.state`, ['--until', new Date(until).toISOString()]);
    expect(receipt.reports.stored).toBe(expected.reduce((sum, { artifacts }) => sum + artifacts.length, 0));
    expect(receipt.reports.stored).toBeLessThan(reports.length);
    await github.stop();
  }, 60_000);
});
