/**
 * Requests and uploads of at most 10 MiB that try to keep the service busy, of every kind of body, and what others notice
 * meanwhile: how long liveness takes, how long another owner's upload, and the memory of all processes.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { memoryOf, totalOf } from '../bench/memory.ts';
import type { ServiceProcess } from './service-process.ts';

const MEBIBYTE = 1024 * 1024;
const AT_ONCE = 10;
const POLL_MS = 10;
const MEMORY_POLL_MS = 200;
const PROBE = fileURLToPath(new URL('./liveness-probe.ts', import.meta.url));
const PROBE_START_MS = 300;
const UPLOAD_MS_MAX = 120_000;
/** Memory is given back with a delay. */
const REST_MS = 2_000;

const JSON_TYPE = { 'content-type': 'application/json' };
const XML_TYPE = { 'content-type': 'application/xml' };
const GZIP = { 'content-encoding': 'gzip' };
const BASE = '/v1/ci/hostile/repositories/shop';

export interface HostileRequest {
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
  isStranger?: boolean;
}

const nested = '['.repeat(10 * MEBIBYTE);
const report = (count: number, message: string): string =>
  `<testsuite>${Array.from({ length: count }, (_, i) => `<testcase name="t${i}"><failure message="${message}"/></testcase>`).join('')}</testsuite>`;
const upload = (format: string): string =>
  `${BASE}/${format}?pipeline_name=CI&job_name=unit&branch=main&commit=c&run_id=`;

/** By what they are. Each is sent several times at once, `nth` tells them apart. */
export const HOSTILE_REQUESTS: Readonly<Record<string, (nth: number) => HostileRequest>> = {
  'a stranger, nested JSON': () => ({ path: '/v1/session', headers: JSON_TYPE, body: nested, isStranger: true }),
  'a page of ours, nested JSON': () => ({
    ...{ path: '/v1/session', body: nested, isStranger: true },
    headers: { ...JSON_TYPE, 'sec-fetch-site': 'same-origin' },
  }),
  'an identity token of 10 MiB': () => ({
    ...{ path: '/v1/auth/ci', headers: JSON_TYPE, isStranger: true },
    body: JSON.stringify({ token: 'a.'.repeat(5 * MEBIBYTE) }),
  }),
  'an unsigned delivery': () => ({
    ...{ path: '/webhooks/github', body: nested, isStranger: true },
    headers: { ...JSON_TYPE, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, 'x-github-event': 'push' },
  }),
  'a check of a million numbers': () => ({
    ...{ path: `${BASE}/quarantines/check`, headers: JSON_TYPE },
    body: JSON.stringify({ tests_names: Array.from({ length: 1_000_000 }, (_, i) => i) }),
  }),
  'a check of 10,000 long names': () => ({
    ...{ path: `${BASE}/quarantines/check`, headers: JSON_TYPE },
    body: JSON.stringify({ tests_names: Array.from({ length: 10_000 }, (_, i) => `${'x'.repeat(390)}${i}`) }),
  }),
  'a quarantine of 10 MiB': () => ({
    ...{ path: `${BASE}/quarantines`, headers: JSON_TYPE },
    body: JSON.stringify({ test_name: 't', reason: 'x'.repeat(10 * MEBIBYTE) }),
  }),
  'failures that look like tokens': (nth) => ({
    ...{ path: upload('junit') + nth, headers: { ...XML_TYPE, ...GZIP } },
    body: gzipSync(report(1_000, '-eyJ'.repeat(2_000))),
  }),
  'failures full of numbers': (nth) => ({
    ...{ path: upload('junit') + nth, headers: { ...XML_TYPE, ...GZIP } },
    body: gzipSync(report(1_000, `${nth},2 /a/b:3 `.repeat(700))),
  }),
  'a form of many parts': (nth) => ({
    ...{ path: upload('junit') + nth, body: '--x\r\n\r\n'.repeat(1_000_000) },
    headers: { 'content-type': 'multipart/form-data; xboundary=y; boundary=x' },
  }),
  'a report of 10 MiB of tests': (nth) => ({
    ...{ path: upload('junit') + nth, headers: XML_TYPE },
    body: `<testsuite>${Array.from({ length: 250_000 }, (_, i) => `<testcase name="t${i}" time="1"/>`).join('')}</testsuite>`,
  }),
  'a Playwright report that nests': (nth) => ({
    ...{ path: upload('playwright') + nth, headers: JSON_TYPE },
    body: `{"suites":${'[{"suites":'.repeat(900_000)}`,
  }),
  'Go output of 10 MiB': (nth) => ({
    ...{ path: upload('go-test') + nth, headers: { 'content-type': 'application/x-ndjson' } },
    body: '{"Action":"output","Package":"p","Test":"T","Output":"x"}\n'.repeat(180_000),
  }),
  'a TRX report that never ends': (nth) => ({
    ...{ path: upload('trx') + nth, headers: XML_TYPE },
    body: `<TestRun><Results>${'<UnitTestResult testName="a" outcome="Failed">'.repeat(200_000)}`,
  }),
  'spans of 10 MiB': () => ({
    ...{ path: `${BASE}/traces`, headers: JSON_TYPE },
    body: `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{"attributes":[{}]},'.repeat(500_000)}{}]}]}]}`,
  }),
};

export interface Noticed {
  /** How many answers had each status; `closed` if the connection was. */
  answers: ReadonlyMap<string, number>;
  /** The time of the slowest one. */
  livenessMs: number;
  /** Until the upload of another owner was stored; infinite if it was not. */
  uploadMs: number;
  /** Bytes of all processes together, beyond what they had before. */
  memoryGrowth: number;
}

/** Ordinary uploads, ten at once: all parsers run afterwards. */
export const warmUp = async (service: ServiceProcess): Promise<void> => {
  await Promise.all(Array.from({ length: AT_ONCE }, () => uploadOfOthers(service)));
};

/** Sends ten of a kind at once, and asks meanwhile as others do. */
export async function noticed(service: ServiceProcess, make: (nth: number) => HostileRequest): Promise<Noticed> {
  const before = totalOf(await memoryOf(service.pid));
  const answers = new Map<string, number>();
  let memoryMost = before;
  let isOver = false;
  const watched = (async () => {
    while (!isOver) {
      memoryMost = Math.max(memoryMost, totalOf(await memoryOf(service.pid)));
      await Bun.sleep(MEMORY_POLL_MS);
    }
  })();
  const requests = Array.from({ length: AT_ONCE }, (_, nth) => make(nth));
  const liveness = Bun.spawn([process.execPath, PROBE, `${service.origin}/healthz/live`], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  await Bun.sleep(PROBE_START_MS);
  const [uploadMs] = await Promise.all([
    uploadOfOthers(service),
    ...requests.map(async (request) => {
      const status = await statusOf(service, request);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }),
  ]);
  isOver = true;
  await watched;
  await liveness.stdin.end();
  const livenessMs = Number(await new Response(liveness.stdout).text());
  await Bun.sleep(REST_MS);
  return { answers, livenessMs, uploadMs, memoryGrowth: memoryMost - before };
}

async function statusOf(
  service: ServiceProcess,
  { path, headers, body, isStranger = false }: HostileRequest,
): Promise<string> {
  const init = { method: 'POST', headers, body };
  try {
    const response = await (isStranger ? fetch(`${service.origin}${path}`, init) : service.request(path, init));
    await response.text();
    return String(response.status);
  } catch {
    return 'closed';
  }
}

/** Milliseconds until a small upload of another owner is stored. */
async function uploadOfOthers(service: ServiceProcess): Promise<number> {
  const startedAt = performance.now();
  const path = `/v1/ci/modest/repositories/${crypto.randomUUID()}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=1`;
  const sent = await service.request(path, {
    ...{ method: 'POST', headers: XML_TYPE },
    body: '<testsuite><testcase name="a"/></testsuite>',
  });
  const address = sent.headers.get('location') ?? '';
  await sent.text();
  while (performance.now() - startedAt < UPLOAD_MS_MAX) {
    const { status } = (await (await service.request(address)).json()) as { status?: string };
    if (status === 'stored') return performance.now() - startedAt;
    await Bun.sleep(POLL_MS);
  }
  return Number.POSITIVE_INFINITY;
}
