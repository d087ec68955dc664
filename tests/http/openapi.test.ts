import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020';
import { gatewayOf, webhooksOf } from '../../src/features.ts';
import { mountReceiptLists } from '../../src/ingest/receipts.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { INGEST_TAG } from '../../src/ingest/schemas.ts';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { mountDeadLetters } from '../../src/operate/dead-letters.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { openTestStores } from '../support/stores.ts';

interface Media {
  schema: { default?: unknown };
  example?: unknown;
}
interface Answer {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: unknown[];
  parameters?: {
    name: string;
    in: string;
    required: boolean;
    schema: { default?: unknown };
    description?: string;
    example?: unknown;
  }[];
  responses: Record<string, Answer>;
}
interface Document {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, unknown> };
}

/** OpenAPI 3.1 requires this of every part that is used. */
const STRUCTURE = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: { type: 'object', required: ['title', 'version'] },
    servers: { type: 'array', items: { type: 'object', required: ['url'] } },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: { additionalProperties: { $ref: '#/$defs/operation' } },
    },
  },
  $defs: {
    operation: {
      type: 'object',
      required: ['operationId', 'responses', 'summary', 'tags', 'security'],
      properties: {
        parameters: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'in', 'schema'],
            properties: { in: { enum: ['query', 'path', 'header'] }, required: { type: 'boolean' } },
            if: { properties: { in: { const: 'path' } } },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: { properties: { required: { const: true } } },
          },
        },
        responses: {
          type: 'object',
          minProperties: 1,
          propertyNames: { pattern: '^[1-5]\\d\\d$' },
          additionalProperties: {
            type: 'object',
            required: ['description'],
            properties: { headers: { additionalProperties: { required: ['schema'] } } },
          },
        },
      },
    },
  },
};

const API = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

interface Asked {
  method: string;
  path: string;
  /** Names of those of the query. */
  parameters: string[];
  /** The printed answer; undefined if it is cut, or changed by a filter of jq. */
  answer: unknown;
}

/** A command and what it prints, as docs/api.md has them. */
function requestIn(block: string): Asked {
  const [command = '', ...printed] = block.split(/(?<!\\)\n/);
  const [, path = '', query = ''] = /"\$URL([^"?]+)(?:\?([^"]*))?"/.exec(command) ?? [];
  const data = [...command.matchAll(/(?:-d|--data-urlencode) '?([\w]+)=/g)].map(([, name = '']) => name);
  const method = / -X (\w+)/.exec(command)?.[1] ?? (/ -s?G/.test(command) || !/ -d /.test(command) ? 'GET' : 'POST');
  const text = printed.join('\n').split(/\n\$ /)[0] ?? '';
  const isWhole = /\| jq(?: -c)?$/.test(command) && !text.includes('…');
  const own = query.split('&').flatMap((pair) => pair.split('=')[0] || []);
  const answer = isWhole ? JSON.parse(text) : undefined;
  return { method: method.toLowerCase(), path, parameters: [...own, ...data], answer };
}

let app: TestApp;
let document: Document;
let operations: [string, Operation][];
beforeAll(async () => {
  // The whole service, including the gateway.
  const stores = await openTestStores();
  app = await openTestApp({
    features: [
      (elysia, http) => mountIngest(elysia, http, gatewayOf(stores)),
      (elysia, http) => mountWebhooks(elysia, http, webhooksOf(stores)),
      (elysia, http) => mountDeadLetters(elysia, http, stores),
      (elysia, http) => mountReceiptLists(elysia, http, stores.receipts),
    ],
  });
  document = await app.get<Document>('/docs/json');
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );
});

/** The one whose path has the fewest parameters. */
const operationAt = ({ method, path }: Asked): Operation | undefined =>
  operations
    .filter(([name]) => new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`).test(`${method} ${path}`))
    .sort(([one], [other]) => one.split('{').length - other.split('{').length)[0]?.[1];

const ajv = new Ajv({ strict: false, validateFormats: false });

describe('the OpenAPI document', () => {
  test('has the structure of OpenAPI 3.1, with every reference resolved and every operation named once', () => {
    expect(ajv.validate(STRUCTURE, document) ? [] : ajv.errors).toEqual([]);
    for (const [, name] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(document.components.schemas).toHaveProperty([name as string]);
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const [name, operation] of operations)
      expect([name, operation.tags.filter((tag) => !tags.has(tag))]).toEqual([name, []]);
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has every insight at the address that clients know', () => {
    const base = '/ci/{owner}/repositories/{repository_name}';
    const tests = `${base}/tests/{test_id}`;
    for (const path of [
      `${base}/search/tests`,
      tests,
      `${tests}/stats/{stat}`,
      `${tests}/failures`,
      `${tests}/failures/{failure_id}`,
      `${tests}/executions`,
    ])
      expect(document.paths).toHaveProperty([`/v1${path}`, 'get']);
  });

  test('every operation has its path parameters, descriptions, examples and errors', () => {
    for (const [name, operation] of operations) {
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect([name, inPath.map((parameter) => parameter.name)]).toEqual([
        name,
        [...name.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string),
      ]);
      for (const parameter of operation.parameters ?? [])
        expect([name, parameter.name, parameter.example]).not.toContain(undefined);
      if (operation.security.length === 0) continue;
      for (const status of ['403', '404', '409', '422']) {
        const problem = operation.responses[status]?.content?.['application/problem+json'];
        expect([name, status, problem?.example]).toEqual([
          name,
          status,
          expect.objectContaining({ status: Number(status), detail: expect.any(String) }),
        ]);
      }
    }
  });

  test('every example fits its schema', () => {
    for (const [name, operation] of operations)
      for (const [status, { content = {} }] of Object.entries(operation.responses))
        for (const [type, { schema, example }] of Object.entries(content)) {
          if (!schema) continue;
          const whole = { ...schema, components: document.components };
          expect([name, status, type, ajv.validate(whole, example) || ajv.errors]).toEqual([name, status, type, true]);
        }
    for (const [name, operation] of operations)
      for (const { name: parameter, schema, example } of operation.parameters ?? [])
        expect([name, parameter, ajv.validate(schema, example) || ajv.errors]).toEqual([name, parameter, true]);
  });

  test('every request of docs/api.md is one that it describes, and every whole answer there fits its schema', () => {
    const asked = [...API.matchAll(/^```\n(\$ curl .*"\$URL\/v1\/[\s\S]*?)^```$/gm)].map(([, block = '']) =>
      requestIn(block),
    );
    const known = asked.map((one) => [one, operationAt(one)] as const);
    // The state of the service that operators see is mounted with the whole service only.
    expect(known.filter(([, operation]) => operation === undefined).map(([{ path }]) => path)).toEqual(['/v1/service']);
    expect(known.length).toBeGreaterThan(20);
    let answers = 0;
    for (const [{ path, parameters, answer }, operation] of known) {
      const names = operation?.parameters?.filter((one) => one.in === 'query').map(({ name }) => name) ?? [];
      expect([path, parameters.filter((name) => !names.includes(name))]).toEqual([path, []]);
      const { schema } = Object.entries(operation?.responses ?? {})
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content = {} }]) => Object.values(content))[0] ?? { schema: undefined };
      if (answer === undefined || schema === undefined) continue;
      answers++;
      const whole = { ...schema, components: document.components };
      expect([path, ajv.validate(whole, answer) || ajv.errors]).toEqual([path, true]);
    }
    expect(answers).toBeGreaterThan(3);
  });

  test('no upload is answered with 429: clients resend one only after 5xx and 408', () => {
    const uploads = operations.filter(([name, { tags }]) => name.startsWith('post ') && tags.includes(INGEST_TAG));
    expect(uploads.length).toBeGreaterThan(5);
    expect(uploads.filter(([, { responses }]) => '429' in responses).map(([name]) => name)).toEqual([]);
  });

  test('paged lists document the Link header, and reads their entity tag', () => {
    for (const [name, operation] of operations) {
      const parameters = (operation.parameters ?? []).map((parameter) => parameter.name);
      const headers = Object.keys(operation.responses['200']?.headers ?? {});
      if (parameters.includes('cursor')) expect([name, ...headers]).toContain('link');
      if (
        name.startsWith('get ') &&
        operation.security.length > 0 &&
        operation.responses['200']?.content?.['application/json']
      )
        expect([name, ...headers]).toContain('etag');
    }
  });

  test('an answer of the service matches the document', async () => {
    const search = document.paths['/v1/ci/{owner}/repositories/{repository_name}/search/tests']?.get?.responses['200'];
    const body = await app.get('/v1/ci/acme/repositories/shop/search/tests?test_name=*');
    const schema = { ...search?.content?.['application/json']?.schema, components: document.components };
    expect(ajv.validate(schema, body)).toBe(true);
  });
});

test('what the page prefills to try out is valid: with every example, no read answers 422', async () => {
  let asked = 0;
  for (const [path, { get: operation }] of Object.entries(document.paths)) {
    if (!operation) continue;
    const filled = (operation.parameters ?? []).reduce((address, { name, in: place, example, schema }) => {
      if (place === 'path') return address.replace(`{${name}}`, encodeURIComponent(String(example)));
      const values = [example ?? schema.default].flat().filter((value) => value !== undefined && value !== '');
      return values.reduce<string>((all, value) => `${all}&${name}=${encodeURIComponent(String(value))}`, address);
    }, `${path}?`);
    const response = await app.request(filled);
    expect([filled, response.status, response.status === 422]).toEqual([filled, response.status, false]);
    asked++;
  }
  expect(asked).toBeGreaterThan(10);
});

test('parameters with one default show it', () => {
  const search = document.paths['/v1/ci/{owner}/repositories/{repository_name}/search/tests']?.get;
  const defaults = (search?.parameters ?? []).map(({ name, schema }) => [name, schema.default]);
  expect(Object.fromEntries(defaults)).toMatchObject({ per_page: 10, sort: 'executions_count' });
});

describe('the page at /docs', () => {
  test('loads everything from this server', async () => {
    const page = await (await app.request('/docs', { token: null })).text();
    const addresses = [...page.matchAll(/(?:href|src)="([^"]+)"|"url":"([^"]+)"/g)].map(
      (match) => match[1] ?? match[2] ?? '',
    );
    expect(addresses.sort()).toEqual([
      '/docs/assets/swagger-ui-bundle.js',
      '/docs/assets/swagger-ui.css',
      '/docs/json',
    ]);
    expect(page).not.toMatch(/https?:\/\//);
    expect(page).toContain('"validatorUrl":"none"');
    for (const address of addresses) {
      const response = await app.request(address, { token: null });
      expect([address, response.status]).toEqual([address, 200]);
      if (address.endsWith('.css')) expect(await response.text()).not.toMatch(/@import|url\(\s*["']?(?:https?:)?\/\//);
    }
  });

  test('works below a public address with a path', async () => {
    const behind = await openTestApp({ publicUrl: 'https://ci.example.com/insights' });
    const page = await (await behind.request('/docs', { token: null })).text();
    expect(page).toContain('src="/insights/docs/assets/swagger-ui-bundle.js"');
    expect(page).toContain('"url":"/insights/docs/json"');
  });
});
