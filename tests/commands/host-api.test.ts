/** A host that is slow, or answers with something else: a request ends in time, and what it may have done is not done again. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { z } from 'zod';
import { HostError } from '../../src/hosts/api/host-error.ts';
import { HostRest } from '../../src/hosts/api/rest.ts';

const TOKEN = 'host-token-0123456789';
let asked: string[];
let answer: (request: Request) => Response | Promise<Response>;
let server: ReturnType<typeof Bun.serve>;
beforeEach(() => {
  asked = [];
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      asked.push(request.method);
      return answer(request);
    },
  });
});
afterEach(() => server.stop(true));

const api = (patience: { totalMs?: number; requestMs?: number } = {}) =>
  new HostRest({ name: 'GitHub', url: server.url.origin, token: TOKEN, hint: 'Ask an owner' }, patience);
const ask = async (method: 'GET' | 'POST', patience?: { totalMs?: number; requestMs?: number }) => {
  const error = await api(patience)
    .ask('/x', z.object({ id: z.number() }), { method })
    .then(String, (caught: unknown) => caught);
  if (!(error instanceof HostError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.message).not.toContain(TOKEN);
  return error;
};
const never = () => new Promise<Response>(() => {});

test('a question that is not answered is asked again, as long as there is time', async () => {
  answer = never;
  const error = await ask('GET', { requestMs: 50, totalMs: 3_000 });
  expect(error).toMatchObject({ isUncertain: true, status: undefined });
  expect(error.message).toStartWith('GitHub cannot be reached');
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.length).toBeLessThanOrEqual(4);
});

test('an answer that comes in drips is cut off, too', async () => {
  answer = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(10);
          controller.enqueue(new TextEncoder().encode(' '));
        },
      }),
    );
  expect(await ask('GET', { requestMs: 100, totalMs: 400 })).toMatchObject({ isUncertain: true });
});

test('a creation that is not answered is not sent again', async () => {
  answer = never;
  expect(await ask('POST', { requestMs: 50 })).toMatchObject({ isUncertain: true });
  answer = () => new Response('bad gateway', { status: 502 });
  expect(await ask('POST')).toMatchObject({ isUncertain: true, status: 502 });
  expect(asked).toEqual(['POST', 'POST']);
});

test('what is refused for good is not asked again', async () => {
  for (const status of [400, 401, 403, 404, 422]) {
    answer = () => Response.json({ message: 'No.' }, { status });
    expect(await ask('GET')).toMatchObject({ isUncertain: false, status, limitedMs: undefined });
  }
  expect(asked).toHaveLength(5);
});

test('a limit says how long, in each way that hosts say it', async () => {
  const soon = Math.ceil(Date.now() / 1_000) + 1_800;
  const ways: [number, Record<string, string>, string][] = [
    [429, { 'retry-after': '1800' }, ''],
    [403, { 'retry-after': '1800' }, 'You have exceeded a secondary rate limit'],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(soon) }, 'API rate limit exceeded'],
    [429, { 'retry-after': new Date(soon * 1_000).toUTCString() }, ''],
  ];
  for (const [status, headers, message] of ways) {
    answer = () => Response.json({ message }, { status, headers });
    const { limitedMs = 0 } = await ask('GET');
    expect(limitedMs).toBeGreaterThan(1_500_000);
    expect(limitedMs).toBeLessThan(2_100_000);
  }
});

test.each(['<html>', '', '{"id":"1"}', '[]'])('%j is not what the API answers', async (text) => {
  answer = () => new Response(text);
  expect((await ask('GET')).message).toContain('something else than its API does');
});
