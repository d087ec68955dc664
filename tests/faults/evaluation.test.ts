/** An evaluation that is interrupted at any of its writes is completed by evaluating the same again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { BlockEvaluation, Stopped } from '../../src/evaluation/block-evaluation.ts';
import { lockEvaluation } from '../../src/evaluation/lock.ts';
import { TESTS_MAX } from '../../src/evaluation/store.ts';
import { BlockStore } from '../../src/ledger/blocks.ts';
import { Ledger, type StoredBlock } from '../../src/ledger/ledger.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { Evaluator } from '../../workers/evaluator.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthsOf, PASSING, type RunOf, runOf } from '../support/verdicts.ts';

const HOUR = 3_600_000;
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW - 10 * 24 * HOUR);
});
afterAll(() => stores.clock.set(TEST_NOW));

/** A ClickHouse whose connection breaks at the nth insert. */
function breakingAt(clickhouse: ClickHouse, nth: number): ClickHouse & { hasBroken(): boolean } {
  let inserts = 0;
  return {
    select: clickhouse.select.bind(clickhouse),
    rows: clickhouse.rows.bind(clickhouse),
    command: clickhouse.command.bind(clickhouse),
    ping: clickhouse.ping.bind(clickhouse),
    close: clickhouse.close.bind(clickhouse),
    isSharded: clickhouse.isSharded,
    insert: async (...insert) => {
      if (++inserts === nth) throw new Error('the connection broke');
      await clickhouse.insert(...insert);
    },
    hasBroken: () => inserts >= nth,
  };
}

const NAMES = Object.keys(PASSING);
const all = (status: 'passed' | 'failed', names = NAMES) => Object.fromEntries(names.map((name) => [name, status]));

/** Two blocks that are judged one after another. The second shows that a run was in trouble, and its failure is not flaky. */
const blocksOf = (repository: RunOf['repository']) => {
  const start = TEST_NOW - 12 * 24 * HOUR;
  const run = (
    runId: string,
    hours: number,
    results: RunOf['results'],
    attempt = 1,
    source = `${runId}/${attempt}`,
  ) => ({
    ...runOf({ repository, runId, attempt, at: start + hours * HOUR, receivedAt: start + hours * HOUR, results }),
    sources: [source],
  });
  return [
    [
      run('1', 0, all('passed')),
      run('2', 10, { ...all('passed', NAMES.slice(0, 20)), sums: 'failed' }),
      run('2', 20, { ...all('passed'), sums: 'passed' }, 2),
    ],
    [run('2', 10, all('failed', NAMES.slice(20)), 1, 'second half')],
  ];
};

test('whichever insert fails, the next evaluation ends where an uninterrupted one does', async () => {
  const { postgres, clickhouse, clock, quarantines, log } = stores;
  for (let nth = 1; ; nth++) {
    const repository = uniqueRepository();
    const recorded = await stores.repositories.record(repository);
    const stored: StoredBlock[] = [];
    const blocks = new BlockStore(postgres.db);
    const ledger = new Ledger({ db: postgres.db, clickhouse, clock, onStored: (block) => stored.push(block) });
    const evaluatorOn = (store: ClickHouse) =>
      new Evaluator({ db: postgres.db, clickhouse: store, blocks, quarantines, log, pauseMs: 0 });
    const whole = evaluatorOn(clickhouse);
    const breaking = breakingAt(clickhouse, nth);
    for (const [i, jobs] of blocksOf(repository).entries()) {
      const options = { repositoryId: recorded.id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 };
      await ledger.write(jobs.map((job) => prepareChunk(job, options)));
      const block = stored.at(-1);
      const blockIds = block ? [block.blockId] : [];
      if (i === 1) {
        expect(await flakyOf(stores, repository)).toEqual(['sums 2#1']);
        await evaluatorOn(breaking)
          .evaluate(blockIds)
          .catch(() => {});
      }
      await whole.evaluate(blockIds);
    }
    expect(await flakyOf(stores, repository)).toEqual([]);
    const report = await verify(stores, recorded.id);
    expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
    if (!breaking.hasBroken()) {
      // The verdicts. The state of tests and runs is one transaction.
      expect(nth - 1).toBe(1);
      break;
    }
  }
});

test('what pull requests show is found again when the verdicts that follow from it were not written', async () => {
  const { postgres, clickhouse, clock, quarantines, log } = stores;
  const repository = uniqueRepository();
  const { id } = await stores.repositories.record(repository);
  const stored: StoredBlock[] = [];
  const blocks = new BlockStore(postgres.db);
  const ledger = new Ledger({ db: postgres.db, clickhouse, clock, onStored: (block) => stored.push(block) });
  const evaluatorOn = (store: ClickHouse) =>
    new Evaluator({ db: postgres.db, clickhouse: store, blocks, quarantines, log, pauseMs: 0 });
  const options = { repositoryId: id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 };
  const start = TEST_NOW - 12 * 24 * HOUR;
  const run = (hours: number, sums: 'passed' | 'failed', more: Partial<RunOf> = {}) => ({
    ...runOf({
      ...{ repository, runId: `m${hours}`, at: start + hours * HOUR, receivedAt: start + hours * HOUR },
      ...{ results: { ...PASSING, sums }, ...more },
    }),
    sources: [`${hours} ${more.runId} ${more.attempt}`],
  });
  const pull = (name: string, hours: number, sums: 'passed' | 'failed', attempt: number) =>
    run(hours, sums, { runId: name, attempt, run: { branch: name, default_branch: 'main' } });
  const pulls = ['one', 'two', 'three'];
  const failed = [
    ...[0, 1, 2, 3].map((hours) => run(hours, 'passed')),
    run(10, 'failed'),
    run(11, 'passed'),
    ...pulls.map((name) => pull(name, 12, 'failed', 1)),
  ];
  const passed = pulls.map((name) => pull(name, 13, 'passed', 2));
  const newest = async (jobs: readonly (typeof passed)[0][]) => {
    await ledger.write(jobs.map((job) => prepareChunk(job, options)));
    const block = stored.at(-1);
    return block ? [block.blockId] : [];
  };
  await evaluatorOn(clickhouse).evaluate(await newest(failed));
  expect(await flakyOf(stores, repository)).toEqual([]);
  const breaking = breakingAt(clickhouse, 1);
  const blockIds = await newest(passed);
  await evaluatorOn(breaking)
    .evaluate(blockIds)
    .catch(() => {});
  expect(breaking.hasBroken()).toBe(true);
  expect(await flakyOf(stores, repository)).toEqual([]);
  await evaluatorOn(clickhouse).evaluate(blockIds);
  expect(await flakyOf(stores, repository)).toEqual(['sums m10#1']);
  const report = await verify(stores, id);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
});

test.each([
  ['has only passed', 'passed', [30]],
  ['has failed', 'failed', [1, 2, 3, 4, 30]],
] as const)(
  'a pass counts once that is stored, but not counted, when its test starts over that %s',
  async (_, first, hoursOfPasses) => {
    const { postgres, clickhouse, clock, quarantines, log } = stores;
    const repository = uniqueRepository();
    const { id } = await stores.repositories.record(repository);
    const stored: StoredBlock[] = [];
    const blocks = new BlockStore(postgres.db);
    const ledger = new Ledger({ db: postgres.db, clickhouse, clock, onStored: (block) => stored.push(block) });
    const evaluator = new Evaluator({ db: postgres.db, clickhouse, blocks, quarantines, log, pauseMs: 0 });
    const options = { repositoryId: id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 };
    const start = TEST_NOW - 12 * 24 * HOUR;
    const run = (hours: number, results: RunOf['results'], pull?: string, attempt = 1) => ({
      ...runOf({
        ...{ repository, runId: pull ?? `m${hours}`, attempt, results: { ...PASSING, ...results } },
        ...{ at: start + hours * HOUR, receivedAt: start + hours * HOUR },
        run: { branch: pull ?? 'main', default_branch: 'main' },
      }),
      sources: [`${hours} ${pull} ${attempt}`],
    });
    const store = async (...jobs: ReturnType<typeof run>[]) => {
      await ledger.write(jobs.map((job) => prepareChunk(job, options)));
      return stored.slice(-1).map(({ blockId }) => blockId);
    };
    const passed = hoursOfPasses.map((hours) => run(hours, { sums: 'passed' }));
    await evaluator.evaluate(await store(run(0, { sums: first }), ...passed));
    const late = await store(run(10, { sums: 'passed' }), run(20, { sums: 'passed' }));
    // A commit contradicts itself about one test, in a run in which the other failed as well.
    const pulls = await store(
      run(15, { others: 'failed', sums: 'failed' }, 'one'),
      run(16, { others: 'passed', sums: 'failed' }, 'one', 2),
    );
    await evaluator.evaluate(pulls);
    await evaluator.evaluate(await store(run(-1, { sums: 'passed' })));
    await evaluator.evaluate(late);
    const report = await verify(stores, id);
    expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
    expect(report.pendingBlocks).toBe(0);
  },
);

test('what several repositories show that are evaluated together is all stored', async () => {
  const { postgres, clickhouse, clock, quarantines, log } = stores;
  const blocks = new BlockStore(postgres.db);
  const stored: StoredBlock[] = [];
  const ledger = new Ledger({ db: postgres.db, clickhouse, clock, onStored: (block) => stored.push(block) });
  const repositories = [uniqueRepository(), uniqueRepository(), uniqueRepository()];
  const chunks = await Promise.all(
    repositories.map(async (repository) => {
      const { id } = await stores.repositories.record(repository);
      const options = { repositoryId: id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 };
      return blocksOf(repository)
        .flat()
        .map((job) => prepareChunk(job, options));
    }),
  );
  await ledger.write(chunks.flat());
  const evaluator = new Evaluator({ db: postgres.db, clickhouse, blocks, quarantines, log, pauseMs: 0 });
  await evaluator.evaluate(stored.map(({ blockId }) => blockId));
  for (const repository of repositories) {
    expect(Object.keys(await healthsOf(stores, repository))).toHaveLength(NAMES.length + 1);
    const { id } = await stores.repositories.record(repository);
    const report = await verify(stores, id);
    expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
  }
});

test('an evaluation that is stopped between two batches of tests counts nothing, and the next one counts all', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const blocks = new BlockStore(db);
  const stored: StoredBlock[] = [];
  const ledger = new Ledger({ db, clickhouse, clock, onStored: (block) => stored.push(block) });
  const repository = uniqueRepository();
  const { id } = await stores.repositories.record(repository);
  const names = Array.from({ length: TESTS_MAX + 1 }, (_, i) => `test ${i}`);
  const at = TEST_NOW - 12 * 24 * HOUR;
  const job = runOf({ repository, runId: '1', at, receivedAt: at, results: all('passed', names) });
  await ledger.write([
    prepareChunk(job, { repositoryId: id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 }),
  ]);
  const blockIds = stored.map(({ blockId }) => blockId);
  const deps = { db, clickhouse, blocks, quarantines };
  let batches = 0;
  const stopping = new BlockEvaluation(deps, () => ++batches === 2);
  expect(await stopping.run(blockIds).catch((error: unknown) => error)).toBeInstanceOf(Stopped);
  expect(await healthsOf(stores, repository)).toEqual({});
  await new BlockEvaluation(deps).run(blockIds);
  expect(Object.keys(await healthsOf(stores, repository))).toHaveLength(names.length);
  const report = await verify(stores, id);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
});

test('blocks that one pass has no memory for are counted by the next, each once', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const blocks = new BlockStore(db);
  const stored: StoredBlock[] = [];
  const ledger = new Ledger({ db, clickhouse, clock, onStored: (block) => stored.push(block) });
  const repository = uniqueRepository();
  const { id } = await stores.repositories.record(repository);
  const options = { repositoryId: id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 };
  for (const jobs of blocksOf(repository)) await ledger.write(jobs.map((job) => prepareChunk(job, options)));
  const blockIds = stored.map(({ blockId }) => blockId);
  expect(blockIds).toHaveLength(2);
  let batches = 0;
  const oneByOne = new BlockEvaluation({ db, clickhouse, blocks, quarantines }, () => ++batches < 0, 1);
  await oneByOne.run(blockIds);
  // In each pass, before it counts, judges and writes.
  expect(batches).toBe(6);
  expect(await flakyOf(stores, repository)).toEqual([]);
  const report = await verify(stores, id);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
});

test('a lock that an evaluation holds keeps PostgreSQL from cleaning up nothing', async () => {
  const { db, pool } = stores.postgres;
  const { id } = await stores.repositories.record(uniqueRepository());
  await db.transaction(async (tx) => {
    const { rows: own } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await lockEvaluation(tx, id);
    const { rows } = await pool.query('select backend_xmin from pg_stat_activity where pid = $1', [own[0]?.pid]);
    expect(rows).toEqual([{ backend_xmin: null }]);
  });
});
