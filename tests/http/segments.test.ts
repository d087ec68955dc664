/** The life of a test as the API shows it. */
import { expect, test } from 'bun:test';
import { at, beside, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution, TestJob } from '../support/jobs.ts';

const failures = [{ message: 'no' }];
const insights = setUpInsights((fixture) => {
  const run = (hours: number, commit: string, result: Partial<TestExecution> = {}, settings: TestJob['run'] = {}) =>
    fixture.run([{ name: 'life', at: at(hours), ...result }, ...beside(hours)], { commit, ...settings });
  const failed: Partial<TestExecution> = { status: 'failed', failures };
  const known = Array.from({ length: 9 }, (_, i) => 45 - i / 2);
  return fixture.ingest(
    run(50, 'a'),
    ...known.flatMap((hours) => [run(hours, 'b'), run(hours, 'b', {}, { job_name: 'e2e' })]),
    run(30, 'c', failed),
    run(20, 'd', failed),
    run(19, 'd', failed, { job_name: 'e2e' }),
    run(10, 'e', { isFlaky: true, failures }),
    run(5, 'f', { status: 'skipped' }),
    run(4, 'x', failed, { branch: 'feature' }),
  );
});

interface Answer {
  is_complete: boolean;
  segments: Record<string, unknown>[];
}
const segmentsOf = (query: Record<string, string>) =>
  insights.app.get<Answer>(insights.fixture.test('life', '/segments', query));

test('the segments of a test name the commits between which it changed', async () => {
  const { is_complete, segments } = await segmentsOf({ start: iso(at(60)), end: iso(at(0)) });
  expect(is_complete).toBe(true);
  expect(
    segments.map(
      ({ outcome, commits, executions_count, failure_count, previous_commit, first_commit, last_commit }) => [
        outcome,
        commits,
        executions_count,
        failure_count,
        previous_commit,
        first_commit,
        last_commit,
      ],
    ),
  ).toEqual([
    ['passing', 2, 19, 0, null, 'a', 'b'],
    ['failing', 2, 3, 3, 'b', 'c', 'd'],
    ['flaky', 1, 1, 0, 'd', 'e', 'e'],
    ['skipped', 1, 1, 0, 'e', 'f', 'f'],
  ]);
  expect(segments[1]).toMatchObject({ started_at: iso(at(30)), ended_at: iso(at(19)) });
});

test('only executions inside the window count', async () => {
  const { segments } = await segmentsOf({ start: iso(at(35)), end: iso(at(15)) });
  expect(segments).toMatchObject([{ outcome: 'failing', commits: 2, previous_commit: null }]);
});
