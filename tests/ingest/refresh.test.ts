/** A refresh brings up to date all that a pass leaves stale, however much it is. */
import { beforeAll, expect, test } from 'bun:test';
import { eq, sql } from 'drizzle-orm';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { REFRESHES } from '../../src/domain/stale.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { evaluateRepository } from '../../src/evaluation/pass.ts';
import { Refresh } from '../../src/evaluation/refresh.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { lockPartitionsOf, partitionOf } from '../../src/postgres/partitions.ts';
import { commitRecords, stale, staleCommits } from '../../src/postgres/schema.ts';
import { noteStale, readStale, settleStale } from '../../src/postgres/stale.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { prepareChunk } from '../support/prepare.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  await emptyStores(stores);
});

/** More than twice as many as one step records. */
const COMMITS = 85;

/** A repository outside the partition of another one: what is done to it does not wait where that partition is held. */
function repositoryOutside(otherId: string): ReturnType<typeof uniqueRepository> {
  for (;;) {
    const repository = uniqueRepository();
    const { host, owner, name } = repository;
    if (partitionOf(repositoryIdOf(host, owner, name)) !== partitionOf(otherId)) return repository;
  }
}

/** Evaluates a failure on each of many commits of a branch. Returns the id of their repository. */
async function failOnCommits(branch: string, repository = uniqueRepository()): Promise<string> {
  const { postgres, clickhouse, clock, repositories } = stores;
  const { db } = postgres;
  const { id } = await repositories.learnDefaultBranch(await repositories.record(repository), 'main', 'payload');
  const jobs = Array.from({ length: COMMITS }, (_, i) =>
    makeJob({
      repository,
      receivedAt: TEST_NOW,
      run: { run_id: `run ${i}`, commit: `commit ${i}`, branch, default_branch: 'main' },
      executions: [{ name: 'sums', key: 'sums', status: 'failed', at: TEST_NOW - i * 60_000 }],
    }),
  );
  const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  await new Ledger({ db, clickhouse, clock }).write(jobs.map((job) => prepareChunk(job, options)));
  await evaluateRepository(db, id);
  return id;
}

test('every commit that failed has its record after one refresh, though a step writes few', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const id = await failOnCommits('main');
  expect(await db.$count(staleCommits, eq(staleCommits.repositoryId, id))).toBe(COMMITS);

  await new Refresh({ db, clickhouse, clock, quarantines }, true).all();
  expect(await db.$count(staleCommits, eq(staleCommits.repositoryId, id))).toBe(0);
  expect(await db.$count(commitRecords, eq(commitRecords.repositoryId, id))).toBe(COMMITS);
  expect((await verify(stores, id)).isConsistent).toBe(true);
});

test('while evidence rests, a refresh ends; its commits are recorded after it', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const id = await failOnCommits('feature');
  const ofRepository = eq(stale.repositoryId, id);
  await db.update(stale).set({ notedAt: sql`now() - interval '1 minute'` }).where(ofRepository);
  await db
    .update(stale)
    .set({ restsUntil: sql`now() + interval '1 hour'` })
    .where(sql`${ofRepository} and kind = 'evidence'`);
  await new Refresh({ db, clickhouse, clock, quarantines }).all();
  expect(await db.$count(staleCommits, eq(staleCommits.repositoryId, id))).toBe(COMMITS);

  await new Refresh({ db, clickhouse, clock, quarantines }, true).all();
  expect(await db.$count(staleCommits, eq(staleCommits.repositoryId, id))).toBe(0);
  expect(await db.$count(commitRecords, eq(commitRecords.repositoryId, id))).toBe(COMMITS);
  expect((await verify(stores, id)).isConsistent).toBe(true);
});

const kindsOf = async (repositoryId: string): Promise<Set<string>> => {
  const ofRepository = sql`${stale.repositoryId} = ${repositoryId} and ${stale.notedAt} is not null`;
  const rows = await stores.postgres.db.select({ kind: stale.kind }).from(stale).where(ofRepository);
  return new Set(rows.map(({ kind }) => kind));
};
const isJudged = async (repositoryId: string): Promise<boolean> => !(await kindsOf(repositoryId)).has('evidence');

test('a repository that another process holds keeps no other from being judged, now or later, and is judged after it', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const held = await failOnCommits('feature');
  const failElsewhere = () => failOnCommits('feature', repositoryOutside(held));
  const other = await failElsewhere();
  let refreshed: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await lockPartitionsOf(tx, held);
    refreshed = new Refresh({ db, clickhouse, clock, quarantines }, true).round({ name: 'judgements' }, () => false);
    await until(() => isJudged(other));
    const later = await failElsewhere();
    await until(() => isJudged(later));
    expect(await isJudged(held)).toBe(false);
  });
  await refreshed;
  expect(await isJudged(held)).toBe(true);
});

test('live results do not wait for what was imported to be judged', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const [imported, live] = [await failOnCommits('feature'), await failOnCommits('feature')];
  await db.update(stale).set({ isImported: true }).where(eq(stale.repositoryId, imported));
  const refresh = new Refresh({ db, clickhouse, clock, quarantines }, true);
  const judged = async () => [await isJudged(live), await isJudged(imported)];
  await refresh.round({ name: 'judgements', isOfImports: false }, () => false);
  expect(await judged()).toEqual([true, false]);
  await refresh.round({ name: 'judgements', isOfImports: true }, () => false);
  expect(await judged()).toEqual([true, true]);
});

test('no repository waits for the summaries of another until it is judged', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const id = await failOnCommits('main');
  await new Refresh({ db, clickhouse, clock, quarantines }, true).round({ name: 'judgements' }, () => false);
  const kinds = await kindsOf(id);
  expect(REFRESHES.judgements.filter((kind) => kinds.has(kind))).toEqual([]);
  expect(REFRESHES.summaries.filter((kind) => kinds.has(kind))).toEqual([...REFRESHES.summaries]);
});

test('a refresh that is stopped begins no further step, and the next one does what is left', async () => {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const refresh = new Refresh({ db, clickhouse, clock, quarantines }, true);
  await refresh.all();
  const id = await failOnCommits('main');
  await refresh.round({ name: 'judgements' }, () => false);
  // Asked before the round, before the repository and before its first step.
  let asked = 0;
  await refresh.round({ name: 'summaries' }, () => ++asked > 3);
  const [first, ...others] = REFRESHES.summaries;
  const kinds = await kindsOf(id);
  expect(REFRESHES.summaries.filter((kind) => kinds.has(kind))).toEqual(others);
  expect(first).toBe('totals');

  await refresh.all();
  expect((await verify(stores, id)).isConsistent).toBe(true);
});

test('a kind rests no longer than it has been known', async () => {
  const { db } = stores.postgres;
  const id = await failOnCommits('feature');
  const totals = sql`${stale.repositoryId} = ${id} and ${stale.kind} = 'totals'`;
  /** In tens of minutes. */
  const restAfter = async (knownFor: string): Promise<number> => {
    await db
      .update(stale)
      .set({ knownSince: sql`now() - ${knownFor}::interval` })
      .where(totals);
    const revision = (await readStale(db, [id])).get(id)?.get('totals')?.revision ?? 0;
    await settleStale(db, id, 'totals', { restMs: HOUR_MS, revision });
    const rest = sql<number>`round(extract(epoch from ${stale.restsUntil} - now()) / 600)::int`;
    const [row] = await db.select({ rest }).from(stale).where(totals);
    await noteStale(db, [{ repositoryId: id, kind: 'totals', blockId: 0 }]);
    return row?.rest ?? 0;
  };
  expect(await restAfter('0 seconds')).toBe(0);
  expect(await restAfter('20 minutes')).toBe(2);
  expect(await restAfter('2 days')).toBe(6);
});
