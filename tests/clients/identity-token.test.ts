/** How the client gets on without a key: the identity token that each CI offers, and the key that the service gives for it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Service } from '../../src/client/service.ts';
import { readClientEnvironment } from '../../src/client/settings.ts';
import { connectionOf } from '../../src/client/target.ts';
import { makeFolder } from '../support/folder.ts';

interface Asked {
  path: string;
  authorization: string | null;
  body: string;
}

let server: ReturnType<typeof Bun.serve>;
let asked: Asked[];
/** How long the keys of the service live. */
let lifetimeMs: number;
let refusal: number | undefined;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const authorization = request.headers.get('authorization');
      asked.push({ path: pathname + search, authorization, body: await request.text() });
      if (pathname === '/github') return Response.json({ value: `token ${asked.length}` });
      if (pathname !== '/v1/auth/ci') return Response.json({});
      if (refusal !== undefined) return Response.json({ detail: 'No rule fits it.' }, { status: refusal });
      const expires_at = new Date(Date.now() + lifetimeMs).toISOString();
      return Response.json({ token: `cii_key_${asked.length}`, expires_at }, { status: 201 });
    },
  });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked = [];
  lifetimeMs = 3_600_000;
  refusal = undefined;
});

const urlOf = (): string => `http://127.0.0.1:${server.port}`;
const serviceWith = (env: Record<string, string>): Service =>
  new Service(connectionOf({}, readClientEnvironment({ CI_INSIGHTS_URL: `${urlOf()}/`, ...env })), { totalMs: 5_000 });
const ask = (service: Service) => service.ask('/v1/thing', z.object({}));
const github = () => ({
  ACTIONS_ID_TOKEN_REQUEST_URL: `${urlOf()}/github?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner',
});
const exchanged = (): string[] =>
  asked.filter(({ path }) => path === '/v1/auth/ci').map(({ body }) => (JSON.parse(body) as { token: string }).token);

test('a key comes first, whatever the CI offers', async () => {
  await ask(serviceWith({ ...github(), CI_INSIGHTS_TOKEN: 'cii_mine' }));
  expect(asked.map(({ path, authorization }) => [path, authorization])).toEqual([['/v1/thing', 'Bearer cii_mine']]);
});

test('without a key, GitHub is asked for a token for the service, once for all requests', async () => {
  const service = serviceWith(github());
  await Promise.all([ask(service), ask(service), ask(service)]);
  const audience = encodeURIComponent(urlOf());
  expect(asked.slice(0, 2)).toEqual([
    { path: `/github?api-version=2.0&audience=${audience}`, authorization: 'Bearer of the runner', body: '' },
    { path: '/v1/auth/ci', authorization: null, body: '{"token":"token 1"}' },
  ]);
  expect(asked.slice(2).map(({ path, authorization }) => [path, authorization])).toEqual(
    Array.from({ length: 3 }, () => ['/v1/thing', 'Bearer cii_key_2']),
  );
  asked = [];
  await ask(serviceWith({ ...github(), CI_INSIGHTS_AUDIENCE: 'other' }));
  expect(asked[0]?.path).toEndWith('audience=other');
});

test('a key that is about to expire is replaced', async () => {
  lifetimeMs = 30_000;
  const service = serviceWith(github());
  await ask(service);
  await ask(service);
  expect(exchanged()).toEqual(['token 1', 'token 4']);
});

describe('the token of', () => {
  test('GitLab is the one that the job was given', async () => {
    await ask(serviceWith({ CI_INSIGHTS_ID_TOKEN: 'of gitlab' }));
    expect(exchanged()).toEqual(['of gitlab']);
  });

  test('CircleCI is in its environment', async () => {
    await ask(serviceWith({ CIRCLE_OIDC_TOKEN_V2: 'of circle' }));
    expect(exchanged()).toEqual(['of circle']);
  });

  test('Buildkite comes from its agent', async () => {
    const folder = makeFolder('buildkite');
    const program = join(folder, 'buildkite-agent');
    writeFileSync(program, '#!/bin/sh\necho "of $*"\n');
    chmodSync(program, 0o755);
    const path = process.env.PATH;
    process.env.PATH = `${folder}:${path}`;
    try {
      await ask(serviceWith({ BUILDKITE: 'true', BUILDKITE_AGENT_ACCESS_TOKEN: 'x' }));
    } finally {
      process.env.PATH = path;
    }
    expect(exchanged()).toEqual([`of oidc request-token --audience ${urlOf()}`]);
  });
});

test('what the service says against the token is the error, without the token', async () => {
  refusal = 403;
  const error = await ask(serviceWith({ CI_INSIGHTS_ID_TOKEN: 'secret-of-the-job' })).catch((thrown: Error) => thrown);
  expect(String(error)).toContain('No rule fits it. (403)');
  expect(Bun.inspect(error)).not.toContain('secret-of-the-job');
  expect(asked).toHaveLength(1);
});

test('an environment without a key and without a token says how to get one', () => {
  expect(() => serviceWith({ BUILDKITE: 'true' })).toThrow('A token is required');
});
