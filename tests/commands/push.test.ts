/** `push` against a server that answers like the gateway, and like one in trouble. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { keepPending } from '../../src/client/pending.ts';
import { Repository } from '../../src/client/repository.ts';
import { ATTEMPTS_MAX, type Patience, Service } from '../../src/client/service.ts';
import { uploadFile, uploadOf } from '../../src/client/upload.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { makeFolder } from '../support/folder.ts';

const CLI = resolve(import.meta.dir, '../../src/cli.ts');
const folder = makeFolder('push');

interface Taken {
  path: string;
  type: string | null;
  query: Record<string, string>;
  axes: string[];
  places: string[];
  authorization: string | null;
  body: string;
}
let taken: Taken[] = [];
/** Answers to the next uploads, before the usual answer, by the report's name. */
let trouble: Record<string, Response[]> = {};
const ID = '01a1fc77-26cd-762f-9c1d-b99ef7ee6bdc';
const problem = (status: number, detail: string, headers: Record<string, string> = {}): Response =>
  Response.json({ title: 'Problem', detail, errors: [] }, { status, headers });
const STORED = { id: ID, status: 'stored', accepted: 3, duplicate: 1, rejected: 0, rejections: [], warnings: [] };
let receipt: Record<string, unknown> = STORED;
/** Added to the answer to an upload. */
let answer: Record<string, unknown> = {};

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const url = new URL(request.url);
    if (request.method === 'GET') return Response.json(receipt);
    const query = Object.fromEntries(url.searchParams);
    const refused = trouble[query.report ?? '']?.shift();
    if (refused) return refused;
    const body = Buffer.from(Bun.gunzipSync(new Uint8Array(await request.arrayBuffer()))).toString();
    const { pathname: path } = url;
    const [type, authorization] = ['content-type', 'authorization'].map((name) => request.headers.get(name));
    const [axes = [], places = []] = ['axis', 'place'].map((name) => url.searchParams.getAll(name));
    for (const name of ['axis', 'place']) delete query[name];
    taken.push({ path, type: type ?? null, query, axes, places, authorization: authorization ?? null, body });
    return Response.json(
      { id: ID, status: 'queued', executions: 4, rejected: 0, rejections: [], warnings: [], ...answer },
      { status: 202 },
    );
  },
});

beforeEach(() => {
  taken = [];
  trouble = {};
  receipt = STORED;
  answer = {};
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

mkdirSync(join(folder, 'reports/deep'), { recursive: true });
for (const name of ['a.xml', 'b.xml', 'reports/c.xml', 'reports/deep/d.xml'])
  writeFileSync(join(folder, name), `<testsuite name="${name}"/>`);
writeFileSync(join(folder, 'reports/notes.txt'), 'not a report');

const MINUTE_MS = 60_000;
const RUN = {
  CIRCLECI: 'true',
  CIRCLE_PROJECT_USERNAME: 'acme',
  CIRCLE_PROJECT_REPONAME: 'shop',
  CIRCLE_JOB: 'unit',
  CIRCLE_WORKFLOW_ID: 'w1',
  CIRCLE_SHA1: 'abc',
  CIRCLE_BRANCH: 'main',
};

async function push(args: string[], env: Record<string, string> = {}, format = 'junit') {
  const child = Bun.spawn([process.execPath, CLI, 'push', format, ...args], {
    cwd: folder,
    env: { ...RUN, CI_INSIGHTS_URL: server.url.origin, CI_INSIGHTS_TOKEN: 'cii_secret', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out: out.trimEnd().split('\n'), err, code };
}

test('a report is sent with the run that the environment describes, and awaited', async () => {
  const { out, code } = await push(['a.xml']);
  expect(taken).toEqual([
    {
      path: '/v1/ci/acme/repositories/shop/junit',
      type: 'application/xml',
      query: {
        pipeline_name: 'CircleCI',
        job_name: 'unit',
        run_id: 'w1',
        commit: 'abc',
        branch: 'main',
        report: 'a.xml',
      },
      axes: [],
      places: [],
      authorization: 'Bearer cii_secret',
      body: '<testsuite name="a.xml"/>',
    },
  ]);
  expect(out).toEqual(['1 report of 1 uploaded: 3 executions accepted, 1 duplicate, 0 rejected.']);
  expect(code).toBe(0);
});

test('attachments lie below an address, and the service is told where a report lies', async () => {
  const url = ['--attachments-url', 'https://files.example/runs/7'];
  await push(['a.xml', ...url]);
  const place = { attachments_url: 'https://files.example/runs/7/', attachments_root: folder };
  expect(taken[0]?.query).toMatchObject({ ...place, attachments_from: folder });
  mkdirSync(join(folder, 'build/all results'), { recursive: true });
  writeFileSync(join(folder, 'build/all results/1-result.json'), '{}');
  await push(['build/all results', ...url], {}, 'allure');
  expect(taken[1]?.query).toMatchObject({ ...place, attachments_from: join(folder, 'build/all results') });
  const { err, code } = await push(['a.xml', '--attachments-url', 'http://files.example/']);
  expect(err).toContain('https://');
  expect(code).toBe(2);
  expect(taken).toHaveLength(2);
});

test.each(FORMATS)('push $name sends the reports of a folder to the address of their format', async (format) => {
  const { name, globs, mediaTypes, example } = format;
  const reports = globs.map((glob, i) => `${name}/${i}/${glob.replace('**/', '').replace('*', 'report')}`);
  for (const file of [...reports, `${name}/notes.txt`]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), example.text);
  }
  const { code } = await push([name], {}, name);
  expect(code).toBe(0);
  const folders = new Set(reports.map((report) => dirname(report)));
  expect(taken.map(({ query }) => query.report).sort()).toEqual(format.folder ? [...folders] : reports);
  for (const { path, type, body } of taken) {
    expect(path).toBe(`/v1/ci/acme/repositories/shop/${name}`);
    expect(type).toBe(mediaTypes[0]);
    expect(body).toBe(format.folder ? `[${example.text}]` : example.text);
  }
});

test('Allure results are one report for each folder, whichever of its files are named', async () => {
  const files = ['a/1-result.json', 'a/2-result.json', 'a/1-container.json', 'b/3-result.json', 'b/x-attachment.json'];
  for (const file of files) {
    mkdirSync(dirname(join(folder, 'results', file)), { recursive: true });
    writeFileSync(join(folder, 'results', file), `{"file":"${file}"}`);
  }
  writeFileSync(join(folder, 'results/a/cut-result.json'), '{"name":');
  writeFileSync(join(folder, 'results/all.zip'), 'PK');
  const { code } = await push(['results/a/1-result.json', 'results', 'results/all.zip'], {}, 'allure');
  expect(code).toBe(0);
  expect(Object.fromEntries(taken.map(({ query, body }) => [query.report, body]))).toEqual({
    'results/a':
      '[{"file":"a/1-container.json"},{"file":"a/1-result.json"},{"file":"a/2-result.json"},{"unreadable":"cut-result.json"}]',
    'results/b': '[{"file":"b/3-result.json"}]',
    'results/all.zip': 'PK',
  });
});

test('folders stand for the XML files below them, globs are expanded, and each file is sent once', async () => {
  const { code } = await push(['reports', './reports/c.xml', '*.xml', join(folder, 'a.xml')]);
  expect(taken.map((upload) => upload.query.report).sort()).toEqual([
    'a.xml',
    'b.xml',
    'reports/c.xml',
    'reports/deep/d.xml',
  ]);
  expect(code).toBe(0);
});

test('flags override the environment', async () => {
  const flags = {
    '--repo': 'other/repo',
    '--pipeline': 'P',
    '--job': 'J',
    '--run-id': '9',
    '--run-attempt': '2',
    '--commit': 'c',
    '--branch': 'feat',
    '--pull-request': '7',
    '--default-branch': 'trunk',
    '--job-url': 'https://ci.acme.example/jobs/9',
    '--started-at': '2026-11-21T10:00:00Z',
    '--report': 'R',
  };
  const { code } = await push(['a.xml', ...Object.entries(flags).flat()]);
  expect(code).toBe(0);
  expect(taken[0]?.path).toBe('/v1/ci/other/repositories/repo/junit');
  expect(taken[0]?.query).toEqual({
    pipeline_name: 'P',
    job_name: 'J',
    run_id: '9',
    run_attempt: '2',
    commit: 'c',
    branch: 'feat',
    pull_request: '7',
    default_branch: 'trunk',
    job_url: 'https://ci.acme.example/jobs/9',
    started_at: '2026-11-21T10:00:00Z',
    report: 'R',
  });
});

test('axes and places are sent as they are given', async () => {
  const flags = ['--axis', 'os=windows', '--axis', 'url=http://a=b', '--place', 'runner=r 7'];
  expect((await push(['a.xml', ...flags])).code).toBe(0);
  expect(taken).toMatchObject([{ axes: ['os:windows', 'url:http://a=b'], places: ['runner:r 7'] }]);
});

test.each([
  [['--axis', 'windows'], 'Write it as name=value, for example os=windows.'],
  [['--place', 'r7'], 'Write it as name=value, for example runner=r7.'],
  [['--axis', 'os='], 'The axis "os" is empty.'],
  [['--place', 'runner='], 'The place "runner" is empty.'],
  [['--axis', '=windows'], 'The axis "" is empty.'],
  [['--axis', 'my os=windows'], 'The axis "my os" holds a colon, an equals sign or a space in its name.'],
  [['--axis', `os=${'x'.repeat(256)}`], 'The axis "os" is longer than 255 characters.'],
  [['--axis', 'os=windows', '--axis', 'os=linux'], 'The axis os is given twice.'],
  [Array.from({ length: 17 }, (_, n) => ['--axis', `a${n}=x`]).flat(), 'There may be at most 16 axes.'],
])('a wrong axis is a usage error that says what is wrong: %p', async (flags, why) => {
  const { code, err } = await push(['a.xml', ...flags]);
  expect([code, taken]).toEqual([2, []]);
  expect(err).toContain(why);
});

test('the same path in two parts of a split job is two reports', async () => {
  await push(['a.xml'], { CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '2' });
  await push(['a.xml'], { CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '2' });
  expect(taken.map((upload) => upload.query.report)).toEqual(['node-0/a.xml', 'node-1/a.xml']);
});

test('one name for several reports keeps them separate', async () => {
  await push(['a.xml', 'b.xml', '--report', 'unit']);
  expect(taken.map((upload) => upload.query.report).sort()).toEqual(['unit/a.xml', 'unit/b.xml']);
});

test('a busy service is retried until it accepts the report', async () => {
  trouble = {
    'a.xml': [
      problem(503, 'The queue is down.', { 'retry-after': '0' }),
      problem(408, 'Slow.', { 'retry-after': '0' }),
    ],
  };
  const { code } = await push(['a.xml']);
  expect(taken).toHaveLength(1);
  expect(code).toBe(0);
});

const repositoryAt = (url: string, patience: Partial<Patience> = {}): Repository =>
  new Repository(
    new Service({ url, token: 'cii_secret' }, { totalMs: 5 * MINUTE_MS, backoffFirstMs: 1, ...patience }),
    'a',
    'b',
  );
const uploadFrom = (repository: Repository, file: string) =>
  uploadFile(repository, uploadOf(junit, { run_id: '1' }, join(folder, file), 'r'), junit, 0);
const uploadTo = (url: string, patience: Partial<Patience> = {}) => uploadFrom(repositoryAt(url, patience), 'a.xml');

test.each([408, 429, 500, 502, 503, 504, 520])('%d is retried', async (status) => {
  trouble = { r: [problem(status, 'Busy.'), problem(status, 'Busy.')] };
  expect((await uploadTo(server.url.origin)).outcome).toBe('queued');
  expect(taken).toHaveLength(1);
});

test.each([400, 403, 404, 413, 422])('%d is not retried', async (status) => {
  trouble = { r: [problem(status, 'Wrong.')] };
  expect(await uploadTo(server.url.origin)).toMatchObject({ outcome: 'failed', problem: `Wrong. (${status})` });
  expect(taken).toHaveLength(0);
});

test.each([
  ['seconds', () => '1'],
  // A date has no fraction of a second.
  ['a date', () => new Date(Date.now() + 2_000).toUTCString()],
])('the service says in %s when to come back', async (_, retryAfter) => {
  trouble = { r: [problem(503, 'Busy.', { 'retry-after': retryAfter() })] };
  const startedAt = performance.now();
  const { outcome } = await uploadTo(server.url.origin, { backoffFirstMs: MINUTE_MS });
  expect(outcome).toBe('queued');
  expect(performance.now() - startedAt).toBeGreaterThan(900);
});

test('the last answer is the problem when all attempts fail', async () => {
  trouble = { r: Array.from({ length: ATTEMPTS_MAX }, (_, i) => problem(503, `Busy ${i + 1}.`)) };
  expect((await uploadTo(server.url.origin)).problem).toBe(`Busy ${ATTEMPTS_MAX}. (503)`);
});

test('a connection that is cut is retried', async () => {
  let connections = 0;
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        if (++connections < 3) socket.terminate();
      },
      data: (socket) => {
        const body = JSON.stringify({ id: ID, status: 'queued', executions: 1 });
        socket.end(`HTTP/1.1 202 Accepted\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
      },
    },
  });
  expect((await uploadTo(`http://127.0.0.1:${listener.port}`)).outcome).toBe('queued');
  expect(connections).toBe(3);
  listener.stop(true);
});

test('an answer of another service is not a receipt', async () => {
  trouble = { r: [new Response('<html>Welcome</html>')] };
  expect((await uploadTo(server.url.origin)).problem).toBe('the answer is not from ci-insights: check the address');
});

test('a service that stays down is not waited for again with every file', async () => {
  // Nothing listens on the discard port.
  const repository = repositoryAt('http://127.0.0.1:9');
  const first = await uploadFrom(repository, 'a.xml');
  expect(first).toMatchObject({
    problem: expect.stringContaining('http://127.0.0.1:9 cannot be reached'),
    isRetryable: true,
  });
  expect(repository.service.attemptsMax).toBe(1);
  expect((await uploadFrom(repository, 'b.xml')).outcome).toBe('failed');
});

test('retries end when the total time is up', async () => {
  trouble = { r: Array.from({ length: ATTEMPTS_MAX }, () => problem(503, 'Busy.', { 'retry-after': '1' })) };
  const { problem: said, isRetryable } = await uploadTo(server.url.origin, { totalMs: 1_500 });
  expect([said, isRetryable]).toEqual(['Busy. (503)', true]);
  // It has not tried as often as it may.
  expect(trouble.r?.length).toBeGreaterThan(0);
});

test('the last answer is the problem when a busy machine leaves no time after a pause', async () => {
  let stalled: ReturnType<typeof setTimeout> | undefined;
  const busy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      // In the pause, until after the total time.
      stalled ??= setTimeout(() => Bun.sleepSync(1_000), 400);
      return problem(503, 'Busy.', { 'retry-after': '0.8' });
    },
  });
  expect((await uploadTo(busy.url.origin, { totalMs: 1_200 })).problem).toBe('Busy. (503)');
  clearTimeout(stalled);
  await busy.stop(true);
});

test('the last answer is the problem when the time runs out before another', async () => {
  let asked = 0;
  const silent = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => (++asked === 1 ? problem(503, 'Busy.', { 'retry-after': '0' }) : new Promise<Response>(() => {})),
  });
  const { problem: said, isRetryable } = await uploadTo(silent.url.origin, { totalMs: 1_000 });
  expect([asked, said, isRetryable]).toEqual([2, 'Busy. (503)', true]);
  await silent.stop(true);
});

test('a redirect is not followed with the key: the address is named', async () => {
  trouble = { r: [new Response(null, { status: 301, headers: { location: 'https://ci.acme.example/' } })] };
  expect((await uploadTo(server.url.origin)).problem).toContain(
    'redirects to https://ci.acme.example/: use that address',
  );
  expect(taken).toHaveLength(0);
});

test('a bad file is reported in one sentence with exit code 1, and the others are still sent', async () => {
  trouble = { 'a.xml': [problem(422, 'This is not a JUnit report: its root is <html>.')] };
  const { out, code } = await push(['a.xml', 'b.xml', 'gone.xml']);
  expect(taken.map((upload) => upload.query.report)).toEqual(['b.xml']);
  expect(out).toEqual([
    '1 report of 3 uploaded: 3 executions accepted, 1 duplicate, 0 rejected.',
    'a.xml: This is not a JUnit report: its root is <html>. (422)',
    'gone.xml: there is no such file',
  ]);
  expect(code).toBe(1);
});

test('rejected rows are shown with their reason and are not a success', async () => {
  receipt = {
    ...STORED,
    rejected: 2,
    rejections: [{ reason: 'the test name is longer than 10000 characters', count: 2, examples: [] }],
    warnings: ['The report was cut short.'],
  };
  const { out, code } = await push(['a.xml']);
  expect(out).toEqual([
    '1 report of 1 uploaded: 3 executions accepted, 1 duplicate, 2 rejected.',
    'a.xml: 2 rows rejected: the test name is longer than 10000 characters',
    'a.xml: The report was cut short.',
  ]);
  expect(code).toBe(1);
});

test('a report that broke off has lost rows, which is not a success', async () => {
  answer = { is_cut_short: true };
  receipt = { ...STORED, warnings: ['The report is cut short at line 12.'] };
  const { out, code } = await push(['a.xml', 'b.xml']);
  expect(out.at(-1)).toBe('2 reports: The report is cut short at line 12.');
  expect(code).toBe(1);
  expect((await push(['a.xml', '--no-wait'])).code).toBe(1);
});

test('a job that cannot know what it tests sends nothing, and names the flag', async () => {
  const event = join(folder, 'event.json');
  const run = { id: 55, event: 'pull_request', head_branch: 'main', head_sha: 'f00', pull_requests: [] };
  writeFileSync(event, JSON.stringify({ workflow_run: { ...run, head_repository: { full_name: 'octocat/shop' } } }));
  const env = {
    CIRCLECI: '',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_EVENT_NAME: 'workflow_run',
    GITHUB_EVENT_PATH: event,
    GITHUB_WORKFLOW: 'Reports',
    GITHUB_JOB: 'send',
    GITHUB_RUN_ID: '91',
    GITHUB_SHA: 'd0d',
    GITHUB_REF: 'refs/heads/main',
  };
  const refused = await push(['a.xml'], env);
  expect([refused.code, refused.err, taken]).toEqual([1, expect.stringContaining('pass --pull-request.'), []]);
  expect((await push(['a.xml', '--pull-request', '7'], env)).code).toBe(0);
  expect(taken[0]?.query).toMatchObject({ run_id: '55', commit: 'f00', branch: 'main', pull_request: '7' });
});

test('a flag that contradicts the environment counts, and is warned of', async () => {
  const { err, code } = await push(['a.xml', '--branch', 'main'], { CIRCLE_BRANCH: 'pull/7' });
  expect([code, err]).toEqual([0, expect.stringMatching(/^Warning: --branch main .* pull request 7/m)]);
  expect(taken[0]?.query).toMatchObject({ branch: 'main' });
  expect(taken[0]?.query).not.toHaveProperty('pull_request');
});

test('no text of a report or of the service commands the runner that shows the log', async () => {
  const hostile = '::error::x\n##vso[task.setvariable variable=a]b\u001b[2J';
  receipt = { ...STORED, rejected: 1, rejections: [{ reason: hostile, count: 1 }], warnings: [hostile] };
  trouble = { 'b.xml': [problem(422, hostile)] };
  for (const args of [
    ['a.xml', 'b.xml'],
    ['a.xml', '--json'],
  ]) {
    const { out, err } = await push(args);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
    for (const line of [...out, ...err.split('\n')]) expect(line).not.toMatch(/^\s*::|##|\u001b/);
  }
});

test('results in conflict are counted, and the warning says how to name them apart', async () => {
  receipt = { ...STORED, conflicting: 2, warnings: ['Conflict: 2 results differ. Name them: --axis os="$OS".'] };
  const { out, code } = await push(['a.xml']);
  expect(out).toEqual([
    '1 report of 1 uploaded: 3 executions accepted, 1 duplicate, 0 rejected, 2 in conflict.',
    'a.xml: Conflict: 2 results differ. Name them: --axis os="$OS".',
  ]);
  expect(code).toBe(0);
});

test('if everything is a duplicate, a hint says how to distinguish reports', async () => {
  receipt = { ...STORED, accepted: 0, duplicate: 4 };
  const { out, code } = await push(['a.xml']);
  expect(out.at(-1)).toContain('name the leg with --axis, or the report with --report');
  expect(code).toBe(0);
});

test('an upload that fails later says why', async () => {
  receipt = { ...STORED, status: 'failed', accepted: 0, duplicate: 0, failure: 'the payload is of version 9' };
  const { out, code } = await push(['a.xml']);
  expect(out.at(-1)).toBe('a.xml: the payload is of version 9');
  expect(code).toBe(1);
});

test('--no-wait ends as soon as the service has accepted the report', async () => {
  receipt = { ...STORED, status: 'queued' };
  const { out, code } = await push(['a.xml', '--no-wait']);
  expect(out).toEqual([
    '1 report of 1 uploaded: 4 executions accepted, 0 duplicate, 0 rejected.',
    '1 report accepted but not stored yet; the service will finish it.',
  ]);
  expect(code).toBe(0);
});

test('what is missing is named, and nothing is sent', async () => {
  const cases: [string[], Record<string, string>, string][] = [
    [['a.xml'], { CI_INSIGHTS_TOKEN: '' }, 'A token is required'],
    [['a.xml'], { CIRCLECI: '' }, 'pass --repo owner/name'],
    [['a.xml', '--repo', 'a/b'], { CIRCLECI: '' }, 'pass --pipeline, --job, --run-id'],
    [['gone.xml'], {}, 'No reports found: gone.xml.'],
    [['a.xml'], { CI_INSIGHTS_URL: 'localhost' }, 'CI_INSIGHTS_URL must be an http'],
    [['a.xml'], { CIRCLE_PROJECT_USERNAME: 'a_b' }, 'pass --repo owner/name'],
  ];
  const results = await Promise.all(cases.map(([args, env]) => push(args, env)));
  for (const [i, { err, code }] of results.entries()) {
    expect(err).toContain(cases[i]?.[2] ?? '');
    expect(err).not.toContain('    at ');
    expect(code).toBe(1);
  }
  expect(taken).toHaveLength(0);
});

test('push --pending sends what was kept, once, to the repository it was meant for; what fails stays', async () => {
  const kept = join(folder, 'kept');
  const keep = (name: string, report: string) =>
    keepPending(
      kept,
      { owner: 'acme', name },
      uploadOf(junit, { run_id: '7', axis: ['os:windows', 'python:3.13'] }, 'a.xml', report),
      Buffer.from('<testsuite/>'),
    );
  keep('shop', 'first');
  keep('shop', 'first');
  keep('web', 'second');
  writeFileSync(join(kept, 'torn.json'), '{');
  expect(readdirSync(kept).length).toBe(5);
  trouble = { second: [problem(422, 'Wrong.')] };
  const first = await push([], { CIRCLECI: '' }, '--pending=kept');
  expect([first.code, first.out[0]]).toEqual([1, expect.stringContaining('1 report of 3 uploaded')]);
  expect(taken).toMatchObject([
    {
      path: '/v1/ci/acme/repositories/shop/junit',
      query: { run_id: '7', report: 'first' },
      axes: ['os:windows', 'python:3.13'],
    },
  ]);
  rmSync(join(kept, 'torn.json'));
  // The job is of another repository, unless it says otherwise.
  const other = await push([], {}, '--pending=kept');
  expect([other.code, other.out.at(-1)]).toEqual([1, expect.stringContaining('pass --repo acme/web')]);
  expect((await push(['--repo', 'acme/web'], {}, '--pending=kept')).code).toBe(0);
  expect(taken[1]?.path).toBe('/v1/ci/acme/repositories/web/junit');
  expect(readdirSync(kept)).toEqual([]);
  expect((await push([], {}, '--pending=kept')).out).toEqual(['Nothing is pending in kept.']);
});

test('push --pending believes no address in its folder, which others may have filled', async () => {
  const kept = join(folder, 'planted');
  mkdirSync(kept);
  const about = { v: 1, owner: 'acme', name: 'shop', file: 'a.xml', address: 'junit', query: { run_id: '7' } };
  const planted = [
    { ...about, address: '../other/junit' },
    { ...about, address: 'quarantines' },
    { ...about, name: '../../../keys' },
    { ...about, owner: 'acme/../..' },
  ];
  for (const [i, one] of planted.entries()) {
    writeFileSync(join(kept, `${i}.json`), JSON.stringify(one));
    writeFileSync(join(kept, `${i}.gz`), Bun.gzipSync('<testsuite/>'));
  }
  const { code, out } = await push([], { CIRCLECI: '' }, '--pending=planted');
  expect([code, out[0], taken]).toEqual([1, expect.stringContaining(`0 reports of ${planted.length} uploaded`), []]);
});

test('a wrong flag is a usage error', async () => {
  expect((await push(['a.xml', '--run-attempt', '0'])).code).toBe(2);
  expect((await push([])).code).toBe(2);
  expect((await push(['a.xml', '--repo', 'shop'])).code).toBe(2);
});

test('no secret is printed', async () => {
  trouble = { 'a.xml': [problem(403, 'No acceptable credential.')] };
  const { out, err } = await push(['a.xml']);
  expect(out.join('\n') + err).not.toContain('cii_secret');
});

test('push finds out the format of each file, names what it found, and leaves alone what is no report', async () => {
  const mixed = join(folder, 'mixed');
  mkdirSync(join(mixed, 'deep'), { recursive: true });
  for (const { name, globs, example } of FORMATS)
    writeFileSync(join(mixed, 'deep', String(globs[0]).replace('**/', '').replace('*', `.${name}.`)), example.text);
  writeFileSync(join(mixed, 'package.json'), '{"name":"shop"}');
  cpSync(new URL('../fixtures/foreign', import.meta.url).pathname, join(mixed, 'foreign'), { recursive: true });
  writeFileSync(join(mixed, 'coverage.xml'), '<coverage/>');
  const { code, err } = await push(['--job', 'any'], {}, 'mixed');
  expect(code).toBe(0);
  expect(taken.map(({ path }) => path.split('/').at(-1)).sort()).toEqual(FORMATS.map(({ name }) => name).sort());
  for (const { path, type, query } of taken) {
    const format = FORMATS.find(({ name }) => path.endsWith(`/${name}`));
    expect(type).toBe(format?.mediaTypes[0] ?? '');
    expect(query).toMatchObject({ job_name: 'any', report: expect.stringContaining(`.${format?.name}.`) });
  }
  expect(err).toContain('Found 1 JUnit XML report, 1 Playwright JSON report,');
  expect(err).toContain('mixed/coverage.xml is left out: it is a coverage report, which has no tests.');
  for (const [file, tool] of [
    ['mochawesome-8.1', 'a mochawesome report; write JUnit XML with'],
    ['mocha-12', 'a report of Mocha; write TAP with'],
    ['newman-6.2', 'a report of Newman; write JUnit XML with'],
    ['pytest-json-report-1.5', 'a report of pytest-json-report; write JUnit XML with'],
  ])
    expect(err).toContain(`mixed/foreign/${file}.json is left out: it is ${tool}`);
  expect(err).toContain('mixed/package.json is left out: it is not a report, or broken');
});

test('a file that is named and is no report fails the push; the others are sent', async () => {
  writeFileSync(join(folder, 'odd.json'), '{"name":"shop"}');
  const { code, out } = await push(['odd.json'], {}, 'a.xml');
  expect(code).toBe(1);
  expect(taken.map(({ query }) => query.report)).toEqual(['a.xml']);
  expect(out.join('\n')).toContain('odd.json: it is not a report, or broken: `push <format>` sends it anyway');
  expect((await push(['reports/notes.txt'], {}, 'nowhere')).code).toBe(1);
});
