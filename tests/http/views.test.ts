/** Saved views over HTTP: whose they are, who may change those of everyone, and how many there may be. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { byService } from '../../src/domain/audit.ts';
import { VIEWS_ALL_MAX, VIEWS_MAX } from '../../src/domain/limits.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { forgetViewsOfEndedKeys } from '../../src/postgres/saved-views.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

const viewSchema = z.looseObject({ id: z.string(), name: z.string(), is_shared: z.boolean() });
const listSchema = z.object({ views: z.array(viewSchema) });

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

/** A repository that has data, with keys and a person's browser to ask for its views. */
async function place() {
  const { owner, name } = uniqueRepository();
  const { id: repositoryId } = await app.stores.repositories.record({ host: 'github.com', owner, name });
  const address = `/v1/ci/${owner}/repositories/${name}/views`;
  const keyOf = (scope: 'admin' | 'ci' | 'view') => app.makeKey({ owner, scope });
  /** Signs a person in, in another browser each time. */
  const browserOf = async (subject: string) => {
    const grant = { keyId: null, actor: 'ann', subject, scope: 'view', owner, repositories: null } as const;
    const { token } = await app.stores.sessions.begin(grant);
    return { cookie: `ci_insights_session=${token}`, 'sec-fetch-site': 'same-origin' };
  };
  type Sender = string | Record<string, string>;
  const send = (by: Sender, method: string, path = '', body?: unknown) =>
    app.request(`${address}${path}`, {
      method,
      token: typeof by === 'string' ? by : null,
      headers: { ...(typeof by === 'object' && by), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const save = (by: Sender, named: string, more: object = {}) =>
    send(by, 'POST', '', { name: named, page: 'tests', ...more });
  const list = async (by: Sender) => listSchema.parse(await (await send(by, 'GET')).json()).views;
  const names = async (by: Sender) => (await list(by)).map((view) => view.name);
  return { owner, name, repositoryId, keyOf, browserOf, send, save, list, names };
}

describe('a saved view', () => {
  test('is listed by name, with its page and query, to the key that saved it and to no other', async () => {
    const { keyOf, save, list, names } = await place();
    const [mine, other] = [await keyOf('view'), await keyOf('admin')];
    const response = await save(mine, 'flaky', { query: 'health=flaky&q=a%20b' });
    expect(response.status).toBe(201);
    const saved = viewSchema.parse(await response.json());
    await save(mine, 'Broken', { page: 'cost' });
    expect(await list(mine)).toMatchObject([
      { name: 'Broken', page: 'cost', query: '' },
      { ...saved, page: 'tests', query: 'health=flaky&q=a%20b', is_shared: false },
    ]);
    expect(await names(other)).toEqual([]);
  });

  test('of a person is theirs in every browser; another person with the same name does not see it', async () => {
    const { browserOf, save, names, owner } = await place();
    const subject = `subject of ${owner}`;
    expect((await save(await browserOf(subject), 'mine')).status).toBe(201);
    expect(await names(await browserOf(subject))).toEqual(['mine']);
    expect(await names(await browserOf(`another ${subject}`))).toEqual([]);
  });

  test('of everyone is seen by all who may read; only those who may quarantine save and delete it', async () => {
    const { keyOf, send, save, names, owner, name } = await place();
    const [ci, view] = [await keyOf('ci'), await keyOf('view')];
    expect((await save(view, 'for all', { is_shared: true })).status).toBe(403);
    const saved = viewSchema.parse(await (await save(ci, 'for all', { is_shared: true })).json());
    // The name is free among one's own.
    expect((await save(view, 'for all')).status).toBe(201);
    expect(await names(view)).toEqual(['for all', 'for all']);
    expect((await send(view, 'DELETE', `/${saved.id}`)).status).toBe(403);
    expect((await send(ci, 'DELETE', `/${saved.id}`)).status).toBe(204);
    expect((await send(ci, 'DELETE', `/${saved.id}`)).status).toBe(404);
    expect(await names(ci)).toEqual([]);
    const { entries } = await app.get<{ entries: unknown[] }>(`/v1/audit?owner=${owner}&repository=${name}`);
    const told = { name: 'for all', page: 'tests', query: '' };
    // Of what one has for oneself, the trail says nothing.
    expect(entries).toMatchObject([
      { action: 'view.remove', object: { id: saved.id, name: 'for all' }, before: told, after: null },
      { action: 'view.create', object: { id: saved.id, name: 'for all' }, before: null, after: told },
    ]);
  });

  test('is not deleted by another, for whom it does not exist', async () => {
    const { keyOf, send, save, names } = await place();
    const [mine, other] = [await keyOf('view'), await keyOf('admin')];
    const saved = viewSchema.parse(await (await save(mine, 'mine')).json());
    expect((await send(other, 'DELETE', `/${saved.id}`)).status).toBe(404);
    expect(await names(mine)).toEqual(['mine']);
    expect((await send(mine, 'DELETE', `/${saved.id}`)).status).toBe(204);
    expect(await names(mine)).toEqual([]);
  });

  test('has a name that is not taken, a list page, and a query that leads nowhere else', async () => {
    const { keyOf, save } = await place();
    const key = await keyOf('view');
    await save(key, 'Mine');
    expect((await save(key, 'mINE')).status).toBe(409);
    const refused = [
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: 'a\0b' },
      { page: 'settings' },
      { page: 'https://evil.example/' },
      { query: 'a b' },
      { query: 'a#b' },
      { query: 'ä' },
      { query: 'x'.repeat(2_049) },
      { shared: true },
    ];
    for (const body of refused) expect([body, (await save(key, 'other', body)).status]).toEqual([body, 422]);
  });

  test('of a repository without data is refused, and none is listed', async () => {
    const { owner, name } = uniqueRepository();
    const address = `/v1/ci/${owner}/repositories/${name}/views`;
    expect(await app.get(address)).toEqual({ views: [] });
    const body = JSON.stringify({ name: 'x', page: 'tests' });
    const headers = { 'content-type': 'application/json' };
    expect((await app.request(address, { method: 'POST', headers, body })).status).toBe(404);
  });

  test('is one of a bounded number, of each holder and of the repository', async () => {
    const { keyOf, save, send, list, repositoryId } = await place();
    const [mine, other, third] = [await keyOf('view'), await keyOf('view'), await keyOf('view')];
    const { pool } = app.stores.postgres;
    await save(mine, 'first');
    const [first] = await list(mine);
    const copy = (holder: string, from: number, to: number) =>
      pool.query(
        `insert into ci_insights.saved_views select gen_random_uuid(), repository_id, ${holder}, key_id, 'copy ' || i, page, query,
           actor, created_at from ci_insights.saved_views, generate_series(${from}::int, ${to}::int) i where id = $1`,
        [first?.id],
      );
    await copy('holder', 2, VIEWS_MAX);
    expect(await list(mine)).toHaveLength(VIEWS_MAX);
    expect((await save(mine, 'one more')).status).toBe(422);
    // At the same time, only as many as there is room for.
    await save(other, 'other');
    await copy('gen_random_uuid()', VIEWS_MAX + 2, VIEWS_ALL_MAX - 2);
    const statuses = await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => (await save(third, name)).status));
    expect(statuses.toSorted()).toEqual([201, 201, 422, 422]);
    await send(mine, 'DELETE', `/${first?.id}`);
    expect((await save(third, 'e')).status).toBe(201);
    await pool.query('delete from ci_insights.saved_views where repository_id = $1', [repositoryId]);
  });

  test('stays when the repository is renamed, and leaves with its key when that ends', async () => {
    const { owner, name, keyOf, browserOf, save, repositoryId } = await place();
    const { key, token } = await app.keys.create({
      ...{ name: 'ends', owner, scope: 'view', repositories: null },
      expiresAt: new Date(app.stores.clock.now() + 60_000),
    });
    const lasting = await keyOf('ci');
    const ann = await browserOf(`subject of ${name}`);
    await save(token, 'of the key');
    await save(lasting, 'of another key');
    await save(lasting, 'of everyone', { is_shared: true });
    await save(ann, 'of a person');
    const { db, pool } = app.stores.postgres;
    const stored = async () => {
      const { rows } = await pool.query(
        'select name from ci_insights.saved_views where repository_id = $1 order by 1',
        [repositoryId],
      );
      return rows.map((row) => row.name);
    };
    const others = ['of a person', 'of another key', 'of everyone'];
    await forgetViewsOfEndedKeys(db, app.stores.clock.now());
    expect(await stored()).toEqual([...others, 'of the key']);
    await app.keys.revoke(key.id);
    await forgetViewsOfEndedKeys(db, app.stores.clock.now());
    expect(await stored()).toEqual(others);
    const to = uniqueRepository();
    await app.stores.repositories.rename({ owner, name }, { owner, name: to.name }, doerOf(byService('a test')));
    const renamed = `/v1/ci/${owner}/repositories/${to.name}/views`;
    const { views } = listSchema.parse(await (await app.request(renamed, { token: lasting })).json());
    expect(views.map((view) => view.name)).toEqual(['of another key', 'of everyone']);
  });
});
