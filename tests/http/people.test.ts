/** Forgetting a person over HTTP; tests/ingest/forget-person.test.ts has what becomes of the rows. */
import { beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

const forget = (body: unknown, token = app.adminToken) =>
  app.request('/v1/people/forget', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('a person is given a pseudonym, the same for a name in any case, and no answer has the name', async () => {
  const { name } = uniqueRepository();
  const asked = await forget({ name: `Octo-${name}`, is_for_later: true });
  expect(asked.status).toBe(202);
  const person = z.looseObject({ pseudonym: z.string() }).parse(await asked.json());
  expect(person).toEqual({
    pseudonym: expect.stringMatching(/^person-[0-9a-f]{12}$/),
    is_for_later: true,
    requested_at: expect.any(String),
    finished_at: null,
    changed: {},
  });
  expect(await (await forget({ name: `@octo-${name}` })).json()).toMatchObject({
    pseudonym: person.pseudonym,
    is_for_later: false,
  });
  expect(await app.get(`/v1/people/${person.pseudonym}`)).toMatchObject({ pseudonym: person.pseudonym });
});

test('it takes an admin key of every owner, and a name', async () => {
  const { owner } = uniqueRepository();
  const { token } = await app.keys.create({
    ...{ name: 'of one owner', owner, scope: 'admin', repositories: null, expiresAt: null },
  });
  expect((await forget({ name: 'octocat' }, token)).status).toBe(403);
  for (const name of ['', ' ', '@', 'x'.repeat(256), 7])
    expect([name, (await forget({ name })).status]).toEqual([name, 422]);
  expect((await app.request('/v1/people/person-000000000000')).status).toBe(404);
  expect((await app.request('/v1/people/octocat')).status).toBe(422);
});
