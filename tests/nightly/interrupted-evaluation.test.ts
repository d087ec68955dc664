/** An evaluation that is interrupted at any of its statements is completed by doing the same again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { evaluatePartition, evaluateRepository } from '../../src/evaluation/pass.ts';
import { Refresh } from '../../src/evaluation/refresh.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { evaluateStoredParts } from '../../src/maintenance/stored-parts.ts';
import { verify } from '../../src/maintenance/verify.ts';
import type { Database } from '../../src/postgres/client.ts';
import { partitionOf } from '../../src/postgres/partitions.ts';
import { blockParts, postponedRepositories } from '../../src/postgres/schema.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { prepareChunk } from '../support/prepare.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthOf, PASSING, type RunOf, runOf } from '../support/verdicts.ts';

const HOUR = 3_600_000;
/** A run tries every sixth statement, from another one each time: there are about a hundred, and each takes a second or two. */
const STRIDE = 6;
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW - 10 * 24 * HOUR);
});
afterAll(() => stores.clock.set(TEST_NOW));

/** A database whose connection breaks at the nth statement of its transactions. */
function breakingAt(db: Database, nth: number): Database & { hasBroken(): boolean } {
  let statements = 0;
  const broken = new Proxy(db, {
    get: (target, name) => {
      if (name === 'hasBroken') return () => statements >= nth;
      if (name !== 'transaction') return Reflect.get(target, name);
      return (run: (tx: unknown) => Promise<unknown>) =>
        target.transaction((tx) =>
          run(
            new Proxy(tx, {
              get: (inner, method) => {
                const value: unknown = Reflect.get(inner, method);
                if (method !== 'execute' || typeof value !== 'function') return value;
                return (...args: unknown[]) => {
                  if (++statements === nth) throw new Error('the connection broke');
                  return value.apply(inner, args);
                };
              },
            }),
          ),
        );
    },
  });
  return broken as Database & { hasBroken(): boolean };
}

const NAMES = Object.keys(PASSING);
const all = (status: 'passed' | 'failed', names = NAMES) => Object.fromEntries(names.map((name) => [name, status]));

/** Two blocks. The second shows that a run was in trouble, so that its failure is not flaky; and commits contradict themselves. */
const blocksOf = (repository: RunOf['repository']) => {
  const start = TEST_NOW - 12 * 24 * HOUR;
  const run = (runId: string, hours: number, results: RunOf['results'], more: Partial<RunOf> = {}, source = '') => ({
    ...runOf({ repository, runId, at: start + hours * HOUR, receivedAt: start + hours * HOUR, results, ...more }),
    sources: [`${runId}/${more.attempt ?? 1} ${source}`],
  });
  const pull = { branch: 'one', default_branch: 'main' };
  return [
    [
      run('1', 0, { ...all('passed'), pulled: 'passed' }),
      run('2', 10, { ...all('passed', NAMES.slice(0, 20)), sums: 'failed' }),
      run('2', 20, { ...all('passed'), sums: 'passed' }, { attempt: 2 }),
      run('p', 21, { ...all('passed'), pulled: 'failed' }, { run: pull }),
    ],
    [
      run('2', 10, all('failed', NAMES.slice(20)), {}, 'second half'),
      run('p', 22, { ...all('passed'), pulled: 'passed' }, { attempt: 2, run: pull }),
    ],
  ];
};

async function recorded(repository: RunOf['repository']) {
  const { postgres, clickhouse, clock, repositories } = stores;
  const { id } = await repositories.learnDefaultBranch(await repositories.record(repository), 'main', 'payload');
  const ledger = new Ledger({ db: postgres.db, clickhouse, clock });
  const options = { repositoryId: id, defaultBranch: 'main', now: clock.now(), retentionDays: 90 };
  const store = (jobs: readonly TestRunsJob[]) => ledger.write(jobs.map((job) => prepareChunk(job, options)));
  return { id, store };
}

async function expectVerified(id: string): Promise<void> {
  const report = await verify(stores, id);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
  expect(report.pendingBlocks).toBe(0);
}

test('whichever statement fails, the next pass and refresh end where uninterrupted ones do', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  for (let [nth = 1] = fc.sample(fc.integer({ min: 1, max: STRIDE }), 1); ; nth += STRIDE) {
    const repository = uniqueRepository();
    const { id, store } = await recorded(repository);
    const breaking = breakingAt(db, nth);
    for (const jobs of blocksOf(repository)) {
      await store(jobs);
      await evaluateRepository(breaking, id).catch(() => {});
      await new Refresh({ db: breaking, clickhouse, clock, quarantines }, true).refresh(id).catch(() => {});
    }
    await evaluateRepository(db, id);
    await new Refresh({ db, clickhouse, clock, quarantines }, true).refresh(id);
    expect(await flakyOf(stores, repository)).toEqual([]);
    await expectVerified(id);
    if (!breaking.hasBroken()) break;
  }
});

test('a repository that cannot be evaluated holds up none of its partition, and is tried again', async () => {
  const { postgres, log } = stores;
  const { db } = postgres;
  await evaluateStoredParts({ db, log });
  const start = TEST_NOW - 12 * 24 * HOUR;
  const job = (repository: RunOf['repository']) =>
    runOf({ repository, runId: '1', at: start, receivedAt: start, results: PASSING });
  const good = uniqueRepository();
  const { id: goodId, store: storeGood } = await recorded(good);
  let bad: RunOf['repository'];
  let badId: string;
  let storeBad: typeof storeGood;
  do {
    bad = uniqueRepository();
    ({ id: badId, store: storeBad } = await recorded(bad));
  } while (partitionOf(badId) !== partitionOf(goodId));
  await storeBad([job(bad)]);
  await storeGood([job(good)]);
  const ofBad = eq(blockParts.repositoryId, badId);
  const [part] = await db.select().from(blockParts).where(ofBad);
  if (!part) throw new Error('no part waits');
  await db
    .update(blockParts)
    .set({ body: Buffer.from('damaged') })
    .where(ofBad);
  const silent = Object.assign(Object.create(log), { error: () => {} });
  while ((await evaluatePartition({ db, log: silent }, 0)) !== undefined);
  expect(await healthOf(stores, good, NAMES[0] ?? '')).toEqual(['healthy']);
  expect(await healthOf(stores, bad, NAMES[0] ?? '')).toEqual([]);
  expect(await db.$count(postponedRepositories)).toBe(1);
  await db.update(blockParts).set({ body: part.body }).where(ofBad);
  await db.update(postponedRepositories).set({ retryAt: new Date(0) });
  while ((await evaluatePartition({ db, log }, 0)) !== undefined);
  expect(await healthOf(stores, bad, NAMES[0] ?? '')).toEqual(['healthy']);
  expect(await db.$count(postponedRepositories)).toBe(0);
  await expectVerified(badId);
});
