/** Everything that reads what others send, with real input to mutate. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { rejectedCount } from '../../src/domain/rejections.ts';
import { malformedReason } from '../../src/domain/text.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { jobOf } from '../../src/hosts/webhooks/job.ts';
import { decodeCursor, encodeCursor } from '../../src/http/cursor.ts';
import { chunksOf } from '../../src/ingest/chunks.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { valuesOf } from '../../src/ledger/block.ts';
import { prEventsSchema, readEvent } from '../../src/queue/pr-events.ts';
import { type TestRunsJob, testRunsSchema } from '../../src/queue/test-runs.ts';
import type { Target } from './fuzz.ts';
import { otlpJson } from './otlp.ts';
import { executionsOf, fixtureBytes, RUN } from './parsing.ts';
import { prepareChunk } from './prepare.ts';
import { GITHUB, webhookExamples } from './webhooks.ts';

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

/** Steps between a parser and the stores; a test of the fuzzing puts faults into them. */
export const STEPS = { chunksOf, prepareChunk, valuesOf, readEvent };
export type Steps = typeof STEPS;

/** JSON escapes NUL and halves of surrogate pairs, so a text of JSON looks storable with anything in it. */
function assertStorable(json: string): void {
  JSON.parse(json, (_, value: unknown) => {
    if (typeof value === 'string' && malformedReason(value) !== null)
      throw new Error(`a text ${malformedReason(value)}, and no store takes it`);
    return value;
  });
}

/** A worker stores every execution of a job, or refuses it with a reason; a job that it does not read is buried. */
function storeOrBury(payload: unknown, mustBeValid: boolean, steps: Steps): void {
  const parsed = testRunsSchema.safeParse(payload);
  if (!parsed.success) {
    if (mustBeValid) throw new Error(`the worker refuses the job: ${z.prettifyError(parsed.error)}`);
    return;
  }
  const job = parsed.data;
  const chunk = steps.prepareChunk(job, OPTIONS);
  const refused = rejectedCount(chunk.rejections) - rejectedCount(job.rejections);
  if (chunk.executions.length + refused !== job.executions.name.length)
    throw new Error(`of ${job.executions.name.length} executions, ${chunk.executions.length} are stored`);
  // Without executions there is nothing to insert.
  if (chunk.executions.length > 0) assertStorable(JSON.stringify(steps.valuesOf(chunk, chunk.executions)));
}

/** Every execution of an upload is in one of its jobs. */
function checkUpload(upload: ParsedUpload, steps: Steps): void {
  const jobs: TestRunsJob[] = steps.chunksOf(upload, HEAD);
  const queued = jobs.reduce((sum, { executions }) => sum + executions.name.length, 0);
  if (queued !== executionsOf(upload).length) throw new Error(`${queued} executions are queued`);
  for (const job of jobs) storeOrBury(JSON.parse(JSON.stringify(job)), true, steps);
}

function checkEvents(payload: unknown, mustBeValid: boolean, steps: Steps): void {
  const parsed = prEventsSchema.safeParse(payload);
  if (!parsed.success) {
    if (mustBeValid) throw new Error(`the worker refuses the job: ${z.prettifyError(parsed.error)}`);
    return;
  }
  for (const event of parsed.data.events) {
    const outcome = steps.readEvent(event);
    if (!('event' in outcome) && !outcome.reason) throw new Error('an event is neither kept nor refused');
    // A job of another producer that PostgreSQL does not take is buried then.
    if ('event' in outcome && mustBeValid) assertStorable(JSON.stringify(outcome.event));
  }
}

const files = async (folder: string, names: readonly string[]): Promise<Buffer[]> =>
  Promise.all(names.map(async (name) => Buffer.from(await fixtureBytes(`${folder}/${name}`))));

/** Reports of other projects, where they lie beside the checkout; one of them is none. */
function samplesBeside(folder: string): Buffer[] {
  const path = fileURLToPath(new URL(`../../../shared/samples/${folder}/`, import.meta.url));
  return existsSync(path)
    ? readdirSync(path)
        .filter((name) => !name.startsWith('non-'))
        .sort()
        .map((name) => readFileSync(path + name))
    : [];
}

const unpacked = (packed: readonly Buffer[]): Buffer[] =>
  packed.map((one) => Buffer.from(Bun.gunzipSync(new Uint8Array(one))));

/** XML takes longest. */
const CASES: Readonly<Record<string, number>> = {
  junit: 9_000,
  playwright: 8_000,
  'go-test': 9_000,
  trx: 6_000,
  robot: 4_000,
  testng: 4_000,
  ctrf: 8_000,
  allure: 8_000,
};

const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  junit: ['bun-1.4.xml', 'node-20.xml', 'pytest-9.2.xml', 'surefire-reruns.xml'],
  playwright: ['load-error.json', 'stopped-early.json'],
  'go-test': ['benchmarks.json', 'cached.json', 'count-2.json'],
  trx: ['testing-platform-xunit.trx', 'visual-studio.trx'],
  robot: ['robot-4.1.xml', 'robot-7.5-merged.xml'],
  testng: ['testng-7.10.xml'],
  ctrf: ['jest-30.json', 'pytest-9.2.json'],
  allure: ['allure-pytest-2.16.json', 'allure-pytest-2.16.zip'],
  cucumber: ['messages-js-12.ndjson', 'json-js-12.json', 'behave-1.3.json'],
  tap: ['node-20.tap', 'tape-5.tap', 'node-tap-21.tap', 'test-more-5.36.tap'],
  nunit: ['nunit3-console.xml'],
  xunit: ['xunit-2.xml', 'xunit-3.xml'],
  bazel: ['build-events.ndjson'],
};

const OTLP_SAMPLES = [
  'main-run1001-attempt1.pb.gz',
  'mergify-cli-2026.10.3-junit-process.pb.gz',
  'pytest-mergify-2026.9.24.1-quarantined.pb.gz',
];

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const upload = (
  name: string,
  cases: number,
  samples: readonly Buffer[],
  read: (body: Buffer) => Promise<ParsedUpload>,
  steps: Steps,
): Target => ({
  name,
  cases,
  samples,
  takesSamples: true,
  read,
  check: (parsed) => checkUpload(parsed as ParsedUpload, steps),
});

/** Uploaded ones come first, in the order of `UPLOAD_PATHS`. */
export async function fuzzTargets(steps: Steps = STEPS): Promise<Target[]> {
  const json = otlpJson({
    resource: { 'cicd.pipeline.name': 'CI', 'cicd.pipeline.run.id': 7 },
    scope: { name: 's', version: '1' },
    spans: [{ name: 'a' }, { name: 'b', status: 'error', exceptionEvent: { 'exception.type': 'E' } }],
  });
  const protobuf = unpacked([...(await files('otlp', OTLP_SAMPLES)), ...samplesBeside('otlp')]);
  const reports = await Promise.all(
    FORMATS.map(async (format) => {
      const samples = [...(await files(format.name, SAMPLES[format.name] ?? [])), ...samplesBeside(format.name)];
      const read = (body: Buffer) => parseReport(format, body, { run: RUN, reportName: 'r' });
      return upload(format.name, CASES[format.name] ?? 8_000, samples, read, steps);
    }),
  );
  const junitUploads = reports[0] ? await Promise.all(reports[0].samples.map(reports[0].read)) : [];
  const uploads = [await parseOtlp(Buffer.from(json), 'json'), ...(junitUploads as ParsedUpload[])];
  const testRuns = uploads.flatMap((one) => chunksOf(one, HEAD));
  const deliveries = webhookExamples().filter(({ body }) => body.length < 30_000);
  const events = deliveries.map(({ event, payload }) => jobOf(GITHUB, { id: 'x', event, payload, bodyHash: 'x' }).job);
  const cursor = encodeCursor({ direction: 'next', key: ['a', 1], window: { start: 0, end: 1 }, perPage: 5 }, 'hash');
  return [
    upload('OTLP in protobuf', 22_000, protobuf, (body) => parseOtlp(body, 'protobuf'), steps),
    upload('OTLP in JSON', 18_000, [Buffer.from(json)], (body) => parseOtlp(body, 'json'), steps),
    ...reports,
    {
      name: 'test-runs jobs',
      cases: 14_000,
      samples: testRuns.map((job) => Buffer.from(JSON.stringify(job))),
      takesSamples: true,
      read: jsonOf,
      check: (payload) => storeOrBury(payload, false, steps),
    },
    {
      name: 'pr-events jobs',
      cases: 6_000,
      samples: events.flatMap((one) => (one ? [Buffer.from(JSON.stringify(one))] : [])),
      takesSamples: true,
      read: jsonOf,
      check: (payload) => checkEvents(payload, false, steps),
    },
    {
      name: 'webhooks',
      cases: 8_000,
      samples: deliveries.map(({ event, body }) => Buffer.from(JSON.stringify({ event, body: JSON.parse(body) }))),
      takesSamples: true,
      read: (body) => {
        const delivery = z.object({ event: z.string(), body: z.unknown() }).safeParse(jsonOf(body));
        return delivery.success
          ? jobOf(GITHUB, { id: 'x', event: delivery.data.event, payload: delivery.data.body, bodyHash: 'x' }).job
          : null;
      },
      check: (job) => job !== null && checkEvents(job, true, steps),
    },
    {
      name: 'cursors',
      cases: 6_000,
      samples: [Buffer.from(Buffer.from(cursor, 'base64url').toString()), Buffer.from(cursor)],
      takesSamples: false,
      read: (body) => {
        for (const text of [body.toString('latin1'), body.toString('base64url')])
          decodeCursor(text, 'hash', z.tuple([z.string(), z.int()]));
      },
      check: () => {},
    },
  ];
}

export const UPLOAD_PATHS: readonly [path: string, type: string][] = [
  ['traces', 'application/x-protobuf'],
  ['traces', 'application/json'],
  ...FORMATS.map(({ name, mediaTypes }): [string, string] => [name, mediaTypes[0]]),
];
