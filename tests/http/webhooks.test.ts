/** Host webhooks as the host sees them, with a queue that keeps what it is given. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import Ajv from 'ajv/dist/2020';
import fc from 'fast-check';
import { StoreUnavailable } from '../../src/errors.ts';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import { type PrEventsJob, prEventsSchema } from '../../src/queue/pr-events.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import {
  delivery,
  type Example,
  githubSite,
  payloadOf,
  signatureOf,
  WEBHOOK_SECRET,
  webhookExamples,
} from '../support/webhooks.ts';

const PATH = '/webhooks/github';
const OLD_SECRET = 'the secret that is to go';
const BYTES_MAX = 25 * 1024 * 1024;

let app: TestApp;
let queued: [string, PrEventsJob][];
let isQueueDown: boolean;
const logged: string[] = [];

const open = (secrets: readonly string[], ownerSecrets?: ReadonlyMap<string, readonly string[]>) => {
  const log = createLogger('warn', { write: (line) => void logged.push(line) });
  return openTestApp({
    log,
    features: [
      (elysia, http) =>
        mountWebhooks(elysia, http, {
          log,
          hosts: [githubSite(secrets, ownerSecrets)],
          enqueueEvents: async (jobId, job) => {
            if (isQueueDown) throw new StoreUnavailable('queue', new Error('connect to 10.0.0.1'));
            queued.push([jobId, job]);
          },
        }),
    ],
  });
};

beforeAll(async () => {
  app = await open([WEBHOOK_SECRET, OLD_SECRET]);
});
beforeEach(() => {
  queued = [];
  isQueueDown = false;
  logged.length = 0;
});

type Body = ConstructorParameters<typeof Response>[0];
/** Posts like the host: without a key. A header of null is left out. */
const post = (body: Body, headers: Record<string, string | null>) =>
  app.request(PATH, {
    method: 'POST',
    body,
    token: null,
    headers: Object.fromEntries(
      Object.entries(headers).filter((header): header is [string, string] => header[1] !== null),
    ),
  });
const send = ({ body, headers }: Example) => post(body, headers());
const hashOf = (body: string): string => createHash('sha256').update(body).digest('hex');
const jsonOf = async (response: Response) => (await response.json()) as Record<string, unknown>;

const LABELED = delivery('pull_request', payloadOf('pull_request', 'labeled'));
const LABELED_ANSWER = { delivery: LABELED.delivery, status: 'queued', reason: null, events: 1 };

describe('a signed delivery', () => {
  test('is answered once the queue holds it', async () => {
    const response = await send(LABELED);
    expect(response.status).toBe(202);
    expect(await jsonOf(response)).toEqual(LABELED_ANSWER);
    expect(queued.map(([id]) => id)).toEqual([`github-${hashOf(LABELED.body)}`]);
    expect(queued[0]?.[1].events).toMatchObject([{ key: `github:${hashOf(LABELED.body)}:0`, type: 'action.label' }]);
  });

  test('sent again is the same job with the same keys', async () => {
    await send(LABELED);
    await send(LABELED);
    expect(queued).toHaveLength(2);
    expect(queued[1]).toEqual(queued[0] as [string, PrEventsJob]);
  });

  test('sent again under another id is the same job: the host signs the body alone', async () => {
    await send(LABELED);
    for (const id of ['another-id', 'a-third'])
      expect((await post(LABELED.body, { ...LABELED.headers(), 'x-github-delivery': id })).status).toBe(202);
    expect(new Set(queued.map(([id]) => id)).size).toBe(1);
    expect(new Set(queued.flatMap(([, { events }]) => events.map(({ key }) => key))).size).toBe(1);
  });

  test('sent as another event than that of its body is refused', async () => {
    const review = delivery('pull_request_review', {
      ...payloadOf('pull_request_review', 'submitted'),
      action: 'edited',
    });
    const response = await post(review.body, { ...review.headers(), 'x-github-event': 'pull_request' });
    expect([response.status, queued]).toEqual([422, []]);
    const created = delivery('create', { ref: 'topic', ref_type: 'branch', master_branch: 'main' });
    expect((await post(created.body, { ...created.headers(), 'x-github-event': 'delete' })).status).toBe(422);
  });

  test('may be signed with either secret during a change of secrets', async () => {
    expect((await post(LABELED.body, LABELED.headers(OLD_SECRET))).status).toBe(202);
  });

  test('may be a form, with the signature over the form', async () => {
    const form = new URLSearchParams({ payload: LABELED.body }).toString();
    const headers = {
      ...LABELED.headers(),
      'content-type': 'application/x-www-form-urlencoded',
      'x-hub-signature-256': signatureOf(form),
    };
    const response = await post(form, headers);
    expect([response.status, await jsonOf(response)]).toEqual([202, LABELED_ANSWER]);
    expect((await post(form, { ...headers, 'x-hub-signature-256': signatureOf(LABELED.body) })).status).toBe(403);
  });

  test.each([
    ['ping', 'The webhook works: the signature is correct.'],
    ['push', 'There is no event for push deliveries.'],
    ['no_such_event', 'There is no event for no_such_event deliveries.'],
  ])('%s is 202, ignored with a sentence, and queues nothing', async (event, reason) => {
    const response = await send(delivery(event, { zen: 'Keep it logically awesome.' }));
    expect(response.status).toBe(202);
    expect(await jsonOf(response)).toMatchObject({ status: 'ignored', reason, events: 0 });
    expect(queued).toEqual([]);
  });

  test('without an event for the log queues its pull request, and says why there is no event', async () => {
    const response = await send(delivery('pull_request', payloadOf('pull_request', 'opened')));
    expect(await jsonOf(response)).toMatchObject({
      status: 'queued',
      reason: 'There is no event for the action opened.',
      events: 0,
    });
    expect(queued[0]?.[1].pull_requests).toHaveLength(1);
  });

  test('of the largest size that hosts send is accepted', async () => {
    const large = delivery('pull_request', { ...LABELED.payload, padding: 'é'.repeat((BYTES_MAX - 100_000) / 2) });
    expect(Buffer.byteLength(large.body)).toBeGreaterThan(24 * 1024 * 1024);
    expect((await send(large)).status).toBe(202);
    expect(queued).toHaveLength(1);
  });

  test('larger than uploads may be is 413 with a sentence', async () => {
    const large = delivery('push', { padding: 'x'.repeat(BYTES_MAX) });
    const response = await send(large);
    expect(response.status).toBe(413);
    expect((await jsonOf(response)).detail).toContain('INGEST_COMPRESSED_BYTES_MAX');
  });
});

test('every payload of the collection is queued, or ignored with a reason', async () => {
  let events = 0;
  for (const example of webhookExamples()) {
    queued = [];
    const response = await send(example);
    const answer = await jsonOf(response);
    expect([example.name, response.status]).toEqual([example.name, 202]);
    expect(answer.delivery).toBe(example.delivery);
    expect(answer.status).toBe(queued.length === 1 ? 'queued' : 'ignored');
    expect(answer.reason === null).toBe(answer.events !== 0);
    if (queued[0]) expect(answer.events).toBe(prEventsSchema.parse(queued[0][1]).events.length);
    events += answer.events as number;
  }
  expect(events).toBeGreaterThan(0);
});

describe('an unsigned delivery', () => {
  const right = signatureOf(LABELED.body);
  test.each([
    ['without a signature', null],
    ['with an empty one', ''],
    ['with one of another secret', signatureOf(LABELED.body, 'another secret of 25 chars')],
    ['with one of another body', signatureOf(`${LABELED.body} `)],
    ['with one that is cut short', right.slice(0, -2)],
    ['with one that is garbled', 'sha256=zzz'],
    ['with a SHA-1 signature only', `sha1=${'0'.repeat(40)}`],
  ])('%s is 403, always the same answer, and nothing is queued', async (_, signature) => {
    const response = await post(LABELED.body, { ...LABELED.headers(), 'x-hub-signature-256': signature });
    expect(response.status).toBe(403);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await jsonOf(response)).toEqual({
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: expect.stringContaining('X-Hub-Signature-256 must be the HMAC-SHA256 of the body'),
    });
    expect(queued).toEqual([]);
  });

  test('is 403 before anything else in it is read', async () => {
    expect((await post('no JSON', { 'x-hub-signature-256': right })).status).toBe(403);
    expect((await post('no JSON', {})).status).toBe(403);
  });

  test('is 403 when its bytes are not UTF-8, whatever the signature', async () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]);
    const headers = { ...LABELED.headers(), 'x-hub-signature-256': signatureOf(bytes) };
    expect((await post(bytes, headers)).status).toBe(403);
  });

  test('is not accepted with an application key', async () => {
    const headers = { ...LABELED.headers(), 'x-hub-signature-256': 'sha256=0' };
    expect((await app.request(PATH, { method: 'POST', body: LABELED.body, headers })).status).toBe(403);
  });
});

test('without a configured secret every delivery is 403 and says what to set', async () => {
  const closed = await open([]);
  for (const secret of ['', WEBHOOK_SECRET]) {
    const headers = LABELED.headers(secret);
    const response = await closed.request(PATH, { method: 'POST', body: LABELED.body, headers, token: null });
    expect(response.status).toBe(403);
    expect((await jsonOf(response)).detail).toContain('Set HOST_WEBHOOK_SECRETS to github=');
  }
  expect(queued).toEqual([]);
});

describe('a signed delivery that cannot be read is 422 and says where', () => {
  const signed = (body: string, headers: Record<string, string | null> = {}) =>
    post(body, { ...LABELED.headers(), 'x-hub-signature-256': signatureOf(body), ...headers });
  test.each([
    ['no id', LABELED.body, { 'x-github-delivery': null }, ['header.X-GitHub-Delivery']],
    ['an id that no queue takes', LABELED.body, { 'x-github-delivery': 'a:b' }, ['header.X-GitHub-Delivery']],
    [
      'neither id nor event',
      LABELED.body,
      { 'x-github-delivery': null, 'x-github-event': null },
      ['header.X-GitHub-Delivery', 'header.X-GitHub-Event'],
    ],
    ['no JSON', '{"action":', {}, ['body']],
    ['a form without payload', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, ['body']],
    ['a form without JSON', 'payload=a', { 'content-type': 'application/x-www-form-urlencoded' }, ['body']],
    ['another media type', LABELED.body, { 'content-type': 'text/plain' }, ['body']],
    ['no media type', LABELED.body, { 'content-type': null }, ['body']],
    ['no object', '[]', {}, ['body']],
    [
      'a pull request without a number',
      JSON.stringify(payloadOf('pull_request', 'labeled', { pull_request: { number: null } })),
      {},
      ['body.pull_request.number'],
    ],
  ])('%s', async (_, body, headers, places) => {
    const response = await signed(body, headers as Record<string, string | null>);
    expect(response.status).toBe(422);
    const { errors, detail } = (await response.json()) as { errors: { loc: string[] }[]; detail: string };
    expect(errors.map(({ loc }) => loc.join('.'))).toEqual(places);
    expect(detail).toEndWith('.');
    expect(queued).toEqual([]);
  });
});

test('while the queue is down it is 503 with Retry-After, without details, and logged as possibly lost', async () => {
  isQueueDown = true;
  const response = await send(LABELED);
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await response.text()).not.toContain('10.0.0.1');
  expect(logged.join('')).toContain('may be lost');
  expect((await send(delivery('push', {}))).status).toBe(202);
});

describe('any signed body', () => {
  const EVENTS = [
    'pull_request',
    'pull_request_review',
    'issue_comment',
    'delete',
    'workflow_job',
    'check_run',
    'ping',
    'x',
  ];
  /** Never a fault of ours: taken, or 422, and what is queued fits the queue. */
  const isServed = async (event: string, body: string) => {
    queued = [];
    const response = await post(body, { ...delivery(event, {}).headers(), 'x-hub-signature-256': signatureOf(body) });
    expect([202, 422]).toContain(response.status);
    for (const [, job] of queued) expect(prEventsSchema.safeParse(job).success).toBe(true);
  };

  test('no JSON makes the service fail with 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...EVENTS), fc.json({ stringUnit: 'grapheme' }), (event, json) =>
        isServed(event, json),
      ),
    );
    await isServed('pull_request', '['.repeat(200_000));
    await isServed('pull_request', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`);
  });

  test('no real payload does, even with fields removed or changed', async () => {
    const examples = webhookExamples().filter(({ event }) => EVENTS.includes(event));
    const junk = fc.oneof(fc.constant(undefined), fc.jsonValue(), fc.string({ unit: 'binary' }), fc.double());
    const changes = fc.array(fc.tuple(fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }), junk), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...examples), changes, async ({ event, payload }, list) => {
        const mangled = structuredClone(payload);
        for (const [path, value] of list) mangle(mangled, path, value);
        await isServed(event, JSON.stringify(mangled));
      }),
      { numRuns: 300 },
    );
  });

  /** Sets what stands at a path of positions; undefined takes it out. */
  function mangle(target: object, [position = 0, ...deeper]: number[], value: unknown): void {
    const names = Object.keys(target);
    const name = names[position % Math.max(1, names.length)];
    if (name === undefined) return;
    const record = target as Record<string, unknown>;
    const part = record[name];
    if (deeper.length > 0 && typeof part === 'object' && part !== null) mangle(part, deeper, value);
    else record[name] = value;
  }
});

test('other methods are 405', async () => {
  expect((await app.request(PATH)).status).toBe(405);
});

test('the OpenAPI document describes the webhook, with examples of requests and answers', async () => {
  interface Operation {
    security: unknown[];
    requestBody: { content: Record<string, { example: unknown }> };
    responses: Record<string, { content: Record<string, { schema?: object; example: unknown }> }>;
  }
  const { paths } = await app.get<{ paths: Record<string, { post: Operation }> }>('/docs/json');
  const operation = paths['/webhooks/{host}']?.post as Operation;
  expect(operation.security).toEqual([]);
  expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['202', '403', '413', '422', '503']));
  const example = operation.requestBody.content['application/json']?.example as Example['payload'];
  const answered = await jsonOf(await send(delivery('pull_request', example)));
  const described = operation.responses['202']?.content['application/json'];
  expect(new Ajv({ strict: false }).validate(described?.schema ?? false, answered)).toBe(true);
  expect(Object.keys(described?.example as object)).toEqual(Object.keys(answered));
  expect(answered).toMatchObject({ status: 'queued', events: 1 });
});

describe('owners with their own secret', () => {
  const ACME_SECRET = 'the secret of acme alone';
  const of = (owner: string, changes: object = {}, event = 'pull_request', action = 'labeled') =>
    delivery(event, payloadOf(event, action, { repository: { name: 'shop', owner: { login: owner } }, ...changes }));
  const sendTo = async (query: string, { body, headers }: Example, secret: string): Promise<[number, number]> => {
    const owned = await open([WEBHOOK_SECRET], new Map([['acme', [ACME_SECRET]]]));
    const response = await owned.request(`${PATH}${query}`, {
      method: 'POST',
      body,
      token: null,
      headers: headers(secret),
    });
    return [response.status, queued.length];
  };

  test('are spoken for by that secret only, and it speaks for them only', async () => {
    expect(await sendTo('?owner=acme', of('Acme'), ACME_SECRET)).toEqual([202, 1]);
    queued = [];
    expect(await sendTo('', of('acme'), WEBHOOK_SECRET)).toEqual([403, 0]);
    expect(await sendTo('', of('acme'), ACME_SECRET)).toEqual([403, 0]);
    expect(await sendTo('?owner=acme', of('acme'), WEBHOOK_SECRET)).toEqual([403, 0]);
    expect(await sendTo('?owner=acme', of('globex'), ACME_SECRET)).toEqual([403, 0]);
    expect(await sendTo('?owner=globex', of('globex'), WEBHOOK_SECRET)).toEqual([403, 0]);
    expect(await sendTo('', of('globex'), WEBHOOK_SECRET)).toEqual([202, 1]);
  });

  test('lose no repository to another who says that it was transferred', async () => {
    const changes = { changes: { owner: { from: { organization: { login: 'acme' }, user: null } } } };
    const taken = of('globex', changes, 'repository', 'transferred');
    expect(await sendTo('', taken, WEBHOOK_SECRET)).toEqual([202, 0]);
    const given = of(
      'acme',
      { changes: { owner: { from: { organization: { login: 'globex' }, user: null } } } },
      'repository',
      'transferred',
    );
    expect(await sendTo('?owner=acme', given, ACME_SECRET)).toEqual([202, 0]);
  });
});
