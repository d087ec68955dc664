/** `import gitlab` as a process, from a server that answers as GitLab does, into real stores. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { makeFolder } from '../support/folder.ts';
import { FakeGitlab } from '../support/gitlab-ci.ts';
import { setUpIngest } from '../support/ingest.ts';
import { type PastReport, pastOf } from '../support/past.ts';
import { until } from '../support/patience.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const MAIN = resolve(import.meta.dir, '../../src/client/package-main.ts');
const folder = makeFolder('import-gitlab');
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

interface Project {
  gitlab: FakeGitlab;
  path: string;
  base: string;
}

/** A project in a group within a group. */
function projectOf(reports: readonly PastReport[]): Project {
  const { owner, name } = uniqueRepository();
  ingest.driver.watch({ owner, name: `web.${name}` });
  const path = `${owner}/web/${name}`;
  return { gitlab: new FakeGitlab(path, reports), path, base: `/v1/ci/${owner}/repositories/web.${name}` };
}

const start = ({ gitlab, path }: Project, state: string, more: readonly string[] = [], token = 'glpat-of-the-test') =>
  Bun.spawn(
    [
      process.execPath,
      MAIN,
      'import',
      'gitlab',
      path,
      '--since',
      '30d',
      '--api-url',
      gitlab.url,
      '--state',
      state,
      ...more,
    ],
    {
      env: {
        PATH: process.env.PATH,
        CI_INSIGHTS_URL: `http://127.0.0.1:${app.port}`,
        CI_INSIGHTS_TOKEN: app.adminToken,
        GITLAB_TOKEN: token,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );

async function run(project: Project, state: string, more: readonly string[] = []) {
  const child = start(project, state, [...more, '--json']);
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(err);
  return { receipt: JSON.parse(out), err };
}

const past = (seed: number, days: number) => pastOf({ seed, until: NOW - DAY_MS, days });

interface Listed {
  tests: {
    test_id: string;
    test_name: string;
    pipeline_name: string;
    job_name: string;
    axes: Record<string, string>;
  }[];
}

const named = async (base: string): Promise<Listed['tests']> =>
  (await app.get<Listed>(`${base}/search/tests?per_page=100`)).tests;

describe('import gitlab', () => {
  test('takes reports of all attempts, with job, matrix, commit and merge request; again, it takes nothing', async () => {
    const reports = past(21, 4);
    const project = projectOf(reports);
    const { gitlab, base } = project;
    const first = await run(project, `${folder}/first.state`);
    expect(first.receipt).toMatchObject({
      is_complete: true,
      reports: { stored: reports.length, queued: 0, left_out: 0 },
      executions: { accepted: 24 * reports.length, duplicate: 0, rejected: 0, conflicting: 0 },
    });
    await ingest.driver.settle();
    const tests = await named(base);
    expect(new Set(tests.map(({ pipeline_name, job_name }) => `${pipeline_name}/${job_name}`))).toEqual(
      new Set(['GitLab CI/unit']),
    );
    const { executions } = await app.get<{ executions: { axes: unknown }[] }>(
      `${base}/tests/${tests[0]?.test_id}/history`,
    );
    expect(new Set(executions.map(({ axes }) => JSON.stringify(axes)))).toEqual(
      new Set(['{"matrix":"linux"}', '{"matrix":"windows"}']),
    );
    const pulled = reports.findLast(({ run: of }) => of.pull_request !== undefined)?.run;
    // The head was tested as the result of a merge, and merged without a merge commit.
    expect(await app.get(`${base}/pulls/${pulled?.pull_request}`)).toMatchObject({
      user: { login: 'ann' },
      head_commit: expect.stringMatching(/^(?!.*beef$)/),
      merge_commit: expect.any(String),
    });
    const log = base.replace('/ci/', '/repos/').replace('/repositories/', '/');
    const from = new Date(NOW - 30 * DAY_MS).toISOString();
    const { events } = await app.get<{ events: { trigger: string; pull_request: number | null }[] }>(
      `${log}/logs?per_page=100&event_type=action.merge&received_from=${from}`,
    );
    expect(events.map(({ trigger, pull_request }) => `${pull_request} by ${trigger}`).sort()).toEqual(
      gitlab.requests.map(({ iid }) => `${iid} by @bob`).sort(),
    );
    expect(existsSync(`${folder}/first.state.artifacts`)).toBe(false);
    const asked = gitlab.asked.length;
    const again = await run(project, `${folder}/first.state`);
    expect(again.receipt.reports.stored).toBe(reports.length);
    // What is done is neither listed in detail nor fetched again.
    expect(gitlab.asked.slice(asked).filter(({ path }) => /artifacts|\/jobs/.test(path))).toEqual([]);
    const apart = await run(project, `${folder}/apart.state`);
    expect(apart.receipt.executions).toMatchObject({ accepted: 0, duplicate: 24 * reports.length });
    await ingest.driver.verify();
    await gitlab.stop();
  }, 240_000);

  test('waits where GitLab says so, survives outages, and says what it left out', async () => {
    const reports = past(22, 2);
    const project = projectOf(reports);
    const { gitlab } = project;
    const [gone, large] = gitlab.pipelines.flatMap(({ jobs }) => jobs);
    if (!gone || !large) throw new Error('the past is too short');
    large.statedSize = 1_000_000;
    const answer = (status: number, headers: Record<string, string>, body: object) => () =>
      Response.json(body, { status, headers });
    const inASecond = String(Math.floor(Date.now() / 1_000) + 2);
    gitlab.trouble.push(
      { part: '/merge_requests', answer: answer(429, { 'retry-after': '1' }, { message: 'Too many requests' }) },
      {
        part: '/pipelines',
        answer: answer(
          429,
          { 'ratelimit-limit': '2000', 'ratelimit-remaining': '0', 'ratelimit-reset': inASecond },
          { message: 'Retry later' },
        ),
      },
      { part: '/jobs', answer: answer(502, {}, {}) },
      { part: `/jobs/${gone.id}/artifacts`, answer: answer(404, {}, { message: '404 Not found' }) },
    );
    const { receipt, err } = await run(project, `${folder}/trouble.state`, ['--no-logs', '--artifact-bytes', '900000']);
    expect(err).toContain('GitLab asks to wait for 1 s');
    expect(receipt.reports).toMatchObject({ stored: reports.length - 2, left_out: 2 });
    expect(receipt.left_out.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
      'the artifact is gone',
      'the artifact is larger than 900000 bytes (--artifact-bytes)',
    ]);
    expect(gitlab.trouble).toEqual([]);
    await gitlab.stop();
  }, 120_000);

  test('killed in the middle and started again, it loses and doubles nothing, and asks for what changed only', async () => {
    const reports = past(23, 4);
    const project = projectOf(reports);
    const { gitlab } = project;
    const large = gitlab.pipelines[0]?.jobs[0];
    if (!large) throw new Error('the past is empty');
    large.statedSize = 2 ** 40;
    const state = `${folder}/killed.state`;
    for (const lines of [8, 30]) {
      const child = start(project, state);
      const count = () => (existsSync(state) ? readFileSync(state, 'utf8').split('\n').length : 0);
      await until(() => count() >= lines || child.exitCode !== null, Boolean, 5);
      child.kill('SIGKILL');
      await child.exited;
    }
    const { receipt } = await run(project, state);
    expect(receipt.reports).toMatchObject({ stored: reports.length - 1, left_out: 1 });
    expect(gitlab.count('/merge_requests', 304)).toBeGreaterThan(0);
    await ingest.driver.verify();
    await gitlab.stop();
  }, 180_000);

  test('reads the unit tests that only GitLab has, of the last attempt, and says of which it cannot', async () => {
    const project = projectOf([]);
    const at = NOW - 5 * DAY_MS;
    const tests = [
      { status: 'success', name: 'adds', classname: 'shop.Cart', execution_time: 0.5 },
      {
        status: 'failed',
        name: 'pays <eur>',
        classname: 'shop.Cart',
        execution_time: 1,
        system_output: 'AssertionError: 1 & 2',
      },
      { status: 'skipped', name: 'ships', classname: 'shop.Cart', execution_time: 0 },
    ];
    const job = { name: 'unit', status: 'failed', tests };
    project.gitlab.pipelines.push({
      id: 1,
      ref: 'main',
      sha: 'a'.repeat(40),
      source: 'parent_pipeline',
      createdAt: at,
      jobs: [
        { ...job, id: 11, finishedAt: at + HOUR_MS },
        { ...job, id: 12, finishedAt: at + 2 * HOUR_MS },
      ],
    });
    const { receipt } = await run(project, `${folder}/unit-tests.state`);
    expect(receipt).toMatchObject({ reports: { stored: 1, left_out: 1 }, executions: { accepted: 3 } });
    expect(receipt.left_out[0].reason).toContain('artifacts:paths');
    await ingest.driver.settle();
    const found = await named(project.base);
    expect(found.map(({ test_name }) => test_name).sort()).toEqual([
      'shop.Cart.adds',
      'shop.Cart.pays <eur>',
      'shop.Cart.ships',
    ]);
    const pays = found.find(({ test_name }) => test_name.includes('pays'));
    const { executions } = await app.get<{ executions: Record<string, unknown>[] }>(
      `${project.base}/tests/${pays?.test_id}/history`,
    );
    expect(executions).toHaveLength(1);
    expect(executions[0]).toMatchObject({ run_id: '12', branch: 'main' });
    await project.gitlab.stop();
  }, 60_000);

  test('takes only what lies between --since and --until', async () => {
    const reports = past(24, 4);
    const project = projectOf(reports);
    const until = NOW - 3 * DAY_MS;
    const expected = project.gitlab.pipelines.filter(({ createdAt }) => createdAt < until);
    const { receipt } = await run(project, `${folder}/until.state`, ['--until', new Date(until).toISOString()]);
    expect(receipt.reports.stored).toBe(expected.reduce((sum, { jobs }) => sum + jobs.length, 0));
    expect(receipt.reports.stored).toBeLessThan(reports.length);
    await project.gitlab.stop();
  }, 60_000);

  test('says which token it needs', async () => {
    const project = projectOf([]);
    const child = start(project, `${folder}/token.state`, [], 'glpat-wrong');
    const err = await new Response(child.stderr).text();
    expect(await child.exited).toBe(1);
    expect(err).toContain(
      'GitLab refused (401: 401 Unauthorized). Set GITLAB_TOKEN to a token that has the scope read_api',
    );
    await project.gitlab.stop();
  }, 60_000);
});
