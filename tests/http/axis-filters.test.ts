/** Filters by axes: of statistics, failure groups, executions, segments and runs. */
import { describe, expect, test } from 'bun:test';
import type { TestExecutions } from '../../src/insights/executions.ts';
import type { TestFailures } from '../../src/insights/failures.ts';
import type { RunList } from '../../src/insights/runs.ts';
import type { TestSegments } from '../../src/insights/segments.ts';
import type { TestStatistic } from '../../src/insights/stats.ts';
import { linksOf } from '../support/http.ts';
import { at, beside, NAME, setUpInsights } from '../support/insights.ts';

/** [os, python, status, run] of one execution each; none has axes in the last one. */
const RAN = [
  ['linux', '3.12', 'passed', '1'],
  ['linux', '3.13', 'passed', '1'],
  ['windows', '3.12', 'failed', '1'],
  ['windows', '3.13', 'failed', '1'],
  ['macos', '3.13', 'failed', '2'],
  [undefined, undefined, 'passed', '3'],
] as const;
const messageOn = (os: string | undefined) => ({ message: `no ${os}`, type: 'OSError' });

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...RAN.map(([os, python, status, run]) =>
      fixture.run(
        [
          { name: NAME, at: at(2), status, durationSeconds: 2, failures: status === 'failed' ? [messageOn(os)] : [] },
          // Passed after a failed attempt.
          { name: 'retried', at: at(2), isFlaky: os === 'windows', failures: os === 'windows' ? [messageOn(os)] : [] },
          ...beside(2),
        ],
        { run_id: run, commit: `c${run}`, job_name: `on ${os} ${python}`, ...(os && { axes: { os, python } }) },
      ),
    ),
  ),
);

const query = (...axes: string[]): string => axes.map((axis) => `axis=${encodeURIComponent(axis)}`).join('&');
const FILTERS: [axes: string[], passed: number, failed: number, systems: string[], runs: Record<string, number>][] = [
  [[], 3, 3, ['windows', 'macos'], { '1': 4, '2': 1, '3': 1 }],
  [['os:windows'], 0, 2, ['windows'], { '1': 2 }],
  [['os:macos', 'os:linux'], 2, 1, ['macos'], { '1': 2, '2': 1 }],
  [['os:windows', 'os:linux', 'python:3.13'], 1, 1, ['windows'], { '1': 2 }],
  [['os:linux', 'os:linux', 'python:3.13'], 1, 0, [], { '1': 1 }],
  [['os:beos'], 0, 0, [], {}],
  [['browser:webkit'], 0, 0, [], {}],
];

describe.each(FILTERS)('with axis %j', (axes, passed, failed, systems, runs) => {
  const read = <T>(below: string) => insights.app.get<T>(`${insights.fixture.test(NAME, below)}?${query(...axes)}`);

  test('statistics count these legs', async () => {
    const totalOf = async (stat: string) => (await read<TestStatistic>(`/stats/${stat}`)).value;
    expect([await totalOf('success_count'), await totalOf('failure_count'), await totalOf('mean_duration')]).toEqual([
      passed,
      failed,
      passed + failed === 0 ? 0 : 2,
    ]);
  });

  test('failure groups are of these legs, newest first', async () => {
    const { failures } = await read<TestFailures>('/failures');
    expect(failures.map(({ exception_message }) => exception_message).sort()).toEqual(
      systems.map((os) => `no ${os}`).sort(),
    );
    expect(failures.reduce((sum, { failure_count }) => sum + failure_count, 0)).toBe(failed);
  });

  test('executions are counted in these legs', async () => {
    const { executions } = await read<TestExecutions>('/executions');
    expect(executions.reduce((sum, { executions_count }) => sum + executions_count, 0)).toBe(passed + failed);
    // Each of these legs is another CI job.
    expect(executions).toHaveLength(passed + failed);
  });

  test('segments are what the test did in these legs', async () => {
    const { segments } = await read<TestSegments>('/segments');
    expect([
      segments.reduce((sum, { executions_count }) => sum + executions_count, 0),
      segments.reduce((sum, { failure_count }) => sum + failure_count, 0),
    ]).toEqual([passed + failed, failed]);
    expect(segments.reduce((sum, { commits }) => sum + commits, 0)).toBe(Object.keys(runs).length);
  });

  test('runs are those with such a leg, with what these legs did, on every page', async () => {
    const found: Record<string, number> = {};
    let address: string | undefined = `${insights.fixture.base}/runs?per_page=1&${query(...axes)}`;
    while (address !== undefined) {
      const response = await insights.app.request(address);
      expect(response.status).toBe(200);
      const list = (await response.json()) as RunList;
      for (const run of list.runs) found[run.run_id ?? ''] = run.jobs_count;
      const next: string | undefined = linksOf(response).next;
      address = next;
    }
    expect(found).toEqual(runs);
  });
});

test('a filter that leaves nothing out changes no failure group', async () => {
  const [all, filtered] = await Promise.all(
    ['', `?${query('os:windows', 'os:macos')}`].map((search) =>
      insights.app.get<TestFailures>(`${insights.fixture.test(NAME, '/failures')}${search}`),
    ),
  );
  const sorted = (list: TestFailures | undefined) => list?.failures.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(sorted(filtered)).toEqual(sorted(all) ?? []);
});

test('flaky executions are counted where they ran', async () => {
  const flaky = async (search: string) =>
    (await insights.app.get<TestStatistic>(`${insights.fixture.test('retried', '/stats/flaky_count')}${search}`)).value;
  expect([await flaky(''), await flaky(`?${query('os:windows')}`), await flaky(`?${query('os:linux')}`)]).toEqual([
    2, 2, 0,
  ]);
});

test.each(['/runs', '/search/tests', '/executions'])(
  'a cursor of one filter of %s is refused by another',
  async (below) => {
    const address = below === '/executions' ? insights.fixture.test(NAME, below) : `${insights.fixture.base}${below}`;
    const first = await insights.app.request(`${address}?per_page=1&${query('os:linux', 'os:macos')}`);
    const next = linksOf(first).next ?? '';
    const other = next.replace('linux', 'windows');
    expect(other).not.toBe(next);
    expect((await insights.app.request(other)).status).toBe(422);
  },
);

test.each(['os', ':windows', 'os:', 'o s:windows', '__proto__:x'])('axis=%s is no filter', async (axis) => {
  const ofTest = ['/failures', '/executions', '/segments', '/stats/failure_count'];
  for (const address of [
    ...['/runs', '/search/tests'].map((below) => `${insights.fixture.base}${below}`),
    ...ofTest.map((below) => insights.fixture.test(NAME, below)),
  ]) {
    const response = await insights.app.request(`${address}?${query(axis)}`);
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({
        errors: [expect.objectContaining({ loc: ['query', 'axis', 0] })],
      }),
    ]);
  }
});
