/** flaky_count, flakiness_ratio and health agree on what a flaky execution is, and what is not one. */
import { describe, expect, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution, TestJob } from '../support/jobs.ts';

const insights = setUpInsights();
type Result = TestExecution & { hours: number; run: string; attempt?: number; commit?: string };

const failed: Pick<TestExecution, 'status' | 'failures'> = {
  status: 'failed',
  failures: [{ type: 'Error', message: 'no' }],
};
/** Each test, run by run; every run passes on a separate commit unless it says differently. */
const HISTORY: Record<string, Omit<Result, 'name'>[]> = {
  'flagged by its source': [{ hours: 9, run: '1', isFlaky: true }],
  'passed in attempt 2': [
    { hours: 9, run: '2', ...failed },
    { hours: 8, run: '2', attempt: 2 },
  ],
  'passed in another run of the commit': [
    { hours: 9, run: '3', commit: 'same', ...failed },
    { hours: 8, run: '4', commit: 'same' },
  ],
  'failed twice alike': [9, 8, 7, 6, 5].map((hours, i) => ({ hours, run: `5${i}`, ...(i % 2 === 1 ? failed : {}) })),
  'failed and passed in one attempt': [
    { hours: 9, run: '6' },
    { hours: 8.5, run: '6', ...failed },
    { hours: 8, run: '6', attempt: 2 },
  ],
  'unknown commit': [
    { hours: 10, run: '70', commit: '' },
    { hours: 9, run: '7', commit: '', ...failed },
    { hours: 8, run: '7', attempt: 2, commit: '' },
  ],
  'skipped in attempt 2': [
    { hours: 9, run: '8', ...failed },
    { hours: 8, run: '8', attempt: 2, status: 'skipped' },
  ],
  stable: [
    { hours: 9, run: '9' },
    { hours: 8, run: '9', attempt: 2 },
  ],
};
const EXPECTED: Record<string, [flaky: number, failures: number, health: string]> = {
  'flagged by its source': [1, 0, 'flaky'],
  'passed in attempt 2': [1, 1, 'flaky'],
  'passed in another run of the commit': [1, 1, 'flaky'],
  'failed twice alike': [2, 2, 'flaky'],
  'failed and passed in one attempt': [1, 1, 'flaky'],
  'unknown commit': [1, 1, 'flaky'],
  'skipped in attempt 2': [0, 1, 'broken'],
  stable: [0, 0, 'healthy'],
};

const jobOf = (name: string, { hours, run, attempt = 1, commit = `c${run}`, ...result }: Omit<Result, 'name'>) => {
  const settings: TestJob['run'] = { run_id: run, run_attempt: attempt, commit };
  return insights.fixture.run([{ name, at: at(hours), ...result }, ...beside(hours)], settings);
};

async function figuresOf(name: string): Promise<[flaky: number, failures: number, health: string]> {
  const window = { start: iso(TEST_NOW - 30 * 86_400_000), end: iso(TEST_NOW) };
  const count = async (stat: string): Promise<number> =>
    (await insights.app.get<{ value: number }>(insights.fixture.test(name, `/stats/${stat}`, window))).value;
  const [flaky, failures, successes] = [
    await count('flaky_count'),
    await count('failure_count'),
    await count('success_count'),
  ];
  const details = await insights.app.get<{ flakiness_ratio: number; health_status: string }>(
    insights.fixture.test(name),
  );
  expect(details.flakiness_ratio).toBeCloseTo(flaky / (failures + successes), 10);
  return [flaky, failures, details.health_status];
}

describe('one definition of a flaky execution', () => {
  test('counts, ratio and health agree on every kind, even when everything is sent twice', async () => {
    const jobs = Object.entries(HISTORY).flatMap(([name, results]) => results.map((result) => jobOf(name, result)));
    const figures = async () =>
      Object.fromEntries(await Promise.all(Object.keys(HISTORY).map(async (name) => [name, await figuresOf(name)])));
    await insights.fixture.ingest(...jobs);
    expect(await figures()).toEqual(EXPECTED);
    await insights.fixture.ingest(...jobs);
    expect(await figures()).toEqual(EXPECTED);
  });

  test('failures of a run in which everything fails count as failures, and are neither flaky nor evidence of health', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `of a troubled run ${i}`);
    const run = (hours: number, id: string, attempt: number, result: Partial<TestExecution>) =>
      insights.fixture.run(
        names.map((name) => ({ name, at: at(hours), ...result })),
        { run_id: id, run_attempt: attempt, commit: id },
      );
    await insights.fixture.ingest(run(9, 'good', 1, {}), run(8, 'bad', 1, failed), run(7, 'bad', 2, {}));
    for (const name of names) expect(await figuresOf(name)).toEqual([0, 1, 'healthy']);
  });
});
