/** Rebuild brings everything derived into line with the executions and the settings. */
import { beforeEach, expect, test } from 'bun:test';
import { eq, sql } from 'drizzle-orm';
import { normaliseMessage } from '../../src/domain/fingerprint.ts';
import { failureIdOf } from '../../src/domain/identity.ts';
import type { Status } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import type { GroupOf } from '../../src/maintenance/regroup.ts';
import {
  commitRecords,
  healthChanges,
  identities,
  ownedTests,
  repositoryCounts,
  repositoryDays,
  testOwners,
  tests,
} from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { mixedRunsAgree, pullRunsAgree, troubledRunsAgree } from '../support/random-histories.ts';
import { uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthsOf, PASSING, type RunOf, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });

let repository = uniqueRepository();
beforeEach(() => {
  repository = uniqueRepository();
});

const runAt = (
  hoursAgo: number,
  runId: string,
  results: Record<string, Status>,
  more: Partial<Pick<RunOf, 'attempt' | 'message' | 'run'>> = {},
) => runOf({ repository, runId, at: TEST_NOW - hoursAgo * HOUR_MS, receivedAt: TEST_NOW, results, ...more });

test('after a change of the default branch, executions, totals, verdicts and health follow it', async () => {
  const { stores, driver } = ingest;
  const develop = { run: { branch: 'develop' } };
  await driver.ingest(runAt(5, '1', { a: 'passed' }));
  await driver.ingest(
    runAt(4, '2', { ...PASSING, a: 'failed' }, develop),
    runAt(3, '2', { ...PASSING, a: 'passed' }, { attempt: 2, ...develop }),
  );
  // Off the default branch, one commit that contradicts itself among thirty tests may as well have met trouble.
  expect(await healthsOf(stores, repository)).toEqual({ a: ['healthy'] });
  expect(await flakyOf(stores, repository)).toEqual([]);

  const recorded = await stores.repositories.record(repository);
  await stores.repositories.set(recorded, { defaultBranch: 'develop' }, 'ann');
  expect(await rebuild(stores)).toMatchObject({ moved: 63 });
  expect(await healthsOf(stores, repository)).toMatchObject({ a: ['flaky'], 'passing 0': ['healthy'] });
  expect(await flakyOf(stores, repository)).toEqual(['a 2#1']);
  await driver.verify();

  expect(await rebuild(stores)).toMatchObject({ moved: 0 });
  await driver.verify();
});

test('damaged tables are whole again', async () => {
  const { stores, driver } = ingest;
  await driver.ingest(
    runAt(4, '1', { ...PASSING, a: 'failed' }),
    runAt(3, '1', { ...PASSING, a: 'passed' }, { attempt: 2 }),
  );
  expect(await healthsOf(stores, repository)).toMatchObject({ a: ['flaky'] });
  await stores.clickhouse.command('TRUNCATE TABLE ci.runs');
  await stores.clickhouse.command('TRUNCATE TABLE ci.commit_runs');
  await stores.postgres.db.delete(identities);
  await stores.postgres.db.delete(healthChanges);
  await stores.postgres.db.update(tests).set({ firstFailedAt: null });
  await expect(driver.verify()).rejects.toThrow();
  await rebuild(stores);
  await driver.verify();
});

test('a record of a commit that is outdated is found, and a rebuild removes it', async () => {
  const { stores, driver } = ingest;
  const { db } = stores.postgres;
  await driver.ingest(runAt(1, '1', { a: 'failed' }), runAt(1, '2', { b: 'failed' }));
  const [record] = await db.select().from(commitRecords);
  await db.update(commitRecords).set({ record: JSON.stringify([[], []]) });
  await expect(driver.verify()).rejects.toThrow(`the record of commit ${record?.commitSha}`);
  await rebuild(stores);
  expect(await db.select().from(commitRecords)).toEqual([]);
  await driver.verify();
});

test('totals of a repository that are wrong are found, and a rebuild counts them again', async () => {
  const { stores, driver } = ingest;
  const { db } = stores.postgres;
  await driver.ingest(runAt(1, '1', { a: 'failed', b: 'passed' }));
  const damages: [damage: () => Promise<unknown>, found: string][] = [
    [() => db.update(repositoryDays).set({ healthy: 7 }), '7 healthy'],
    [() => db.update(repositoryCounts).set({ tests: 7 }), 'tests: {'],
    [() => db.update(repositoryCounts).set({ newestMs: 7 }), 'newest run: '],
    [() => db.delete(repositoryDays), '0 healthy'],
    [() => db.delete(repositoryCounts), 'tests: {'],
  ];
  for (const [damage, found] of damages) {
    await damage();
    await expect(driver.verify()).rejects.toThrow(found);
    await rebuild(stores);
    await driver.verify();
  }
  await driver.ingest(runAt(1, '2', { a: 'passed', c: 'failed' }));
  await driver.verify();
});

test('owners of tests that are wrong are found, and a rebuild derives them again', async () => {
  const { stores, driver } = ingest;
  const { db } = stores.postgres;
  await driver.ingest(runAt(1, '1', { a: 'passed', b: 'passed' }));
  const recorded = await stores.repositories.record(repository);
  const rules = [{ test_name: 'a', owners: ['@x', '@y'] }];
  await stores.repositories.set(recorded, { testOwners: rules }, 'ann');
  await driver.verify();
  const damages: [damage: () => Promise<unknown>, found: string][] = [
    [() => db.update(testOwners).set({ owner: '@z' }).where(eq(testOwners.owner, '@x')), '@z'],
    [() => db.update(testOwners).set({ position: sql`1 - position` }), '@y'],
    [() => db.delete(testOwners), 'stored as'],
    [() => db.delete(ownedTests), 'unknown'],
    [() => db.update(ownedTests).set({ file: 'other.ts' }), 'other.ts'],
  ];
  for (const [damage, found] of damages) {
    await damage();
    await expect(driver.verify()).rejects.toThrow(found);
    await rebuild(stores);
    await driver.verify();
  }
});

test('flaky executions of a time without flaky detection are found once it is on', async () => {
  const { stores, driver } = ingest;
  const recorded = await stores.repositories.record(repository);
  await stores.repositories.set(recorded, { flakyDetectionEnabled: false }, 'ann');
  const flagged = runAt(1, '2', { ...PASSING, adds: 'passed' });
  await driver.ingest(
    runAt(3, '1', { ...PASSING, sums: 'failed' }),
    runAt(2, '1', { ...PASSING, sums: 'passed' }, { attempt: 2 }),
    {
      ...flagged,
      executions: { ...flagged.executions, is_flaky: flagged.executions.name.map((name) => name === 'adds') },
    },
  );
  expect(await flakyOf(stores, repository)).toEqual([]);
  expect(await healthsOf(stores, repository)).toMatchObject({ adds: ['healthy'], sums: ['healthy'] });
  await driver.verify();

  await stores.repositories.set(recorded, { flakyDetectionEnabled: true }, 'ann');
  await rebuild(stores);
  expect(await flakyOf(stores, repository)).toEqual(['adds 2#1', 'sums 1#1']);
  expect((await healthsOf(stores, repository)).sums).toEqual(['flaky']);
  await driver.verify();
});

/** The groups of another version. */
const anotherGroupOf: GroupOf = (testId, type, message) => failureIdOf(testId, 9_999, type, normaliseMessage(message));

test('another fingerprint version regroups old failures, and the former one restores the former groups', async () => {
  const { stores, driver } = ingest;
  await driver.ingest(
    runAt(3, '1', { sums: 'failed' }, { message: 'expected 3 got 4' }),
    runAt(2, '2', { sums: 'failed' }, { message: 'expected 5 got 6' }),
    runAt(1, '3', { sums: 'failed' }, { message: 'nothing there' }),
  );
  const groups = async () => {
    const id = (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
    return (await stores.clickhouse.rows(
      `SELECT toString(failure_id) AS id, count() AS failures FROM ci.failures WHERE repository_id = {id: UUID}
       GROUP BY failure_id ORDER BY failures DESC`,
      { id },
    )) as { id: string; failures: number }[];
  };
  const before = await groups();
  expect(before.map((group) => group.failures)).toEqual([2, 1]);
  await driver.verify();

  expect((await rebuild(stores, anotherGroupOf)).regrouped).toBeGreaterThanOrEqual(3);
  const after = await groups();
  expect(after.map((group) => group.failures)).toEqual([2, 1]);
  expect(after.map((group) => group.id)).not.toEqual(before.map((group) => group.id));
  await expect(driver.verify()).rejects.toThrow();

  await rebuild(stores);
  expect(await groups()).toEqual(before);
  expect((await rebuild(stores)).regrouped).toBe(0);
  await driver.verify();
});

test('it finds what evaluation found step by step', async () => {
  const { stores, driver } = ingest;
  await mixedRunsAgree(ingest, 1);
  await troubledRunsAgree(ingest, 1);
  await pullRunsAgree(ingest, 1);
  await rebuild(stores);
  await driver.verify();
});
