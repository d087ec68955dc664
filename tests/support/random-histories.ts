/**
 * Properties of evaluation on real stores, for random histories: a few in each run of the tests, many in a
 * nightly one.
 */
import fc from 'fast-check';
import type { Status } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from './clock.ts';
import type { IngestSetUp } from './ingest.ts';
import { uniqueRepository } from './stores.ts';
import { runOf } from './verdicts.ts';

/** Enough tests that a run in which all fail is troubled. */
export const TESTS = Array.from({ length: 12 }, (_, i) => `test ${String(i).padStart(2, '0')}`);

/** Runs of two tests in two jobs, on the default branch and another, with skipped ones. */
const mixedRuns = fc.array(
  fc.record({
    runId: fc.integer({ min: 1, max: 6 }).map(String),
    attempt: fc.integer({ min: 1, max: 2 }),
    hours: fc.integer({ min: 0, max: 500 }),
    job: fc.constantFrom('unit', 'e2e'),
    branch: fc.constantFrom('main', 'main', 'main', 'feature'),
    results: fc.record({ a: statuses(), b: statuses() }),
  }),
  { minLength: 1, maxLength: 14 },
);

function statuses(): fc.Arbitrary<Status> {
  return fc.constantFrom<Status>('passed', 'passed', 'passed', 'failed', 'skipped');
}

/** Runs of twelve tests, in which none or all fail more often than some: many of them are troubled. */
const troubledRuns = fc.array(
  fc.record({
    runId: fc.integer({ min: 1, max: 9 }).map(String),
    attempt: fc.integer({ min: 1, max: 2 }),
    hours: fc.integer({ min: 0, max: 120 }),
    failing: fc.constantFrom(0, 0, 0, 1, 2, 6, 11, 12, 12),
    from: fc.nat(TESTS.length - 1),
    message: fc.constantFrom('one', 'other'),
  }),
  { minLength: 2, maxLength: 16 },
);

/** Makes each run a separate upload, even if two have the same attempt. */
const asUploads = (jobs: readonly TestRunsJob[]): TestRunsJob[] =>
  jobs.map((job, i) => ({ ...job, sources: [`upload ${i}`] }));

/** In any order, alone or together, what is derived from mixed runs agrees with the executions. */
export async function mixedRunsAgree({ driver }: IngestSetUp, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(mixedRuns, fc.boolean(), async (runs, isOneByOne) => {
      const repository = uniqueRepository();
      const jobs = asUploads(
        runs.map(({ runId, attempt, hours, results, job, branch }) =>
          runOf({
            ...{ repository, runId, attempt, results, at: TEST_NOW - hours * HOUR_MS, receivedAt: TEST_NOW },
            run: { job_name: job, branch, default_branch: 'main' },
          }),
        ),
      );
      if (isOneByOne) for (const one of jobs) await driver.ingest(one);
      else await driver.ingest(...jobs);
      await driver.verify();
    }),
    { numRuns },
  );
}

/** In any order and any split, verdicts on troubled runs agree with the executions. */
export async function troubledRunsAgree({ driver }: IngestSetUp, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(troubledRuns, fc.nat(3), async (runs, cuts) => {
      const repository = uniqueRepository();
      const jobs = asUploads(
        runs.map(({ runId, attempt, hours, failing, from, message }) => {
          const failed = new Set(Array.from({ length: failing }, (_, i) => TESTS[(from + i) % TESTS.length]));
          const results = Object.fromEntries(
            TESTS.map((name) => [name, failed.has(name) ? ('failed' as const) : ('passed' as const)]),
          );
          const at = TEST_NOW - hours * HOUR_MS;
          return runOf({ repository, runId, attempt, at, results, message, receivedAt: TEST_NOW });
        }),
      );
      const size = Math.ceil(jobs.length / (cuts + 1));
      for (let at = 0; at < jobs.length; at += size) await driver.ingest(...jobs.slice(at, at + size));
      await driver.verify();
    }),
    { numRuns },
  );
}
