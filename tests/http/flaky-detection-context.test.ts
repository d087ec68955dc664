/** The answer to test runners about running tests again. */
import { expect, test } from 'bun:test';
import { at, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([
      { name: 'steady', at: at(30), durationSeconds: 0.1 },
      { name: 'fails', at: at(30), durationSeconds: 0.2005 },
      { name: 'skipped', at: at(30), status: 'skipped', durationSeconds: 9 },
    ]),
    ...[20, 19, 18].map((hours) =>
      fixture.run([{ name: 'fails', at: at(hours), status: 'failed', durationSeconds: 0.2333 }]),
    ),
    fixture.run([{ name: 'only on a branch', at: at(10) }], { branch: 'feature' }),
  );
});
const ask = () => insights.app.request(`${insights.fixture.base}/flaky-detection-context`);

test('nothing is run again unless the repository says so: 404, with what to do', async () => {
  const response = await ask();
  expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
    404,
    expect.stringContaining('repos set <owner>/<name> --reruns'),
  ]);
});

test('the names of the default branch, the unhealthy ones, and a budget in whole milliseconds', async () => {
  const { repositories } = insights.app.stores;
  const { owner, name } = insights.fixture.repository;
  const repository = await repositories.find(owner, name);
  if (!repository) throw new Error('the repository is recorded');
  await repositories.set(repository, { rerunPercent: 5 }, 'ann');
  expect(await (await ask()).json()).toEqual({
    budget_ratio_for_new_tests: 0.05,
    budget_ratio_for_unhealthy_tests: 0.05,
    existing_test_names: ['fails', 'skipped', 'steady'],
    unhealthy_test_names: ['fails'],
    existing_tests_mean_duration_ms: 200,
    min_budget_duration_ms: 4_000,
    min_test_execution_count: 5,
    max_test_execution_count: 300,
    max_test_name_length: 10_000,
  });
  await repositories.set(repository, { rerunPercent: null }, 'ann');
  expect((await ask()).status).toBe(404);
});
