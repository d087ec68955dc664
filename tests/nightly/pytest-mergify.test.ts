/** `pytest-mergify`, unmodified, in a real pytest session: the last open-source release, and one of a month before. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jobEnvironment } from '../clients/support/job.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { machine, run } from '../clients/support/run.ts';
import { freshRepository, ROOT, sharedService } from '../clients/support/service.ts';

const SUITE = `
import pytest

def test_passes(): pass

def test_fails(): assert 110.00 == 110.01, "totals differ"

def test_quarantined(): raise ConnectionError("host 10.0.0.7 is away")

@pytest.mark.skip(reason="later")
def test_skipped(): pass

@pytest.mark.parametrize("value", ["a [b], c", "10%"])
def test_parametrised(value): pass
`;

const NEW = `
tries = 0

def test_now_and_then():
    global tries
    tries += 1
    assert tries != 3, "not now"
`;

interface Found {
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}
interface Details {
  last_conclusion: string;
  health_status: string;
  test_framework: string;
  test_programming_language: string;
  test_filepath: string;
}

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-pytest-'));
writeFileSync(join(folder, 'test_cart.py'), SUITE);
writeFileSync(join(folder, 'test_new.py'), NEW);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [newest, older] = await Promise.all([pythonEnvironment('newest'), pythonEnvironment('older')]);

describe.each([
  ['pytest-mergify 2026.10.3', newest],
  ['pytest-mergify 2026.9.24.1', older],
])('%s', (_, python) => {
  const pytest = async (repository: string, tests: string[], url?: string) => {
    const service = await sharedService();
    const env = jobEnvironment(service, { repository, ...(url === undefined ? {} : { url }) });
    const command = [join(python?.bin ?? '', 'pytest'), '-p', 'no:cacheprovider', '-q', ...tests];
    return { service, ran: await run(command, { cwd: folder, env }) };
  };

  test.skipIf(!python)(
    'a session arrives complete, a quarantined failure does not fail it, and insights count that failure',
    async () => {
      const repository = freshRepository('pytest');
      const base = `/v1/ci/acme/repositories/${repository}`;
      await (await sharedService()).quarantine(repository, 'test_cart.py::test_quarantined');
      const { service, ran } = await pytest(repository, ['test_cart.py']);
      expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining('1 failed, 3 passed, 1 skipped, 1 xfailed')]);
      expect(ran.printed).toContain('Quarantined tests fetched from API: 1');
      // The plugin prints this if it could not fetch or send something.
      expect(ran.printed).not.toMatch(/^Error: /m);

      const { tests } = await service.until<Found>(
        `${base}/search/tests?test_name=*`,
        (found) => found.tests.length === 6,
      );
      const conclusions = Object.fromEntries(
        await Promise.all(
          tests.map(async ({ test_id, test_name }) => {
            const details = await service.get<Details>(`${base}/tests/${test_id}`);
            expect(details).toMatchObject({ test_framework: 'pytest', test_programming_language: 'python' });
            expect(details.test_filepath).toEndWith('test_cart.py');
            return [test_name.replace('test_cart.py::', ''), details.last_conclusion];
          }),
        ),
      );
      expect(conclusions).toEqual({
        test_passes: 'passed',
        test_fails: 'failed',
        test_quarantined: 'failed',
        test_skipped: 'skipped',
        'test_parametrised[a [b], c]': 'passed',
        'test_parametrised[10%]': 'passed',
      });
      expect(new Set(tests.map(({ pipeline_name, job_name }) => `${pipeline_name}/${job_name}`))).toEqual(
        new Set(['CI/unit']),
      );
    },
  );

  test.skipIf(!python)('a run whose only failures are quarantined passes', async () => {
    const repository = freshRepository('pytest');
    await (await sharedService()).quarantine(repository, 'test_cart.py::test_quarantined');
    const { ran } = await pytest(repository, ['test_cart.py::test_passes', 'test_cart.py::test_quarantined']);
    expect([ran.code, ran.printed]).toEqual([0, expect.stringContaining('1 passed, 1 xfailed')]);
  });

  test.skipIf(!python)('a quarantine that is narrowed, which the plugin cannot know, excuses nothing', async () => {
    const repository = freshRepository('pytest');
    const scope = { failure_ids: [crypto.randomUUID()] };
    await (await sharedService()).quarantine(repository, 'test_cart.py::test_quarantined', scope);
    const { ran } = await pytest(repository, ['test_cart.py::test_quarantined']);
    expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining('1 failed')]);
  });

  test.skipIf(!python)('a new flaky test is caught in the pull request that adds it', async () => {
    const repository = freshRepository('pytest');
    const base = `/v1/ci/acme/repositories/${repository}`;
    const { service } = await pytest(repository, ['test_cart.py::test_passes']);
    await service.until<Found>(`${base}/search/tests`, ({ tests }) => tests.length === 1);
    const command = [
      process.execPath,
      join(ROOT, 'src/cli.ts'),
      'repos',
      'set',
      `acme/${repository}`,
      '--reruns',
      '50',
    ];
    const set = await run(command, { cwd: ROOT, env: { ...machine(), DATA_DIR: service.dataDir } });
    expect([set.code, set.printed]).toEqual([0, expect.stringContaining('50%')]);
    await service.until<{ existing_test_names: string[] }>(
      `${base}/flaky-detection-context`,
      (context) => context.existing_test_names.length === 1,
    );

    const commit = '2222222222222222222222222222222222222222';
    const pull = {
      ...jobEnvironment(service, { repository, branch: 'feature', commit }),
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_HEAD_REF: 'feature',
      GITHUB_BASE_REF: 'main',
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_REF_NAME: '7/merge',
    };
    const tests = ['test_cart.py::test_passes', 'test_new.py'];
    const ran = await run([join(python?.bin ?? '', 'pytest'), '-p', 'no:cacheprovider', '-q', ...tests], {
      cwd: folder,
      env: pull,
    });
    // It passes at first: only a rerun fails.
    expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining('Active for 1 new test')]);
    expect(ran.printed).toContain('test_new.py::test_now_and_then');
  });

  test.skipIf(!python)(
    'every page of a long list of quarantines is read, also from an address with a trailing slash',
    async () => {
      const repository = freshRepository('pytest');
      const service = await sharedService();
      for (let i = 0; i < 120; i++) await service.quarantine(repository, `other.py::test_${i}`);
      await service.quarantine(repository, 'test_cart.py::test_quarantined');
      const { ran } = await pytest(repository, ['test_cart.py::test_quarantined'], `${service.origin}/`);
      expect([ran.code, ran.printed]).toEqual([0, expect.stringContaining('Quarantined tests fetched from API: 121')]);
      const path = `/v1/ci/acme/repositories/${repository}/search/tests?test_name=*`;
      expect((await service.until<Found>(path, ({ tests }) => tests.length === 1)).tests[0]?.test_name).toBe(
        'test_cart.py::test_quarantined',
      );
    },
  );
});
