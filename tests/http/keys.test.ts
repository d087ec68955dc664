/** Application keys over HTTP: made, listed without their tokens, revoked; by operators only. */
import { beforeAll, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/http.ts';

const DAY_MS = 86_400_000;
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

interface Made {
  id: string;
  token: string;
  expires_at: string | null;
}
const make = (body: object, token = app.adminToken) =>
  app.request('/v1/keys', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'made', scope: 'ci', owner: 'acme', ...body }),
  });

test('a key that is made works at once, is listed without its token, and ends when it is revoked', async () => {
  const response = await make({ repositories: ['shop'], expires_in_days: 90 });
  expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { id, token, expires_at } = (await response.json()) as Made;
  expect(Date.parse(expires_at ?? '')).toBe(app.stores.clock.now() + 90 * DAY_MS);
  const use = async () => (await app.request('/v1/ci/acme/repositories/shop/quarantines', { token })).status;
  expect(await use()).toBe(200);
  const listed = await (await app.request('/v1/keys')).text();
  expect(listed).toContain(id);
  expect(listed).not.toContain(token);
  const revoke = () => app.request(`/v1/keys/${id}`, { method: 'DELETE' });
  expect([(await revoke()).status, (await revoke()).status]).toEqual([204, 404]);
  expect(await use()).toBe(403);
});

test('a key is listed with what it is bound to', async () => {
  const bounds = async (body: object) => {
    const response = await make({ scope: 'upload', ...body });
    const { id, pull_requests_only, branches, ci_subject } = (await response.json()) as Record<string, unknown>;
    const listed = (await app.get<{ keys: Record<string, unknown>[] }>('/v1/keys')).keys.find((key) => key.id === id);
    expect(listed).toMatchObject({ pull_requests_only, branches, ci_subject });
    return [response.status, pull_requests_only, branches, ci_subject];
  };
  expect(await bounds({})).toEqual([201, false, null, null]);
  expect(await bounds({ pull_requests_only: true })).toEqual([201, true, null, null]);
  expect(await bounds({ branches: ['main', 'refs/heads/release/*'] })).toEqual([
    201,
    false,
    ['main', 'release/*'],
    null,
  ]);
});

test('no key makes one that may do more: only operators make keys', async () => {
  for (const key of [{ scope: 'admin', owner: 'acme' } as const, { scope: 'view' } as const, {} as const])
    expect((await make({}, await app.makeKey(key))).status).toBe(403);
});

test.each([
  { owner: null, repositories: ['shop'] },
  { repositories: [] },
  { scope: 'root' },
  { name: '' },
  { expires_in_days: 0 },
  { pull_requests_only: true },
  { branches: ['main'] },
  { branches: [], scope: 'upload' },
  { branches: Array.from({ length: 21 }, String), scope: 'upload' },
  { branches: ['main'], pull_requests_only: true, scope: 'upload' },
])('%p is refused with what is wrong', async (body) => {
  const response = await make(body);
  expect(response.status).toBe(422);
  expect(await response.text()).toContain('body');
});
