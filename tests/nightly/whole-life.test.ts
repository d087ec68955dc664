/**
 * One test's whole life on a real service, through the API, the client of CI jobs and pytest's plugin: new in a pull
 * request and caught as flaky, merged anyway, quarantined for one failure group with an owner and an end, failing
 * otherwise, fixed, recovered, lapsed. What people see of it is kept in `$ARTIFACTS_DIR/whole-life.txt`, and
 * docs/producers.md shows it. It is not printed: CI would take the failures in it for failures of these tests.
 */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { runClient } from '../clients/support/client.ts';
import { jobEnvironment } from '../clients/support/job.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { machine, run } from '../clients/support/run.ts';
import { type ClientService, freshRepository, ROOT, sharedService } from '../clients/support/service.ts';

const NAME = 'test_rates.py::test_converts';
const SLOW = 'the rate service timed out';
const WRONG = 'expected 108.25, got 0.00';
const DAY_MS = 86_400_000;
const ARTIFACTS = process.env.ARTIFACTS_DIR;

const python = await pythonEnvironment('newest');
const folder = mkdtempSync(join(tmpdir(), 'ci-insights-life-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Found {
  tests: { test_id: string; test_name: string; metrics: { health_status: string } }[];
}
interface Listed {
  quarantined_tests: { id: string }[];
}
interface Log {
  events: { type: string; trigger: string; metadata: Record<string, unknown> }[];
}

/** One test and others that pass: beside them, a failure says something about the test. */
const reportOf = (failure?: string): string =>
  `<testsuite name="rates"><testcase name="${NAME}" time="0.2">${
    failure === undefined ? '' : `<failure type="AssertionError" message="${failure}"/>`
  }</testcase>${OTHERS}</testsuite>`;
const OTHERS = Array.from({ length: 30 }, (_, i) => `<testcase name="test_other_${i}" time="0.1"/>`).join('');
/** Commits of the default branch on which it fails, then passes. */
const FLAKY_ON = [2, 3, 4, 5, 6];

/** Makes the quarantines of the service four days older. */
async function fourDaysPass({ dataDir }: ClientService): Promise<void> {
  const running = await startEmbeddedPostgres(dataDir, { attach: true });
  const client = new pg.Client(running.url);
  await client.connect();
  await client.query(`update ci_insights.quarantines set created_at = created_at - interval '4 days'`);
  await client.end();
  await running.stop();
}

test.skipIf(!python)(
  'a flaky test is caught, merged, quarantined for one failure, blocks with another, is fixed and lapses',
  async () => {
    const service = await sharedService();
    const repository = freshRepository('life');
    const base = `/v1/ci/acme/repositories/${repository}`;
    const story: string[] = [];

    const client = async (...args: string[]) => {
      const env = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
      const command = [...args, '--repo', `acme/${repository}`];
      const ran = await runClient('node', command, { cwd: folder, env });
      story.push(`$ ci-insights ${args.join(' ')}`, ran.stdout.trimEnd(), `exit code ${ran.code}`);
      return ran;
    };
    /** A run on the default branch, some days ago. */
    const sendOnMain = async (commit: string, daysAgo: number, failure?: string, attempt = 1): Promise<string> => {
      const query = new URLSearchParams({
        pipeline_name: 'CI',
        job_name: 'unit',
        run_id: commit,
        run_attempt: String(attempt),
        commit,
        branch: 'main',
        default_branch: 'main',
        ...(daysAgo > 0 && { started_at: new Date(Date.now() - daysAgo * DAY_MS).toISOString() }),
      });
      const headers = { 'content-type': 'application/xml' };
      const sent = await service.fetch(`${base}/junit?${query}`, { method: 'POST', headers, body: reportOf(failure) });
      return ((await sent.json()) as { id: string }).id;
    };
    const isStored = (id: string) =>
      service.until<{ status: string }>(`${base}/uploads/${id}`, ({ status }) => status === 'stored');
    const onMain = async (...run: Parameters<typeof sendOnMain>) => isStored(await sendOnMain(...run));
    const healthIs = (health: string) =>
      service.until<Found>(`${base}/search/tests?test_name=${encodeURIComponent(NAME)}`, ({ tests }) =>
        tests.some(({ metrics }) => metrics.health_status === health),
      );
    const logUntil = (wanted: string) =>
      service.until<Log>(`/v1/repos/acme/${repository}/logs`, ({ events }) =>
        events.some(({ type }) => type === wanted),
      );
    /** The job of a pull request. */
    const gate = (commit: string, pull: number, failure: string) => {
      writeFileSync(join(folder, 'unit.xml'), reportOf(failure));
      const job = ['--pipeline', 'CI', '--job', 'unit', '--run-id', commit, '--commit', commit];
      return client('gate', 'junit', 'unit.xml', ...job, '--branch', `fix-${pull}`, '--pull-request', `${pull}`);
    };

    // New in a pull request: the plugin runs a new test again, and it fails then.
    writeFileSync(join(folder, 'test_known.py'), 'def test_known(): pass\n');
    writeFileSync(
      join(folder, 'test_rates.py'),
      `tries = 0\ndef test_converts():\n    global tries\n    tries += 1\n    assert tries != 3, "${SLOW}"\n`,
    );
    const pytest = (tests: string[], env: Record<string, string | undefined>) =>
      run([join(python?.bin ?? '', 'pytest'), '-p', 'no:cacheprovider', '-q', ...tests], { cwd: folder, env });
    await pytest(['test_known.py'], jobEnvironment(service, { repository }));
    await service.until<Found>(`${base}/search/tests`, ({ tests }) => tests.length === 1);
    const settings = [process.execPath, join(ROOT, 'src/cli.ts'), 'repos', 'set', `acme/${repository}`];
    const set = await run([...settings, '--reruns', '50'], {
      cwd: ROOT,
      env: { ...machine(), DATA_DIR: service.dataDir },
    });
    expect([set.code, set.printed]).toEqual([0, expect.stringContaining('50%')]);
    await service.until<{ existing_test_names: string[] }>(
      `${base}/flaky-detection-context`,
      (context) => context.existing_test_names.length === 1,
    );
    const caught = await pytest(['test_known.py', 'test_rates.py'], {
      ...jobEnvironment(service, { repository, branch: 'rates', commit: 'p7' }),
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_HEAD_REF: 'rates',
      GITHUB_BASE_REF: 'main',
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_REF_NAME: '7/merge',
    });
    story.push('$ pytest -q', caught.stdout.trimEnd(), `exit code ${caught.code}`);
    expect([caught.code, caught.printed]).toEqual([1, expect.stringContaining(NAME)]);

    // Merged anyway: on the default branch it fails and passes on one commit.
    await onMain('m1', 6);
    for (const i of FLAKY_ON) {
      await onMain(`m${i}`, 6 - i / 10, SLOW);
      await onMain(`m${i}`, 6 - i / 10 - 0.05, undefined, 2);
    }
    const { tests } = await healthIs('flaky');
    const id = tests.find(({ test_name }) => test_name === NAME)?.test_id ?? '';
    expect((await gate('c8', 8, SLOW)).code).toBe(1);

    // Quarantined for this failure alone, by someone, until the day after tomorrow.
    const path = `${base}/tests/${id}/failures`;
    const { failures } = await service.get<{ failures: { id: string }[] }>(path);
    expect(failures).toHaveLength(1);
    const terms = ['--expires', '2d', '--responsible', 'team-payments', '--failure', failures[0]?.id ?? ''];
    expect((await client('quarantine', 'add', NAME, '--reason', 'SHOP-12: retry the rates', ...terms)).code).toBe(0);
    expect((await gate('c9', 9, SLOW)).code).toBe(0);

    // Failing otherwise, it blocks.
    const blocked = await gate('c10', 10, WRONG);
    expect([blocked.code, blocked.stdout]).toEqual([1, expect.stringContaining('never failed like this')]);

    // Fixed: it passes often enough, and is healthy again.
    await fourDaysPass(service);
    // It failed minutes ago: so soon, a fix takes many passes to believe.
    for (let i = 0; i < 500; i += 20) {
      const passes = Array.from({ length: 20 }, (_, n) => sendOnMain(`fixed-${i + n}`, 0));
      for (const id of await Promise.all(passes)) await isStored(id);
    }
    await healthIs('healthy');
    const listed = `${base}/quarantines?narrowed=include`;
    const { quarantined_tests } = await service.until<Listed>(
      listed,
      ({ quarantined_tests: open }) => open.length === 1,
    );
    await client('quarantine', 'list');

    // Announced, as it ends within three days. Then the end is brought forward, and the quarantine lapses.
    await logUntil('test.quarantine.expiring');
    const changed = await service.fetch(`${base}/quarantines/${quarantined_tests[0]?.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ expires_at: new Date(Date.now() + 2_000).toISOString() }),
    });
    expect(changed.status).toBe(200);
    await service.until<Listed>(listed, ({ quarantined_tests: open }) => open.length === 0);
    expect((await gate('c11', 11, SLOW)).code).toBe(1);

    const { events } = await logUntil('test.dequarantined');
    await client('logs');
    if (ARTIFACTS) {
      mkdirSync(ARTIFACTS, { recursive: true });
      writeFileSync(join(ARTIFACTS, 'whole-life.txt'), `${story.join('\n')}\n`);
    }
    // The end that was brought forward may be announced, too.
    const ofTest = events.filter(({ type }) => type.startsWith('test.')).reverse();
    const told = ofTest.filter(({ type }, i) => i === ofTest.findIndex((event) => event.type === type));
    expect(told.map(({ type, trigger }) => [type, trigger])).toEqual([
      ['test.quarantined', expect.any(String)],
      ['test.quarantine.expiring', 'quarantine-expiry'],
      ['test.quarantine.updated', expect.any(String)],
      ['test.dequarantined', 'quarantine-expiry'],
    ]);
    for (const { metadata } of told) expect(metadata).toMatchObject({ test_name: NAME, owner: 'team-payments' });
  },
);
