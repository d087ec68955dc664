/**
 * 100,000 mutations of real input, to every parser: each is taken or refused with a sentence, within 100 ms of CPU,
 * without growth of memory, and what is taken makes jobs that a worker can store.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { z } from 'zod';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { cutText } from '../../src/domain/text.ts';
import { decodeCursor, encodeCursor } from '../../src/http/cursor.ts';
import { HttpProblem } from '../../src/http/problems.ts';
import { chunksOf } from '../../src/ingest/chunks.ts';
import { InvalidUpload, UploadTooLarge } from '../../src/ingest/errors.ts';
import { FORMATS } from '../../src/ingest/formats/formats.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import type { ParsedUpload } from '../../src/ingest/upload.ts';
import { jobOf } from '../../src/ingest/webhooks/job.ts';
import { lineOf } from '../../src/ledger/block.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { prEventsSchema, readEvent } from '../../src/queue/pr-events.ts';
import { testRunsSchema } from '../../src/queue/test-runs.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { mutated } from '../support/mutations.ts';
import { otlpJson } from '../support/otlp.ts';
import { fixtureBytes, RUN } from '../support/parsing.ts';
import { randomFrom } from '../support/random.ts';
import { webhookExamples } from '../support/webhooks.ts';

const seed = fc.readConfigureGlobal().seed ?? 1;
const CPU_MS_MAX = 100;
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;
const HEAD = {
  uploadId: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a',
  repository: { host: 'github.com', owner: 'acme', name: 'shop' },
  receivedAt: new Date('2026-11-21T09:30:00Z'),
};
const OPTIONS = {
  repositoryId: repositoryIdOf('github.com', 'acme', 'shop'),
  defaultBranch: 'main',
  now: HEAD.receivedAt.getTime(),
  retentionDays: 90,
};

interface Target {
  name: string;
  cases: number;
  samples: Buffer[];
  /** Throws only what is answered with a sentence. */
  run(body: Buffer): Promise<void> | void;
}

/** Every job of an upload is stored by a worker, or becomes a dead letter: nothing in between. */
function assertStorable(upload: ParsedUpload): void {
  for (const job of chunksOf(upload, HEAD)) storeOrBury(JSON.parse(JSON.stringify(job)), true);
}

function storeOrBury(payload: unknown, mustBeValid: boolean): void {
  const parsed = testRunsSchema.safeParse(payload);
  if (!parsed.success) {
    if (mustBeValid)
      throw new Error(`the gateway makes a job that the worker refuses: ${z.prettifyError(parsed.error)}`);
    return;
  }
  const chunk = prepareChunk(parsed.data, OPTIONS);
  const line = lineOf(chunk, chunk.executions);
  if (!line.isWellFormed() || line.includes('\0')) throw new Error('a line holds text that cannot be stored');
}

const files = async (folder: string, names: readonly string[]): Promise<Buffer[]> =>
  Promise.all(names.map(async (name) => Buffer.from(await fixtureBytes(`${folder}/${name}`))));

/** XML takes longest. */
const CASES: Readonly<Record<string, number>> = { junit: 9_000, playwright: 8_000, 'go-test': 9_000, trx: 6_000 };

const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  junit: ['bun-1.4.xml', 'node-20.xml', 'pytest-9.2.xml', 'surefire-reruns.xml'],
  playwright: ['load-error.json', 'stopped-early.json'],
  'go-test': ['benchmarks.json', 'cached.json', 'count-2.json'],
  trx: ['testing-platform-xunit.trx', 'visual-studio.trx'],
};

async function targets(): Promise<Target[]> {
  const packed = await files('otlp', [
    'main-run1001-attempt1.pb.gz',
    'mergify-cli-2026.10.3-junit-process.pb.gz',
    'pytest-mergify-2026.9.24.1-quarantined.pb.gz',
  ]);
  const json = otlpJson({
    resource: { 'cicd.pipeline.name': 'CI', 'cicd.pipeline.run.id': 7 },
    scope: { name: 's', version: '1' },
    spans: [{ name: 'a' }, { name: 'b', status: 'error', exceptionEvent: { 'exception.type': 'E' } }],
  });
  const reports = await Promise.all(
    FORMATS.map(async (format) => ({
      name: format.name,
      cases: CASES[format.name] ?? 8_000,
      samples: await files(format.name, SAMPLES[format.name] ?? []),
      run: async (body: Buffer) => assertStorable(await parseReport(format, body, { run: RUN, reportName: 'r' })),
    })),
  );
  const [job] = chunksOf(await parseOtlp(Buffer.from(json), 'json'), HEAD);
  const events = webhookExamples().filter(({ body }) => body.length < 30_000);
  const cursor = encodeCursor({ direction: 'next', key: ['a', 1], window: { start: 0, end: 1 }, perPage: 5 }, 'hash');
  return [
    {
      name: 'OTLP in protobuf',
      cases: 22_000,
      samples: packed.map((one) => Buffer.from(Bun.gunzipSync(new Uint8Array(one)))),
      run: async (body) => assertStorable(await parseOtlp(body, 'protobuf')),
    },
    {
      name: 'OTLP in JSON',
      cases: 18_000,
      samples: [Buffer.from(json)],
      run: async (body) => assertStorable(await parseOtlp(body, 'json')),
    },
    ...reports,
    {
      name: 'test-runs jobs',
      cases: 14_000,
      samples: [Buffer.from(JSON.stringify(job))],
      run: (body) => storeOrBury(jsonOf(body), false),
    },
    {
      name: 'webhooks',
      cases: 8_000,
      samples: events
        .filter((_, i) => i % 7 === 0)
        .map(({ event, body }) => Buffer.from(JSON.stringify({ event, body: JSON.parse(body) }))),
      run: (body) => {
        const delivery = z.object({ event: z.string(), body: z.unknown() }).safeParse(jsonOf(body));
        if (!delivery.success) return;
        const { job: made } = jobOf({ id: 'x', event: delivery.data.event, payload: delivery.data.body });
        if (made) for (const event of prEventsSchema.parse(made).events) readEvent(event);
      },
    },
    {
      name: 'cursors',
      cases: 6_000,
      samples: [Buffer.from(Buffer.from(cursor, 'base64url').toString()), Buffer.from(cursor)],
      run: (body) => {
        for (const text of [body.toString('latin1'), body.toString('base64url')])
          decodeCursor(text, 'hash', z.tuple([z.string(), z.int()]));
      },
    },
  ];
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const isSentence = (error: unknown): boolean =>
  error instanceof InvalidUpload ||
  error instanceof UploadTooLarge ||
  error instanceof z.ZodError ||
  (error instanceof HttpProblem && error.status === 422);

async function cpuMs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function settledHeap(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

async function fuzz({ name, cases, samples, run }: Target): Promise<void> {
  const random = randomFrom(seed);
  const once = async (body: Buffer): Promise<void> => {
    try {
      await run(body);
    } catch (error) {
      if (isSentence(error)) return;
      throw new Error(`${name} does not answer this with a sentence: ${cutText(body.toString('base64'), 8_000)}`, {
        cause: error,
      });
    }
  };
  let heap = 0;
  for (let i = 0; i < cases; i++) {
    if (i === Math.floor(cases / 4)) heap = settledHeap();
    const body = mutated(samples[i % samples.length] as Buffer, random, samples);
    let spent = await cpuMs(() => once(body));
    // Something else, such as garbage collection, may have run meanwhile.
    for (let again = 0; again < 3 && spent > CPU_MS_MAX; again++)
      spent = Math.min(spent, await cpuMs(() => once(body)));
    if (spent > CPU_MS_MAX)
      throw new Error(`${name} takes ${spent} ms for this: ${cutText(body.toString('base64'), 8_000)}`);
  }
  expect(settledHeap() - heap).toBeLessThan(GROWTH_BYTES_MAX);
}

describe('every mutation is taken or refused with a sentence, soon, and what is taken can be stored', async () => {
  for (const target of await targets())
    test(`${target.name}: ${target.cases} cases`, async () => {
      await fuzz(target);
    });
});

describe('over HTTP', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp({
      features: [
        (elysia, http) =>
          mountIngest(elysia, http, {
            clock: http.clock,
            log: http.log,
            enqueue: async () => {},
            receipt: async () => null,
          }),
      ],
    });
  });

  test('2,000 uploads are answered with 200, 202, 413 or 422', async () => {
    const random = randomFrom(seed);
    const uploads = (await targets()).slice(0, 6);
    const paths = ['traces', 'traces', ...FORMATS.map(({ name }) => name)];
    const types = ['application/x-protobuf', 'application/json', ...FORMATS.map(({ mediaTypes }) => mediaTypes[0])];
    for (let i = 0; i < 2_000; i++) {
      const which = i % uploads.length;
      const samples = uploads[which]?.samples ?? [];
      const body = mutated(samples[i % samples.length] as Buffer, random, samples);
      const response = await app.request(`/v1/ci/acme/repositories/shop/${paths[which]}`, {
        method: 'POST',
        headers: { 'content-type': types[which] ?? '' },
        body: new Uint8Array(body),
      });
      await response.arrayBuffer();
      expect([200, 202, 413, 422]).toContain(response.status);
    }
  });

  test('3,000 queries of reads are answered with 200, 404 or 422', async () => {
    const random = randomFrom(seed);
    const samples = [
      'search/tests?test_name=a*&sort=test_name&direction=asc&per_page=10&pipeline_name=CI&cursor=WzEsIm4iLG51bGxd',
      'quarantines?branch=main&per_page=5&source=manual&test_id=01980f3e-5c1e-5b1c-8f5d-1f2e3d4c5b6a&cursor=x',
      'tests/01980f3e-5c1e-5b1c-8f5d-1f2e3d4c5b6a/stats/mean_duration?start=2026-11-20T00:00:00Z&end=2026-11-21T00:00:00Z',
      'tests/01980f3e-5c1e-5b1c-8f5d-1f2e3d4c5b6a/executions?sort=job_name&per_page=100&cursor=WzFd',
    ].map((one) => Buffer.from(one));
    for (let i = 0; i < 3_000; i++) {
      const sample = samples[i % samples.length] as Buffer;
      const at = sample.indexOf('?') + 1;
      const query = mutated(sample.subarray(at), random, samples)
        .toString('latin1')
        .replace(/[^!-~]|#/g, '%C3');
      const response = await app.request(`/v1/ci/acme/repositories/shop/${sample.subarray(0, at)}${query}`);
      await response.arrayBuffer();
      expect([200, 404, 422]).toContain(response.status);
    }
  });
});
