/** Evidence on real stores: failures that repeat, and runs in which much fails at once. */
import { describe, expect, test } from 'bun:test';
import type { Status } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { TESTS, troubledRunsAgree } from '../support/random-histories.ts';
import { uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthsOf, type RunOf, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();

type Given = Omit<RunOf, 'repository' | 'receivedAt'>;
const jobsOf = (repository: RunOf['repository'], runs: readonly Given[]) =>
  runs.map((run) => runOf({ repository, receivedAt: TEST_NOW, ...run }));

const all = <T>(value: T, names = TESTS) => Object.fromEntries(names.map((name) => [name, value]));
const passed = (names = TESTS) => all<Status>('passed', names);
const failed = (names = TESTS) => all<Status>('failed', names);

describe('failures of one test among others that pass', () => {
  const others = passed(TESTS.slice(1));
  const [sums = ''] = TESTS;
  const run = (runId: number, status: Status, attempt = 1): Given => ({
    runId: String(runId),
    attempt,
    at: TEST_NOW - (40 - runId) * HOUR_MS + attempt * 60_000,
    results: { ...others, [sums]: status },
  });
  const calm = Array.from({ length: 10 }, (_, i) => run(i, 'passed'));

  test('are flaky if their commits pass as well, in whatever order they arrive', async () => {
    const { stores, driver } = ingest;
    const runs = [
      ...calm,
      ...[11, 12, 13].flatMap((id) => [run(id, 'failed'), run(id, 'passed', 2)]),
      run(14, 'passed'),
    ];
    for (const isOneByOne of [false, true]) {
      const repository = uniqueRepository();
      const jobs = jobsOf(repository, runs);
      if (isOneByOne) for (const job of jobs.toReversed()) await driver.ingest(job);
      else await driver.ingest(...jobs);
      expect(await flakyOf(stores, repository)).toEqual([11, 12, 13].map((id) => `${sums} ${id}#1`));
      expect(await healthsOf(stores, repository)).toEqual({ ...all(['healthy']), [sums]: ['flaky'] });
    }
    await driver.verify();
  });

  test('are a break if they last from commit to commit, and end with it', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const broken = [...calm, run(11, 'failed'), run(12, 'failed'), run(13, 'failed')];
    await driver.ingest(...jobsOf(repository, broken));
    expect(await healthsOf(stores, repository)).toEqual({ ...all(['healthy']), [sums]: ['broken'] });
    await driver.ingest(...jobsOf(repository, [run(14, 'passed'), run(15, 'passed'), run(16, 'passed')]));
    expect(await healthsOf(stores, repository)).toEqual(all(['healthy']));
    expect(await flakyOf(stores, repository)).toEqual([]);
    await driver.verify();
  });
});

describe('infrastructure trouble', () => {
  test('a day on which everything fails changes no health at any moment, even when a second attempt passes', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const day = Date.parse('2026-11-19T00:00:00Z');
    await driver.ingest(...jobsOf(repository, [{ runId: '0', at: day - 4 * HOUR_MS, results: passed() }]));
    for (const hour of [1, 12, 23]) {
      const at = day + hour * HOUR_MS;
      await driver.ingest(...jobsOf(repository, [{ runId: `at ${hour}`, at, results: failed() }]));
      expect(await healthsOf(stores, repository)).toEqual(all(['healthy']));
    }
    const second = { runId: 'at 23', attempt: 2, at: day + 25 * HOUR_MS, results: passed() };
    await driver.ingest(...jobsOf(repository, [second]));
    expect(await healthsOf(stores, repository)).toEqual(all(['healthy']));
    expect(await flakyOf(stores, repository)).toEqual([]);
    await driver.verify();
  });

  test('everything that still fails days later is broken', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const runs = Array.from({ length: 12 }, (_, i): Given => {
      const at = TEST_NOW - (72 - 6 * i) * HOUR_MS;
      return { runId: `${i}`, at, results: i === 0 ? passed() : failed() };
    });
    await driver.ingest(...jobsOf(repository, runs.slice(0, 3)));
    expect(await healthsOf(stores, repository)).toEqual(all(['healthy']));
    await driver.ingest(...jobsOf(repository, runs.slice(3)));
    expect(await healthsOf(stores, repository)).toEqual(all(['broken']));
    await driver.verify();
  });

  test('a run that proves troubled only when more of it arrives no longer speaks against its tests', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const [broken = '', ...others] = TESTS;
    const calm = Array.from({ length: 6 }, (_, i): Given => {
      return { runId: `${i}`, at: TEST_NOW - (30 - i) * HOUR_MS, results: passed() };
    });
    const failing = (runId: string, hours: number, rest: Status): Given[] => [
      { runId, at: TEST_NOW - hours * HOUR_MS, results: { [broken]: 'failed', [others[0] ?? '']: 'passed' } },
      { runId, at: TEST_NOW - hours * HOUR_MS, results: all<Status>(rest, others.slice(1)) },
    ];
    const [[first, restOfFirst], [second, restOfSecond]] = [failing('6', 20, 'failed'), failing('7', 19, 'failed')];
    await driver.ingest(...jobsOf(repository, [...calm, ...[first, second].flatMap((one) => one ?? [])]));
    expect((await healthsOf(stores, repository))[broken]).toEqual(['broken']);
    const rest = jobsOf(
      repository,
      [restOfFirst, restOfSecond].flatMap((one) => one ?? []),
    );
    await driver.ingest(...rest.map((job, i) => ({ ...job, sources: [`rest ${i}`] })));
    expect(await healthsOf(stores, repository)).toEqual(all(['healthy']));
    await driver.verify();
  });

  test('in any order and any split, verdicts agree with the executions', () => troubledRunsAgree(ingest, 2));
});

test('with flaky detection off nothing is flaky, not even what its source calls flaky', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  const recorded = await stores.repositories.record(repository);
  await stores.repositories.set(recorded, { flakyDetectionEnabled: false }, 'ann');
  const at = (hours: number): number => TEST_NOW - hours * HOUR_MS;
  const flagged = jobsOf(repository, [{ runId: '2', at: at(3), results: { adds: 'passed' } }]);
  await driver.ingest(
    ...jobsOf(repository, [
      { runId: '1', at: at(3), results: { sums: 'failed' } },
      { runId: '1', attempt: 2, at: at(2), results: { sums: 'passed' } },
    ]),
    ...flagged.map((job) => ({ ...job, executions: { ...job.executions, is_flaky: [true] } })),
  );
  expect(await flakyOf(stores, repository)).toEqual([]);
  expect((await healthsOf(stores, repository)).adds).toEqual(['healthy']);
  await driver.verify();
});
