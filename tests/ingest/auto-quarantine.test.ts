/** Quarantines and recoveries by the evaluation, on real stores. */
import { describe, expect, test } from 'bun:test';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { evaluateRepository } from '../../src/evaluation/pass.ts';
import { Refresh } from '../../src/evaluation/refresh.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { Quarantine } from '../../src/postgres/quarantine-records.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { prepareChunk } from '../support/prepare.ts';
import { TESTS } from '../support/random-histories.ts';
import { uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();

const ANN = { name: 'ann', actor: null };

type Status = 'passed' | 'failed' | 'flaky';

/** Tests that always pass: with them, a failure says something about the test, not about the run. */
const OTHERS = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`other ${i}`, 'passed' as const]));

/** One test of one repository, run after run with others, an hour apart; the clock follows. */
class Course {
  readonly repository = uniqueRepository();
  readonly id = repositoryIdOf(this.repository.host, this.repository.owner, this.repository.name);
  #runs = 0;
  at = TEST_NOW - 40 * DAY_MS;

  private constructor(private readonly others: Record<string, 'passed'>) {}

  static async start(
    mode: 'off' | 'flaky' | 'flaky+broken',
    others: Record<string, 'passed'> = OTHERS,
  ): Promise<Course> {
    const { stores } = ingest;
    const course = new Course(others);
    stores.clock.set(course.at);
    const recorded = await stores.repositories.record(course.repository);
    await stores.repositories.set(recorded, { autoQuarantine: mode }, 'ann');
    return course;
  }

  /** A flaky run fails, and passes in a second attempt. */
  async run(statuses: readonly Status[], everyMs = HOUR_MS): Promise<void> {
    const jobs = statuses.flatMap((status) => {
      this.at += everyMs;
      const runId = String(++this.#runs);
      const given = { repository: this.repository, runId, at: this.at, receivedAt: this.at };
      if (status === 'passed') return [runOf({ ...given, results: { ...this.others, sums: 'passed' } })];
      const failed = runOf({ ...given, results: { ...this.others, sums: 'failed' }, message: `failure ${runId}` });
      if (status === 'failed') return [failed];
      return [
        failed,
        runOf({ ...given, at: this.at + 60_000, attempt: 2, results: { ...this.others, sums: 'passed' } }),
      ];
    });
    ingest.stores.clock.set(this.at + 120_000);
    await ingest.driver.ingest(...jobs);
  }

  /** A run in which everything fails. */
  async outage(): Promise<void> {
    this.at += HOUR_MS;
    const results = Object.fromEntries(['sums', ...Object.keys(this.others)].map((name) => [name, 'failed' as const]));
    const runId = String(++this.#runs);
    const job = runOf({ repository: this.repository, runId, at: this.at, receivedAt: this.at, results });
    await ingest.driver.ingest(job);
  }

  async open(): Promise<Quarantine[]> {
    return (await ingest.stores.quarantines.snapshot(this.id)).quarantines;
  }
}

const times = (count: number, status: Status = 'passed'): Status[] => Array.from({ length: count }, () => status);

describe('auto-quarantine', () => {
  test('a test that is surely flaky, on two commits, is quarantined once, with the evidence', async () => {
    const { driver } = ingest;
    const course = await Course.start('flaky');
    await course.run([...times(10), 'flaky']);
    expect(await course.open()).toEqual([]);
    await course.run(['passed', 'flaky', 'flaky']);
    const [quarantine, ...others] = await course.open();
    expect(others).toEqual([]);
    expect(quarantine).toMatchObject({
      testName: 'sums',
      branch: null,
      source: 'auto',
      actor: 'auto-quarantine',
      isRecovered: false,
    });
    expect(quarantine?.reason).toMatch(
      /^Flaky in CI \/ unit with a probability of 9[5-9](?:\.\d)?%: fails in about \d+% of its runs when nothing else does, lately on commit of 11, commit of 13, commit of 14\.$/,
    );
    await course.run(times(3, 'flaky'));
    expect(await course.open()).toHaveLength(1);
    await driver.verify();
  });

  test('the first owner of a test owns its quarantine, also if all of its executions arrive at once', async () => {
    const { driver, stores } = ingest;
    const course = await Course.start('flaky');
    const recorded = await stores.repositories.record(course.repository);
    const rules = [{ test_name: 'sums', owners: ['@acme/cart', '@acme/all'] }];
    await stores.repositories.set(recorded, { testOwners: rules }, 'ann');
    await course.run([...times(10), 'flaky', 'passed', 'flaky', 'flaky']);
    expect(await course.open()).toMatchObject([{ testName: 'sums', owner: '@acme/cart' }]);
    await driver.verify();
  });

  test('off quarantines nothing, and neither does one commit; a test alone in its CI job is as flaky as others', async () => {
    const { driver } = ingest;
    const off = await Course.start('off');
    await off.run([...times(5), ...times(4, 'flaky')]);
    expect(await off.open()).toEqual([]);
    const oneCommit = await Course.start('flaky');
    await oneCommit.run(times(5));
    const { repository } = oneCommit;
    const attempts = Array.from({ length: 12 }, (_, i) => {
      oneCommit.at += HOUR_MS;
      const results = { ...OTHERS, sums: i % 2 === 0 ? ('failed' as const) : ('passed' as const) };
      return runOf({ repository, runId: 'red', attempt: i + 1, at: oneCommit.at, receivedAt: oneCommit.at, results });
    });
    await driver.ingest(...attempts);
    expect(await oneCommit.open()).toEqual([]);
    const alone = await Course.start('flaky', {});
    await alone.run([...times(10), 'flaky', 'passed']);
    expect(await alone.open()).toEqual([]);
    await alone.run(['flaky', 'flaky']);
    expect(await alone.open()).toHaveLength(1);
    await driver.verify();
  });

  test('a broken test is quarantined after three commits over a day, in the mode for it; one red commit never is enough', async () => {
    const { stores, driver } = ingest;
    const onlyFlaky = await Course.start('flaky');
    await onlyFlaky.run([...times(10), ...times(26, 'failed')]);
    expect(await onlyFlaky.open()).toEqual([]);

    const course = await Course.start('flaky+broken');
    await course.run([...times(10), ...times(20, 'failed')]);
    expect(await course.open()).toEqual([]);
    await course.run(times(5, 'failed'));
    expect((await course.open()).map((one) => one.reason)).toEqual([
      expect.stringMatching(
        /^Broken in CI \/ unit with a probability of \S+%: failed on .* without a pass, from .* to .*\.$/,
      ),
    ]);

    const oneCommit = await Course.start('flaky+broken');
    await oneCommit.run(times(20));
    for (let attempt = 1; attempt <= 30; ) {
      const attempts = [];
      for (const end = attempt + 10; attempt < end; attempt++) {
        oneCommit.at += 3 * HOUR_MS;
        const { repository, at } = oneCommit;
        attempts.push(
          runOf({ repository, runId: 'red', attempt, at, receivedAt: at, results: { ...OTHERS, sums: 'failed' } }),
        );
      }
      stores.clock.set(oneCommit.at);
      await driver.ingest(...attempts);
    }
    expect(await oneCommit.open()).toEqual([]);
    await driver.verify();
  });

  test('evidence from before its release by a person does not quarantine a test again; new evidence does', async () => {
    const { stores, driver } = ingest;
    const course = await Course.start('flaky');
    await course.run([...times(10), 'flaky', 'flaky', 'flaky']);
    const [quarantine] = await course.open();
    await stores.quarantines.remove(course.id, quarantine?.id ?? '', ANN);
    await course.run(times(5));
    expect(await course.open()).toEqual([]);
    await course.run(['passed', 'flaky']);
    expect(await course.open()).toEqual([]);
    await course.run(['flaky']);
    expect(await course.open()).toHaveLength(1);
    await driver.verify();
  });

  test('a test that a person has quarantined for one CI job or failure group is not quarantined as a whole', async () => {
    const { stores, driver } = ingest;
    const course = await Course.start('flaky');
    await course.run(times(5));
    for (const narrowing of [{ jobName: 'e2e' }, { failureIds: [crypto.randomUUID()], branch: 'main' }])
      await stores.quarantines.create(
        course.id,
        { testName: 'sums', reason: 'known', branch: null, ...narrowing },
        ANN,
      );
    await course.run(['flaky', 'flaky', 'flaky']);
    expect((await course.open()).map(({ source }) => source)).toEqual(['manual', 'manual']);
    await driver.verify();
  });

  test('a day on which everything fails quarantines nothing', async () => {
    const { stores, driver } = ingest;
    const course = await Course.start('flaky+broken');
    const runAt = (hour: number, status: 'passed' | 'failed', attempt = 1) => {
      const at = course.at + hour * HOUR_MS + (attempt - 1) * 60_000;
      const results = Object.fromEntries(TESTS.map((name) => [name, status]));
      return runOf({ repository: course.repository, runId: `run ${hour}`, attempt, at, receivedAt: at, results });
    };
    // Judged every eight hours of the outage, and when its last run passes in a second attempt.
    for (const [from, to] of [
      [0, 20],
      [20, 28],
      [28, 36],
      [36, 44],
      [44, 50],
    ] as const) {
      const hours = Array.from({ length: (to - from) / 2 }, (_, i) => from + 2 * i);
      const jobs = hours.map((hour) => runAt(hour, hour >= 20 && hour < 44 ? 'failed' : 'passed'));
      if (to === 44) jobs.push(runAt(42, 'passed', 2));
      stores.clock.set(course.at + to * HOUR_MS);
      await driver.ingest(...jobs);
      expect(await course.open()).toEqual([]);
    }
    await driver.verify();
  });

  test('several workers that see the transition at the same time make one quarantine and one event', async () => {
    const { stores, driver } = ingest;
    const course = await Course.start('off');
    await course.run([...times(10), 'flaky', 'flaky', 'flaky']);
    const { repository, id } = course;
    const recorded = await stores.repositories.record(repository);
    await stores.repositories.set(recorded, { autoQuarantine: 'flaky' }, 'ann');
    const { postgres, clickhouse, clock, quarantines } = stores;
    const workers = Array.from(
      { length: 4 },
      () => new Refresh({ db: postgres.db, clickhouse, clock, quarantines }, true),
    );
    const ledger = new Ledger({ db: postgres.db, clickhouse, clock: stores.clock });
    const given = { repository, runId: 'last', at: course.at + HOUR_MS, receivedAt: course.at + HOUR_MS };
    const job = runOf({ ...given, results: { ...OTHERS, sums: 'passed' } });
    await ledger.write([
      prepareChunk(job, { repositoryId: id, defaultBranch: 'main', now: given.at, retentionDays: 90 }),
    ]);
    await evaluateRepository(postgres.db, id);
    await Promise.all(workers.map((worker) => worker.refresh(id)));
    expect(await course.open()).toHaveLength(1);
    await driver.settle();
    const events = await clickhouse.rows(
      "SELECT trigger FROM ci.events FINAL WHERE repository_id = {id: UUID} AND type = 'test.quarantined'",
      { id },
    );
    expect(events).toEqual([{ trigger: 'auto-quarantine' }]);
    await driver.verify();
  });
});

describe('recovery', () => {
  test('a quarantined test has recovered when it is surely healthy, and only as long as nothing speaks against it', async () => {
    const { driver } = ingest;
    const course = await Course.start('flaky');
    await course.run([...times(5), ...times(4, 'flaky')]);
    const isRecovered = async () => (await course.open()).map((one) => one.isRecovered);
    expect(await isRecovered()).toEqual([false]);
    // Healthy by now, but it may only fail more rarely than before.
    await course.run(times(90), 3 * HOUR_MS);
    expect(await isRecovered()).toEqual([false]);
    await course.run(times(120), 3 * HOUR_MS);
    expect(await isRecovered()).toEqual([true]);
    // A failure that its run explains changes nothing. Failures that only the test explains do: as many as make any other
    // test of this repository flaky.
    await course.outage();
    await course.run(times(1));
    expect(await isRecovered()).toEqual([true]);
    await course.run(times(4, 'flaky'));
    expect(await isRecovered()).toEqual([false]);
    await driver.verify();
  });

  test('a healthy test that a person has quarantined must have run for three days, and often enough to know', async () => {
    const { stores, driver } = ingest;
    const course = await Course.start('off');
    await course.run(times(30));
    const wanted = { testName: 'sums', reason: 'to see', branch: 'main' };
    const created = await stores.quarantines.create(course.id, wanted, ANN);
    expect(created?.isRecovered).toBe(false);
    await course.run(times(10), 8 * HOUR_MS);
    expect((await course.open()).map((one) => one.isRecovered)).toEqual([false]);
    await driver.verify();
    await course.run(times(10));
    expect((await course.open()).map((one) => one.isRecovered)).toEqual([true]);
    await driver.verify();
  });
});
