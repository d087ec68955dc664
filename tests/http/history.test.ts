/** The history of a test: every execution on any branch, with who made the commit and how it failed; in pages, by filters. */
import { describe, expect, test } from 'bun:test';
import type { TestExecution, TestHistory } from '../../src/insights/history.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeEventsJob } from '../support/events.ts';
import { linksOf } from '../support/http.ts';
import { at, setUpInsights } from '../support/insights.ts';

const NAME = 'src/cart.test.ts > sums';
const failureOf = (message: string) => [
  {
    type: 'AssertionError',
    message,
    stacktrace: `AssertionError: ${message}\n    at sum (src/sum.ts:3:1)\n    at src/cart.test.ts:12:5`,
  },
];
const PULL = { branch: 'ana/rounding', base_ref: 'main', pull_request: 7, commit: 'head-of-7' };

/** From the oldest: passed on main, failed for #7, passed after a retry for #7, failed on windows on main. */
const insights = setUpInsights(async (fixture) => {
  const filepath = 'src/cart.test.ts';
  const main = { branch: 'main', commit: 'merged-as' };
  const one = (hours: number, more = {}) => [{ name: NAME, filepath, at: at(hours), ...more }];
  await fixture.ingest(
    fixture.run(one(40, { durationSeconds: 1.5 }), { ...main, run_id: '1' }),
    fixture.run(one(30, { status: 'failed', failures: failureOf('expected 3 to equal 4') }), { ...PULL, run_id: '2' }),
    fixture.run(one(20, { isFlaky: true, failures: failureOf('expected 5 to equal 6') }), {
      ...PULL,
      run_id: '3',
      run_attempt: 2,
    }),
    fixture.run(one(10, { status: 'failed', failures: failureOf('expected 3 to equal 4') }), {
      ...{ ...main, run_id: '4', axes: { os: 'windows' } },
    }),
  );
  const pull = {
    ...{
      number: 7,
      id: 70,
      title: 'Round',
      author: { id: 5, login: 'ana' },
      base_ref: 'main',
      head_ref: 'ana/rounding',
    },
    ...{ head_commit: 'head-of-7', merge_commit: 'merged-as', updated_at: new Date(TEST_NOW).toISOString() },
  };
  const job = { ...makeEventsJob(fixture.repository, []), pull_requests: [pull] };
  await fixture.stores.producers.of(prEvents).add(job);
  await fixture.ingest();
});

const WINDOW = `start=${new Date(at(60)).toISOString()}`;
const list = (query = ''): Promise<TestHistory> =>
  insights.app.get<TestHistory>(`${insights.fixture.test(NAME, '/history')}?${WINDOW}&${query}`);
const runsOf = async (query: string): Promise<(string | null)[]> =>
  (await list(query)).executions.map(({ run_id }) => run_id);

describe('the history of a test', () => {
  test('has every execution, newest first, on any branch, with its author and its failure', async () => {
    const { executions } = await list();
    expect(executions.map(({ run_id, status, is_flaky, author }) => [run_id, status, is_flaky, author])).toEqual([
      ['4', 'failed', false, 'ana'],
      ['3', 'passed', true, 'ana'],
      ['2', 'failed', false, 'ana'],
      ['1', 'passed', false, 'ana'],
    ]);
    expect(executions[1]).toMatchObject({
      ...{ branch: 'ana/rounding', pull_request: 7, commit_sha: 'head-of-7', run_attempt: 2, failed_attempts: 1 },
      failure: { exception_type: 'AssertionError', exception_message: 'expected 5 to equal 6', attempt: 1 },
    });
    expect(executions[3]).toMatchObject({
      pull_request: null,
      duration_seconds: 1.5,
      failed_attempts: 0,
      failure: null,
    });
    expect(executions[0]?.failure?.failure_id).toBe(executions[2]?.failure?.failure_id as string);
  });

  test.each([
    ['branch=main', ['4', '1']],
    ['pull_request=7', ['3', '2']],
    ['status=failed', ['4', '2']],
    ['has_failed=true', ['4', '3', '2']],
    ['has_failed=true&status=passed', ['3']],
    ['axis=os:windows', ['4']],
    ['commit_sha=head-of-7&status=failed', ['2']],
    ['job_name=e2e', []],
  ])('is filtered by %s', async (query, runs) => {
    expect(await runsOf(query)).toEqual(runs);
  });

  test('is read in pages, there and back', async () => {
    const path = `${insights.fixture.test(NAME, '/history')}?${WINDOW}&per_page=1`;
    const seen: string[] = [];
    let url: string | undefined = path;
    let back: string | undefined;
    while (url !== undefined) {
      const response = await insights.app.request(url);
      const body = (await response.json()) as TestHistory;
      seen.push(...body.executions.map(({ run_id }) => run_id ?? ''));
      const links = linksOf(response);
      back = links.prev ?? back;
      url = links.next;
    }
    expect(seen).toEqual(['4', '3', '2', '1']);
    const before = (await (await insights.app.request(back ?? '')).json()) as TestHistory;
    expect(before.executions.map(({ run_id }) => run_id)).toEqual(['2']);
  });

  test('leads to one execution with its stack and the line of the test, also of a pull request', async () => {
    const [, , failed] = (await list()).executions;
    const one = await insights.app.get<TestExecution>(insights.fixture.test(NAME, `/history/${failed?.execution_id}`));
    expect(one).toMatchObject({
      execution_id: failed?.execution_id as string,
      test_filepath: 'src/cart.test.ts',
      failures: [{ exception_message: 'expected 3 to equal 4', line: 12, attachments: [] }],
    });
    expect(one.failures[0]?.exception_stacktrace).toContain('at sum (src/sum.ts:3:1)');
    const run = await insights.app.get<{ run_id: string }>(`${insights.fixture.base}/runs/${one.run}`);
    expect(run.run_id).toBe('2');
  });

  test.each([
    ['18446744073709551616', 422],
    ['-1', 422],
    ['1', 404],
  ])('has no execution %s: %d', async (id, status) => {
    expect((await insights.app.request(insights.fixture.test(NAME, `/history/${id}`))).status).toBe(status);
  });
});
