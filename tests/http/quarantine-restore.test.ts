/** Undoing the removal of a quarantine. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { QUARANTINE_RESTORE_MINUTES } from '../../src/domain/quarantine-rules.ts';
import { MINUTE_MS } from '../../src/domain/time.ts';
import { QuarantineStore } from '../../src/postgres/quarantines.ts';
import { createdSchema } from '../../src/quarantines/schemas.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let app: TestApp;
let stores: TestStores;
beforeAll(async () => {
  app = await openTestApp();
  stores = await openTestStores();
});

const BY = { name: 'ann', actor: null };
const WANTED = { testName: 'sums', reason: 'slow', branch: 'main', owner: 'team-a', jobName: 'unit' };

function freshRepository() {
  const { owner, name } = uniqueRepository();
  const base = `/v1/ci/${owner}/repositories/${name}/quarantines`;
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await app.request(path, { method, ...(body && { body: JSON.stringify(body), headers }) });
    return { status: response.status, body: response.status === 204 ? null : await response.json() };
  };
  const create = async (body: object = {}): Promise<string> =>
    createdSchema.parse((await send('POST', base, { test_name: 'sums', reason: 'slow', ...body })).body).id;
  return {
    base,
    create,
    remove: (id: string) => send('DELETE', `${base}/${id}`),
    restore: (id: string) => send('POST', `${base}/${id}/restore`),
    get: (id: string) => send('GET', `${base}/${id}`),
  };
}

describe('a quarantine that was removed', () => {
  test('is in force again as it was, with the same id and beginning', async () => {
    const { create, remove, restore, get } = freshRepository();
    const id = await create({ owner: 'team-a', branch: 'main', job_name: 'unit', axes: { os: ['windows'] } });
    const before = await get(id);
    expect((await remove(id)).status).toBe(204);
    expect((await get(id)).status).toBe(404);
    const restored = await restore(id);
    expect([restored.status, restored.body]).toEqual([200, before.body]);
    expect(await get(id)).toEqual(before);
    expect((await restore(id)).status).toBe(404);
  });

  test('is refused while another one has its scope, and after that one is gone it is not', async () => {
    const { create, remove, restore } = freshRepository();
    const id = await create();
    await remove(id);
    const other = await create();
    expect((await restore(id)).status).toBe(409);
    await remove(other);
    expect((await restore(id)).status).toBe(200);
  });

  test('is unknown to other repositories', async () => {
    const { create, remove } = freshRepository();
    const id = await create();
    await remove(id);
    expect((await freshRepository().restore(id)).status).toBe(404);
    const others = freshRepository();
    await others.create();
    expect((await others.restore(id)).status).toBe(404);
  });

  test('stays removed once its hour or its end is over', async () => {
    const clock = { now: () => time };
    let time = Date.now();
    const store = new QuarantineStore(stores.postgres.db, clock);
    const { owner, name } = uniqueRepository();
    const repository = await stores.repositories.record({ host: 'github.com', owner, name });
    const made = await store.create(repository.id, WANTED, BY);
    const id = made?.id ?? '';
    await store.remove(repository.id, id, BY);
    time += QUARANTINE_RESTORE_MINUTES * MINUTE_MS - 1;
    expect(await store.restore(repository.id, id, BY)).toEqual(made);
    await store.remove(repository.id, id, BY);
    time += QUARANTINE_RESTORE_MINUTES * MINUTE_MS;
    expect(await store.restore(repository.id, id, BY)).toBeUndefined();
  });
});
