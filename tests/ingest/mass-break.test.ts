/** A break of much of a CI job, on real stores: what its runs mean does not depend on the order in which they arrive. */
import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { healthsOf, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });
const TESTS = Array.from({ length: 100 }, (_, i) => `test ${i}`);
const BROKEN = TESTS.slice(0, 60);
const BEGUN = TEST_NOW - 10 * DAY_MS;

/** Ten runs pass, then the same 60 of 100 tests fail in so many, each on another commit. */
const history = (repository: ReturnType<typeof uniqueRepository>, failing: number) =>
  Array.from({ length: 10 + failing }, (_, run) =>
    runOf({
      ...{ repository, runId: `${run}`, at: BEGUN + run * 2 * HOUR_MS, receivedAt: TEST_NOW },
      results: Object.fromEntries(
        TESTS.map((name) => [name, run >= 10 && BROKEN.includes(name) ? ('failed' as const) : ('passed' as const)]),
      ),
    }),
  );

const brokenIn = async (repository: ReturnType<typeof uniqueRepository>): Promise<string[]> =>
  Object.entries(await healthsOf(ingest.stores, repository))
    .filter(([, healths]) => healths.includes('broken'))
    .map(([name]) => name)
    .sort();

test('the same 60 of 100 tests are broken by their third run, and not by the second', async () => {
  const [two, three] = [uniqueRepository(), uniqueRepository()];
  await ingest.driver.ingest(...history(two, 2), ...history(three, 3));
  expect(await brokenIn(two)).toEqual([]);
  expect(await brokenIn(three)).toEqual(BROKEN.toSorted());
  await ingest.driver.verify();
});

test('also if the runs arrive alone, and the last ones first', async () => {
  const repository = uniqueRepository();
  const jobs = history(repository, 3);
  await ingest.driver.ingest(...jobs.slice(0, 9));
  for (const job of jobs.slice(9).toReversed()) await ingest.driver.ingest(job);
  expect(await brokenIn(repository)).toEqual(BROKEN.toSorted());
  await ingest.driver.verify();
});
