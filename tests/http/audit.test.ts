/** The trail: every operation that changes something leaves an entry with who did it, and so do commands on the server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { KeyRateLimit } from '../../src/access/key-rate-limit.ts';
import { byService } from '../../src/domain/audit.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { NO_PROGRESS } from '../../src/domain/import-progress.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { createLogger } from '../../src/observability/log.ts';
import { forgetAudit } from '../../src/postgres/audit.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { imports } from '../../src/postgres/schema.ts';
import { compress } from '../../src/queue/encoding.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const listSchema = z.object({
  entries: z.array(
    z.looseObject({
      id: z.string(),
      at: z.string(),
      action: z.string(),
      actor: z.looseObject({ kind: z.string(), name: z.string(), key_id: z.string().nullable() }),
      object: z.object({ id: z.string().nullable(), name: z.string().nullable() }),
      owner: z.string().nullable(),
      repository: z.string().nullable(),
      before: z.record(z.string(), z.unknown()).nullable(),
      after: z.record(z.string(), z.unknown()).nullable(),
      request_id: z.string().nullable(),
    }),
  ),
});
const made = z.object({ id: z.string() });
const { owner, name } = uniqueRepository();
const REPOSITORY = `/v1/ci/${owner}/repositories/${name}`;
const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

let service: ServiceApp;
let me: { key: string; id: string; name: string };
beforeAll(async () => {
  service = await openServiceApp({ apiUrls: { github: 'http://127.0.0.1:1' } });
  const { key, token } = await service.keys.create({
    name: `operator of ${name}`,
    owner: null,
    scope: 'admin',
    repositories: null,
    expiresAt: null,
  });
  me = { key: token, id: key.id, name: key.name };
});
afterAll(() => service.stop());

const entries = async (query = '') => listSchema.parse(await service.get(`/v1/audit?per_page=100${query}`)).entries;
const send = (path: string, init: RequestInit = {}) => service.request(path, { token: me.key, ...init });
const sendForId = async (path: string, init: RequestInit): Promise<string> =>
  made.parse(await (await send(path, init)).json()).id;
async function signIn(app: TestApp, key: string): Promise<string> {
  const response = await app.request('/v1/session', {
    ...json('POST', { key }),
    token: null,
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
  });
  expect(response.status).toBe(201);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

const CAUSE = '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14';
/** The id of a stored cause of the repository. */
async function causeOf(): Promise<string> {
  const { id } = await service.stores.repositories.record({ host: 'github.com', owner, name });
  await service.stores.postgres.pool.query(
    `insert into ci_insights.cause_nodes (repository_id, node_id, cause_id, signature_id, exception_type, message, is_generic,
       first_ms, first_test, last_ms, last_test, last_failure, failures, was_cause)
     values ($1, $2, $2, $2, 'E', 'refused', false, 1, $2, 1, $2, $2, 1, true) on conflict do nothing`,
    [id, CAUSE],
  );
  return CAUSE;
}

/** The name of a test that ran on the default branch. */
async function testOf(): Promise<string> {
  const { id } = await service.stores.repositories.record({ host: 'github.com', owner, name });
  await service.stores.postgres.pool.query(
    'insert into ci_insights.tests (repository_id, test_id, name) values ($1, $2, $3) on conflict do nothing',
    [id, testIdOf(id, 'ran'), 'ran'],
  );
  return 'ran';
}

/** A request to each operation that changes something, and the action that the trail has of it. */
const DEEDS: Record<string, { action: string; act(): Promise<unknown> }> = {
  'POST /v1/session': { action: 'session.begin', act: () => signIn(service, me.key) },
  'DELETE /v1/session': {
    action: 'session.end',
    act: async () => {
      const cookie = await signIn(service, me.key);
      return service.request('/v1/session', {
        method: 'DELETE',
        token: null,
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
      });
    },
  },
  'DELETE /v1/sessions/:session_id': {
    action: 'session.end',
    act: async () => {
      await signIn(service, me.key);
      const { sessions } = z.object({ sessions: z.array(made) }).parse(await service.get('/v1/sessions'));
      return send(`/v1/sessions/${sessions[0]?.id}`, { method: 'DELETE' });
    },
  },
  'POST /v1/keys': {
    action: 'key.create',
    act: () => send('/v1/keys', json('POST', { name: 'made', scope: 'ci', owner })),
  },
  'DELETE /v1/keys/:key_id': {
    action: 'key.revoke',
    act: async () => {
      const id = await sendForId('/v1/keys', json('POST', { name: 'to revoke', scope: 'ci', owner }));
      return send(`/v1/keys/${id}`, { method: 'DELETE' });
    },
  },
  'PATCH /v1/ci/:owner/repositories/:repository/settings': {
    action: 'repository.settings',
    act: () => send(`${REPOSITORY}/settings`, json('PATCH', { default_branch: 'trunk', quarantine_limit: 7 })),
  },
  'DELETE /v1/ci/:owner/repositories/:repository': {
    action: 'repository.delete',
    act: async () => {
      const gone = `${name}-gone`;
      await service.stores.repositories.record({ host: 'github.com', owner, name: gone });
      return send(`/v1/ci/${owner}/repositories/${gone}?confirm=${owner}/${gone}`, { method: 'DELETE' });
    },
  },
  'POST /v1/ci/:owner/repositories/:repository/quarantines': {
    action: 'quarantine.create',
    act: () => send(`${REPOSITORY}/quarantines`, json('POST', { test_name: 'created', reason: 'flaky' })),
  },
  'PATCH /v1/ci/:owner/repositories/:repository/quarantines/:quarantine_id': {
    action: 'quarantine.update',
    act: async () => {
      const body = { test_name: 'changed', reason: 'flaky' };
      const id = await sendForId(`${REPOSITORY}/quarantines`, json('POST', body));
      return send(`${REPOSITORY}/quarantines/${id}`, json('PATCH', { owner: 'team-a' }));
    },
  },
  'DELETE /v1/ci/:owner/repositories/:repository/quarantines/:quarantine_id': {
    action: 'quarantine.remove',
    act: async () => {
      const body = { test_name: 'removed', reason: 'flaky' };
      const id = await sendForId(`${REPOSITORY}/quarantines`, json('POST', body));
      return send(`${REPOSITORY}/quarantines/${id}`, { method: 'DELETE' });
    },
  },
  'POST /v1/ci/:owner/repositories/:repository/quarantines/:quarantine_id/restore': {
    action: 'quarantine.restore',
    act: async () => {
      const body = { test_name: 'restored', reason: 'flaky' };
      const id = await sendForId(`${REPOSITORY}/quarantines`, json('POST', body));
      await send(`${REPOSITORY}/quarantines/${id}`, { method: 'DELETE' });
      return send(`${REPOSITORY}/quarantines/${id}/restore`, { method: 'POST' });
    },
  },
  'PATCH /v1/ci/:owner/repositories/:repository/causes/:cause_id': {
    action: 'cause.update',
    act: async () => send(`${REPOSITORY}/causes/${await causeOf()}`, json('PATCH', { owner: 'team-a' })),
  },
  'POST /v1/ci/:owner/repositories/:repository/causes/:cause_id/quarantine': {
    action: 'cause.quarantine',
    act: async () => send(`${REPOSITORY}/causes/${await causeOf()}/quarantine`, json('POST', { reason: 'outage' })),
  },
  'DELETE /v1/ci/:owner/repositories/:repository/causes/:cause_id/quarantine': {
    action: 'cause.release',
    act: async () => send(`${REPOSITORY}/causes/${await causeOf()}/quarantine`, { method: 'DELETE' }),
  },
  'POST /v1/ci/:owner/repositories/:repository/renames': {
    action: 'rename.accept',
    act: async () => send(`${REPOSITORY}/renames`, json('POST', { test_name: await testOf(), new_name: 'renamed' })),
  },
  'PATCH /v1/ci/:owner/repositories/:repository/renames/:rename_id': {
    action: 'rename.undo',
    act: async () => {
      const id = await sendForId(
        `${REPOSITORY}/renames`,
        json('POST', { test_name: await testOf(), new_name: 'renamed for a while' }),
      );
      return send(`${REPOSITORY}/renames/${id}`, json('PATCH', { state: 'undone' }));
    },
  },
  'POST /v1/ci/:owner/repositories/:repository/views': {
    action: 'view.create',
    act: () => send(`${REPOSITORY}/views`, json('POST', { name: 'saved', page: 'tests', is_shared: true })),
  },
  'DELETE /v1/ci/:owner/repositories/:repository/views/:view_id': {
    action: 'view.remove',
    act: async () => {
      const body = { name: 'deleted', page: 'tests', is_shared: true };
      const id = await sendForId(`${REPOSITORY}/views`, json('POST', body));
      return send(`${REPOSITORY}/views/${id}`, { method: 'DELETE' });
    },
  },
  'POST /v1/ci/:owner/repositories/:repository/backtests': {
    action: 'backtest.request',
    act: () =>
      send(`${REPOSITORY}/backtests`, json('POST', { auto_quarantine: 'flaky', since: '2026-11-01T00:00:00Z' })),
  },
  'POST /v1/people/forget': {
    action: 'person.forget',
    act: () => send('/v1/people/forget', json('POST', { name: `no one of ${name}` })),
  },
  'POST /v1/ci/:owner/repositories/:repository/import': {
    action: 'import.start',
    act: () => send(`${REPOSITORY}/import`, json('POST', { host: 'github', token: 'none' })),
  },
  'DELETE /v1/ci/:owner/repositories/:repository/import': {
    action: 'import.cancel',
    act: async () => {
      await service.stores.postgres.db
        .insert(imports)
        .values({
          ...{ path: `${owner}/${name}`.toLowerCase(), id: crypto.randomUUID(), host: 'github', source: 'acme/shop' },
          ...{ since: new Date(0), startedAt: new Date(), startedBy: 'ann', seenAt: new Date(), status: 'running' },
          progress: JSON.stringify(NO_PROGRESS),
        })
        .onConflictDoUpdate({ target: imports.path, set: { status: 'running' } });
      return send(`${REPOSITORY}/import`, { method: 'DELETE' });
    },
  },
  'POST /v1/verifications': {
    action: 'verification.request',
    act: async () => {
      await service.stores.postgres.pool.query('delete from ci_insights.verifications');
      return send('/v1/verifications', { method: 'POST' });
    },
  },
  'POST /v1/dead-letters/:dead_letter_id/replay': {
    action: 'dead_letter.replay',
    act: async () => {
      const { deadLetters } = service.stores;
      const job = compress(makeEventsJob(uniqueRepository(), [labelled(`replayed ${name}`)]));
      await deadLetters.add('pr-events', `bad-${name}`, null, job, 'was broken');
      const letter = (await deadLetters.list()).find(({ jobId }) => jobId === `bad-${name}`);
      return send(`/v1/dead-letters/${letter?.id}/replay`, { method: 'POST' });
    },
  },
};

const UPLOAD = 'what it sends has a receipt, and changes nothing that people decide';
/** Operations that may change something, and are not in the trail. */
const SILENT: Record<string, string> = {
  'POST /v1/ci/:owner/repositories/:repository/traces': UPLOAD,
  'POST /v1/repos/:owner/:repository/ci/traces': UPLOAD,
  ...Object.fromEntries(FORMATS.map(({ name }) => [`POST /v1/ci/:owner/repositories/:repository/${name}`, UPLOAD])),
  'PUT /v1/ci/:owner/repositories/:repository/codeowners':
    'it is a file of the default branch, whose history the host has',
  'PUT /v1/ci/:owner/repositories/:repository/commits/:commit_sha/changed-files': UPLOAD,
  'PUT /v1/ci/:owner/repositories/:repository/pull-requests': UPLOAD,
  'PUT /v1/ci/:owner/repositories/:repository/pulls/:number/comment': UPLOAD,
  'POST /mcp': 'what its tools ask leaves the entries: tests/http/mcp.test.ts',
  'POST /v1/auth/ci': 'its entry counts the keys of a day: tests/http/ci-exchange.test.ts',
  'POST /webhooks/:host': 'it is the word of the repository host, which is in the event log; a rename is tested below',
  'POST /v1/ci/:owner/repositories/:repository/quarantines/check': 'it only reads',
  'POST /v1/ci/:owner/repositories/:repository/claims': 'it only reads',
  'POST /v1/ci/:owner/repositories/:repository/owners/preview': 'it only reads',
  'POST /v1/ci/:owner/repositories/:repository/split': 'it only keeps what it answers, for the other shards of a run',
  'PATCH /v1/ci/:owner/repositories/:repository/quarantines/check': 'it is refused',
  'DELETE /v1/ci/:owner/repositories/:repository/quarantines/check': 'it is refused',
};

test('every operation that is not a read leaves an entry with its actor and its request, or has a reason not to', async () => {
  const writes = service.app.routes
    .filter(({ method }) => method !== 'GET' && method !== 'HEAD')
    .map(({ method, path }) => `${method} ${path}`);
  expect(writes.toSorted()).toEqual([...Object.keys(DEEDS), ...Object.keys(SILENT)].toSorted());
  for (const [route, { action, act }] of Object.entries(DEEDS)) {
    const before = new Set((await entries(`&action=${action}`)).map(({ id }) => id));
    await act();
    const left = (await entries(`&action=${action}`)).filter(({ id }) => !before.has(id));
    expect([route, left.length]).toEqual([route, 1]);
    expect([route, left[0]?.actor.name, left[0]?.actor.key_id]).toEqual([route, me.name, me.id]);
    expect([route, left[0]?.request_id]).toEqual([route, expect.stringMatching(/^[\w-]{8,}$/)]);
  }
});

describe('an entry', () => {
  test('tells what was before and after, and is found by actor, action, owner, repository and time', async () => {
    const place = uniqueRepository();
    const path = `/v1/ci/${place.owner}/repositories/${place.name}/settings`;
    service.stores.clock.at += 1_000;
    const from = new Date(service.stores.clock.now()).toISOString();
    await send(path, json('PATCH', { flaky_detection_enabled: false, quarantine_limit: 3 }));
    service.stores.clock.at += 1_000;
    const query = `&owner=${place.owner.toUpperCase()}&repository=${place.name}`;
    const found = await entries(query);
    expect(found).toMatchObject([
      {
        action: 'repository.settings',
        actor: { kind: 'key', name: me.name, key_id: me.id, session_id: null, subject: null },
        object: { name: `${place.owner}/${place.name}` },
        owner: place.owner,
        repository: place.name,
        before: { flaky_detection_enabled: true, quarantine_limit: null },
        after: { flaky_detection_enabled: false, quarantine_limit: 3 },
      },
      { action: 'repository.create' },
    ]);
    const to = new Date(service.stores.clock.now()).toISOString();
    const ids = found.map(({ id }) => id);
    const idsOf = async (more: string) => (await entries(`${query}${more}`)).map(({ id }) => id);
    expect(await idsOf(`&actor=${encodeURIComponent(me.name)}`)).toEqual(ids);
    expect(await idsOf(`&actor=${me.id}`)).toEqual(ids);
    expect(await idsOf('&actor=another')).toEqual([]);
    expect(await idsOf('&action=repository.create')).toEqual(ids.slice(1));
    expect(await idsOf('&action=repository.create&action=repository.settings')).toEqual(ids);
    expect(await idsOf(`&from=${from}&to=${to}`)).toEqual(ids);
    expect(await idsOf(`&to=${from}`)).toEqual([]);
    const first = await service.request(`/v1/audit?per_page=1${query}`);
    const next = await service.request(linksOf(first).next ?? '');
    const pages = [first, next].map(async (page) => listSchema.parse(await page.json()).entries.map(({ id }) => id));
    expect(await Promise.all(pages)).toEqual([ids.slice(0, 1), ids.slice(1)]);
  });

  test('is for operators only, and a window that is none is refused', async () => {
    const token = await service.makeKey({ scope: 'admin', owner });
    expect((await service.request('/v1/audit', { token })).status).toBe(403);
    const refused = ['?from=2026-11-21T00:00:00Z&to=2026-11-21T00:00:00Z', '?repository=shop'];
    for (const query of refused) expect([query, (await send(`/v1/audit${query}`)).status]).toEqual([query, 422]);
  });

  test('has no secret in it: neither the token of a key, nor that of a session', async () => {
    const response = await send('/v1/keys', json('POST', { name: 'secret', scope: 'ci', owner }));
    const { token } = z.object({ token: z.string() }).parse(await response.json());
    const cookie = await signIn(service, token);
    const { rows } = await service.stores.postgres.pool.query(
      'select row_to_json(audit)::text as row from ci_insights.audit',
    );
    const text = JSON.stringify(rows);
    for (const secret of [token, cookie.split('=')[1] ?? '', me.key]) expect(text).not.toContain(secret);
  });

  test('is not left by a change that is undone with its transaction', async () => {
    const { postgres, quarantines, repositories } = service.stores;
    const place = uniqueRepository();
    const recorded = await repositories.record(place);
    await postgres.pool.query(`create function ci_insights.refuse() returns trigger language plpgsql as
      $$ begin if new.repository = '${place.name}' then raise 'refused'; end if; return new; end $$`);
    await postgres.pool.query(
      'create trigger refuse before insert on ci_insights.audit for each row execute function ci_insights.refuse()',
    );
    try {
      const wanted = { testName: 'undone', reason: 'flaky', branch: null };
      const by = doerOf(byService('a test'));
      expect(quarantines.create(recorded.id, wanted, by)).rejects.toThrow();
      expect(repositories.set(recorded, { quarantineLimit: 5 }, by)).rejects.toThrow();
      expect((await quarantines.snapshot(recorded.id)).quarantines).toEqual([]);
      expect((await repositories.find(place.owner, place.name))?.quarantineLimit).toBeNull();
    } finally {
      await postgres.pool.query('drop function ci_insights.refuse cascade');
    }
  });

  test('outlives what it speaks of, and leaves after its time', async () => {
    const place = uniqueRepository();
    await send(`/v1/ci/${place.owner}/repositories/${place.name}/settings`, json('PATCH', { quarantine_limit: 3 }));
    await service.stores.postgres.pool.query('delete from ci_insights.repositories where name = $1', [place.name]);
    const { db } = service.stores.postgres;
    const now = service.stores.clock.now();
    const count = async () => (await entries(`&owner=${place.owner}&repository=${place.name}`)).length;
    await forgetAudit(db, now - 365 * DAY_MS);
    expect(await count()).toBe(2);
    await service.stores.postgres.pool.query(
      "update ci_insights.audit set at = at - interval '366 days' where repository = $1",
      [place.name],
    );
    await forgetAudit(db, now - 365 * DAY_MS);
    const { rows } = await service.stores.postgres.pool.query('select 1 from ci_insights.audit where repository = $1', [
      place.name,
    ]);
    expect(rows).toEqual([]);
  });

  test('of a rename names both paths, and the log of the repository has it with those of its settings', async () => {
    const { repositories } = service.stores;
    const [place, to] = [uniqueRepository(), uniqueRepository()];
    const by = doerOf({ kind: 'command', name: 'ci-insights repos', subject: 'root' });
    const recorded = await repositories.record(place, by.audit);
    await repositories.set(recorded, { defaultBranch: 'develop' }, by);
    await repositories.rename(place, to, by);
    expect(await entries(`&owner=${to.owner}&repository=${to.name}`)).toMatchObject([
      {
        action: 'repository.rename',
        actor: { kind: 'command', name: 'ci-insights repos', subject: 'root' },
        before: { owner: place.owner, name: place.name },
        after: { owner: to.owner, name: to.name },
      },
    ]);
    const { rows } = await service.stores.postgres.pool.query<{ type: string; trigger: string; metadata: string }>(
      'select type, trigger, metadata from ci_insights.event_outbox where repository_id = $1 order by id',
      [recorded.id],
    );
    expect(rows.map(({ type, trigger }) => [type, trigger])).toEqual([
      ['repository.settings.updated', 'ci-insights repos'],
      ['repository.renamed', 'ci-insights repos'],
    ]);
    expect(JSON.parse(rows[0]?.metadata ?? '')).toMatchObject({
      before: { default_branch: null },
      after: { default_branch: 'develop' },
    });
  });
});

test('a key names its maker', async () => {
  const id = await sendForId('/v1/keys', json('POST', { name: 'has a maker', scope: 'ci', owner }));
  const { keys } = z
    .object({ keys: z.array(z.object({ id: z.string(), made_by: z.string() })) })
    .parse(await service.get('/v1/keys'));
  expect(keys.find((key) => key.id === id)).toEqual({ id, made_by: me.name });
});

test('the log line of a request that changes something has the actor and the id of the key', async () => {
  const lines: string[] = [];
  const app = await openTestApp({ log: createLogger('info', { write: (line) => void lines.push(line) }) });
  const { key, token } = await app.keys.create({
    name: 'who writes',
    owner,
    scope: 'ci',
    repositories: null,
    expiresAt: null,
  });
  const { owner: place, name: shop } = uniqueRepository();
  await app.request(`/v1/ci/${place}/repositories/${shop}/quarantines`, {
    ...json('POST', { test_name: 'logged', reason: 'flaky' }),
    token,
  });
  const cookie = await signIn(app, token);
  await app.request('/v1/session', {
    method: 'DELETE',
    token: null,
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  });
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(requests).toMatchObject([
    { operation: 'createQuarantine', actor: 'who writes', key_id: key.id },
    { operation: 'signIn', actor: 'who writes', key_id: key.id, session_id: expect.any(String) },
    { operation: 'signOut', actor: 'who writes', key_id: key.id, session_id: expect.any(String) },
  ]);
});

describe('the requests of a key', () => {
  test('are counted together with those of its sessions, and so is signing in', async () => {
    const log = createLogger('error');
    const app = await openTestApp({ rateLimit: new KeyRateLimit({ requestsMax: 5, redis: undefined, log }) });
    const token = await app.makeKey({ owner, scope: 'view' });
    const cookies = [await signIn(app, token), await signIn(app, token)];
    const ask = async (cookie?: string) =>
      (await app.request('/v1/session', cookie ? { token: null, headers: { cookie } } : { token })).status;
    expect([await ask(cookies[0]), await ask(cookies[1]), await ask()]).toEqual([200, 200, 200]);
    expect([await ask(cookies[0]), await ask(cookies[1]), await ask()]).toEqual([429, 429, 429]);
    const refused = await app.request('/v1/session', {
      ...json('POST', { key: token }),
      token: null,
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    });
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([429, null]);
    expect(await ask()).toBe(429);
    expect((await app.request('/v1/session', { token: await app.makeKey({ owner }) })).status).toBe(200);
  });
});
