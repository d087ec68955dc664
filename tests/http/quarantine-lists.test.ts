/**
 * The quarantine list, the hottest read: entity tags, pages, and what readers of several processes see while others
 * write.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import type { Quarantine } from '../../src/postgres/quarantine-records.ts';
import type { Repository } from '../../src/postgres/repositories.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { openReplica, type Replica } from '../support/other-process.ts';
import { until } from '../support/patience.ts';
import { uniqueRepository } from '../support/stores.ts';

let app: TestApp;
let hearing: Replica;
let deaf: Replica;
beforeAll(async () => {
  app = await openTestApp();
  hearing = await openReplica(app.stores);
  deaf = await openReplica(app.stores, { isDeaf: true });
});
afterAll(async () => {
  await Promise.all([hearing.close(), deaf.close()]);
});

interface Listed {
  quarantined_tests: { id: string; test_name: string; is_recovered: boolean }[];
}

const TESTER = { name: 'test', actor: null };

async function repositoryOf(): Promise<{ repository: Repository; base: string }> {
  const path = uniqueRepository();
  const repository = await app.stores.repositories.record(path);
  return { repository, base: `/v1/ci/${path.owner}/repositories/${path.name}/quarantines` };
}

async function quarantine(repository: Repository, testName: string, branch: string | null = null): Promise<Quarantine> {
  const created = await app.stores.quarantines.create(repository.id, { testName, branch, reason: '' }, TESTER);
  if (!created) throw new Error('it is quarantined already');
  return created;
}

const processes = (): [string, TestApp][] => [
  ['this process', app],
  ['another', hearing],
  ['one without notifications', deaf],
];

/** Asks a process for a list until it is as wanted. */
const listed = (
  [name, process]: [string, Pick<TestApp, 'get'>],
  base: string,
  isWanted: (tests: Listed['quarantined_tests']) => boolean,
) =>
  until(
    async () => ({ name, tests: (await process.get<Listed>(base)).quarantined_tests }),
    ({ tests }) => isWanted(tests),
  );

describe('entity tags', () => {
  test('are strong, the same in every process, and give 304 until something changes', async () => {
    const { repository, base } = await repositoryOf();
    await quarantine(repository, 'a');
    const tags = new Set<string>();
    for (const [, process] of processes()) {
      const response = await process.request(base);
      const tag = response.headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[^"]+"$/);
      expect(response.headers.get('cache-control')).toBe('private, no-cache');
      tags.add(tag);
      const again = await process.request(base, { headers: { 'if-none-match': tag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
      const head = await process.request(base, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag')]).toEqual([200, tag]);
    }
    expect(tags.size).toBe(1);
    const [tag = ''] = tags;
    await quarantine(repository, 'b');
    const changed = await app.request(base, { headers: { 'if-none-match': tag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  test('a change of is_recovered changes the tag in every process; writing the same value changes none', async () => {
    const { repository, base } = await repositoryOf();
    const { id } = await quarantine(repository, 'a');
    const before = new Map<string, string | null>();
    for (const [name, process] of processes()) before.set(name, (await process.request(base)).headers.get('etag'));
    for (const isRecovered of [true, false]) {
      await app.stores.quarantines.setRecovered(repository.id, [{ id, isRecovered }]);
      for (const [name, process] of processes()) {
        await listed([name, process], base, ([test]) => test?.is_recovered === isRecovered);
        const tag = (await process.request(base)).headers.get('etag');
        expect([name, tag === before.get(name)]).toEqual([name, !isRecovered]);
      }
    }
    const revision = await app.stores.quarantines.revision(repository.id);
    await app.stores.quarantines.setRecovered(repository.id, [{ id, isRecovered: false }]);
    expect(await app.stores.quarantines.revision(repository.id)).toBe(revision);
  });
});

describe('freshness', () => {
  test('a change is in the next answer of this process, and soon in those of other processes', async () => {
    const { repository, base } = await repositoryOf();
    for (const [, process] of processes()) await process.get(base);
    for (const name of ['a', 'b', 'c']) {
      await quarantine(repository, name);
      expect((await app.get<Listed>(base)).quarantined_tests.at(-1)?.test_name).toBe(name);
      for (const process of processes()) await listed(process, base, (tests) => tests.at(-1)?.test_name === name);
    }
  });

  test('no reader of a process sees an older list after a newer one while both processes write', async () => {
    const { repository, base } = await repositoryOf();
    const WRITES = 30;
    let isWriting = true;
    const readers = [app, hearing, deaf].flatMap((process) => {
      // Shared by the readers of one process: an answer that begins after another ended must not be older.
      const seen = { most: 0 };
      return Array.from({ length: 4 }, async () => {
        let reads = 0;
        while (isWriting) {
          const least = seen.most;
          const { quarantined_tests } = await process.get<Listed>(base);
          expect(quarantined_tests.length).toBeGreaterThanOrEqual(least);
          seen.most = Math.max(seen.most, quarantined_tests.length);
          reads++;
          await Bun.sleep(0);
        }
        return reads;
      });
    });
    const write = async (store: typeof app.stores.quarantines, from: string) => {
      for (let i = 0; i < WRITES; i++)
        await store.create(repository.id, { testName: `${from} ${i}`, reason: '', branch: null }, TESTER);
    };
    await Promise.all([write(app.stores.quarantines, 'here'), write(hearing.quarantines, 'there')]);
    isWriting = false;
    expect(Math.min(...(await Promise.all(readers)))).toBeGreaterThan(5);
    for (const process of processes()) await listed(process, base, (tests) => tests.length === 2 * WRITES);
  });

  test('a process whose notifications break polls for changes, and is notified again once reconnected', async () => {
    const { repository, base } = await repositoryOf();
    const replica = await openReplica(app.stores);
    await replica.get(base);
    const { pool } = app.stores.postgres;
    await pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ci-insights listener'",
    );
    await until(() => !replica.notifications.isConnected);
    await quarantine(repository, 'meanwhile');
    const sees = (name: string) =>
      listed(['the replica', replica], base, (tests) => tests.some(({ test_name }) => test_name === name));
    await sees('meanwhile');
    await until(() => replica.notifications.isConnected);
    await quarantine(repository, 'again');
    await sees('again');
    await replica.close();
  });
});

describe('from memory', () => {
  test('the list is checked like any other read: each request twice, so that the second is answered from memory', async () => {
    const { repository, base } = await repositoryOf();
    await quarantine(repository, 'a', 'main');
    const { owner, name } = repository;
    const mine = await app.makeKey({ owner, repositories: [name] });
    const asked: [string, string | null, RequestInit, number][] = [
      [base, mine, {}, 200],
      [base, mine, { method: 'HEAD' }, 200],
      [`${base}?branch=main`, mine, {}, 200],
      [`${base}?branch=`, mine, {}, 422],
      [`${base}?per_page=0`, mine, {}, 422],
      [base.replace(name, 'not a name'), mine, {}, 422],
      [base, await app.makeKey({ owner: 'somebody-else' }), {}, 403],
      [base, await app.makeKey({ owner, repositories: ['another'] }), {}, 404],
      [base, 'cii_unknown', {}, 403],
      [base, null, {}, 403],
    ];
    for (const [path, token, init, status] of [...asked, ...asked])
      expect([path, token, (await app.request(path, { token, ...init })).status]).toEqual([path, token, status]);

    const [key] = (await app.keys.list()).filter((one) => one.repositories?.includes(name));
    await app.keys.revoke(key?.id ?? '');
    expect((await app.request(base, { token: mine })).status).toBe(403);
  });

  test('a key that expires between two requests is refused', async () => {
    const { repository, base } = await repositoryOf();
    await quarantine(repository, 'a');
    const { clock } = app.stores;
    const now = clock.now();
    const token = await app.makeKey({ expiresAt: new Date(now + 1_000) });
    try {
      for (const status of [200, 200, 200]) expect((await app.request(base, { token })).status).toBe(status);
      clock.set(now + 1_000);
      expect((await app.request(base, { token })).status).toBe(403);
    } finally {
      clock.set(now);
    }
  });
});

describe('pages', () => {
  const walk = async (start: string, relation: 'next' | 'prev', visit?: () => Promise<void>): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let url: string | undefined = start; url !== undefined; ) {
      const response = await app.request(url);
      expect(response.status).toBe(200);
      pages.push(((await response.json()) as Listed).quarantined_tests.map(({ test_name }) => test_name));
      url = linksOf(response)[relation];
      await visit?.();
    }
    return pages;
  };

  test('forwards and backwards give the same list, in order of creation, whatever the page size', async () => {
    const { repository, base } = await repositoryOf();
    const names = Array.from({ length: 23 }, (_, i) => `test ${i}`);
    for (const name of names) await quarantine(repository, name, name.endsWith('3') ? 'main' : null);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 30 }), fc.boolean(), async (perPage, isOther) => {
        const expected = isOther ? names.filter((name) => !name.endsWith('3')) : names;
        const first = `${base}?per_page=${perPage}${isOther ? '&branch=other' : ''}`;
        const forwards = await walk(first, 'next');
        expect(forwards.flat()).toEqual(expected);
        expect(forwards.slice(0, -1).every((page) => page.length === perPage)).toBe(true);
        const { last = '' } = linksOf(await app.request(first));
        expect((await walk(last, 'prev')).reverse().flat()).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });

  test('a row that disappears while a client pages hides no other', async () => {
    const { repository, base } = await repositoryOf();
    const made: Quarantine[] = [];
    for (let i = 0; i < 12; i++) made.push(await quarantine(repository, `test ${i}`));
    // After the page of 0 to 2, its last row and the first of the next page disappear.
    const leaving = [made[2], made[3]];
    const pages = await walk(`${base}?per_page=3`, 'next', async () => {
      for (const one of leaving.splice(0)) if (one) await app.stores.quarantines.remove(repository.id, one.id, TESTER);
    });
    expect(pages.flat()).toEqual(made.filter((_, i) => i !== 3).map(({ testName }) => testName));
  });

  test('a cursor keeps the page size and the filters, and is refused with other filters', async () => {
    const { repository, base } = await repositoryOf();
    for (let i = 0; i < 5; i++) await quarantine(repository, `test ${i}`, 'main');
    const { next = '' } = linksOf(await app.request(`${base}?per_page=2&branch=main`));
    expect(next).toStartWith(`http://ci.test${base}?`);
    const cursor = new URL(next).searchParams.get('cursor') ?? '';
    const remembered = await app.get<Listed & { per_page: number }>(`${base}?branch=main&cursor=${cursor}`);
    expect([remembered.per_page, remembered.quarantined_tests.map(({ test_name }) => test_name)]).toEqual([
      2,
      ['test 2', 'test 3'],
    ]);
    for (const query of [`cursor=${cursor}`, `branch=other&cursor=${cursor}`])
      expect((await app.request(`${base}?${query}`)).status).toBe(422);
    expect((await app.get<{ per_page: null }>(`${base}?cursor=`)).per_page).toBeNull();
  });
});

test('with ClickHouse stopped the list is 200 and the event log 503', async () => {
  const server = await startClickHouseServer();
  const clickhouse = await openClickHouse({ url: server.url, path: '' });
  await migrateClickHouse(clickhouse);
  const lonely = await openTestApp({ clickhouse });
  const { repository, base } = await repositoryOf();
  await quarantine(repository, 'a');
  const log = `/v1/repos/${repository.owner}/${repository.name}/logs`;
  const statuses = async () => [(await lonely.request(base)).status, (await lonely.request(log)).status];
  expect(await statuses()).toEqual([200, 200]);
  await server.stop();
  expect(await statuses()).toEqual([200, 503]);
  const refused = await lonely.request(log);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ status: 503, detail: expect.stringContaining('ClickHouse') });
  await clickhouse.close();
});
