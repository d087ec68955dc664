/** The end of a repository over HTTP; tests/ingest/delete-repository.test.ts has what becomes of its rows. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

type Path = ReturnType<typeof uniqueRepository>;
const addressOf = ({ owner, name }: Path, more = '') => `/v1/ci/${owner}/repositories/${name}${more}`;
const remove = (path: Path, query: string, token = app.adminToken) =>
  app.request(addressOf(path, query), { method: 'DELETE', token });
async function recorded(): Promise<Path> {
  const path = uniqueRepository();
  await app.stores.repositories.record(path);
  return path;
}

describe('deleting a repository', () => {
  test('says with dry_run what would go, and changes nothing', async () => {
    const path = await recorded();
    const quarantine = await app.request(addressOf(path, '/quarantines'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'a', reason: 'flaky' }),
    });
    expect(quarantine.status).toBe(201);
    const looked = await remove(path, '?dry_run=true');
    expect([looked.status, await looked.json()]).toEqual([
      200,
      { repository: `${path.owner}/${path.name}`, rows: { repositories: 1, quarantines: 1, event_outbox: 1 } },
    ]);
    expect(await app.stores.repositories.find(path.owner, path.name)).toBeDefined();
  });

  test('takes its name once more, in any case of letters', async () => {
    const path = await recorded();
    for (const query of ['', '?confirm=other/name', `?confirm=${path.name}`]) {
      const refused = await remove(path, query);
      expect([query, refused.status]).toEqual([query, 422]);
      expect(await refused.json()).toMatchObject({ errors: [{ loc: ['query', 'confirm'], type: 'not_confirmed' }] });
    }
    const deleted = await remove(path, `?confirm=${`${path.owner}/${path.name}`.toUpperCase()}`);
    expect(deleted.status).toBe(202);
    expect(await deleted.json()).toMatchObject({
      repository: `${path.owner}/${path.name}`,
      finished_at: null,
      removed: { repositories: 1 },
    });
    expect((await remove(path, `?confirm=${path.owner}/${path.name}`)).status).toBe(404);
    expect(await app.get(addressOf(path, '/deletions'))).toMatchObject({
      deletions: [{ repository: `${path.owner}/${path.name}` }],
    });
  });

  test('takes a key with the scope admin', async () => {
    const path = await recorded();
    for (const scope of ['view', 'upload', 'ci'] as const) {
      const { token } = await app.keys.create({
        ...{ name: scope, owner: path.owner, scope, repositories: null, expiresAt: null },
      });
      expect((await remove(path, `?confirm=${path.owner}/${path.name}`, token)).status).toBe(403);
      expect((await app.request(addressOf(path, '/deletions'), { token })).status).toBe(403);
    }
    expect(await app.stores.repositories.find(path.owner, path.name)).toBeDefined();
  });

  test('makes a key for it alone worthless', async () => {
    const path = await recorded();
    const { token } = await app.keys.create({
      ...{ name: 'its own', owner: path.owner, scope: 'admin', repositories: [path.name], expiresAt: null },
    });
    expect((await remove(path, `?confirm=${path.owner}/${path.name}`, token)).status).toBe(202);
    await Bun.sleep(0);
    expect(await app.stores.keys.list()).not.toContainEqual(
      expect.objectContaining({ name: 'its own', owner: path.owner }),
    );
  });
});
