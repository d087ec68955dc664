/** How many there are on all pages: looked up with the page if few tests have such names, and counted otherwise. */
import { expect, test } from 'bun:test';
import { setUpInsights } from '../support/insights.ts';

interface Found {
  total: number;
  tests: { test_name: string }[];
}

/** More than are few. */
const TESTS = Array.from({ length: 2_100 }, (_, i) => ({ name: `counted ${i}` }));

const insights = setUpInsights((fixture) =>
  fixture.ingest(fixture.run(TESTS, { job_name: 'unit' }), fixture.run(TESTS, { job_name: 'e2e' })),
);

test.each([
  ['counted *', 4_200, ['counted 0', 'counted 0', 'counted 1']],
  ['*ted 5*', 222, ['counted 5', 'counted 5', 'counted 50']],
  ['*ted 59?', 20, ['counted 590', 'counted 590', 'counted 591']],
  ['*ted 6*', 222, ['counted 6', 'counted 6', 'counted 60']],
  ['*ted 2100', 0, []],
])('the first page of %s says how many there are on all pages: %d', async (glob, total, names) => {
  const page: Found = await insights.app.get(
    insights.fixture.search({ per_page: '3', sort: 'test_name', test_name: glob }),
  );
  expect([page.total, page.tests.map(({ test_name }) => test_name)]).toEqual([total, names]);
  const filtered = insights.fixture.search({ per_page: '1', sort: 'test_name', test_name: glob, job_name: 'e2e' });
  expect((await insights.app.get<Found>(filtered)).total).toBe(total / 2);
});
