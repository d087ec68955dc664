/** `gate` as a CI job runs it, against a real service, and against one that is down, slow, old or refuses. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUNTIMES, runClient } from './support/client.ts';
import { type Gate, type GateJob, gateJobs } from './support/gate-job.ts';
import { quotation, recipe } from './support/recipes.ts';
import { type ClientService, sharedService } from './support/service.ts';
import {
  BROKEN,
  FLAKY,
  fail,
  MANY,
  NEW,
  pass,
  QUARANTINED,
  type Row,
  reportOf,
  shopWithHistory,
} from './support/shop.ts';

let service: ClientService;
let repository: string;
let folder: string;
let gate: Gate;
beforeAll(async () => {
  service = await sharedService();
  repository = await shopWithHistory();
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-gate-'));
  gate = gateJobs(service, repository, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A provider for which there is no special output. */
const CIRCLECI = {
  CIRCLECI: 'true',
  CIRCLE_PROJECT_USERNAME: 'acme',
  CIRCLE_JOB: 'unit',
  CIRCLE_WORKFLOW_ID: 'w1',
  CIRCLE_SHA1: 'shown',
  CIRCLE_BRANCH: 'feature/tax',
};

/** Who answers instead of the service; undefined passes the request on to it. */
type Answer = (path: string) => Response | Promise<Response> | undefined;

async function withFront<T>(answer: Answer, use: (url: string) => Promise<T>): Promise<T> {
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const body = method === 'GET' ? null : await request.arrayBuffer();
      return (await answer(pathname)) ?? fetch(`${service.origin}${pathname}${search}`, { method, headers, body });
    },
  });
  try {
    return await use(front.url.origin);
  } finally {
    await front.stop(true);
  }
}

const verdictLine = (verdict: string, { name }: Row) => `  ${verdict.padEnd(14)}  shop.${name}`;
const STANDS = /result (?:of the job )?stands/;

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('each failed test has its verdict, and one that is new fails the job with the code of its command', async () => {
    const rows = [NEW, FLAKY, BROKEN, QUARANTINED, pass('browses 1')];
    const { code, lines, stdout } = await gate({ runtime, rows, args: ['--excuse', 'flaky,broken'] });
    expect(lines).toContain('tests ran');
    expect(lines).toEqual(
      expect.arrayContaining([
        verdictLine('new', NEW),
        verdictLine('known flaky', FLAKY),
        verdictLine('broken on main', BROKEN),
        verdictLine('quarantined', QUARANTINED),
        '4 of 5 tests failed: 1 new, 1 broken on main, 1 known flaky, 1 quarantined.',
        'The job fails: 1 failure is not excused.',
      ]),
    );
    expect(stdout).toContain('AssertionError: expected 110.00, got 110.01');
    expect(stdout).not.toContain('\u001b');
    expect(code).toBe(7);
  });

  test('a job passes if the policy excuses every failure, and only then', async () => {
    const rows = [FLAKY, QUARANTINED, pass('browses 1')];
    const [strict, lenient] = [
      await gate({ runtime, rows }),
      await gate({ runtime, rows, args: ['--excuse', 'flaky'] }),
    ];
    expect([strict.code, lenient.code]).toEqual([7, 0]);
    expect(lenient.stdout).toContain('The job passes: every failure is excused.');
    expect((await gate({ runtime, rows: [QUARANTINED] })).code).toBe(0);
  });

  test('a test that passed when it was run again does not block, and files of another kind are left out', async () => {
    const again = pass(NEW.name);
    const summary = "echo '<failsafe-summary><completed>2</completed></failsafe-summary>' > reports/summary.xml";
    const job = { runtime, ending: `${summary}; exit 7` };
    const passed = await gate({ ...job, rows: [NEW, QUARANTINED, again] });
    expect([passed.code, passed.stdout]).toEqual([0, expect.stringContaining('1 of 2 tests failed: 1 quarantined')]);
    expect(passed.printed).toContain(
      'reports/summary.xml is left out: it is not a JUnit XML report, but a summary of Failsafe',
    );
    const failed = await gate({ ...job, rows: [NEW, QUARANTINED, NEW] });
    expect([failed.code, failed.stdout]).toEqual([7, expect.stringContaining('2 of 2 tests failed: 1 new')]);
  });

  test('while the service is down the result of the job stands, and the report is sent later', async () => {
    const { code, stdout, cwd } = await gate({
      runtime,
      rows: [QUARANTINED],
      url: 'http://127.0.0.1:9',
      args: ['--timeout', '2'],
    });
    expect([code, stdout]).toEqual([7, expect.stringMatching(STANDS)]);
    expect(stdout).toContain('1 report kept in .ci-insights/pending');
    expect(readdirSync(join(cwd, '.ci-insights/pending'))).toHaveLength(2);
    const env = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
    const later = await runClient(runtime, ['push', '--pending'], { cwd, env });
    expect([later.code, later.stdout]).toEqual([0, expect.stringContaining('1 execution accepted, 0 duplicate')]);
    expect(readdirSync(join(cwd, '.ci-insights/pending'))).toEqual([]);
  });
});

describe('docs/producers.md shows what is really printed', () => {
  /** Without what differs from service to service and from day to day. */
  const plain = (text: string) =>
    text
      .replace(/&#45;/g, '-')
      .replace(/https:\/\/ci-insights\.acme\.example|http:\/\/127\.0\.0\.1:\d+/g, 'URL')
      .replace(/acme\/shop-\d+/g, 'acme/shop')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\d/g, 'DAY');
  const shownBelow = (heading: string) => {
    const [, printed = '', code] =
      /^\$ ci-insights gate.*\n([\s\S]*?)\$ echo \$\?\n(\d+)$/.exec(recipe(heading, 'console')) ?? [];
    return { printed: plain(printed), code: Number(code) };
  };
  const FAILURES = [NEW, FLAKY, QUARANTINED, ...MANY.map(pass)];
  const job = { ending: 'exit 1', env: { GITHUB_ACTIONS: '', ...CIRCLECI } };
  const flags = () => ['--pipeline', 'CI', '--repo', `acme/${repository}`];

  test('of a job with a new, a known flaky and a quarantined failure, and its exit code', async () => {
    const { code, stdout } = await gate({ ...job, rows: FAILURES, args: flags() });
    expect({ printed: plain(stdout), code }).toEqual(shownBelow('## gate'));
  });

  test('of the same job as a summary on GitHub, which renders as a page', async () => {
    const { cwd } = await gate({ rows: FAILURES, ending: 'exit 1', args: flags() });
    const summary = readFileSync(join(cwd, 'summary.md'), 'utf8').trim();
    expect(plain(summary).replace(/\]\(URL[^)]*\)/g, '](#gate)')).toBe(plain(quotation('### On a page of GitHub')));
    const page = Bun.markdown.html(summary);
    expect(page).toContain('<h3>❌ The job fails: 2 failures are not excused.</h3>');
    expect(page.match(/<tr>/g)).toHaveLength(4);
    expect(page).toMatch(/<td><strong>new<\/strong><\/td>\s*<td><a href="http[^"]+">shop.adds tax<\/a><\/td>/);
  });

  test('of a day on which the infrastructure is down: nothing excuses that', async () => {
    const rows = MANY.map((name) => fail(name, 'connection refused'));
    const { code, stdout } = await gate({
      ...job,
      rows,
      args: [...flags(), '--excuse', 'flaky,broken', '--run-id', 'w2', '--commit', 'outage'],
    });
    const shown = shownBelow('### When the infrastructure is down');
    const [first = '', last = ''] = shown.printed.split('…\n');
    expect(plain(stdout)).toStartWith(first);
    expect(plain(stdout)).toEndWith(last);
    expect(code).toBe(shown.code);
  });
});

describe.each(RUNTIMES)('what is never excused, on %s', (runtime) => {
  test.each<[string, GateJob, number, string]>([
    ['a command that a signal ends', { rows: [QUARANTINED], ending: 'kill -9 $$' }, 137, 'crashed'],
    ['a command that the shell cannot find', { rows: [QUARANTINED], ending: 'exit 127' }, 127, 'crashed'],
    ['a report that is cut short', { report: reportOf([QUARANTINED, NEW]).slice(0, -90) }, 7, 'cut short'],
    ['no report', { ending: 'rm -r reports; exit 3' }, 3, 'no report with a test'],
    ['a report without a test', { report: '<testsuite/>', ending: 'exit 3' }, 3, 'no report with a test'],
    [
      'a suite that went wrong',
      { report: reportOf([QUARANTINED]).replace('</testsuite>', '<error message="set-up failed"/></testsuite>') },
      7,
      'set-up failed',
    ],
    ['a command that fails although no test does', { rows: [pass('browses 1')] }, 7, 'no test in the reports did'],
  ])('%s', async (_, job, code, said) => {
    const ran = await gate({ ...job, runtime });
    expect([ran.code, ran.stdout]).toEqual([code, expect.stringContaining(said)]);
  });

  test('a report of an earlier run, which the command did not write again', async () => {
    const first = await gate({ runtime, rows: [QUARANTINED] });
    const args = ['gate', 'junit', 'reports', '--repo', `acme/${repository}`, '--', 'sh', '-c', 'exit 9'];
    const env = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
    const ran = await runClient(runtime, args, { cwd: first.cwd, env });
    expect([ran.code, ran.stdout]).toEqual([9, expect.stringContaining('was not written by this command')]);
    // If the flags name the run of a step before, the report counts as that step's.
    const flags = ['--repo', `acme/${repository}`, '--pipeline', 'CI', '--job', 'unit', '--run-id', '1'];
    const after = await runClient(runtime, ['gate', 'junit', 'reports', ...flags], { cwd: first.cwd, env });
    expect([after.code, after.stdout]).toEqual([0, expect.stringContaining('every failure is excused')]);
  });

  test('a new failure: it cannot even be asked for', async () => {
    const ran = await gate({ runtime, rows: [NEW], args: ['--excuse', 'new'] });
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('"new" cannot be excused')]);
  });
});

describe.each(RUNTIMES)('a service in trouble, on %s', (runtime) => {
  test('that does not answer is given up after the time of the user', async () => {
    // Without a limit, it would wait as long as this test may take.
    const silent = () => new Promise<Response>(() => {});
    const ran = await withFront(silent, (url) => gate({ runtime, rows: [QUARANTINED], url, args: ['--timeout', '2'] }));
    expect([ran.code, ran.stdout]).toEqual([7, expect.stringMatching(STANDS)]);
  });

  test('that fails half way leaves the quarantines to judge by', async () => {
    const broken: Answer = (path) => (path.endsWith('/failures') ? new Response('no', { status: 500 }) : undefined);
    const [excused, not] = await withFront(broken, (url) => {
      // A busy machine may need longer to send the report alone.
      const judged = async (job: GateJob, ...args: string[]) => {
        for (const seconds of ['3', '12', '48']) {
          const ran = await gate({ ...job, runtime, url, args: ['--timeout', seconds, ...args] });
          if (!/did not answer within|no time left/.test(ran.stdout)) return ran;
        }
        throw new Error('the report could not be sent');
      };
      return Promise.all([
        judged({ rows: [QUARANTINED] }),
        judged({ rows: [QUARANTINED, FLAKY] }, '--excuse', 'flaky'),
      ]);
    });
    // A slow service may not even have stored the reports by then.
    expect([excused?.code, excused?.stdout]).toEqual([0, expect.stringMatching(/only quarantines count\./i)]);
    expect([not?.code, not?.stdout]).toEqual([7, expect.stringContaining(verdictLine('no verdict', FLAKY))]);
  });

  test('that refuses the key changes nothing, and keeps nothing', async () => {
    const ran = await gate({ runtime, rows: [QUARANTINED], env: { CI_INSIGHTS_TOKEN: 'cii_wrong_key' } });
    expect([ran.code, ran.stdout]).toEqual([7, expect.stringMatching(/\(403\)[\s\S]*stands/)]);
    expect(ran.printed).not.toContain('cii_wrong_key');
    expect(readdirSync(ran.cwd)).not.toContain('.ci-insights');
  });

  test('is not asked without a key, as in jobs for forks: the command runs and its result stands', async () => {
    const ran = await gate({ runtime, rows: [QUARANTINED], env: { CI_INSIGHTS_TOKEN: undefined } });
    expect([ran.code, ran.stdout]).toEqual([7, expect.stringMatching(/A token is required[\s\S]*stands/)]);
    expect((await gate({ runtime, ending: 'exit 0', env: { CI_INSIGHTS_TOKEN: undefined } })).code).toBe(0);
  });
});

describe('a newer version of the service', () => {
  test('may add fields; a verdict that this client does not know excuses nothing', async () => {
    const evidence = {
      health_status: 'healthy',
      default_branch_failures: 0,
      default_branch_last_failure_at: null,
      run_failed: 1,
      run_passed: 0,
    };
    const newer: Answer = (path) =>
      path.includes('/commits/')
        ? Response.json({
            size: 1,
            added: true,
            failures: [
              { verdict: 'excusable', added: 1, test_id: 'x', test_name: `shop.${QUARANTINED.name}`, evidence },
            ],
          })
        : undefined;
    const ran = await withFront(newer, (url) => gate({ rows: [QUARANTINED], url }));
    expect([ran.code, ran.stdout]).toEqual([7, expect.stringContaining(verdictLine('new', QUARANTINED))]);
  });
});

test('a failure leads to the page of its test, and what the service says about it to the job', async () => {
  const { commit, runId, stdout } = await gate({ rows: [NEW], args: ['--json'] });
  const base = `/v1/ci/acme/repositories/${repository}`;
  const { failures } = await service.get<{ failures: { test_id: string; job_url: string }[] }>(
    `${base}/commits/${commit}/failures`,
  );
  const [failure] = failures;
  expect(failure?.job_url).toBe(`https://github.com/acme/${repository}/actions/runs/${runId}/attempts/1`);
  const historyUrl = `${service.origin}/app/acme/${repository}/tests/${failure?.test_id}`;
  expect(JSON.parse(stdout)).toMatchObject({ failures: [{ historyUrl }] });
  const page = await fetch(historyUrl);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

describe('outputs', () => {
  test('GitHub gets annotations and a job summary', async () => {
    const { stdout, cwd } = await gate({ rows: [NEW, QUARANTINED] });
    expect(stdout).toContain('::error file=tests/shop.py,title=Failed test%2C new::shop.adds tax%0A');
    expect(stdout).toContain('::warning file=tests/shop.py,title=Failed test%2C quarantined::shop.rounds%0A');
    const summary = readFileSync(join(cwd, 'summary.md'), 'utf8');
    expect(summary).toStartWith('### ❌ The job fails: 1 failure is not excused.\n');
    expect(summary).toContain('| **new** | [shop.adds tax](');
  });

  test('GitLab gets a section and files to keep as artifacts, Buildkite an annotation', async () => {
    const gitlab = await gate({
      rows: [NEW],
      env: {
        GITHUB_ACTIONS: '',
        GITLAB_CI: 'true',
        CI_PROJECT_PATH: `acme/${repository}`,
        CI_JOB_ID: '91',
        CI_JOB_NAME: 'unit',
        CI_COMMIT_SHA: 'gl1',
        CI_COMMIT_BRANCH: 'x',
      },
    });
    expect(gitlab.stdout).toMatch(/section_start:\d+:ci_insights[\s\S]*section_end:\d+:ci_insights/);
    expect(readdirSync(join(gitlab.cwd, '.ci-insights')).sort()).toEqual(['annotations.json', 'gate.json', 'gate.md']);

    const agent = join(folder, 'buildkite-agent');
    writeFileSync(agent, `#!/bin/sh\n{ echo "$@"; cat; } > annotated\n`, { mode: 0o755 });
    const env = {
      GITHUB_ACTIONS: '',
      BUILDKITE: 'true',
      BUILDKITE_REPO: `git@github.com:acme/${repository}.git`,
      BUILDKITE_PIPELINE_NAME: 'CI',
      BUILDKITE_STEP_KEY: 'unit',
      BUILDKITE_BUILD_ID: '91',
      BUILDKITE_COMMIT: 'bk1',
      BUILDKITE_BRANCH: 'x',
      PATH: `${folder}:${process.env.PATH}`,
    };
    const buildkite = await gate({ rows: [NEW], env });
    expect(readFileSync(join(buildkite.cwd, 'annotated'), 'utf8')).toMatch(
      /^annotate --append --style error --context ci-insights-error\n### ❌/,
    );
  });

  test('--json is one document on standard output, and what the command prints goes elsewhere', async () => {
    const { stdout, stderr } = await gate({ rows: [NEW], args: ['--json'] });
    expect(JSON.parse(stdout)).toMatchObject({
      decision: { code: 7, reason: 'failed' },
      tests: 1,
      failures: [{ name: 'shop.adds tax', verdict: 'new', isExcused: false }],
      uploads: [{ outcome: 'stored' }],
    });
    expect(stderr).toContain('tests ran');
  });
});
