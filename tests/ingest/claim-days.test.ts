/** With CLAIM_DAYS: what is sent again after its claims are closed counts nothing, and `verify` still finds what is lost. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import fc from 'fast-check';
import { v7 as uuid7 } from 'uuid';
import { closeClaims } from '../../src/ledger/claim-store.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { ALWAYS_AGREED } from '../../src/postgres/clock-watch.ts';
import { Retention } from '../../workers/retention.ts';
import { inBudget } from '../support/budget.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
const DAYS = 14;
beforeEach(() => emptyStores(ingest.stores));
// The damage done here must not be found by the tests that come after.
afterAll(() => emptyStores(ingest.stores));

type Repository = ReturnType<typeof uniqueRepository>;
const job = (repository: Repository, source: string, tests: readonly string[], at: number | null = TEST_NOW) => ({
  ...makeJob({
    ...{ repository, source, receivedAt: TEST_NOW, run: { run_id: source } },
    executions: tests.map((name) => ({ name, key: name, ...(at !== null && { at }) })),
  }),
  upload_id: uuid7(),
});

/** Everything that is recorded now was recorded longer ago than that. */
const letPass = (days: number) =>
  ingest.stores.postgres.pool.query(
    `update ci_insights.ingest_blocks set created_at = created_at - make_interval(days => $1, secs => 1)`,
    [days],
  );
const countOf = async () => {
  const [row] = await ingest.stores.clickhouse.rows('SELECT count() AS executions FROM ci.executions');
  return (row as { executions: number }).executions;
};
const send = async (sent: ReturnType<typeof job>) => {
  await ingest.driver.ingest(sent);
  const { owner, name } = sent.repository;
  return ingest.stores.receipts.find(owner, name, sent.upload_id);
};

test('until its claims are closed, a resend is a duplicate; then it is refused with the reason, and counts nothing', async () => {
  const repository = uniqueRepository();
  await send(job(repository, 'a', ['one', 'two']));
  await letPass(DAYS - 1);
  expect(await closeClaims(ingest.stores.postgres.db, DAYS)).toBe(0);
  expect(await send(job(repository, 'a', ['one', 'two']))).toMatchObject({ accepted: 0, duplicate: 2 });

  await letPass(1);
  expect(await closeClaims(ingest.stores.postgres.db, DAYS)).toBe(1);
  // Also without a time, as many reports are, and one that was not there the first time.
  for (const late of [job(repository, 'a', ['one', 'two']), job(repository, 'a', ['two', 'three'], null)])
    expect(await send(late)).toMatchObject({
      ...{ status: 'stored', accepted: 0, duplicate: 0, rejected: 2 },
      rejections: [{ count: 2, reason: expect.stringContaining('CLAIM_DAYS') }],
    });
  expect(await countOf()).toBe(2);
  expect(await send(job(repository, 'b', ['one', 'two']))).toMatchObject({ accepted: 2 });
  await ingest.driver.verify();
});

test('a closed claim takes eight bytes, however many executions it is of', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `t${i}`);
  await send(job(uniqueRepository(), 'a', names));
  await letPass(DAYS);
  const { postgres, clickhouse, quarantines, clock, log, config } = ingest.stores;
  const deps = { clickhouse, db: postgres.db, quarantines, clock, clockAgreement: ALWAYS_AGREED, log };
  const retention = new Retention({ ...deps, ...config, claimDays: DAYS });
  await retention.run();
  const claims = 'select length(ids) as bytes, closed from ci_insights.ingest_claims';
  expect((await postgres.pool.query(claims)).rows).toEqual([{ bytes: 8, closed: 100 }]);
  await ingest.driver.verify();
});

test('a block that is not stored keeps its claims: the retry of its job finishes it', async () => {
  const { stores } = ingest;
  const repository = uniqueRepository();
  const { id } = await stores.repositories.record(repository);
  const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  const chunk = prepareChunk(job(repository, 'a', ['one']), options);
  const deps = { db: stores.postgres.db, clickhouse: stores.clickhouse, clock: stores.clock };
  const insert = () => Promise.reject(new Error('killed'));
  await expect(new Ledger({ ...deps, clickhouse: { ...deps.clickhouse, insert } }).write([chunk])).rejects.toThrow();
  await letPass(DAYS);
  expect(await closeClaims(deps.db, DAYS)).toBe(0);
  await new Ledger(deps).write([chunk]);
  expect(await countOf()).toBe(1);
  while ((await ingest.driver.sweeper.sweep(0)) > 0);
  await ingest.driver.settle();
  await ingest.driver.verify();
});

test.each([
  ['lost', 'are in closed claims', `ALTER TABLE ci.executions DELETE WHERE test_name = 't3'`],
  [
    'stored twice',
    'are stored more than once',
    `INSERT INTO ci.executions SELECT * FROM ci.executions WHERE test_name = 't3'`,
  ],
  [
    'replaced by others',
    'are in closed claims',
    `INSERT INTO ci.executions SELECT * REPLACE (execution_id + 1 AS execution_id) FROM ci.executions WHERE test_name = 't3';
     ALTER TABLE ci.executions DELETE WHERE test_name = 't4'`,
  ],
])('verify finds executions of closed claims that are %s', async (_, said, damage) => {
  const repository = uniqueRepository();
  await send(job(repository, 'a', ['t1', 't2', 't3', 't4']));
  await letPass(DAYS);
  await closeClaims(ingest.stores.postgres.db, DAYS);
  await send(job(repository, 'b', ['t1']));
  expect((await verify(ingest.stores)).isConsistent).toBe(true);
  for (const statement of damage.split(';'))
    await ingest.stores.clickhouse.command(
      `${statement}${statement.includes('ALTER') ? ' SETTINGS mutations_sync = 2' : ''}`,
    );
  const ledger = (await verify(ingest.stores)).checks.find(({ name }) => name.startsWith('ledger'));
  expect([ledger?.count, ledger?.differences]).toEqual([1, [expect.stringContaining(said)]]);
});

test('whatever is sent and closed in whatever order: nothing counts twice, and what is sent in time counts', async () => {
  const sends = fc.record({
    source: fc.constantFrom('a', 'b', 'c'),
    tests: fc.uniqueArray(fc.constantFrom('1', '2', '3', '4'), { minLength: 1 }),
  });
  // `race`: what is stored of a source is sent again while its claims are closed.
  const steps = fc.array(fc.oneof(sends, sends, fc.constantFrom('close' as const, 'race' as const)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      steps,
      inBudget(async (taken) => {
        await emptyStores(ingest.stores);
        const repository = uniqueRepository();
        const { db } = ingest.stores.postgres;
        const stored = new Map<string, Set<string>>();
        const closed = new Set<string>();
        for (const step of taken) {
          if (typeof step === 'string') {
            const [again] = step === 'race' ? stored : [];
            await letPass(DAYS);
            const resend = again && send(job(repository, again[0], [...again[1]]));
            await Promise.all([closeClaims(db, DAYS), resend]);
            for (const source of stored.keys()) closed.add(source);
          } else {
            await send(job(repository, step.source, step.tests));
            if (closed.has(step.source)) continue;
            stored.set(step.source, new Set([...(stored.get(step.source) ?? []), ...step.tests]));
          }
          expect(await countOf()).toBe([...stored.values()].reduce((sum, { size }) => sum + size, 0));
        }
        await ingest.driver.verify();
      }),
    ),
  );
});
