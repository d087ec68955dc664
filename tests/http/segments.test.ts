/** The life of a test as the API shows it. */
import { expect, test } from 'bun:test';
import { at, iso, setUpInsights } from '../support/insights.ts';

const failures = [{ message: 'no' }];
const insights = setUpInsights((fixture) =>
  fixture.ingest(
    fixture.run([{ name: 'life', at: at(50) }], { commit: 'a' }),
    fixture.run([{ name: 'life', at: at(40) }], { commit: 'b' }),
    fixture.run([{ name: 'life', at: at(30), status: 'failed', failures }], { commit: 'c' }),
    fixture.run([{ name: 'life', at: at(20), status: 'failed', failures }], { commit: 'd' }),
    fixture.run([{ name: 'life', at: at(19), status: 'failed', failures }], { commit: 'd', job_name: 'e2e' }),
    fixture.run([{ name: 'life', at: at(10), isFlaky: true, failures }], { commit: 'e' }),
    fixture.run([{ name: 'life', at: at(5), status: 'skipped' }], { commit: 'f' }),
    fixture.run([{ name: 'life', at: at(4), status: 'failed', failures }], { commit: 'x', branch: 'feature' }),
  ),
);

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
    ['passing', 2, 2, 0, null, 'a', 'b'],
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
