/** An upgrade that changes the fingerprint: failures change groups while the service stores, answers, and crashes. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { changed } from '../../src/clickhouse/changed.ts';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { FINGERPRINT_VERSION } from '../../src/domain/fingerprint.ts';
import { failureIdOf, testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { currentGroupOf } from '../../src/maintenance/regroup.ts';
import { isRegrouped, regroupOnline } from '../../src/maintenance/regroup-online.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { formerGroups, upgrades } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

/** The group of an older version that told every message apart. */
const olderGroupOf = (testId: string, type: string, message: string): string =>
  failureIdOf(testId, FINGERPRINT_VERSION - 1, type, message);

const NAMES = ['sums', 'adds tax'];
const RUNS = 5;
const DAYS = [40, 3];
let repositories = [uniqueRepository()];

const failing = (repository: (typeof repositories)[number], run: number, days: number) =>
  runOf({
    repository,
    runId: `${days}-${run}`,
    at: TEST_NOW - days * DAY_MS + run * HOUR_MS,
    receivedAt: TEST_NOW,
    // Isolated failures on separate commits: flaky once they are known to be the same.
    results: Object.fromEntries(NAMES.map((name) => [name, run % 2 === 1 ? 'failed' : 'passed'])),
    message: `no answer from 'Task-${1_000 + run + days * 100}'`,
  });

interface Group {
  id: string;
  failure_count: number;
}

async function groupsOf(repository: (typeof repositories)[number], name: string): Promise<Group[]> {
  const { failures } = await app.get<{ failures: Group[] }>(`${addressOf(repository, name)}/failures`);
  return failures;
}

function addressOf({ owner, name }: (typeof repositories)[number], test: string): string {
  const id = testIdOf(idOf(owner, name), test);
  return `/v1/ci/${owner}/repositories/${name}/tests/${id}`;
}

const ids = new Map<string, string>();
const idOf = (owner: string, name: string): string => ids.get(`${owner}/${name}`) ?? '';

const total = (groups: readonly Group[]): number => groups.reduce((sum, group) => sum + group.failure_count, 0);
const FAILURES = DAYS.length * Math.floor(RUNS / 2);

/** Two repositories with failures in two months, each in a separate group. */
beforeEach(async () => {
  const { stores, driver } = ingest;
  stores.clock.set(TEST_NOW);
  repositories = [uniqueRepository(), uniqueRepository()];
  for (const repository of repositories) {
    await driver.ingest(
      ...DAYS.flatMap((days) => Array.from({ length: RUNS }, (_, run) => failing(repository, run, days))),
    );
    const found = await stores.repositories.find(repository.owner, repository.name);
    ids.set(`${repository.owner}/${repository.name}`, found?.id ?? '');
  }
  await rebuild(stores, olderGroupOf);
  // The older version kept neither.
  await stores.postgres.db.delete(formerGroups);
  await stores.postgres.db.delete(upgrades).where(eq(upgrades.name, `fingerprint ${FINGERPRINT_VERSION}`));
});

/** Runs it until a look an hour later has found nothing. */
async function finish(): Promise<void> {
  const { stores } = ingest;
  for (let looks = 0; !(await regroupOnline(stores)); looks++) {
    if (looks > 5) throw new Error('it does not end');
    stores.clock.set(stores.clock.now() + HOUR_MS);
  }
}

describe('an upgrade of the fingerprint', () => {
  test('groups are joined, and everything agrees', async () => {
    const { stores, driver } = ingest;
    const [repository] = repositories as [(typeof repositories)[number]];
    expect(await groupsOf(repository, 'sums')).toHaveLength(FAILURES);
    const waiting = await verify(stores);
    expect(waiting).toMatchObject({ isConsistent: true, regrouping: { messages: 4 * FAILURES, tests: 0 } });
    await finish();
    for (const each of repositories)
      for (const name of NAMES)
        expect(await groupsOf(each, name)).toEqual([expect.objectContaining({ failure_count: FAILURES })]);
    expect(await isRegrouped(stores.postgres.db)).toBe(true);
    expect(await verify(stores)).toMatchObject({ isConsistent: true, regrouping: { messages: 0, tests: 0 } });
    await driver.verify();
  });

  test('a link to a former group leads to the one that has its failures, and a quarantine of it covers that one', async () => {
    const { stores } = ingest;
    const [repository] = repositories as [(typeof repositories)[number]];
    const former = await groupsOf(repository, 'sums');
    const id = idOf(repository.owner, repository.name);
    const [first, second] = former.map((group) => group.id);
    const quarantine = { testName: 'sums', reason: 'known', branch: null, failureIds: [first ?? ''] };
    await stores.quarantines.create(id, quarantine, { name: 'ann', actor: null });
    await finish();
    const [group] = await groupsOf(repository, 'sums');
    for (const link of [first, second])
      expect(await app.get(`${addressOf(repository, 'sums')}/failures/${link}`)).toMatchObject({
        id: group?.id,
        failure_count: FAILURES,
      });
    const { quarantines } = await stores.quarantines.snapshot(id);
    expect(quarantines[0]?.failureIds?.toSorted()).toEqual([first, group?.id].toSorted() as string[]);
  });

  test('readers count every failure once at every moment, also those that arrive meanwhile', async () => {
    const { driver } = ingest;
    const [repository, other] = repositories as [(typeof repositories)[number], (typeof repositories)[number]];
    const counts = new Set<number>();
    let isDone = false;
    const reading = (async () => {
      while (!isDone) counts.add(total(await groupsOf(other, 'sums')));
    })();
    const arriving = driver.ingest(failing(repository, 1, 1), failing(repository, 3, 1));
    await finish();
    await arriving;
    isDone = true;
    await reading;
    expect([...counts]).toEqual([FAILURES]);
    await finish();
    expect(await groupsOf(repository, 'sums')).toEqual([expect.objectContaining({ failure_count: FAILURES + 2 })]);
    await driver.verify();
  });

  test('what an older version stores meanwhile is regrouped when it is looked for again', async () => {
    const { stores } = ingest;
    const [repository] = repositories as [(typeof repositories)[number]];
    expect(await regroupOnline(stores)).toBe(false);
    expect(await groupsOf(repository, 'sums')).toHaveLength(1);
    // Rows in the groups of the older version.
    await rebuild(stores, olderGroupOf);
    await stores.postgres.db
      .update(upgrades)
      .set({ finishedAt: null })
      .where(eq(upgrades.name, `fingerprint ${FINGERPRINT_VERSION}`));
    expect(await regroupOnline(stores)).toBe(false);
    expect(await groupsOf(repository, 'sums')).toHaveLength(FAILURES);
    stores.clock.set(TEST_NOW + HOUR_MS);
    expect(await regroupOnline(stores)).toBe(false);
    expect(await groupsOf(repository, 'sums')).toHaveLength(1);
    stores.clock.set(TEST_NOW + 2 * HOUR_MS);
    expect(await regroupOnline(stores)).toBe(true);
  });

  test('cut off after any step, it counts every failure once, and continues where it was', async () => {
    const { stores, driver } = ingest;
    // The first steps one by one, further ones in strides.
    for (let steps = 1, isFinished = false; !isFinished; steps += Math.ceil(steps / 4)) {
      const clickhouse = endingAfter(stores.clickhouse, steps);
      isFinished = await regroupOnline({ ...stores, clickhouse }).then(
        () => true,
        (error) => {
          if (!(error instanceof CutOff)) throw error;
          return false;
        },
      );
      for (const repository of repositories)
        for (const name of NAMES) expect([steps, total(await groupsOf(repository, name))]).toEqual([steps, FAILURES]);
    }
    await finish();
    for (const repository of repositories) expect(await groupsOf(repository, 'sums')).toHaveLength(1);
    await driver.verify();
  });

  test('two processes do not do it at once', async () => {
    const { stores } = ingest;
    const [repository] = repositories as [(typeof repositories)[number]];
    expect(await Promise.all([regroupOnline(stores), regroupOnline(stores)])).toEqual([false, false]);
    const [group] = await groupsOf(repository, 'sums');
    const testId = testIdOf(idOf(repository.owner, repository.name), 'sums');
    expect(group?.id).toBe(currentGroupOf(testId, 'Error', `no answer from 'Task-1001'`));
  });
});

class CutOff extends Error {}

/** ClickHouse as a process sees it that ends after so many statements. */
function endingAfter(clickhouse: ClickHouse, steps: number): ClickHouse {
  let left = steps;
  const step = <A extends unknown[], R>(run: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (left-- <= 0) throw new CutOff();
      return run(...args);
    };
  };
  return changed(clickhouse, {
    select: (query, params, turn) => {
      if (left-- <= 0) return Promise.reject(new CutOff());
      return clickhouse.select(query, params, turn);
    },
    rows: step((sql, params) => clickhouse.rows(sql, params)),
    command: step((sql, params) => clickhouse.command(sql, params)),
    insert: step((table, lines, token) => clickhouse.insert(table, lines, token)),
    fill: step((target, select) => clickhouse.fill(target, select)),
  });
}
