/** Verdicts and health as results come in. */
import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { overlappingRunsAgree, storedAheadAgrees } from '../support/overlapping-runs.ts';
import { mixedRunsAgree } from '../support/random-histories.ts';
import { uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthsOf, PASSING, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();
const hoursAgo = (hours: number) => ({ at: TEST_NOW - hours * HOUR_MS, receivedAt: TEST_NOW });

test.each([false, true])(
  'a failure is flaky once another attempt of its commit passes, whichever arrives first (pass first: %p)',
  async (isPassFirst) => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const given = { repository, runId: '1' };
    const failed = runOf({ ...given, ...hoursAgo(2), results: { ...PASSING, sums: 'failed' } });
    const passed = runOf({ ...given, attempt: 2, ...hoursAgo(1), results: { ...PASSING, sums: 'passed' } });
    await driver.ingest(isPassFirst ? passed : failed);
    expect(await flakyOf(stores, repository)).toEqual([]);
    await driver.ingest(isPassFirst ? failed : passed);
    expect(await flakyOf(stores, repository)).toEqual(['sums 1#1']);
    expect(await healthsOf(stores, repository)).toMatchObject({ 'passing 0': ['healthy'], sums: ['flaky'] });
    await driver.verify();
  },
);

test('a verdict is withdrawn when more of its run arrives, and the run was in trouble', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  const given = { repository, runId: '1' };
  await driver.ingest(
    runOf({ repository, runId: '0', ...hoursAgo(4), results: PASSING }),
    runOf({ ...given, ...hoursAgo(3), results: { ...PASSING, sums: 'failed' } }),
    runOf({ ...given, attempt: 2, ...hoursAgo(2), results: { sums: 'passed' } }),
  );
  expect(await flakyOf(stores, repository)).toEqual(['sums 1#1']);
  const results = Object.fromEntries(Object.keys(PASSING).map((name) => [`more ${name}`, 'failed' as const]));
  const shard = runOf({ ...given, ...hoursAgo(3), results });
  await driver.ingest({ ...shard, sources: ['another shard'] });
  expect(await flakyOf(stores, repository)).toEqual([]);
  await driver.verify();
});

test('the legs of a job are as healthy together as the worst, also when more of a run says that it was in trouble', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  const legs = [{ os: 'linux' }, { os: 'windows' }].map((axes) => ({ axes }));
  const [linux = {}, windows = {}] = legs;
  const given = { repository, runId: '1', run: linux };
  await driver.ingest(
    ...legs.map((run) =>
      runOf({ repository, run, runId: '0', ...hoursAgo(4), results: { ...PASSING, sums: 'passed' } }),
    ),
    runOf({ ...given, ...hoursAgo(3), results: { ...PASSING, sums: 'failed' } }),
    runOf({ ...given, run: windows, ...hoursAgo(3), results: { ...PASSING, sums: 'passed' } }),
    runOf({ ...given, attempt: 2, ...hoursAgo(2), results: { sums: 'passed' } }),
  );
  expect(await healthsOf(stores, repository)).toMatchObject({ sums: ['flaky'], 'passing 0': ['healthy'] });
  const results = Object.fromEntries(Object.keys(PASSING).map((name) => [`more ${name}`, 'failed' as const]));
  const shard = runOf({ ...given, ...hoursAgo(3), results });
  await driver.ingest({ ...shard, sources: ['another shard'] });
  expect(await healthsOf(stores, repository)).toMatchObject({ sums: ['healthy'] });
  await driver.verify();
});

test('flaky executions count for the days up to the newest of the same test, whatever arrives beside it', async () => {
  const { driver } = ingest;
  const repository = uniqueRepository();
  const of = { repository, receivedAt: TEST_NOW };
  const old = makeJob({
    ...of,
    run: { run_id: 'old', commit: 'old' },
    executions: [40, 35].map((days) => ({ name: 'old', at: TEST_NOW - days * DAY_MS, isFlaky: true, isRetried: true })),
  });
  const recent = makeJob({ ...of, executions: [{ name: 'recent', at: TEST_NOW, isFlaky: true, isRetried: true }] });
  await driver.ingest(old, recent);
  await driver.verify();
});

test('in any order, one by one or together, what is derived agrees with the executions', () =>
  mixedRunsAgree(ingest, 2));

test('in runs that go on at the same time, what is derived agrees with the executions', () =>
  overlappingRunsAgree(ingest, 2));

test('what is stored and not counted yet when runs are judged again counts once', () => storedAheadAgrees(ingest, 2));
