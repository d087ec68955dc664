/** Every operation reads and answers within bounds, and checks credentials and origin before a byte of a body. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { JSON_BODY_VALUES_MAX, SIGN_IN_BODY_BYTES_MAX } from '../../src/domain/limits.ts';
import { bodyBytesMaxOf, type MountedOperation } from '../../src/http/operation.ts';
import { mountMetrics } from '../../src/operate/metrics.ts';
import { openTestApp } from '../support/http.ts';
import { addressOf, type DescribedApp, openDescribedApp } from '../support/operations.ts';

let service: DescribedApp;
beforeAll(async () => {
  service = await openDescribedApp();
});
afterAll(() => service.stop());

const MEBIBYTE = 1024 * 1024;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const JSON_TYPE = { 'content-type': 'application/json' };

const withBody = () => service.operations.filter(({ operation }) => operation.body ?? operation.rawBody);
const withJson = () => service.operations.filter(({ operation }) => operation.body);

/** A body of blanks without an end, that counts the bytes which were taken of it. */
function endless() {
  const taken = { bytes: 0 };
  const chunk = new Uint8Array(16 * 1024).fill(0x20);
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      taken.bytes += chunk.length;
      controller.enqueue(chunk.slice());
    },
  });
  return { body, taken };
}

const send = (
  mounted: MountedOperation,
  {
    body,
    headers,
    token = null,
  }: { body: string | ReadableStream<Uint8Array>; headers?: Record<string, string>; token?: string | null },
) => service.requestUnchecked(addressOf(mounted), { method: mounted.method, body, headers: headers ?? {}, token });

test('every operation with a body is among those that are tested', () => {
  expect(withJson().length).toBeGreaterThan(6);
  expect(withBody().length).toBeGreaterThan(withJson().length + 5);
});

test('without a credential, or from the page of another site, nothing of a body is read', async () => {
  for (const mounted of withBody()) {
    const { operationId } = mounted.operation;
    for (const headers of [{}, { cookie: 'ci_insights_session=cis_x' }, { 'sec-fetch-site': 'cross-site' }]) {
      const { body, taken } = endless();
      const response = await send(mounted, { body, headers: { ...JSON_TYPE, ...headers } });
      // Where no issuer of identity tokens, or no such host, is configured, there is nothing; an agent without a credential is
      // told to sign in.
      const isAgent = operationId === 'callMcp' && !('cookie' in headers);
      const isNothing = operationId === 'exchangeCiToken' || operationId === 'takeWebhookDelivery';
      const status = isNothing ? 404 : isAgent ? 401 : 403;
      expect([operationId, response.status, taken.bytes]).toEqual([operationId, status, 0]);
    }
  }
});

test('a body that says that it is too long is 413 and not read; one that does not say it is read no further', async () => {
  for (const mounted of withJson()) {
    const { operationId } = mounted.operation;
    const most = bodyBytesMaxOf(mounted.operation);
    expect([operationId, most]).toEqual([operationId, Math.min(most, 4 * MEBIBYTE)]);
    const token = mounted.operation.access === 'public' ? null : service.adminToken;
    const stated = endless();
    const headers = { ...JSON_TYPE, ...OWN_PAGE };
    const refused = await send(mounted, {
      body: stated.body,
      token,
      headers: { ...headers, 'content-length': String(most + 1) },
    });
    expect([operationId, refused.status, stated.taken.bytes]).toEqual([operationId, 413, 0]);
    const unstated = endless();
    expect([operationId, (await send(mounted, { body: unstated.body, token, headers })).status]).toEqual([
      operationId,
      413,
    ]);
    expect(unstated.taken.bytes).toBeLessThan(most + 256 * 1024);
  }
});

test('strangers may send few bytes', () => {
  for (const { operation } of withJson())
    if (operation.access === 'public')
      expect(bodyBytesMaxOf(operation)).toBeLessThanOrEqual(4 * SIGN_IN_BODY_BYTES_MAX);
});

test('what strangers may ask for is cheap, shared, or answered to few of them at a time', () => {
  const others = service.operations.filter(
    ({ operation }) => operation.access === 'public' && operation.atOnceMax === undefined && !operation.rawBody,
  );
  // Each is a text that is made once, or that all who ask at the same moment share.
  expect(others.map(({ operation }) => operation.operationId).sort()).toEqual([
    'getClient',
    'getClientChecksum',
    'getClientOfVersion',
    'getLiveness',
    'getMcpResourceMetadata',
    'getMetrics',
    'getReadiness',
    'getResourceMetadata',
    'getSkill',
  ]);
});

test('JSON that nests deep or holds many values is refused before it is parsed', async () => {
  const parse = JSON.parse;
  let parsed = 0;
  for (const mounted of withJson()) {
    const token = mounted.operation.access === 'public' ? null : service.adminToken;
    for (const body of ['['.repeat(3_000), '{"a":'.repeat(700), `[${'1,'.repeat(JSON_BODY_VALUES_MAX)}1]`]) {
      if (body.length > bodyBytesMaxOf(mounted.operation)) continue;
      JSON.parse = (...input) => {
        parsed++;
        return parse(...input);
      };
      const response = await send(mounted, { body, token, headers: { ...JSON_TYPE, ...OWN_PAGE } });
      JSON.parse = parse;
      expect([mounted.operation.operationId, response.status, parsed]).toEqual([mounted.operation.operationId, 422, 0]);
    }
  }
});

describe('schemas', () => {
  const jsonSchema = z.record(z.string(), z.unknown());

  /** Arrays without a bound, by where they are. */
  function unbounded(schema: unknown, place: string): string[] {
    if (Array.isArray(schema)) return schema.flatMap((part, i) => unbounded(part, `${place}.${i}`));
    const read = jsonSchema.safeParse(schema);
    if (!read.success) return [];
    const isUnbounded = read.data.type === 'array' && typeof read.data.maxItems !== 'number';
    return [
      ...(isUnbounded ? [place] : []),
      ...Object.entries(read.data).flatMap(([name, part]) => unbounded(part, `${place}.${name}`)),
    ];
  }

  test('every array of a request has a bound', () => {
    const found = service.operations.flatMap(({ operation }) => [
      ...(operation.body
        ? unbounded(z.toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' }), operation.operationId)
        : []),
      ...Object.entries(operation.query ?? {}).flatMap(([name, { schema }]) =>
        unbounded(schema, `${operation.operationId}?${name}`),
      ),
    ]);
    expect(found).toEqual([]);
  });

  test('a bound is documented where it is checked', async () => {
    const check = service.operations.find(({ operation }) => operation.operationId === 'checkQuarantines');
    expect(
      check && z.toJSONSchema(check.operation.body ?? z.never(), { io: 'input', unrepresentable: 'any' }),
    ).toMatchObject({
      properties: { tests_names: { maxItems: 10_000 } },
    });
  });
});

describe('a 422', () => {
  const post = (path: string, body: string) => service.request(path, { method: 'POST', body, headers: JSON_TYPE });
  const problem = async (response: Response) => {
    expect(response.status).toBe(422);
    const text = await response.text();
    return { length: text.length, ...(JSON.parse(text) as { detail: string; errors: { msg: string }[] }) };
  };

  test('lists up to 100 problems, and says how many more there are', async () => {
    const numbers = JSON.stringify({ tests_names: Array.from({ length: 9_000 }, (_, i) => i) });
    const found = await problem(await post('/v1/ci/acme/repositories/shop/quarantines/check', numbers));
    expect(found.errors).toHaveLength(100);
    expect(found.detail).toEndWith('And 8900 more.');
    const search = '/v1/ci/acme/repositories/shop/search/tests?test_name=';
    const many = await problem(await service.request(search + '&test_name='.repeat(200)));
    expect(many.errors).toHaveLength(100);
  });

  test('quotes nothing long, wherever it was sent', async () => {
    const long = 'x'.repeat(60_000);
    for (const found of [
      await problem(
        await service.request('/v1/ci/acme/repositories/shop/backtests', {
          method: 'POST',
          headers: JSON_TYPE,
          body: JSON.stringify({ auto_quarantine: long, since: long, [long]: 1 }),
        }),
      ),
      await problem(await service.request(`/v1/ci/acme/repositories/shop/search/tests?test_name=*&sort=${long}`)),
      await problem(await service.request(`/v1/ci/acme/repositories/shop/uploads/${long}`)),
      await problem(await service.request(`/v1/ci/acme/repositories/shop/runs?cursor=${long}&start=${long}`)),
    ])
      expect(found.length).toBeLessThan(4_000);
  });
});

test('metrics are read once for all who ask at the same time', async () => {
  let readings = 0;
  const app = await openTestApp({
    all: [
      (elysia, http) =>
        mountMetrics(elysia, http, async () => {
          readings++;
          await Bun.sleep(1);
        }),
    ],
  });
  await Promise.all(Array.from({ length: 10 }, () => app.requestUnchecked('/metrics', { token: null })));
  expect(readings).toBe(1);
});

test('the texts that strangers read are packed, and the same for all who ask at the same time', async () => {
  for (const path of ['/metrics', '/docs/json']) {
    const asked = { headers: { 'accept-encoding': 'br;q=1, gzip;q=0.5' }, token: null };
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await service.requestUnchecked(path, asked);
        expect(response.headers.get('content-encoding')).toBe('gzip');
        return Bun.hash(await response.bytes());
      }),
    );
    expect([path, new Set(answers).size]).toEqual([path, 1]);
    for (const encoding of ['gzip;q=0', 'identity', ''])
      expect(
        (await service.requestUnchecked(path, { headers: { 'accept-encoding': encoding }, token: null })).headers.get(
          'content-encoding',
        ),
      ).toBeNull();
  }
});
