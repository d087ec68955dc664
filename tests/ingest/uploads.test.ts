import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { TEST_NOW } from '../support/clock.ts';
import { junitReport, type Receipt, Uploads } from '../support/gateway.ts';
import { linksOf } from '../support/http.ts';
import { largeRunIsExact } from '../support/large-run.ts';

const RECORDED = ['main-run1001-attempt1', 'main-run1001-attempt2', 'main-run1002', 'pull7-run1003'];
const recorded = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/otlp/${name}.pb.gz`, import.meta.url));
const SAMPLES = fileURLToPath(new URL('../../../shared/samples/junit/', import.meta.url));

interface Found {
  size: number;
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
  uploads.app.stores.clock.set(TEST_NOW);
});
afterAll(() => uploads.close());

const search = (base: string, query: Record<string, string>): Promise<Found> =>
  uploads.app.get<Found>(`${base}/search/tests?${new URLSearchParams({ per_page: '100', ...query })}`);
const testAt = async (base: string, name: string): Promise<string> =>
  `${base}/tests/${(await search(base, { test_name: name })).tests[0]?.test_id}`;
const DAY = 'start=2026-11-21T00:00:00Z&end=2026-11-22T00:00:00Z';

describe('recorded uploads of a real client', () => {
  test('in any order and twice, every read of insights gives the same answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...RECORDED, ...RECORDED], { minLength: 8 }), async (order) => {
        const { base } = uploads.repository();
        for (const name of order) expect((await uploads.otlp(base, recorded(name))).status).toBe(200);
        await uploads.driver.settle();

        const all = await search(base, { test_name: '*' });
        expect(all.tests.map((found) => found.test_name).sort()).toEqual([
          'Cart > adds an item',
          'Cart > prints a receipt',
          'Cart > totals > rejects *negative* amounts?',
          'Cart > totals > sums [a, b] with 10% tax',
          'root level works',
        ]);
        expect((await search(base, { test_name: 'Cart > totals > sums [a, b] with 10% tax' })).size).toBe(1);
        expect((await search(base, { test_name: '*\\*negative\\**' })).tests.map((found) => found.test_name)).toEqual([
          'Cart > totals > rejects *negative* amounts?',
        ]);

        const rootLevel = await testAt(base, 'root level works');
        expect(await uploads.app.get(`${rootLevel}/executions?${DAY}`)).toMatchObject({
          executions: [{ executions_count: 3 }],
        });
        // It failed in a pull request only.
        expect(await uploads.app.get(rootLevel)).toMatchObject({
          health_status: 'healthy',
          failure_ratio: 0,
          first_failure_at: null,
        });

        const sums = await testAt(base, 'Cart > totals > sums [a, b] with 10% tax');
        expect(await uploads.app.get(sums)).toMatchObject({
          health_status: 'flaky',
          last_conclusion: 'passed',
          test_framework: 'vitest',
        });
        for (const [stat, value] of [
          ['success_count', 2],
          ['failure_count', 1],
          ['flaky_count', 1],
        ] as const) {
          const series = await uploads.app.get<{ value: number; value_over_time: { value: number }[] }>(
            `${sums}/stats/${stat}?${DAY}`,
          );
          expect(series.value).toBe(value);
          expect(series.value_over_time.reduce((sum, bucket) => sum + bucket.value, 0)).toBe(value);
        }
        const rejects = await testAt(base, 'Cart > totals > rejects \\*negative\\* amounts\\?');
        expect(await uploads.app.get(rejects)).toMatchObject({
          health_status: 'healthy',
          has_enough_runs: false,
          first_failure_commit: '2'.repeat(40),
        });
        expect(await uploads.app.get(`${rejects}/failures`)).toMatchObject({
          failures: [{ exception_type: 'TypeError', failure_count: 1 }],
        });
        const receipt = await testAt(base, 'Cart > prints a receipt');
        expect(await uploads.app.get(receipt)).toMatchObject({
          last_conclusion: 'skipped',
          health_status: 'healthy',
          success_ratio: 0,
        });
      }),
      { numRuns: 2 },
    );
  });
});

describe('JUnit reports', () => {
  test('the same test in two shards and twice in one report counts every execution', async () => {
    const { base } = uploads.repository();
    const report = junitReport([{ name: 'same' }, { name: 'same' }]);
    expect(await uploads.store(base, report, { report: 'shard 1' })).toMatchObject({ accepted: 2 });
    expect(await uploads.store(base, report, { report: 'shard 2' })).toMatchObject({ accepted: 2 });
    expect(await uploads.app.get(`${await testAt(base, 'same')}/executions?${DAY}`)).toMatchObject({
      executions: [{ executions_count: 4 }],
    });
  });

  test('the same bytes again count nothing; a retried job counts once more', async () => {
    const { base } = uploads.repository();
    const report = junitReport([{ name: 'a' }, { name: 'b', inside: '<failure message="no"/>' }]);
    expect(await uploads.store(base, report)).toMatchObject({ accepted: 2, duplicate: 0 });
    expect(await uploads.store(base, report)).toMatchObject({ accepted: 0, duplicate: 2 });
    expect(await uploads.store(base, report, { run_attempt: '2' })).toMatchObject({ accepted: 2, duplicate: 0 });
  });

  test('a report that was truncated and later sent whole counts each execution once', async () => {
    const { base } = uploads.repository();
    const whole = junitReport(Array.from({ length: 10 }, (_, i) => ({ name: `t${i}` })));
    const cut = whole.slice(0, whole.indexOf('t6'));
    const first = await uploads.store(base, cut, { report: 'r' });
    expect(first).toMatchObject({ accepted: 6 });
    expect(first.warnings[0]).toContain('cut short');
    expect(await uploads.store(base, whole, { report: 'r' })).toMatchObject({ accepted: 4, duplicate: 6 });
  });

  test('a name of 10,000 characters makes the round trip; one of 10,001 is rejected and counted, and the rest is stored', async () => {
    const { base } = uploads.repository();
    const long = `${'🙂\\'.repeat(2_000)}\n${'x'.repeat(5_999)}`;
    expect([...long]).toHaveLength(10_000);
    const receipt = await uploads.store(base, junitReport([{ name: long }, { name: `${long}y` }, { name: 'short' }]));
    expect(receipt).toMatchObject({ accepted: 2, rejected: 1 });
    const { tests } = await search(base, { test_name: long });
    expect(tests.map((found) => found.test_name)).toEqual([long]);
    expect(await uploads.app.get(`${base}/tests/${tests[0]?.test_id}`)).toMatchObject({ test_name: long });
  });

  test('a time in the future becomes the time of receipt, and a run off the default branch is stored but in no insight', async () => {
    const { base } = uploads.repository();
    const future = junitReport([{ name: 'future' }]).replace(
      '<testsuite ',
      '<testsuite timestamp="2030-01-01T00:00:00Z" ',
    );
    await uploads.store(base, future);
    const successes = async (window: string): Promise<number> =>
      (await uploads.app.get<{ value: number }>(`${await testAt(base, 'future')}/stats/success_count?${window}`)).value;
    expect(await successes(DAY)).toBe(1);
    expect(await successes('start=2029-12-31T00:00:00Z&end=2030-01-02T00:00:00Z')).toBe(0);

    const nowhere = uploads.repository();
    const receipt = await uploads.store(nowhere.base, junitReport([{ name: 'x' }]), { branch: 'topic' });
    expect(receipt.warnings.join(' ')).toContain('default branch');
    expect((await search(nowhere.base, { test_name: '*' })).size).toBe(0);
    const pull = await uploads.store(nowhere.base, junitReport([{ name: 'y' }]), {
      branch: 'topic',
      pull_request: '7',
    });
    expect(pull).toMatchObject({ accepted: 1, on_default_branch: 0, warnings: [] });
  });
});

const hasSamples = existsSync(SAMPLES);
if (!hasSamples) console.error('skipped: the sample reports are not beside this clone');

describe.skipIf(!hasSamples)('the sample reports', () => {
  /** Executions that each must yield; null: refused. */
  const EXPECTED: Record<string, number | null> = {
    'bazel-suite-logs.xml': 1,
    'jest-jest-junit.xml': 2,
    'minimal-attributes.xml': 4,
    'mocha-latex-utensils.xml': 109,
    'no-attributes.xml': 0,
    'no-cases.xml': 0,
    'non-junit.xml': null,
    'pytest-corrupt-xml.xml': 1,
    'pytest-junit.fail.xml': 5,
    'pytest-junit.gloo.standalone.xml': 97,
    'pytest-junit.spark.integration.1.xml': 35,
    'pytest-junit.spark.integration.2.xml': 35,
    'scalatest-TEST-uk.co.gresearch.spark.diff.DiffOptionsSuite.xml': 5,
    'testsuite-in-testsuite.xml': 5,
    'trunk-junit1_fail.xml': 2,
    'trunk-junit1_pass.xml': 2,
    'trunk-test1.junit.xml': 17,
    'with-xml-entities.xml': 4,
  };
  const STARTED = { started_at: '2026-11-20T10:00:00Z' };

  test('every file is ingested or refused as expected', async () => {
    expect(readdirSync(SAMPLES).sort()).toEqual(Object.keys(EXPECTED).sort());
    const { base } = uploads.repository();
    const receipts = new Map<string, { url: string; executions: number }>();
    for (const [file, executions] of Object.entries(EXPECTED)) {
      const sent = uploads.junit(base, readFileSync(`${SAMPLES}${file}`), { report: file, ...STARTED });
      if (executions === null) await expect(sent).rejects.toThrow('422');
      else receipts.set(file, { url: await sent, executions });
    }
    await uploads.driver.settle();
    for (const [file, { url, executions }] of receipts) {
      const { status, accepted } = await uploads.app.get<Receipt>(url);
      expect([file, status, accepted]).toEqual([file, 'stored', executions]);
    }
  });

  test('the two Spark reports are one pipeline and two jobs', async () => {
    const { base } = uploads.repository();
    for (const part of ['1', '2']) {
      const xml = readFileSync(`${SAMPLES}pytest-junit.spark.integration.${part}.xml`);
      await uploads.store(base, xml, { pipeline_name: 'spark', job_name: `integration ${part}`, ...STARTED });
    }
    const { tests } = await search(base, { test_name: 'test.test_spark_keras.SparkKerasTests.test_fit_model' });
    expect(tests.map((found) => [found.pipeline_name, found.job_name]).sort()).toEqual([
      ['spark', 'integration 1'],
      ['spark', 'integration 2'],
    ]);
    expect(new Set(tests.map((found) => found.test_id)).size).toBe(1);
  });
});

describe('under load', () => {
  test('a run of 3,000 tests in two jobs is exact', () => largeRunIsExact(uploads, { jobs: 2, testsPerJob: 1_500 }));

  test('paging while 5,000 more executions arrive neither repeats nor skips a row whose key did not change', async () => {
    const { base } = uploads.repository();
    const cases = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `${prefix} ${String(i).padStart(4, '0')}` }));
    await uploads.store(base, junitReport(cases('steady', 300)), { run_id: 'first' });
    const steady = await testAt(base, 'steady 0000');
    for (let job = 0; job < 30; job++)
      await uploads.junit(base, junitReport([{ name: 'steady 0000' }]), {
        run_id: `jobs ${job}`,
        job_name: `job ${job}`,
      });
    await uploads.driver.settle();

    const arriving = (async () => {
      for (let run = 0; run < 5; run++)
        await uploads.junit(base, junitReport(cases('busy', 1_000)), { run_id: `busy ${run}` });
    })();
    const walk = async <T>(path: string, itemsOf: (body: Record<string, T[]>) => T[]): Promise<T[]> => {
      const seen: T[] = [];
      for (let next: string | undefined = path; next !== undefined; ) {
        const response: Response = await uploads.app.request(next);
        expect(response.status).toBe(200);
        seen.push(...itemsOf((await response.json()) as Record<string, T[]>));
        next = linksOf(response).next;
        // The default of now must not move between pages.
        uploads.app.stores.clock.at += 1_000;
      }
      return seen;
    };
    const tests = await walk<{ test_name: string; job_name: string }>(
      `${base}/search/tests?test_name=*&per_page=17`,
      (body) => body.tests ?? [],
    );
    const jobs = await walk<{ job_name: string }>(
      `${steady}/executions?per_page=4&sort=job_name`,
      (body) => body.executions ?? [],
    );
    await arriving;
    await uploads.driver.settle();
    uploads.app.stores.clock.set(TEST_NOW);

    const steadyRows = tests
      .filter((row) => row.test_name.startsWith('steady'))
      .map((row) => `${row.test_name}/${row.job_name}`);
    expect(new Set(steadyRows).size).toBe(steadyRows.length);
    expect(steadyRows.length).toBe(330);
    expect(jobs.map((row) => row.job_name)).toEqual([...new Set(jobs.map((row) => row.job_name))].sort());
    expect(jobs.length).toBe(31);
  });
});
