/** Quarantines of a repository are bounded, end when their time is over, and name branches as uploads do. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { testIdOf } from '../../src/domain/identity.ts';
import { REQUEST_LIMITS } from '../../src/domain/limit-table.ts';
import { QUARANTINES_BYTES_MAX, QUARANTINES_COST_MAX, QUARANTINES_MAX } from '../../src/domain/limits.ts';
import { quarantines } from '../../src/postgres/schema.ts';
import { setUpApp } from '../support/ingest.ts';
import { until } from '../support/patience.ts';
import { uniqueRepository } from '../support/stores.ts';

const service = setUpApp();

interface Listed {
  size: number;
  quarantined_tests: { id: string; test_name: string; branch: string | null }[];
}

async function fresh() {
  const repository = uniqueRepository();
  const { id } = await service.stores.repositories.record(repository);
  const base = `/v1/ci/${repository.owner}/repositories/${repository.name}/quarantines`;
  const send = (path: string, method: string, body: unknown) =>
    service.app.request(`${base}${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  return {
    id,
    list: (query = '') => service.app.get<Listed>(`${base}${query}`),
    post: (body: object) => send('', 'POST', { reason: '', ...body }),
    patch: (quarantineId: string, body: object) => send(`/${quarantineId}`, 'PATCH', body),
    remove: (quarantineId: string) => send(`/${quarantineId}`, 'DELETE', undefined),
    check: (body: object) => send('/check', 'POST', body),
    get: (quarantineId: string) => service.app.request(`${base}/${quarantineId}`),
    idOf: async (response: Response) => ((await response.json()) as { id: string }).id,
  };
}

/** Writes quarantines as if they had been made one after another. */
async function fill(repositoryId: string, count: number, rowOf: (i: number) => { branch?: string; reason?: string }) {
  const rows = Array.from({ length: count }, (_, i) => ({
    id: uuid7(),
    repositoryId,
    testName: `test ${i}`,
    testId: testIdOf(repositoryId, `test ${i}`),
    reason: '',
    source: 'manual' as const,
    isScopeChosen: true,
    actor: 'ann',
    createdAt: new Date(service.stores.clock.now()),
    ...rowOf(i),
  }));
  await service.stores.postgres.db.insert(quarantines).values(rows);
}

const messageOf = async (response: Response): Promise<string> => {
  expect(response.status).toBe(422);
  return ((await response.json()) as { errors: { msg: string }[] }).errors[0]?.msg ?? '';
};

describe('the quarantines of a repository', () => {
  test('are as many as allowed, and one more when one is removed', async () => {
    const repository = await fresh();
    await fill(repository.id, QUARANTINES_MAX, () => ({}));
    expect(await messageOf(await repository.post({ test_name: 'one more' }))).toBe(
      REQUEST_LIMITS.QUARANTINES_MAX.sentence(),
    );
    // A test that is quarantined already stays so, and is not too much.
    expect((await repository.post({ test_name: 'test 1' })).status).toBe(409);
    const { quarantined_tests: all } = await repository.list();
    expect(all).toHaveLength(QUARANTINES_MAX);
    await repository.remove(all[0]?.id ?? '');
    expect((await repository.post({ test_name: 'one more' })).status).toBe(201);
  });

  test('are few bytes together, whatever is made or changed', async () => {
    const repository = await fresh();
    const reason = '😀'.repeat(10_000);
    await fill(repository.id, Math.floor(QUARANTINES_BYTES_MAX / 40_100), () => ({ reason }));
    expect(await messageOf(await repository.post({ test_name: 'a', reason }))).toBe(
      REQUEST_LIMITS.QUARANTINES_BYTES_MAX.sentence(),
    );
    let created = await repository.post({ test_name: 'short' });
    for (let i = 0; created.status === 201 && i < 30; i++)
      created = await repository.post({ test_name: `filler ${i}`, reason: 'x'.repeat(2_000) });
    expect(created.status).toBe(422);
    const id = (await repository.list()).quarantined_tests.find(({ test_name }) => test_name === 'short')?.id ?? '';
    const long = { ticket_url: `https://a.example/${'x'.repeat(2_000)}` };
    expect(await messageOf(await repository.patch(id, long))).toBe(REQUEST_LIMITS.QUARANTINES_BYTES_MAX.sentence());
    expect((await repository.patch(id, { owner: null })).status).toBe(200);
  });

  test('have patterns that cost little together; equal ones, and plain ends, cost nothing', async () => {
    const repository = await fresh();
    const pattern = (i: number) => `*${'a*'.repeat(124)}${String(i).padStart(3, '0')}`.slice(0, 255);
    await fill(repository.id, Math.floor(QUARANTINES_COST_MAX / 249), (i) => ({ branch: pattern(i) }));
    const refused = await repository.post({ test_name: 'a', branch: pattern(999) });
    expect(await messageOf(refused)).toBe(REQUEST_LIMITS.QUARANTINES_COST_MAX.sentence());
    expect((await repository.post({ test_name: 'a', branch: pattern(0) })).status).toBe(201);
    expect((await repository.post({ test_name: 'a', branch: 'release/*' })).status).toBe(201);
    expect((await repository.list(`?branch=${'a'.repeat(252)}000`)).size).toBe(2);
  });
});

describe('a quarantine whose end has come', () => {
  const endNow = (id: string) =>
    service.stores.postgres.db
      .update(quarantines)
      .set({ expiresAt: sql`now() - interval '1 second'` })
      .where(sql`${quarantines.id} = ${id}`);

  test('is in no answer, although no worker has removed it, and does not stand in the way of another', async () => {
    const repository = await fresh();
    const body = { test_name: 'a', branch: 'main', expires_at: new Date(Date.now() + 86_400_000).toISOString() };
    const id = await repository.idOf(await repository.post(body));
    await endNow(id);
    const other = await repository.idOf(await repository.post({ test_name: 'other' }));
    expect((await repository.list()).quarantined_tests.map(({ test_name }) => test_name)).toEqual(['other']);
    expect((await repository.list('?branch=main&per_page=10')).size).toBe(1);
    expect(await (await repository.check({ tests_names: ['a'], branch: 'main' })).json()).toMatchObject({
      quarantined_tests_names: [],
    });
    for (const response of [
      await repository.get(id),
      await repository.patch(id, { owner: 'ann' }),
      await repository.remove(id),
    ])
      expect(response.status).toBe(404);
    expect(await service.stores.quarantines.ofTests(repository.id, [testIdOf(repository.id, 'a')])).toEqual([]);
    expect((await repository.post({ test_name: 'a', branch: 'main' })).status).toBe(201);
    expect((await repository.get(other)).status).toBe(200);
  });

  test('leaves a list that is in memory at that moment', async () => {
    const repository = await fresh();
    const soon = new Date(Date.now() + 1_500).toISOString();
    expect((await repository.post({ test_name: 'a', expires_at: soon })).status).toBe(201);
    expect((await repository.list()).size).toBe(1);
    const startedAt = performance.now();
    await until(repository.list, ({ size }) => size === 0);
    expect(performance.now() - startedAt).toBeGreaterThan(500);
  });
});

test('a branch is written with or without refs/heads/, in quarantines and in questions about them', async () => {
  const repository = await fresh();
  await repository.post({ test_name: 'a', branch: 'refs/heads/main' });
  await repository.post({ test_name: 'b', branch: 'refs/heads/release/*' });
  expect((await repository.list()).quarantined_tests.map(({ branch }) => branch)).toEqual(['main', 'release/*']);
  for (const [branch, name] of [
    ['main', 'a'],
    ['refs/heads/main', 'a'],
    ['refs/heads/release/1', 'b'],
  ]) {
    expect((await repository.list(`?branch=${branch}`)).quarantined_tests.map(({ test_name }) => test_name)).toEqual([
      name ?? '',
    ]);
    expect(await (await repository.check({ tests_names: ['a', 'b'], branch })).json()).toMatchObject({
      quarantined_tests_names: [name],
    });
  }
  expect((await repository.post({ test_name: 'c', branch: 'refs/heads/' })).status).toBe(422);
});
