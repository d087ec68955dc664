/** Clues of other jobs about a failure, on real stores. */
import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { TEST_NOW } from '../support/clock.ts';
import { explained } from '../support/explanations.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { uniqueRepository } from '../support/stores.ts';
import { healthOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });
type Repository = ReturnType<typeof uniqueRepository>;
const BEGUN = TEST_NOW - 20 * DAY_MS;
const JOBS: readonly string[] = ['arm', 'linux', 'mac', 'windows'];

/** With so many, a failure in each of four jobs is no trouble of the hour. */
const OTHERS = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`other ${i}`, 'passed' as const]));

/** A run of `sums` in one job, beside tests that pass. */
const ran = (repository: Repository, job: string, commit: number, status: 'passed' | 'failed') =>
  makeJob({
    repository,
    receivedAt: TEST_NOW,
    run: {
      run_id: `${job} ${commit}`,
      commit: `commit ${commit}`,
      branch: 'main',
      default_branch: 'main',
      job_name: job,
    },
    executions: Object.entries({ ...OTHERS, sums: status }).map(([name, result]) => ({
      ...{
        name,
        key: name,
        status: result,
        at: BEGUN + commit * HOUR_MS + JOBS.indexOf(job) * 60_000,
      },
      failures: result === 'failed' ? [{ type: 'Error', message: 'no' }] : [],
    })),
  });

/** Passes everywhere, then fails in the last job. */
const history = (repository: Repository, others: 'passed' | 'failed') => [
  ...Array.from({ length: 4 }, (_, commit) => JOBS.map((job) => ran(repository, job, commit, 'passed'))).flat(),
  ...JOBS.map((job) => ran(repository, job, 4, job === 'windows' ? 'failed' : others)),
];

async function explainedIn(repository: Repository, job: string) {
  const { identities, text } = await explained(ingest.stores, repository, 'sums', undefined);
  const one = identities.find(({ job_name }) => job_name === job);
  if (!one) throw new Error(`nothing is known of ${job}`);
  return { ...one, text };
}

test('a first failure is a break if the test fails in its other jobs on the commit, and none if it passes there', async () => {
  const [passing, failing] = [uniqueRepository(), uniqueRepository()];
  await ingest.driver.ingest(...history(passing, 'passed'), ...history(failing, 'failed'));
  expect(await healthOf(ingest.stores, passing, 'sums')).toEqual(['healthy', 'healthy', 'healthy', 'healthy']);
  expect(await healthOf(ingest.stores, failing, 'sums')).toEqual(['broken', 'broken', 'broken', 'broken']);
  const [alone, together] = [await explainedIn(passing, 'windows'), await explainedIn(failing, 'windows')];
  expect(alone.probabilities.broken).toBeLessThan(0.2);
  expect(together.probabilities.broken).toBeGreaterThan(0.6);
  expect(alone.failures.map(({ other_legs }) => other_legs)).toEqual([{ passed: true, failed: 0 }]);
  expect(together.failures.map(({ other_legs }) => other_legs)).toEqual([{ passed: false, failed: 2 }]);
  expect(alone.text).toContain('on this commit, it passed in other legs, and failed in none');
  expect(together.text).toContain('on this commit, it failed in two or more of its other legs, and passed in none');
  await ingest.driver.verify();
});

test('it does not matter in which order the jobs arrive, and a rebuild says the same', async () => {
  const { stores, driver } = ingest;
  const [together, apart] = [uniqueRepository(), uniqueRepository()];
  await driver.ingest(...history(together, 'passed'));
  const reversed = history(apart, 'passed').toReversed();
  for (let from = 0; from < reversed.length; from += 7) await driver.ingest(...reversed.slice(from, from + 7));
  const said = async () => {
    const both = [await explainedIn(together, 'windows'), await explainedIn(apart, 'windows')];
    return both.map(({ probabilities }) => probabilities);
  };
  const [first, second] = await said();
  expect(second).toEqual(first as NonNullable<typeof first>);
  await driver.verify();
  await rebuild(stores);
  expect(await said()).toEqual([first, first] as NonNullable<typeof first>[]);
  await driver.verify();
});
