import { expect } from 'bun:test';
import { junitReport, type Receipt, type Uploads } from './gateway.ts';

/** A run of many tests, reported by all of its jobs at once, is stored exactly. */
export async function largeRunIsExact(
  uploads: Uploads,
  { jobs, testsPerJob }: { jobs: number; testsPerJob: number },
): Promise<void> {
  const { base, owner, name } = uploads.repository();
  const sent = Array.from({ length: jobs }, (_, job) => {
    const cases = Array.from({ length: testsPerJob }, (_, i) => ({
      name: `job ${job} > test ${i}`,
      inside: i % 100 === 0 ? '<failure/>' : '',
    }));
    return uploads.junit(base, junitReport(cases), { job_name: `job ${job}` });
  });
  const urls = await Promise.all(sent);
  await uploads.driver.settle();
  for (const url of urls)
    expect(await uploads.app.get<Receipt>(url)).toMatchObject({
      status: 'stored',
      accepted: testsPerJob,
      duplicate: 0,
    });
  const { clickhouse, repositories } = uploads.app.stores;
  const rows = await clickhouse.rows(
    `SELECT count() AS executions, uniqExact(test_id) AS tests, countIf(status = 'failed') AS failed
     FROM ci.executions WHERE repository_id = {id: UUID}`,
    { id: (await repositories.find(owner, name))?.id ?? '' },
  );
  const tests = jobs * testsPerJob;
  expect(rows).toEqual([{ executions: tests, tests, failed: tests / 100 }]);
  await uploads.driver.verify();
}
