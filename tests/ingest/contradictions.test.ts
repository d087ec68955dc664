/** Commits of pull requests that both passed and failed: evidence that a test is flaky, and never that it is broken. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { isContradiction } from '../../src/domain/clues.ts';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { nameOfFailedRun, readEvidence } from '../../src/evaluation/evidence.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { readCluesBetween } from '../../src/postgres/clues.ts';
import { readHealthHistories } from '../../src/postgres/health-histories.ts';
import { nameOfRun, readRuns } from '../../src/postgres/judged-runs.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { pullRunsAgree } from '../support/random-histories.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthOf, healthsOf, PASSING } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });
type Repository = ReturnType<typeof uniqueRepository>;
type Result = 'passed' | 'failed' | 'retried' | 'skipped';
const BEGUN = TEST_NOW - 20 * DAY_MS;

/** The numbers of some pull requests. */
const PULLS = new Map(['one', 'two', 'three'].map((pull, i) => [pull, i + 1]));

interface Ran {
  job?: string;
  hours: number;
  attempt?: number;
  /** Empty: on the default branch. */
  pull?: string;
}

/** A run of `sums` beside tests that pass. */
function ran(
  repository: Repository,
  { job = 'unit', hours, attempt = 1, pull = '' }: Ran,
  results: Record<string, Result>,
) {
  const [runId, branch] = pull === '' ? [`m${hours}`, 'main'] : [`of ${pull}`, pull];
  const all: Record<string, Result> = { ...PASSING, ...results };
  return makeJob({
    repository,
    receivedAt: TEST_NOW,
    run: {
      ...{ run_id: runId, run_attempt: attempt, commit: `commit ${runId}`, branch, default_branch: 'main' },
      ...{ job_name: job, pull_request: PULLS.get(pull) ?? null },
    },
    executions: Object.entries(all).map(([name, result]) => ({
      ...{ name, key: name, at: BEGUN + hours * HOUR_MS },
      status: result === 'retried' ? 'passed' : result,
      isFlaky: result === 'retried',
      isRetried: result === 'retried',
      failures: result === 'failed' ? [{ type: 'Error', message: 'no' }] : [],
    })),
  });
}

const idOf = ({ host, owner, name }: Repository): string => repositoryIdOf(host, owner, name);

/** With what each episode of `sums` began: health, exception, pull request. */
async function beginningsOf(repository: Repository) {
  const testId = testIdOf(idOf(repository), 'sums');
  const histories = await readHealthHistories(ingest.stores.postgres.db, idOf(repository), [testId]);
  const identities = histories.get(testId)?.identities ?? [];
  return identities.flatMap(({ changes }) =>
    changes.map(({ after, exceptionType, pull }) => [after, exceptionType, pull?.title]),
  );
}

const stored = async (repository: Repository) => {
  const { db } = ingest.stores.postgres;
  const id = idOf(repository);
  const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
  return {
    contradictions: await readCluesBetween(db, id, all),
    runs: (await readRuns(db, id, 0)).filter(({ commit }) => commit !== ''),
  };
};

/** A test that passes on the default branch. */
const calm = (repository: Repository) =>
  Array.from({ length: 12 }, (_, i) => ran(repository, { hours: i }, { sums: 'passed' }));

test('a test becomes flaky by commits of pull requests on which it failed and passed, whichever came first', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(...calm(repository));
  await driver.ingest(
    ran(repository, { hours: 20, pull: 'one' }, { sums: 'failed' }),
    ran(repository, { hours: 22, pull: 'two' }, { sums: 'passed' }),
    ran(repository, { hours: 24, pull: 'three' }, { sums: 'retried' }),
  );
  expect((await stored(repository)).contradictions).toHaveLength(1);
  await driver.ingest(ran(repository, { hours: 21, pull: 'one', attempt: 2 }, { sums: 'passed' }));
  await driver.ingest(ran(repository, { hours: 23, pull: 'two', attempt: 2 }, { sums: 'failed' }));
  const { contradictions, runs } = await stored(repository);
  expect(contradictions.map(({ failure }) => failure.commit)).toEqual([
    'commit of one',
    'commit of two',
    'commit of three',
  ]);
  expect(runs.map(({ runAttempt, executions }) => [runAttempt, executions])).toEqual([
    [1, 31],
    [2, 31],
    [1, 31],
  ]);
  expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
  // No execution on the default branch failed.
  expect(await flakyOf(stores, repository)).toEqual([]);
  await driver.verify();
  // Known only after the change, as when a webhook arrives late.
  await stores.postgres.db.insert(pullRequests).values(
    [...PULLS].map(([title, number]) => ({
      ...{ repositoryId: idOf(repository), number, id: number, title, authorId: 1, authorLogin: 'ann' },
    })),
  );
  expect(await beginningsOf(repository)).toEqual([['flaky', 'Error', 'two']]);

  // The next failure on the default branch is known to be flaky at once.
  await driver.ingest(ran(repository, { hours: 30 }, { sums: 'failed' }));
  expect(await flakyOf(stores, repository)).toEqual(['sums m30#1']);
  await driver.verify();
});

test('however often a test fails in pull requests, it is not broken, and one that has only failed there is healthy', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(...calm(repository));
  for (const pull of ['one', 'two', 'three', 'four'])
    await driver.ingest(
      ran(repository, { hours: 20, pull }, { sums: 'failed', added: 'failed' }),
      ran(repository, { hours: 21, pull, attempt: 2 }, { sums: 'failed', added: 'passed' }),
    );
  expect(await healthOf(stores, repository, 'sums')).toEqual(['healthy']);
  // It has never run on the default branch; when it does, what is known of it counts.
  expect(Object.keys(await healthsOf(stores, repository))).not.toContain('added');
  await driver.verify();
  await driver.ingest(ran(repository, { hours: 30 }, { sums: 'passed', added: 'passed' }));
  expect(await healthOf(stores, repository, 'added')).toEqual(['flaky']);
  expect(await healthOf(stores, repository, 'sums')).toEqual(['healthy']);
  await driver.verify();
});

test('in a CI job that only pull requests run, no change of health is noted until it runs on the default branch', async () => {
  const { driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(...calm(repository));
  for (const pull of ['one', 'two', 'three'])
    await driver.ingest(ran(repository, { job: 'e2e', hours: 20, pull }, { sums: 'retried' }));
  expect((await stored(repository)).contradictions).toHaveLength(3);
  expect(await beginningsOf(repository)).toEqual([]);
  await driver.verify();
  await driver.ingest(ran(repository, { job: 'e2e', hours: 30 }, { sums: 'passed' }));
  expect((await beginningsOf(repository)).map(([health]) => health)).toEqual(['flaky']);
  await driver.verify();
});

test.each(['before', 'with', 'after'] as const)(
  'what commits contradict counts for a test that the default branch only ever skips (skipped %p them)',
  async (when) => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const skipped = ran(repository, { hours: 1 }, { sums: 'skipped' });
    const contradicting = ['one', 'two', 'three'].flatMap((pull) => [
      ran(repository, { hours: 20, pull }, { sums: 'failed' }),
      ran(repository, { hours: 21, pull, attempt: 2 }, { sums: 'passed' }),
    ]);
    if (when === 'before') await driver.ingest(skipped);
    await driver.ingest(...contradicting, ...(when === 'with' ? [skipped] : []));
    if (when === 'after') await driver.ingest(skipped);
    expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
    await driver.verify();
  },
);

test('a run in which much fails explains its failures, also when the rest of it arrives later', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(...calm(repository));
  const pulls = ['one', 'two', 'three'];
  for (const pull of pulls)
    await driver.ingest(
      ran(repository, { hours: 20, pull }, { sums: 'failed' }),
      ran(repository, { hours: 21, pull, attempt: 2 }, { sums: 'passed' }),
    );
  expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
  const failed = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`more ${i}`, 'failed' as const]));
  for (const pull of pulls) {
    const shard = ran(repository, { hours: 20, pull }, failed);
    await driver.ingest({ ...shard, sources: [`another shard of ${pull}`] });
  }
  expect(await healthOf(stores, repository, 'sums')).toEqual(['healthy']);
  await driver.verify();
});

test('a CI job in which more than 200 tests failed on a commit contradicts nothing there', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(...calm(repository));
  await driver.ingest(
    ran(repository, { hours: 20, pull: 'one' }, { sums: 'failed' }),
    ran(repository, { hours: 21, pull: 'one', attempt: 2 }, { sums: 'passed' }),
  );
  expect((await stored(repository)).runs).toHaveLength(1);
  const failed = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`more ${i}`, 'failed' as const]));
  await driver.ingest(ran(repository, { hours: 22, pull: 'one', attempt: 3 }, failed));
  expect(await stored(repository)).toEqual({ contradictions: [], runs: [] });
  expect(await healthOf(stores, repository, 'sums')).toEqual(['healthy']);
  await driver.verify();
});

test('what failed in other CI jobs of a commit, however much, leaves a CI job its contradictions', async () => {
  const { driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(...calm(repository));
  const failed = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`more ${i}`, 'failed' as const]));
  const red = ran(repository, { hours: 20, pull: 'one' }, failed);
  await driver.ingest(
    { ...red, run: { ...red.run, job_name: 'another' }, sources: ['another'] },
    ran(repository, { hours: 20, pull: 'one' }, { sums: 'failed' }),
    ran(repository, { hours: 21, pull: 'one', attempt: 2 }, { sums: 'passed' }),
  );
  const { contradictions, runs } = await stored(repository);
  expect(contradictions.map(({ failure }) => failure.commit)).toEqual(['commit of one']);
  expect(runs).toHaveLength(1);
  await driver.verify();
});

test('results that arrive while a commit is read wait for its next reading, and name no run that is not read', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(
    ran(repository, { hours: 1, pull: 'one' }, { sums: 'passed' }),
    ran(repository, { hours: 3, pull: 'one', attempt: 2 }, { sums: 'failed' }),
  );
  let hasArrived = false;
  const clickhouse = new Proxy(stores.clickhouse, {
    get(target, key) {
      if (key !== 'select') return Reflect.get(target, key, target);
      return async (...asked: unknown[]) => {
        const rows = await Reflect.apply(target.select, target, asked);
        // The first statement reads the runs.
        if (!hasArrived) {
          hasArrived = true;
          await driver.ingest(ran(repository, { hours: 2, pull: 'one', attempt: 3 }, { sums: 'failed' }));
        }
        return rows;
      };
    },
  });
  const tests = new Map([['commit of one', new Set<string>()]]);
  const { clues, runs } = await readEvidence({ clickhouse, repositoryId: idOf(repository) }, tests);
  const attemptsOf = (found: readonly { runAttempt: number }[]) => found.map(({ runAttempt }) => runAttempt);
  const named = new Set(runs.map(nameOfRun));
  expect([clues.length, attemptsOf(runs)]).toEqual([1, [2]]);
  for (const clue of clues.filter(isContradiction)) expect(named).toContain(nameOfFailedRun(clue));
  // Once they are evaluated, the commit is read again: its first contradiction is in the run that arrived late.
  expect(attemptsOf((await stored(repository)).runs)).toEqual([3]);
  await driver.verify();
});

test('in any order and any split, what commits contradict agrees with the executions', () => pullRunsAgree(ingest, 2));

test('what its source calls flaky stays flaky when its test starts over right behind it', async () => {
  const { driver } = ingest;
  const repository = uniqueRepository();
  await driver.ingest(ran(repository, { hours: 0 }, { sums: 'retried', pays: 'retried' }));
  // The last comes late: the tests start over from what was believed after the first.
  for (const hours of [24, 23]) await driver.ingest(ran(repository, { hours }, { sums: 'passed', pays: 'passed' }));
  await driver.verify();
});

describe('when months leave', () => {
  // A rebuild works on every repository.
  beforeEach(() => emptyStores(ingest.stores));

  test('what pull requests showed stays believed when their month leaves', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    // All in October, but for the last commit.
    const shift = -24 * 7;
    const pulls = ['one', 'two', 'three'];
    await driver.ingest(
      ...Array.from({ length: 12 }, (_, i) => ran(repository, { hours: shift + i }, { sums: 'passed' })),
    );
    for (const pull of pulls)
      await driver.ingest(
        ran(repository, { hours: shift + 20, pull }, { sums: 'failed' }),
        ran(repository, { hours: shift + 21, pull, attempt: 2 }, { sums: 'passed' }),
      );
    await driver.ingest(
      ran(repository, { hours: 100, pull: 'late' }, { sums: 'failed' }),
      ran(repository, { hours: 101, pull: 'late', attempt: 2 }, { sums: 'passed' }),
      ran(repository, { hours: 110 }, { sums: 'passed' }),
    );
    await driver.verify();
    stores.clock.set(Date.UTC(2027, 1, 10));
    expect(await driver.retention.run()).toContain(202610);
    expect((await stored(repository)).contradictions.map(({ failure }) => failure.commit)).toEqual(['commit of late']);
    expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
    // The failure with which the episode began has left.
    expect(await beginningsOf(repository)).toEqual([['flaky', 'Error', undefined]]);
    await driver.verify();
    stores.clock.set(TEST_NOW);
  });

  test('what pull requests showed stays believed past its month until a test first runs on the default branch', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    // All in October, but for the pull requests `late` and `later`: two tests are on none but pull requests.
    const shift = -24 * 7;
    await driver.ingest(
      ...Array.from({ length: 12 }, (_, i) => ran(repository, { hours: shift + i }, { sums: 'passed' })),
    );
    const added = (result: Result) => ({ added: result, 'added, too': result });
    for (const pull of ['one', 'two', 'three', 'four'])
      await driver.ingest(
        ran(repository, { hours: shift + 20, pull }, added('failed')),
        ran(repository, { hours: shift + 21, pull, attempt: 2 }, added('passed')),
      );
    // That they were not healthy counts in what runs mean.
    const contradicting = (pull: string, hours: number) => [
      ran(repository, { hours, pull }, { ...added('failed'), sums: 'failed' }),
      ran(repository, { hours: hours + 1, pull, attempt: 2 }, { ...added('passed'), sums: 'passed' }),
    ];
    await driver.ingest(...contradicting('late', 100), ran(repository, { hours: 110 }, { sums: 'passed' }));
    stores.clock.set(Date.UTC(2027, 1, 10));
    expect(await driver.retention.run()).toContain(202610);
    await driver.verify();
    await rebuild(stores);
    expect(await healthOf(stores, repository, 'added')).toEqual([]);
    await driver.ingest(...contradicting('later', 102));
    await driver.ingest(ran(repository, { hours: 120 }, { added: 'passed', 'added, too': 'failed' }));
    for (const name of Object.keys(added('passed')))
      expect(await healthOf(stores, repository, name)).toEqual(['flaky']);
    await driver.verify();
    stores.clock.set(TEST_NOW);
  });

  test('what pull requests show counts for a CI job of which only that is left, as long as the test runs in another', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    // The rest is in October; the CI job `e2e` and the pull requests are in November.
    await driver.ingest(
      ...Array.from({ length: 12 }, (_, i) => ran(repository, { hours: i - 24 * 7 }, { sums: 'passed' })),
      ran(repository, { hours: 100, job: 'e2e' }, { sums: 'passed' }),
    );
    for (const pull of ['one', 'two', 'three', 'four'])
      await driver.ingest(
        ran(repository, { hours: 100, pull }, { sums: 'failed' }),
        ran(repository, { hours: 101, pull, attempt: 2 }, { sums: 'passed' }),
      );
    expect(await healthOf(stores, repository, 'sums')).toEqual(['healthy', 'flaky']);
    stores.clock.set(Date.UTC(2027, 1, 10));
    expect(await driver.retention.run()).toContain(202610);
    await driver.verify();
    await rebuild(stores);
    expect(await healthOf(stores, repository, 'sums')).toEqual(['healthy', 'flaky']);
    await driver.verify();
    stores.clock.set(TEST_NOW);
  });

  test('a month in which only pull requests ran leaves, and nothing is missed', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    await driver.ingest(
      // The last days of October, about a test that never runs on the default branch.
      ran(repository, { hours: -24 * 3, pull: 'one' }, { added: 'failed' }),
      ran(repository, { hours: 1 - 24 * 3, pull: 'one', attempt: 2 }, { added: 'passed' }),
      ran(repository, { hours: 100 }, { sums: 'passed' }),
    );
    await driver.verify();
    stores.clock.set(Date.UTC(2027, 1, 10));
    await driver.retention.run();
    await driver.verify();
    await rebuild(stores);
    await driver.verify();
    stores.clock.set(TEST_NOW);
  });
});
