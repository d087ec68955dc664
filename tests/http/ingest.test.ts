/** The gateway as clients see it, with a queue that keeps what it is given (whether the real one does is tested elsewhere). */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { StoreUnavailable } from '../../src/errors.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { ExportTraceServiceResponseSchema } from '../../src/ingest/otlp/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import type { Receipt } from '../../src/ledger/receipt.ts';
import { createLogger } from '../../src/observability/log.ts';
import { unpack } from '../../src/queue/encoding.ts';
import { type TestRunsJob, testRunsSchema } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { otlpJson, otlpProtobuf } from '../support/otlp.ts';

const SHOP = '/v1/ci/acme/repositories/shop';
const TRACES = `${SHOP}/traces`;
const JUNIT = `${SHOP}/junit`;
const XML = '<testsuite><testcase name="a"/><testcase name="b"><failure message="m"/></testcase></testsuite>';
const UPLOAD_ID = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';

let app: TestApp;
let queued: TestRunsJob[];
let isQueueDown: boolean;
let receipt: Receipt | null;
const logged: string[] = [];

beforeAll(async () => {
  const log = createLogger('warn', { write: (line) => void logged.push(line) });
  app = await openTestApp({
    log,
    features: [
      (elysia, http) =>
        mountIngest(elysia, http, {
          clock: http.clock,
          log,
          limits: { sentBytesMax: 100_000, unpackedBytesMax: 1_000_000 },
          executionsMax: 1_000,
          enqueue: async (jobs) => {
            if (isQueueDown) throw new StoreUnavailable('queue', new Error('connect to 10.0.0.1'));
            queued.push(...jobs.map(({ data }) => unpack(data).payload as TestRunsJob));
          },
          receipt: async ({ owner, name }, uploadId) =>
            owner === 'acme' && name === 'shop' && uploadId === receipt?.id ? receipt : null,
        }),
    ],
  });
});
beforeEach(() => {
  app.stores.clock.set(TEST_NOW);
  queued = [];
  isQueueDown = false;
  receipt = null;
  logged.length = 0;
});

interface Sending {
  type?: string | null;
  encoding?: string;
  token?: string | null;
}
type Body = ConstructorParameters<typeof Response>[0];

const send = (path: string, body: Body, { type = 'application/xml', encoding, token }: Sending = {}) => {
  const headers = {
    ...(type === null ? {} : { 'content-type': type }),
    ...(encoding ? { 'content-encoding': encoding } : {}),
  };
  return app.request(path, { method: 'POST', headers, body, ...(token === undefined ? {} : { token }) });
};
const PROTOBUF = { type: 'application/x-protobuf' };
const packed = (body: string | Uint8Array) => new Uint8Array(gzipSync(body));
const jsonOf = async (response: Response) => (await response.json()) as Record<string, unknown>;
const namesOf = (jobs: TestRunsJob[]) => jobs.flatMap((job) => job.executions.name);

describe('traces', () => {
  const body = otlpProtobuf({ resource: { 'cicd.pipeline.name': 'CI' }, spans: [{ name: 'a' }, { name: 'b' }] });

  test.each([TRACES, '/v1/repos/acme/shop/ci/traces', `/${TRACES}`])('%s takes protobuf', async (path) => {
    const response = await send(path, body, PROTOBUF);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-protobuf');
    expect(fromBinary(ExportTraceServiceResponseSchema, await response.bytes()).partialSuccess).toBeUndefined();
    expect(namesOf(queued)).toEqual(['a', 'b']);
    expect(queued[0]).toMatchObject({
      upload_id: response.headers.get('x-upload-id'),
      repository: { host: 'github.com', owner: 'acme', name: 'shop' },
      received_at: new Date(TEST_NOW).toISOString(),
    });
    expect(testRunsSchema.safeParse(queued[0]).success).toBe(true);
  });

  test('are accepted compressed, in chunks and without a length', async () => {
    const bytes = packed(body);
    const stream = new ReadableStream({
      start(controller) {
        for (const byte of [bytes.subarray(0, 7), bytes.subarray(7)]) controller.enqueue(byte);
        controller.close();
      },
    });
    expect((await send(TRACES, stream, { ...PROTOBUF, encoding: 'gzip' })).status).toBe(200);
    expect(namesOf(queued)).toEqual(['a', 'b']);
  });

  test('JSON is answered in JSON, with what was rejected', async () => {
    const spans = [{ name: 'a' }, { name: 'x'.repeat(10_001) }, { name: '' }];
    const response = await send(TRACES, otlpJson({ spans }), { type: 'application/json; charset=utf-8' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await jsonOf(response)).toEqual({
      partialSuccess: {
        rejectedSpans: '2',
        errorMessage:
          'the test name is longer than 10000 characters (1); the span has no name, so the test has none (1)',
      },
    });
    expect(namesOf(queued)).toEqual(['a']);
    expect(queued[0]?.rejections).toHaveLength(2);
  });

  test('protobuf is answered in protobuf, with what was rejected', async () => {
    const response = await send(TRACES, otlpProtobuf({ spans: [{ name: '' }, {}] }), PROTOBUF);
    const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, await response.bytes());
    expect(partialSuccess?.rejectedSpans).toBe(1n);
  });

  test('an export without a test is answered with the reason, and no span counts as refused', async () => {
    const sessions = { spans: [{ attributes: { 'test.scope': 'session' } }] };
    const inJson = await send(TRACES, otlpJson(sessions), { type: 'application/json' });
    expect(await jsonOf(inJson)).toEqual({
      partialSuccess: { errorMessage: expect.stringContaining('a test is a span with the attribute test.scope=case') },
    });
    const inProtobuf = await send(TRACES, otlpProtobuf(sessions), PROTOBUF);
    const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, await inProtobuf.bytes());
    expect(partialSuccess).toMatchObject({ rejectedSpans: 0n, errorMessage: expect.stringContaining('No span') });
  });

  test.each([
    ['an empty body', new Uint8Array()],
    ['sessions only', otlpProtobuf({ spans: [{ attributes: { 'test.scope': 'session' } }] })],
  ])('%s is 200, queues nothing and has no receipt', async (_, empty) => {
    const response = await send(TRACES, empty, PROTOBUF);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-upload-id')).toBeNull();
    expect(queued).toEqual([]);
  });

  test.each([
    ['garbage', Buffer.from('garbage, surely'), PROTOBUF, 'in protobuf'],
    ['XML', XML, {}, 'Content-Type application/xml is not accepted'],
    ['no media type', Buffer.from('x'), { type: null }, 'Content-Type (none) is not accepted'],
    [
      'not gzip though it says so',
      Buffer.from('x'),
      { ...PROTOBUF, encoding: 'gzip' },
      'is not gzip, or it is cut short',
    ],
  ])('%s is 422 with a sentence, and nothing is queued', async (_, bad, sending, sentence) => {
    const response = await send(TRACES, bad, sending as Sending);
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const problem = await jsonOf(response);
    expect(problem.detail).toContain(sentence);
    expect(problem.errors).toMatchObject([{ loc: ['body'], type: 'invalid_body' }]);
    expect(queued).toEqual([]);
  });
});

describe('JUnit reports', () => {
  test('are answered with what was queued and where the receipt is', async () => {
    const query = new URLSearchParams({
      pipeline_name: 'CI, [main]',
      job_name: 'unit',
      run_id: '1001',
      run_attempt: '2',
      commit: 'abc',
      branch: 'refs/heads/feat',
      pull_request: '7',
      base_ref: 'refs/heads/main',
      default_branch: 'main',
      job_url: 'https://ci.acme.example/jobs/1001?attempt=2#log',
      started_at: '2026-11-21T10:00:00+01:00',
      report: 'shard-1',
    });
    const response = await send(`${JUNIT}?${query}`, XML);
    expect(response.status).toBe(202);
    const taken = await jsonOf(response);
    expect(taken).toMatchObject({ status: 'queued', executions: 2, rejected: 0, rejections: [], warnings: [] });
    expect(response.headers.get('location')).toBe(`http://ci.test${SHOP}/uploads/${taken.id}`);
    expect(taken.url).toBe(response.headers.get('location'));
    const [job] = queued;
    expect(job?.upload_id).toBe(String(taken.id));
    expect(job?.run).toMatchObject({
      pipeline_name: 'CI, [main]',
      job_name: 'unit',
      run_id: '1001',
      run_attempt: 2,
      commit: 'abc',
      branch: 'feat',
      pull_request: 7,
      base_ref: 'main',
      default_branch: 'main',
      job_url: 'https://ci.acme.example/jobs/1001?attempt=2#log',
    });
    // The address of the job identifies nothing: with another one, it is the same report.
    expect(job?.sources).toEqual(['["junit","CI, [main]","unit","1001",2,"shard-1"]']);
    expect(job?.executions.finished_at_ms).toEqual(Array(2).fill(Date.parse('2026-11-21T09:00:00Z')));
  });

  test('link attachments below an address', async () => {
    const report = (path: string): string =>
      `<testsuite><testcase name="a"><failure/><system-out>[[ATTACHMENT|${path}]]</system-out></testcase></testsuite>`;
    const at = new URLSearchParams({
      attachments_url: 'https://files.example.com/runs/7',
      attachments_root: '/home/me/shop',
    });
    const name = '/home/me/shop/shots/a b.png';
    expect((await send(`${JUNIT}?${at}`, report(name))).status).toBe(202);
    expect(queued[0]?.failures.attachments).toEqual([
      [{ kind: 'screenshot', name: '', url: 'https://files.example.com/runs/7/shots/a%20b.png' }],
    ]);
    const beside = `${JUNIT}?${at}&attachments_from=/home/me/shop/reports`;
    expect((await send(beside, report('../shots/c.png'))).status).toBe(202);
    expect(queued[1]?.failures.attachments).toEqual([
      [{ kind: 'screenshot', name: '', url: 'https://files.example.com/runs/7/shots/c.png' }],
    ]);
    const elsewhere = await jsonOf(await send(beside, report('../../etc/passwd')));
    expect(elsewhere).toMatchObject({ warnings: [expect.stringContaining('1 attachment cannot be linked')] });
    expect(queued[2]?.failures.attachments).toBeUndefined();
  });

  test('that break off say so in the answer, and keep what came before', async () => {
    const query = '?run_id=1&report=r';
    expect(await jsonOf(await send(`${JUNIT}${query}`, XML))).toMatchObject({ is_cut_short: false });
    const cut = await jsonOf(await send(`${JUNIT}${query}`, XML.slice(0, XML.lastIndexOf('<'))));
    expect(cut).toMatchObject({ is_cut_short: true, warnings: [expect.stringContaining('cut short')] });
  });

  test('without a run and a name are identified by their hash, compressed or not', async () => {
    await send(JUNIT, XML);
    await send(JUNIT, packed(XML), { encoding: 'gzip' });
    await send(JUNIT, packed(XML));
    await send(JUNIT, `${XML} `);
    const sources = queued.map((job) => job.sources[0]);
    expect(sources[0]).toMatch(/^\["junit","unknown","unknown","sha256:[0-9a-f]{64}",1,"sha256:[0-9a-f]{64}"\]$/);
    expect(sources.slice(0, 3)).toEqual(Array(3).fill(sources[0]));
    expect(sources[3]).not.toBe(sources[0]);
  });

  test('several in a form are one upload, and each is a separate source named after its file', async () => {
    const form = new FormData();
    form.append('a', new File([XML], 'a/junit.xml'));
    form.append('b', new File([packed('<testsuite><testcase name="c"/></testsuite')], 'b.xml.gz'));
    const response = await send(`${JUNIT}?run_id=1&report=all`, form, { type: null });
    expect(response.status).toBe(202);
    const taken = await jsonOf(response);
    expect(taken.executions).toBe(3);
    expect(taken.warnings).toEqual([expect.stringContaining('b.xml.gz: The report is cut short at line 1')]);
    expect(queued.map(({ chunk, sources }) => [chunk, sources.map((source) => JSON.parse(source).at(-1))])).toEqual([
      [{ index: 0, count: 2 }, ['all/a/junit.xml']],
      [{ index: 1, count: 2 }, ['all/b.xml.gz']],
    ]);
  });

  test('if one file of several is bad, nothing is queued and the answer names it', async () => {
    const form = new FormData();
    form.append('a', new File([XML], 'good.xml'));
    form.append('b', new File(['hello'], 'bad.xml'));
    const response = await send(JUNIT, form, { type: null });
    expect(response.status).toBe(422);
    expect((await jsonOf(response)).detail).toStartWith('bad.xml: The body is not a JUnit XML report');
    expect(queued).toEqual([]);
  });

  test('without tests have a receipt too', async () => {
    const response = await send(JUNIT, '<testsuites/>');
    expect(await jsonOf(response)).toMatchObject({ executions: 0 });
    expect(queued).toHaveLength(1);
  });

  test('with names that are too long are counted, and the rest is queued', async () => {
    const xml = `<testsuite><testcase name="a"/><testcase name="${'x'.repeat(10_001)}"/></testsuite>`;
    expect(await jsonOf(await send(JUNIT, xml))).toMatchObject({
      executions: 1,
      rejected: 1,
      rejections: [{ reason: 'the test name is longer than 10000 characters', count: 1 }],
    });
  });

  test.each([
    ['no report', 'hello', {}],
    ['another root', '<html/>', {}],
    ['a DTD', '<!DOCTYPE a><testsuite/>', {}],
    ['JSON', '{}', { type: 'application/json' }],
    ['not gzip though it says so', XML, { encoding: 'gzip' }],
    ['another encoding', XML, { encoding: 'br' }],
  ])('%s is 422, and nothing is queued', async (_, body, sending) => {
    expect((await send(JUNIT, body, sending)).status).toBe(422);
    expect(queued).toEqual([]);
  });

  test('NUL in a name refuses that test, with the reason', async () => {
    const response = await send(JUNIT, '<testsuite><testcase name="a\0"/><testcase name="b"/></testsuite>');
    expect(response.status).toBe(202);
    const rejections = [{ reason: 'the test name holds a NUL character', count: 1, examples: ['a\uFFFD'] }];
    expect(await jsonOf(response)).toMatchObject({ executions: 1, rejected: 1, rejections });
    expect(namesOf(queued)).toEqual(['b']);
  });

  test('every problem of the query is listed', async () => {
    const response = await send(
      `${JUNIT}?run_attempt=0&pipeline_name=&started_at=2026-11-21&branch=a%00b&pull_request=x&job_url=javascript:alert(1)&attachments_url=http://files.example.com`,
      XML,
    );
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { loc: string[] }[] };
    expect(errors.map(({ loc }) => loc.join('.')).sort()).toEqual([
      'query.attachments_url',
      'query.branch',
      'query.job_url',
      'query.pipeline_name',
      'query.pull_request',
      'query.run_attempt',
      'query.started_at',
    ]);
  });
});

describe('limits', () => {
  test.each([
    ['as sent', 'x'.repeat(100_001), {}],
    ['unpacked', packed('x'.repeat(1_000_001)), { encoding: 'gzip' }],
    ['in tests', packed(`<testsuite>${'<testcase name="a"/>'.repeat(1_001)}</testsuite>`), { encoding: 'gzip' }],
  ])('a body over the limit %s is 413 with a sentence', async (_, body, sending) => {
    const response = await send(JUNIT, body, sending);
    expect(response.status).toBe(413);
    expect((await jsonOf(response)).detail).toMatch(/Send .+\.$/);
    expect(queued).toEqual([]);
  });
});

describe('the queue is down', () => {
  test.each([
    [TRACES, otlpProtobuf({ spans: [{}] }), PROTOBUF],
    [JUNIT, XML, {}],
  ])('%s is 503 with Retry-After, never 429, and is logged as possibly lost', async (path, body, sending) => {
    isQueueDown = true;
    const response = await send(path, body, sending);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.text()).not.toContain('10.0.0.1');
    expect(logged.join('')).toContain('may be lost');
  });
});

describe.each(FORMATS)('$name reports', ({ name, mediaTypes, example }) => {
  const path = `${SHOP}/${name}`;
  test.each([...mediaTypes, 'application/octet-stream', null])('are taken as %s, gzip or not', async (type) => {
    expect((await send(path, example.text, { type })).status).toBe(202);
    expect((await send(path, packed(example.text), { type, encoding: 'gzip' })).status).toBe(202);
    expect(namesOf(queued)).not.toEqual([]);
  });
  test('are taken as the files of a form', async () => {
    const form = new FormData();
    for (const file of ['a', 'b']) form.append('report', new File([example.text], `${file}/${example.file}`));
    const response = await app.request(path, { method: 'POST', body: form });
    expect(response.status).toBe(202);
    expect(new Set(queued.flatMap((job) => job.sources)).size).toBe(2);
  });
  test('are not taken as another format', async () => {
    const response = await send(path, example.text, { type: 'image/png' });
    expect(response.status).toBe(422);
    expect((await jsonOf(response)).detail).toBe(
      `Content-Type image/png is not accepted: send ${mediaTypes[0]}, or multipart/form-data with files.`,
    );
    expect((await send(path, 'nonsense')).status).toBe(422);
  });
});

describe('who may upload', () => {
  test.each([TRACES, ...FORMATS.map(({ name }) => `${SHOP}/${name}`)])('%s: no one without a key', async (path) => {
    expect((await send(path, XML, { token: null })).status).toBe(403);
    expect((await send(path, XML, { token: 'nonsense' })).status).toBe(403);
  });
  test('a ci key may, to its repositories', async () => {
    const token = await app.makeKey({ owner: 'acme', repositories: ['shop'] });
    expect((await send(JUNIT, XML, { token })).status).toBe(202);
    expect((await send('/v1/ci/acme/repositories/other/junit', XML, { token })).status).toBe(404);
    expect((await send('/v1/ci/else/repositories/shop/junit', XML, { token })).status).toBe(403);
  });
  test('the path is checked before access, and access before query and body', async () => {
    const token = await app.makeKey({ owner: 'acme' });
    expect((await send('/v1/ci/a_b/repositories/shop/junit', 'bad', { token })).status).toBe(422);
    expect((await send(`/v1/ci/acme/repositories/${'x'.repeat(256)}/junit`, XML, { token })).status).toBe(422);
    expect((await send('/v1/ci/else/repositories/shop/junit?run_attempt=0', 'bad', { token })).status).toBe(403);
  });
});

describe('receipts', () => {
  const stored: Receipt = {
    id: UPLOAD_ID,
    status: 'stored',
    receivedAt: new Date('2026-11-21T09:30:01Z'),
    storedAt: new Date('2026-11-21T09:30:01.200Z'),
    accepted: 4,
    duplicate: 1,
    rejected: 2,
    conflicting: 1,
    unnamedLeg: 2,
    nameLegsWith: 'ci-insights push junit --axis os="$OS"',
    onDefaultBranch: 4,
    rejections: [{ reason: 'older than the retention of 90 days', count: 2, examples: ['a'] }],
    warnings: ['w'],
    failure: null,
    refusals: 0,
    pipelineName: 'CI',
    jobName: 'unit',
    runId: '1001',
    runAttempt: 1,
    commit: 'c1',
    branch: 'main',
    pullRequest: null,
    format: 'junit',
    sender: 'ci of acme',
  };
  test('report the outcome of an upload', async () => {
    receipt = stored;
    expect(await app.get(`${SHOP}/uploads/${UPLOAD_ID}`)).toEqual({
      id: UPLOAD_ID,
      status: 'stored',
      received_at: '2026-11-21T09:30:01.000Z',
      stored_at: '2026-11-21T09:30:01.200Z',
      accepted: 4,
      duplicate: 1,
      rejected: 2,
      conflicting: 1,
      unnamed_leg: 2,
      name_legs_with: 'ci-insights push junit --axis os="$OS"',
      on_default_branch: 4,
      rejections: stored.rejections,
      warnings: ['w'],
      failure: null,
      refusals: 0,
      sender: 'ci of acme',
      format: 'junit',
      pipeline_name: 'CI',
      job_name: 'unit',
      run_id: '1001',
      run_attempt: 1,
      commit_sha: 'c1',
      branch: 'main',
      pull_request: null,
    });
  });
  test('have null for counts while the upload is queued', async () => {
    receipt = { ...stored, status: 'queued', storedAt: null, accepted: null, duplicate: null, onDefaultBranch: null };
    expect(await app.get(`${SHOP}/uploads/${UPLOAD_ID.toUpperCase()}`)).toMatchObject({
      status: 'queued',
      stored_at: null,
      accepted: null,
      duplicate: null,
    });
  });
  test('that are unknown or belong to another repository are 404; an id that is not a UUID is 422', async () => {
    receipt = stored;
    expect((await app.request(`/v1/ci/acme/repositories/other/uploads/${UPLOAD_ID}`)).status).toBe(404);
    expect((await app.request(`${SHOP}/uploads/00000000-0000-7000-8000-000000000000`)).status).toBe(404);
    expect((await app.request(`${SHOP}/uploads/1`)).status).toBe(422);
  });
});

test('operations of formats are named alike, and the one of JUnit as ever', async () => {
  const document = await app.get<{ paths: Record<string, Record<string, { operationId: string }>> }>('/docs/json');
  const idOf = ({ name }: { name: string }) =>
    document.paths[`/v1/ci/{owner}/repositories/{repository}/${name}`]?.post?.operationId;
  expect(FORMATS.map(idOf)).toEqual([
    'uploadJunitReport',
    'uploadPlaywrightReport',
    'uploadGoTestReport',
    'uploadTrxReport',
    'uploadNunitReport',
    'uploadXunitReport',
    'uploadTestngReport',
    'uploadRobotReport',
    'uploadCucumberReport',
    'uploadCtrfReport',
    'uploadAllureReport',
    'uploadTapReport',
    'uploadBazelReport',
  ]);
});

test('the OpenAPI document describes every operation with an example of its request and its answer', async () => {
  const document = await app.get<{ paths: Record<string, Record<string, Record<string, unknown>>> }>('/docs/json');
  for (const [path, method, status] of [
    ['/v1/ci/{owner}/repositories/{repository}/traces', 'post', '200'],
    ['/v1/repos/{owner}/{repository}/ci/traces', 'post', '200'],
    ...FORMATS.map(({ name }) => [`/v1/ci/{owner}/repositories/{repository}/${name}`, 'post', '202'] as const),
    ['/v1/ci/{owner}/repositories/{repository}/uploads/{upload_id}', 'get', '200'],
  ] as const) {
    const operation = document.paths[path]?.[method];
    expect(JSON.stringify(operation?.responses ?? {})).toContain('example');
    expect(Object.keys((operation?.responses as object) ?? {})).toContain(status);
    if (method === 'post') expect(JSON.stringify(operation?.requestBody)).toContain('example');
  }
});
