/**
 * Properties of evaluation on real stores, for random histories: a few in each run of the tests, many in a
 * nightly one.
 */
import fc from 'fast-check';
import type { Axes } from '../../src/domain/axes.ts';
import type { Status } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { inBudget } from './budget.ts';
import { TEST_NOW } from './clock.ts';
import type { IngestSetUp } from './ingest.ts';
import { makeJob } from './jobs.ts';
import { uniqueRepository } from './stores.ts';
import { PASSING, runOf } from './verdicts.ts';

/** Enough tests that a run in which all fail is troubled. */
export const TESTS = Array.from({ length: 12 }, (_, i) => `test ${String(i).padStart(2, '0')}`);

/** Runs of two tests in two jobs with several legs, on the default branch and another, with skipped ones. */
const mixedRuns = fc.array(
  fc.record({
    runId: fc.integer({ min: 1, max: 6 }).map(String),
    attempt: fc.integer({ min: 1, max: 2 }),
    hours: fc.integer({ min: 0, max: 500 }),
    job: fc.constantFrom('unit', 'e2e'),
    axes: fc.constantFrom<Axes>({}, {}, { os: 'linux' }, { os: 'windows' }),
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

/** Attempts of CI jobs on few commits, most of them of pull requests, around the turn of a month. */
const pullRuns = fc.array(
  fc.record({
    runId: fc.integer({ min: 1, max: 3 }).map(String),
    attempt: fc.integer({ min: 1, max: 3 }),
    hours: fc.integer({ min: 400, max: 600 }),
    job: fc.constantFrom('unit', 'unit', 'e2e'),
    axes: fc.constantFrom<Axes>({}, {}, {}, { os: 'linux' }, { os: 'windows' }),
    branch: fc.constantFrom('main', 'feature', 'feature', 'feature'),
    commit: fc.constantFrom('a', 'b', 'c', ''),
    failing: fc.constantFrom(0, 0, 0, 1, 1, 2, 12),
    from: fc.nat(2),
    retried: fc.constantFrom(0, 0, 0, 1, 2),
  }),
  { minLength: 4, maxLength: 24 },
);

/** The history of a repository before it is verified. */
export type Disturb = (repository: TestRunsJob['repository']) => Promise<void>;

/** Makes each run a separate upload, even if two have the same attempt. */
export const asUploads = (jobs: readonly TestRunsJob[]): TestRunsJob[] =>
  jobs.map((job, i) => ({ ...job, sources: [`upload ${i}`] }));

/** In any order, alone or together, what is derived from mixed runs agrees with the executions. */
export async function mixedRunsAgree({ driver }: IngestSetUp, numRuns: number, disturb?: Disturb): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      mixedRuns,
      fc.boolean(),
      inBudget(async (runs, isOneByOne) => {
        const repository = uniqueRepository();
        const jobs = asUploads(
          runs.map(({ runId, attempt, hours, results, job, axes, branch }) =>
            runOf({
              ...{ repository, runId, attempt, results, at: TEST_NOW - hours * HOUR_MS, receivedAt: TEST_NOW },
              run: { job_name: job, axes, branch, default_branch: 'main' },
            }),
          ),
        );
        if (isOneByOne) for (const one of jobs) await driver.ingest(one);
        else await driver.ingest(...jobs);
        await disturb?.(repository);
        await driver.verify();
      }),
    ),
    { numRuns },
  );
}

/** In any order and any split, verdicts on troubled runs agree with the executions. */
export async function troubledRunsAgree({ driver }: IngestSetUp, numRuns: number, disturb?: Disturb): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      troubledRuns,
      fc.nat(3),
      inBudget(async (runs, cuts) => {
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
        await disturb?.(repository);
        await driver.verify();
      }),
    ),
    { numRuns },
  );
}

/**
 * In any order and any split, what commits of pull requests contradict, and what follows from it, agrees with the executions.
 * Among many tests, so that a failure tells something about its test.
 */
export async function pullRunsAgree({ driver }: IngestSetUp, numRuns: number, disturb?: Disturb): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      pullRuns,
      fc.nat(6),
      inBudget(async (runs, cuts) => {
        const repository = uniqueRepository();
        const jobs = asUploads(
          runs.map(({ runId, attempt, hours, job, axes, branch, commit, failing, from, retried }) => {
            const troubled = (offset: number, many: number) =>
              new Set(Array.from({ length: many }, (_, i) => TESTS[(from + offset + i) % TESTS.length]));
            const [failed, passedLate] = [troubled(0, failing), troubled(1, retried)];
            return makeJob({
              repository,
              receivedAt: TEST_NOW,
              run: { run_id: runId, run_attempt: attempt, commit, branch, default_branch: 'main', job_name: job, axes },
              executions: [...TESTS, ...Object.keys(PASSING)].map((name) => ({
                name,
                key: name,
                at: TEST_NOW - hours * HOUR_MS,
                ...(failed.has(name)
                  ? { status: 'failed' as const, failures: [{ type: 'Error', message: 'no' }] }
                  : { isFlaky: passedLate.has(name), isRetried: passedLate.has(name) }),
              })),
            });
          }),
        );
        const size = Math.ceil(jobs.length / (cuts + 1));
        for (let at = 0; at < jobs.length; at += size) await driver.ingest(...jobs.slice(at, at + size));
        await disturb?.(repository);
        await driver.verify();
      }),
    ),
    { numRuns },
  );
}
