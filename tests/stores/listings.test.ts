/** By which number of executions lists order an identity, when many are written at once (src/postgres/listings.ts). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { and, eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { executionsOf } from '../../src/domain/test-state.ts';
import { BlockStore } from '../../src/ledger/blocks.ts';
import { verify } from '../../src/maintenance/verify.ts';
import type { Executor } from '../../src/postgres/client.ts';
import { forgetNotes, listNow, nextLate, noteLate } from '../../src/postgres/listings.ts';
import { identities, lateListings, testListings } from '../../src/postgres/schema.ts';
import { testListingDifferences } from '../../src/postgres/test-listings.ts';
import { writeIdentities } from '../../src/postgres/test-state-writes.ts';
import { readIdentities } from '../../src/postgres/test-states.ts';
import { LateWork, type LateWorkDeps } from '../../workers/late-work.ts';
import { setUpApp } from '../support/ingest.ts';
import { InsightsFixture } from '../support/insights.ts';
import { emptyStores } from '../support/stores.ts';

const ingest = setUpApp();
// What is late stays so until a test wants it listed.
beforeAll(() => ingest.driver.lateWork.loop.stop());
beforeEach(() => emptyStores(ingest.stores));
afterAll(() => emptyStores(ingest.stores));

/** So many tests are written by one pass that they are listed late. */
const MANY = 1_001;
const named = (i: number): string => `test ${String(i).padStart(4, '0')}`;
const namesOf = (count: number) => Array.from({ length: count }, (_, i) => ({ name: named(i) }));

const fixtureOf = () => new InsightsFixture(ingest.stores, ingest.driver);

/** The first names of the list by executions. */
async function listed(fixture: InsightsFixture, count = 3): Promise<string[]> {
  const path = fixture.search({ test_name: '*', per_page: String(count) });
  const { tests } = await ingest.app.get<{ tests: { test_name: string }[] }>(path);
  return tests.map(({ test_name }) => test_name);
}

const notes = (): Promise<number> => ingest.stores.postgres.db.$count(lateListings);

function lateWork(options: Partial<LateWorkDeps> = {}): LateWork {
  const { postgres, clickhouse, log } = ingest.stores;
  const evaluator = { lastLargeAt: Number.NEGATIVE_INFINITY };
  return new LateWork({ db: postgres.db, clickhouse, blocks: new BlockStore(postgres.db), evaluator, log, ...options });
}

describe('a large pass', () => {
  test('leaves the order of known tests, which verify knows, until they are listed', async () => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run(namesOf(MANY)));
    // One test ran more often, in a small pass: it is first at once.
    await fixture.ingest(fixture.run([{ name: named(7) }]));
    expect(await listed(fixture)).toEqual([named(7), named(0), named(1)]);
    await lateWork().doAll();
    expect(await notes()).toBe(0);

    // In one pass, all tests run once and one of them twice more.
    const more = [...namesOf(MANY), ...[1, 2].map((key) => ({ name: named(900), key: `again ${key}` }))];
    await fixture.ingest(fixture.run(more));
    expect(await listed(fixture)).toEqual([named(7), named(0), named(1)]);
    // One for each batch of identities, not for each test.
    expect(await notes()).toBe(2);
    await ingest.driver.verify();

    await lateWork().doAll();
    expect(await listed(fixture)).toEqual([named(900), named(7), named(0)]);
    expect(await notes()).toBe(0);
    await ingest.driver.verify();
  });

  test('lists new tests at once', async () => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run([...namesOf(MANY), { name: named(5), key: 'again' }]));
    expect(await listed(fixture)).toEqual([named(5), named(0), named(1)]);
    const { tests, size } = await ingest.app.get<{ tests: unknown[]; size: number }>(fixture.search());
    expect(tests.length).toBe(size);
  });

  test('shows current numbers, whatever the order', async () => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run(namesOf(MANY)));
    await fixture.ingest(fixture.run(namesOf(MANY)));
    const found = await ingest.app.get<{ tests: { metrics: { executions: number } }[] }>(fixture.search());
    expect(found.tests.map(({ metrics }) => metrics.executions)).toEqual(found.tests.map(() => 2));
  });

  test('lets pages go on where they were, each test once', async () => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run(namesOf(MANY)));
    await fixture.ingest(fixture.run([3, 5, 8].map((i) => ({ name: named(i) }))));
    const path = fixture.search({ test_name: '*', per_page: '100' });
    const first = await ingest.app.request(path);
    const seen: string[] = [];
    let next: string | undefined = path;
    await first.arrayBuffer();
    for (let page = 0; next !== undefined; page++) {
      const response: Response = await ingest.app.request(next);
      const { tests } = (await response.json()) as { tests: { test_name: string }[] };
      seen.push(...tests.map(({ test_name }) => test_name));
      next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]?.replace(/^https?:\/\/[^/]*/, '');
      if (page === 2) await fixture.ingest(fixture.run(namesOf(MANY)));
    }
    expect(seen.length).toBe(MANY);
    expect(new Set(seen).size).toBe(MANY);
  });
});

test('a large pass is busy for as long as it runs', async () => {
  const fixture = fixtureOf();
  const { evaluator } = ingest.driver;
  const { db } = ingest.stores.postgres;
  const startedAt = performance.now();
  let ingesting: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table ${identities} in access exclusive mode`);
    ingesting = fixture.ingest(fixture.run(namesOf(MANY)));
    while (evaluator.lastLargeAt < startedAt && performance.now() - startedAt < 10_000) await Bun.sleep(5);
    expect(evaluator.lastLargeAt).toBeGreaterThan(startedAt);
    // It waits for the lock.
    await Bun.sleep(100);
    const now = performance.now();
    expect(evaluator.lastLargeAt).toBeGreaterThanOrEqual(now);
  });
  await ingesting;
  const now = performance.now();
  expect(evaluator.lastLargeAt).toBeLessThan(now);
});

describe('late work', () => {
  const late = async (): Promise<InsightsFixture> => {
    const fixture = fixtureOf();
    await fixture.ingest(fixture.run(namesOf(MANY)));
    await fixture.ingest(fixture.run([...namesOf(MANY), { name: named(9), key: 'again' }]));
    expect(await notes()).toBeGreaterThan(0);
    return fixture;
  };

  test('waits while large passes follow each other, but not for ever', async () => {
    const fixture = await late();
    const evaluator = { lastLargeAt: performance.now() };
    await lateWork({ evaluator, quietMs: 60_000 }).round();
    expect(await notes()).toBeGreaterThan(0);
    await lateWork({ evaluator, quietMs: 60_000, latestMs: 0 }).round();
    expect(await notes()).toBe(0);
    expect(await listed(fixture, 1)).toEqual([named(9)]);
  });

  test('waits while a block is not evaluated', async () => {
    await late();
    const waiting = { storedOnly: async () => [1] } as unknown as BlockStore;
    await lateWork({ blocks: waiting }).round();
    expect(await notes()).toBeGreaterThan(0);
    await lateWork().round();
    expect(await notes()).toBe(0);
  });

  test('that is stopped in the middle leaves the notes to the next one', async () => {
    const fixture = await late();
    const { db } = ingest.stores.postgres;
    const stopping = lateWork({
      blocks: new BlockStore(db),
      evaluator: {
        get lastLargeAt() {
          // Records are written, and the first tests are listed; the others are not.
          if (calls++ === 3) void stopping.loop.stop();
          return Number.NEGATIVE_INFINITY;
        },
      },
    });
    let calls = 0;
    await stopping.round();
    expect(calls).toBe(4);
    expect(await notes()).toBeGreaterThan(0);
    await ingest.driver.verify();
    await lateWork().round();
    expect(await notes()).toBe(0);
    expect(await listed(fixture, 1)).toEqual([named(9)]);
    await ingest.driver.verify();
  });

  test('reads notes of one repository together, until they name enough tests', async () => {
    const fixtures = [fixtureOf(), fixtureOf()].sort((one, other) => (one.id < other.id ? -1 : 1));
    const { db } = ingest.stores.postgres;
    const id = (i: number): string => `00000000-0000-0000-0000-00000000000${i}`;
    const noted = [
      [1, 2],
      [2, 3],
      [3, 4],
    ].map((ids) => ids.map(id));
    for (const fixture of fixtures) for (const ids of noted) await noteLate(db, fixture.id, ids);
    const read: [string | undefined, readonly string[]][] = [];
    for (let late = await nextLate(db, undefined, 3); late; late = await nextLate(db, late, 3))
      read.push([late.repositoryId, late.testIds.toSorted()]);
    expect(read).toEqual(
      fixtures.flatMap((fixture) => [
        [fixture.id, [1, 2, 3].map(id)],
        [fixture.id, [3, 4].map(id)],
      ]),
    );
  });

  test('forgets no note that came between those that it read', async () => {
    const fixture = await late();
    const { db } = ingest.stores.postgres;
    await db.delete(lateListings);
    // The connection that wrote the second one is slow.
    await noteLate(db, fixture.id, ['00000000-0000-0000-0000-000000000001']);
    await noteLate(db, fixture.id, ['00000000-0000-0000-0000-000000000002']);
    await noteLate(db, fixture.id, ['00000000-0000-0000-0000-000000000003']);
    const [, second] = await db.select().from(lateListings).orderBy(lateListings.noteId);
    await db.execute(sql`delete from ${lateListings} where note_id = ${second?.noteId}`);
    const read = await nextLate(db, undefined, 100);
    await db.execute(sql`
      insert into ${lateListings} (repository_id, note_id, test_ids) overriding system value
      values (${fixture.id}, ${second?.noteId}, ${`{${second?.testIds.join(',')}}`})`);
    expect(read?.testIds.length).toBe(2);
    if (read) await forgetNotes(db, read);
    expect((await db.select().from(lateListings)).map(({ noteId }) => noteId)).toEqual([second?.noteId ?? 0]);
  });
});

test('verify finds a test that is listed with another number than it has, and is not late', async () => {
  const fixture = fixtureOf();
  await fixture.ingest(fixture.run(namesOf(2)));
  const { db } = ingest.stores.postgres;
  await db.update(identities).set({ listedExecutions: 5 });
  await db.update(testListings).set({ executions: 5 });
  const found = async () => (await verify(ingest.stores, fixture.id)).checks.flatMap((check) => check.differences);
  expect(await found()).toEqual(
    [0, 1].map(() => expect.stringMatching(/^test \S+ ran 1 times in \["CI","unit"\], but is listed with 5$/)),
  );
  await noteLate(
    db,
    fixture.id,
    (await db.select().from(identities)).map(({ testId }) => testId),
  );
  expect(await found()).toEqual([]);
  await lateWork().doAll();
  expect(await found()).toEqual([]);
  expect((await db.select().from(identities)).map((one) => one.listedExecutions)).toEqual([1, 1]);
});

test('verify finds a test of which lists know something else than its identities say', async () => {
  const fixture = fixtureOf();
  await fixture.ingest(fixture.run(namesOf(3)));
  const { db } = ingest.stores.postgres;
  const found = async () => (await verify(ingest.stores, fixture.id)).checks.flatMap((check) => check.differences);
  const of = (i: number) => and(eq(testListings.repositoryId, fixture.id), eq(testListings.nameStart, named(i)));
  expect(await found()).toEqual([]);
  await db.update(testListings).set({ executions: 2 }).where(of(0));
  await db.update(testListings).set({ identities: 7 }).where(of(1));
  await db.delete(testListings).where(of(2));
  expect((await found()).map((sentence) => sentence.replace(/ of test .*,/, ',')).sort()).toEqual([
    'lists know 0 identities and 0 executions, but it has 1 and 1',
    'lists know 1 identities and 2 executions, but it has 1 and 1',
    'lists know 7 identities and 1 executions, but it has 1 and 1',
  ]);
});

test('whatever is written, late or not: nothing is listed with more than it has, or as empty when it is not', async () => {
  const fixture = fixtureOf();
  await fixture.ingest(fixture.run(namesOf(4)));
  const { db } = ingest.stores.postgres;
  const testIds = (await db.select().from(identities)).map(({ testId }) => testId);
  const known = await readIdentities(db, fixture.id, testIds);
  let before: readonly number[] = [];
  const write = async (tx: Executor, counts: readonly number[], isLate: boolean) => {
    const records = known.map((record, i) => ({
      ...record,
      summary: { ...record.summary, months: counts[i] ? [202611, counts[i]] : [] },
      isListed: (before[i] ?? 0) > 0 && (counts[i] ?? 0) >= (before[i] ?? 0),
    }));
    before = counts;
    await writeIdentities(tx, fixture.id, records, () => '', isLate ? ({ isListed }) => isListed : undefined);
  };
  const read = async () => {
    const { rows } = await db.execute<{ test_id: string; executions: string }>(sql`
      select test_id, executions from ${identities} where repository_id = ${fixture.id}`);
    const records = await readIdentities(db, fixture.id, testIds);
    return records.map(({ testId, summary }) => ({
      counted: executionsOf(summary),
      listed: Number(rows.find((row) => row.test_id === testId)?.executions),
    }));
  };
  const pass = fc.record({
    counts: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 4, maxLength: 4 }),
    isLate: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(pass, { minLength: 1, maxLength: 6 }), async (passes) => {
      await write(db, [1, 1, 1, 1], false);
      for (const { counts, isLate } of passes) {
        await write(db, counts, isLate);
        for (const { counted, listed: number } of await read()) {
          expect(number).toBeLessThanOrEqual(counted);
          expect(number > 0).toBe(counted > 0);
          if (!isLate) expect(number).toBe(counted);
        }
        expect(await testListingDifferences(db, fixture.id)).toEqual([]);
      }
      await listNow(db, fixture.id, testIds);
      for (const { counted, listed: number } of await read()) expect(number).toBe(counted);
    }),
    { numRuns: 40 },
  );
});
