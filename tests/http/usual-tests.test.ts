/** A CI job that ran far fewer tests than it uses to: reads of its run and of its commit say so. */
import { expect, test } from 'bun:test';
import { StoreUnavailable } from '../../src/errors.ts';
import { UsualTestsOfJobs } from '../../src/insights/usual-tests.ts';
import { at, setUpInsights } from '../support/insights.ts';

const WHOLE = 40;
const tests = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `t${i}`, at: at(30) }));
const stopped = (more = {}) => ({ branch: 'fix', pull_request: 7, run_id: 'stopped', commit: 'stopped', ...more });

const insights = setUpInsights(async (fixture) => {
  const failed = { name: 't0', at: at(2), status: 'failed' as const, failures: [{ message: 'no' }] };
  await fixture.ingest(
    ...Array.from({ length: 6 }, () => fixture.run(tests(WHOLE))),
    ...Array.from({ length: 6 }, () => fixture.run(tests(WHOLE), { job_name: 'rare', branch: 'fix' })),
    // Its runner stopped at the first failure; the rest is reported as skipped.
    fixture.run([failed, { name: 't1', at: at(2) }, { name: 't2', at: at(2), status: 'skipped' }], stopped()),
    fixture.run([failed], stopped({ run_attempt: 2 })),
    fixture.run([failed], stopped({ job_name: 'rare' })),
    ...Array.from({ length: 6 }, (_, i) => `m${i}`).flatMap((commit) =>
      ['linux', 'windows'].map((os) =>
        fixture.run(tests(WHOLE), { job_name: 'matrix', run_id: commit, commit, axes: { os } }),
      ),
    ),
    fixture.run(tests(WHOLE), stopped({ job_name: 'matrix', run_id: 'leg', commit: 'leg', axes: { os: 'linux' } })),
    fixture.run(tests(2), stopped({ job_name: 'matrix', run_id: 'leg', commit: 'leg', axes: { os: 'windows' } })),
    fixture.run(tests(WHOLE - 1), { branch: 'fix', pull_request: 7, run_id: 'whole', commit: 'whole' }),
  );
});

interface Run {
  jobs: { job_name: string; run_attempt: number; usual_tests: number | null }[];
}

async function jobsOf(commit: string) {
  const { base } = insights.fixture;
  const { runs } = await insights.app.get<{ runs: { id: string }[] }>(`${base}/runs?commit_sha=${commit}`);
  const run = await insights.app.get<Run>(`${base}/runs/${runs[0]?.id}`);
  return Object.fromEntries(run.jobs.map((job) => [`${job.job_name} ${job.run_attempt}`, job.usual_tests]));
}

const fewerOn = async (commit: string) =>
  (await insights.app.get<{ fewer_tests: unknown }>(`${insights.fixture.base}/commits/${commit}/failures`)).fewer_tests;

test('a run whose runner stopped early says how many tests its CI job usually runs', async () => {
  // The second attempt may run only what failed, and the other job has never run on the default branch.
  expect(await jobsOf('stopped')).toEqual({ 'unit 1': WHOLE, 'unit 2': null, 'rare 1': null });
  expect(await fewerOn('stopped')).toEqual([
    { pipeline_name: 'CI', job_name: 'unit', axes: {}, run_id: 'stopped', run_attempt: 1, ran: 2, usual: WHOLE },
  ]);
});

test('a leg that stopped early is told from the others of its matrix', async () => {
  expect(await fewerOn('leg')).toEqual([
    {
      ...{ pipeline_name: 'CI', job_name: 'matrix', axes: { os: 'windows' }, run_id: 'leg', run_attempt: 1 },
      ...{ ran: 2, usual: WHOLE },
    },
  ]);
});

test('nothing is said of a run that ran nearly all', async () => {
  expect(await jobsOf('whole')).toEqual({ 'unit 1': null });
  expect(await fewerOn('whole')).toEqual([]);
});

test('reads of the same pipeline share one statement, and go on without it while ClickHouse is away', async () => {
  const { clickhouse, repositories } = insights.app.stores;
  const { owner, name } = insights.fixture.repository;
  const repository = await repositories.find(owner, name);
  if (!repository) throw new Error('the repository is not recorded');
  let statements = 0;
  let isAway = true;
  const select: typeof clickhouse.select = (...asked) => {
    statements++;
    return isAway ? Promise.reject(new StoreUnavailable('clickhouse', new Error('away'))) : clickhouse.select(...asked);
  };
  const usual = new UsualTestsOfJobs({ ...clickhouse, select });
  const row = {
    ...{ pipeline_name: 'CI', job_name: 'unit', axes: '', run_id: 'x', run_attempt: 1, passed: 1, failed: 0 },
    day_number: Math.floor(at(2) / 86_400_000),
  };
  expect(await usual.fewer(repository, [row])).toEqual([]);
  isAway = false;
  const rows = Array.from({ length: 20 }, (_, i) => ({ ...row, run_id: String(i) }));
  expect((await Promise.all([usual.fewer(repository, rows), usual.fewer(repository, rows)])).flat()).toHaveLength(40);
  expect(statements).toBe(2);
});
