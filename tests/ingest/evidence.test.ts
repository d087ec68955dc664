/** What counts as evidence, on real stores: failures that repeat, and runs in which much fails at once. */
import { describe, expect, test } from 'bun:test';
import type { Status } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { TESTS, troubledRunsAgree } from '../support/random-histories.ts';
import { uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthsOf, heldBackOf, type RunOf, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();

type Given = Omit<RunOf, 'repository' | 'receivedAt'>;
const jobsOf = (repository: RunOf['repository'], runs: readonly Given[]) =>
  runs.map((run) => runOf({ repository, receivedAt: TEST_NOW, ...run }));

const all = <T>(value: T, names = TESTS) => Object.fromEntries(names.map((name) => [name, value]));
const passed = (names = TESTS) => all<Status>('passed', names);
const failed = (names = TESTS) => all<Status>('failed', names);

describe('failures that repeat', () => {
  const single = (runId: string, hours: number, status: Status, message?: string): Given => ({
    runId,
    at: TEST_NOW - hours * HOUR_MS,
    results: { sums: status },
    ...(message ? { message } : {}),
  });

  test('two isolated failures of one kind are flaky, whichever of the runs arrives last', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const runs = [
      single('1', 90, 'passed'),
      single('2', 80, 'failed', 'timed out after 31 s'),
      single('3', 70, 'passed'),
      single('4', 60, 'failed', 'timed out after 77 s'),
      single('5', 50, 'passed'),
    ];
    // For each order a test, in runs without the others.
    const orders = runs.map((_, last) => {
      const name = `${last + 1} last`;
      const jobs = jobsOf(
        repository,
        runs.map((run) => ({ ...run, runId: `${name}, ${run.runId}`, results: { [name]: run.results.sums } })),
      );
      return { name, early: jobs.filter((_, i) => i !== last), late: jobs.filter((_, i) => i === last) };
    });
    await driver.ingest(...orders.flatMap(({ early }) => early));
    await driver.ingest(...orders.flatMap(({ late }) => late));
    const names = orders.map(({ name }) => name);
    expect(await flakyOf(stores, repository)).toEqual(
      names.flatMap((name) => [`${name} ${name}, 2#1`, `${name} ${name}, 4#1`]),
    );
    expect(await healthsOf(stores, repository)).toEqual(all(['flaky'], names));
    await driver.verify();
  });

  test('failures of different kinds, or without a pass between them, are not', async () => {
    const { stores, driver } = ingest;
    const [differing, consecutive] = [uniqueRepository(), uniqueRepository()];
    await driver.ingest(
      ...jobsOf(differing, [
        single('1', 90, 'passed'),
        single('2', 80, 'failed', 'one thing'),
        single('3', 70, 'passed'),
        single('4', 60, 'failed', 'quite another'),
        single('5', 50, 'passed'),
      ]),
      ...jobsOf(consecutive, [
        single('1', 90, 'passed'),
        single('2', 80, 'failed'),
        single('3', 70, 'failed'),
        single('4', 60, 'passed'),
      ]),
    );
    expect(await flakyOf(stores, differing)).toEqual([]);
    expect(await flakyOf(stores, consecutive)).toEqual([]);
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
    expect(await heldBackOf(stores, repository)).toHaveLength(3 * TESTS.length);
    await driver.verify();
  });

  test('a failure in a troubled run counts once the next run fails for the same test, and for no other', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const [broken, fine] = [TESTS.slice(0, 3), TESTS.slice(3)];
    // 12 of 26 tests: trouble, but not everything.
    const others = Array.from({ length: 14 }, (_, i) => `other ${i}`);
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '1', at: TEST_NOW - 5 * HOUR_MS, results: passed([...TESTS, ...others]) },
        { runId: '2', at: TEST_NOW - 4 * HOUR_MS, results: { ...passed(others), ...failed() } },
      ]),
    );
    expect(await healthsOf(stores, repository)).toEqual(all(['healthy'], [...TESTS, ...others]));
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '3', at: TEST_NOW - 3 * HOUR_MS, results: { ...passed(fine), ...failed(broken) } },
      ]),
    );
    expect(await healthsOf(stores, repository)).toEqual({
      ...all(['broken'], broken),
      ...all(['healthy'], [...fine, ...others]),
    });
    expect(await heldBackOf(stores, repository)).toEqual(fine.map((name) => `${name} 2#1`));
    await driver.verify();
  });

  test('everything that still fails two days later is broken', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const runs = [0, 12, 24, 36, 49].map(
      (hours): Given => ({
        runId: `after ${hours}`,
        at: TEST_NOW - (60 - hours) * HOUR_MS,
        results: hours === 0 ? passed() : failed(),
      }),
    );
    await driver.ingest(...jobsOf(repository, runs.slice(0, 4)));
    expect(await healthsOf(stores, repository)).toEqual(all(['healthy']));
    await driver.ingest(...jobsOf(repository, runs.slice(4)));
    expect(await healthsOf(stores, repository)).toEqual(all(['broken']));
    expect(await heldBackOf(stores, repository)).toEqual([]);
    await driver.verify();
  });

  test('a run that proves troubled only when its second half arrives has its verdicts withdrawn', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const failing = { runId: '2', at: TEST_NOW - 4 * HOUR_MS };
    const [half, rest] = [TESTS.slice(0, 6), TESTS.slice(6)];
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '1', at: TEST_NOW - 5 * HOUR_MS, results: passed() },
        { ...failing, results: failed(half) },
      ]),
    );
    expect(await healthsOf(stores, repository)).toMatchObject(all(['broken'], half));
    const second = jobsOf(repository, [{ ...failing, results: failed(rest) }]);
    await driver.ingest(...second.map((job) => ({ ...job, sources: ['second half'] })));
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
