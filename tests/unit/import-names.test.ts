/** What an import reads out of names, times and logs of GitHub. */
import { describe, expect, test } from 'bun:test';
import { commonLeg, jobsOfArtifact, legOf, type RunJob } from '../../src/client/import/github/names.ts';
import { jobsOfWorkflow, namedJob } from '../../src/client/import/github/workflow-file.ts';
import { testsInLog } from '../../src/client/import/logs.ts';
import { ctrfOf } from '../../src/client/import/written-report.ts';
import { ctrf } from '../../src/formats/ctrf/format.ts';
import { outcomesOf, parse } from '../support/reports.ts';

const WORKFLOW = `
name: CI
on:
  push:
jobs:
  lint:
    runs-on: ubuntu-latest
  "unit":
    strategy:
      fail-fast: false
      matrix:
        os: [ubuntu-latest, windows-latest]
        python: ["3.12", "3.13"]   # the newest
        include:
          - os: macos-latest
            python: "3.13"
    steps:
      - name: Run
        run: pytest
  e2e:
    name: "End to end (\${{ matrix.browser }}, \${{ matrix.shard }})"
    strategy:
      matrix:
        browser: [chromium]
        shard: [1, 2]
`;

describe('names of jobs', () => {
  const jobs = jobsOfWorkflow(WORKFLOW);

  test('ids, names and axes come from the workflow file', () => {
    expect(jobs).toEqual([
      { id: 'lint', name: undefined, axes: [] },
      { id: 'unit', name: undefined, axes: ['os', 'python'] },
      { id: 'e2e', name: expect.stringContaining('matrix.browser'), axes: ['browser', 'shard'] },
    ]);
  });

  test.each([
    ['lint', 'lint', {}],
    ['unit (ubuntu-latest, 3.13)', 'unit', { os: 'ubuntu-latest', python: '3.13' }],
    ['build / unit (windows-latest, 3.12)', 'unit', { os: 'windows-latest', python: '3.12' }],
    ['End to end (chromium, 2)', 'e2e', { browser: 'chromium', shard: '2' }],
    ['other (a, b)', 'other', { matrix: 'a, b' }],
    ['plain', 'plain', {}],
  ])('%s is the job %s', (shown, job, matrix) => {
    expect(namedJob(shown, jobs)).toEqual({ job, matrix });
  });

  test('a leg has what the job itself would send: its system, its matrix, and its parts as places', () => {
    const job = { ...RUN_JOB, name: 'End to end (chromium, 2)', labels: ['macos-latest'], runner: 'r1' };
    expect(legOf(job, jobs)).toEqual({
      job: 'e2e',
      axes: { os: 'macos', arch: 'arm64', browser: 'chromium' },
      place: { runner: 'r1', shard: '2' },
    });
  });
});

const RUN_JOB: RunJob = {
  id: 1,
  hasResult: true,
  name: 'unit',
  attempt: 1,
  startedAt: 1_000,
  completedAt: 500_000,
  labels: [],
  runner: undefined,
  url: undefined,
};

describe('the job of an artifact', () => {
  const linux = { ...RUN_JOB, name: 'unit (linux, 3.12)' };
  const windows = { ...RUN_JOB, name: 'unit (windows, 3.12)' };

  test('is told by its name among those that ran at its time', () => {
    expect(jobsOfArtifact({ name: 'junit-windows-3.12', createdAt: 400_000 }, [linux, windows])).toEqual([windows]);
  });

  test('is that of the attempt in which it was made', () => {
    const second = { ...linux, attempt: 2, startedAt: 900_000, completedAt: 990_000 };
    expect(jobsOfArtifact({ name: 'junit', createdAt: 950_000 }, [linux, second])).toEqual([second]);
  });

  test('is not known where several are alike: what they share names the leg', () => {
    const found = jobsOfArtifact({ name: 'results', createdAt: 400_000 }, [linux, windows]);
    expect(found).toEqual([linux, windows]);
    const legs = found.map((job) => legOf(job, []));
    expect(commonLeg(legs, 'results')).toEqual({ job: 'unit', axes: {}, place: { artifact: 'results' } });
  });
});

describe('tests in a log', () => {
  const outcomes = async (log: string) => outcomesOf(await parse(ctrf, ctrfOf('log', testsInLog(log))));

  test('of go test -v', async () => {
    const log =
      '2026-11-20T10:00:00.1234567Z === RUN   TestAdds\n2026-11-20T10:00:00.2Z --- PASS: TestAdds (0.01s)\n--- FAIL: TestPays (0.00s)\n    --- FAIL: TestPays/card (0.00s)\nFAIL\tshop\t0.1s';
    expect(await outcomes(log)).toEqual({ TestAdds: 'passed', TestPays: 'failed', 'TestPays/card': 'failed' });
  });

  test('of pytest, with its summary', async () => {
    const log =
      'tests/test_cart.py::TestCart::test_adds PASSED   [ 50%]\ntests/test_cart.py::test_pays[eur] FAILED [100%]\nFAILED tests/test_cart.py::test_pays[eur] - AssertionError: 1 != 2';
    expect(await outcomes(log)).toEqual({
      'tests.test_cart.TestCart.test_adds': 'passed',
      'tests.test_cart.test_pays[eur]': 'failed',
    });
    expect(testsInLog(log)[1]?.message).toBe('AssertionError: 1 != 2');
  });

  test('of jest, below their groups', async () => {
    const log = 'PASS src/cart.test.ts\n  Cart\n    ✓ adds (5 ms)\n    ✕ pays (7 ms)\n  ○ skipped\n\nTests: 3 total';
    expect(await outcomes(log)).toEqual({ 'Cart adds': 'passed', 'Cart pays': 'failed', skipped: 'skipped' });
  });

  test('of anything else there are none', () => {
    expect(testsInLog('npm install\nadded 100 packages\n  - ok\nFAILED to fetch')).toEqual([]);
  });
});
