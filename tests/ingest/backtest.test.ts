/** Backtests on real stores: they agree with what the service really did, and are made as the API is asked for them. */
import { describe, expect, test } from 'bun:test';
import type { BacktestReport } from '../../src/domain/backtest-report.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { BACKTESTS_KEPT_MAX, BacktestStore } from '../../src/postgres/backtests.ts';
import { Backtester } from '../../workers/backtester.ts';
import { backtestsAgree, Course, FROM } from '../support/backtests.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpApp } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpApp();

describe('a backtest', () => {
  test('of the policy that was on says what the service really quarantined, and why', async () => {
    expect(await backtestsAgree(ingest, { numRuns: 2, stepsMax: 4 })).toBeGreaterThan(0);
  });

  test('counts the red runs that it would have spared, on every branch, and the regressions that it would have hidden', async () => {
    const course = await Course.start(ingest, 'off');
    await course.ingest(
      ...course.flaky('a', 1, 'timeout'),
      ...course.flaky('a', 1, 'timeout'),
      // Quarantined by now.
      course.run('pull request', { a: 'failed', b: 'passed' }, { branch: 'feature', message: 'timeout' }),
      course.run('two', { a: 'failed', b: 'failed' }, { branch: 'feature', message: 'timeout' }),
      ...course.flaky('a', 3, 'timeout'),
      // A fault in the code, which fails in another way.
      course.run('fault', { a: 'failed' }, { message: 'sums are wrong' }),
      course.run('after it', { a: 'failed' }, { message: 'sums are wrong' }),
      course.run('fix', { a: 'passed' }),
    );
    const whole = await course.backtest();
    expect(whole).toMatchObject({
      tests: 1,
      quarantines_count: 1,
      quarantines_at_once: 1,
      is_complete: true,
      red_runs: 7,
      red_runs_spared: 4,
      default_branch_red_runs: 5,
      default_branch_red_runs_spared: 3,
      hidden_regressions_count: 1,
      quarantines: [
        { test_name: 'a', failure_ids: null, recovered_at: null, spared_red_runs: 4, hidden_regressions: 1 },
      ],
      hidden_regressions: [
        {
          test_name: 'a',
          kind: 'new_failure',
          commit: 'commit of fault',
          commits: 2,
          fixed_by: 'commit of fix',
          pipeline_name: 'CI',
          job_name: 'unit',
        },
      ],
    });
    const narrowed = await course.backtest({ is_narrowed: true });
    expect(narrowed).toMatchObject({
      red_runs: 7,
      red_runs_spared: 2,
      hidden_regressions_count: 0,
      hidden_regressions: [],
    });
    expect(narrowed.quarantines[0]?.failure_ids).toHaveLength(1);
    // More commits than there were, and no policy at all.
    for (const changed of [{ constants: { QUARANTINE_FLAKY_COMMITS_MIN: 100 } }, { auto_quarantine: 'off' as const }])
      expect(await course.backtest(changed)).toMatchObject({
        quarantines_count: 0,
        red_runs: 7,
        red_runs_spared: 0,
        hidden_regressions_count: 0,
      });
    // The service was asked nothing and changed nothing.
    expect((await ingest.stores.quarantines.snapshot(course.id)).quarantines).toEqual([]);
  });
});

interface Answer {
  id: string;
  status: string;
  detail: string;
  summary: string | null;
  requested_by: string;
  report: BacktestReport | null;
}

describe('over REST', () => {
  test('a worker makes it, one at a time of a repository, and it stays readable', async () => {
    const { app, stores } = ingest;
    const course = await Course.start(ingest, 'off');
    const known = [1, 2].flatMap(() => course.flaky('a', 1));
    await course.ingest(...known, course.run('red', { a: 'failed' }));
    const ask = (body: unknown, token?: string) =>
      app.request(course.address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(token !== undefined && { token }),
      });
    const since = new Date(FROM).toISOString();
    const asked = await ask({ auto_quarantine: 'flaky', since });
    expect(asked.status).toBe(202);
    const { id } = (await asked.json()) as Answer;
    let found = await app.get<Answer>(`${course.address}/${id}`);
    if (found.status === 'running') {
      const same = (await (await ask({ auto_quarantine: 'flaky', since })).json()) as Answer;
      if (same.status === 'running') expect(same.id).toBe(id);
    }
    const { clickhouse, clock, log, postgres } = stores;
    const worker = new Backtester({ db: postgres.db, clickhouse, clock, log });
    for (let i = 0; i < 500 && found.status === 'running'; i++) {
      // The worker of the set-up may be at it.
      await worker.run();
      found = await app.get<Answer>(`${course.address}/${id}`);
    }
    expect(found).toMatchObject({
      id,
      status: 'finished',
      report: { quarantines_count: 1, red_runs: 3, red_runs_spared: 1 },
    });
    expect(await app.get<Answer>(`${course.address}/${id}`)).toEqual(found);
    const { report: _, ...entry } = found;
    expect(entry.summary).toBe('It would have made 1 quarantine, spared 1 of 3 red runs and hidden no regression.');
    expect(entry.requested_by).not.toBe('');
    expect(await app.get<{ backtests: unknown[] }>(course.address)).toEqual({ backtests: [entry] });
  });

  test('lists the newest of a repository, and keeps no more', async () => {
    const { app, stores } = ingest;
    const course = await Course.start(ingest, 'off');
    const store = new BacktestStore(stores.postgres.db, stores.clock);
    const repository = { id: course.id, owner: 'acme', name: 'shop' };
    const policy = course.policy();
    const asked: string[] = [];
    for (let i = 0; i < BACKTESTS_KEPT_MAX + 2; i++) {
      const { id } = await store.request(repository, policy, { kind: 'service', name: `person ${i}` });
      await store.finish(id, { failure: 'no' });
      asked.push(id);
    }
    const { backtests } = await app.get<{ backtests: { id: string; requested_by: string; status: string }[] }>(
      course.address,
    );
    expect(backtests.map(({ id }) => id)).toEqual(asked.toReversed().slice(0, BACKTESTS_KEPT_MAX));
    expect(backtests[0]).toMatchObject({ requested_by: `person ${BACKTESTS_KEPT_MAX + 1}`, status: 'failed' });
    expect((await app.request(`${course.address}/${asked[0]}`)).status).toBe(404);
  });

  test('refuses what is no policy, what was never on, and what is unknown', async () => {
    const { app } = ingest;
    const course = await Course.start(ingest, 'off');
    const status = async (body: unknown, address = course.address) =>
      (
        await app.request(address, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).status;
    const since = new Date(FROM - DAY_MS).toISOString();
    expect(await status({ auto_quarantine: 'all', since })).toBe(422);
    expect(await status({ auto_quarantine: 'flaky', since: '60d' })).toBe(422);
    expect(await status({ auto_quarantine: 'flaky', since: new Date(TEST_NOW + DAY_MS).toISOString() })).toBe(422);
    expect(await status({ auto_quarantine: 'flaky', since, constants: { RECOVERY_MS_MIN: 1 } })).toBe(422);
    const other = uniqueRepository();
    expect(
      await status({ auto_quarantine: 'flaky', since }, `/v1/ci/${other.owner}/repositories/${other.name}/backtests`),
    ).toBe(404);
    expect((await app.request(`${course.address}/${crypto.randomUUID()}`)).status).toBe(404);
  });
});
