/**
 * Sends ten costly requests or uploads of each kind to a running service, and prints how long liveness and another owner's
 * upload wait meanwhile: `bun scripts/hostile-requests.ts http://127.0.0.1:3000 @keyfile`. The key is an admin one of every
 * owner, of a service that holds nothing of value.
 */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const MEBIBYTE = 1024 * 1024;
const AT_ONCE = 10;
const REST_MS = 500;
const UPLOAD_MS_MAX = 120_000;

const [origin = 'http://127.0.0.1:3000', key = ''] = process.argv.slice(2);
const token = key.startsWith('@') ? readFileSync(key.slice(1), 'utf8').trim() : key;
const KEY = { authorization: `Bearer ${token}` };
const JSON_TYPE = { 'content-type': 'application/json' };
const XML_TYPE = { 'content-type': 'application/xml' };
const BASE = '/v1/ci/hostile/repositories/shop';

interface Attack {
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

const numbers = JSON.stringify({ tests_names: Array.from({ length: 1_000_000 }, (_, i) => i) });
const report = (count: number, message: string): string =>
  `<testsuite>${`<testcase name="t#"><failure message="${message}"/></testcase>`
    .repeat(count)
    .replace(/#/g, () => String(Math.random()))}</testsuite>`;

const ATTACKS: Record<string, () => Attack> = {
  'a stranger, nested JSON of 10 MiB': () => ({
    path: '/v1/session',
    headers: JSON_TYPE,
    body: '['.repeat(10 * MEBIBYTE),
  }),
  'a page of ours, nested JSON of 10 MiB': () => ({
    path: '/v1/session',
    headers: { ...JSON_TYPE, 'sec-fetch-site': 'same-origin' },
    body: '['.repeat(10 * MEBIBYTE),
  }),
  'an unsigned delivery of 10 MiB': () => ({
    path: '/webhooks/github',
    headers: { ...JSON_TYPE, 'x-hub-signature-256': 'sha256=0' },
    body: '['.repeat(10 * MEBIBYTE),
  }),
  'a check of a million numbers': () => ({
    path: `${BASE}/quarantines/check`,
    headers: { ...KEY, ...JSON_TYPE },
    body: numbers,
  }),
  'a check of 10,000 long names': () => ({
    path: `${BASE}/quarantines/check`,
    headers: { ...KEY, ...JSON_TYPE },
    body: JSON.stringify({ tests_names: Array.from({ length: 10_000 }, (_, i) => `${'x'.repeat(390)}${i}`) }),
  }),
  'failures that look like tokens': () => ({
    path: `${BASE}/junit?branch=main&commit=c&run_id=${Math.random()}`,
    headers: { ...KEY, ...XML_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync(report(1_000, '-eyJ'.repeat(2_000))),
  }),
  'failures full of numbers': () => ({
    path: `${BASE}/junit?branch=main&commit=c&run_id=${Math.random()}`,
    headers: { ...KEY, ...XML_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync(report(1_000, '1,2 /a/b:3 '.repeat(700))),
  }),
  'a form of many parts': () => ({
    path: `${BASE}/junit?branch=main&commit=c&run_id=1`,
    headers: { ...KEY, 'content-type': 'multipart/form-data; xboundary=y; boundary=x' },
    body: '--x\r\n\r\n'.repeat(1_000_000),
  }),
};

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const live = () => timeOf(async () => (await fetch(`${origin}/healthz/live`)).text());

/** Until the upload of another owner is stored. */
async function upload(): Promise<void> {
  const sent = await fetch(`${origin}/v1/ci/modest/repositories/shop/junit?branch=main&run_id=${Math.random()}`, {
    method: 'POST',
    headers: { ...KEY, ...XML_TYPE },
    body: '<testsuite><testcase name="a"/></testsuite>',
  });
  const { url } = (await sent.json()) as { url: string };
  const until = performance.now() + UPLOAD_MS_MAX;
  while (performance.now() < until) {
    const receipt = (await (await fetch(url, { headers: KEY })).json()) as { status: string };
    if (receipt.status === 'stored') return;
    await Bun.sleep(20);
  }
}

for (const [name, make] of Object.entries(ATTACKS)) {
  const attacks = Array.from({ length: AT_ONCE }, make);
  let isOver = false;
  const statuses = new Map<string, number>();
  const sent = Promise.all(
    attacks.map(async ({ path, headers, body }) => {
      const status = await fetch(`${origin}${path}`, { method: 'POST', headers, body }).then(
        async (response) => {
          await response.text();
          return String(response.status);
        },
        () => 'closed',
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
  );
  const others = Promise.all([sent, upload().then(() => performance.now())]);
  let slowest = 0;
  const startedAt = performance.now();
  void others.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    slowest = Math.max(slowest, await live());
    await Bun.sleep(10);
  }
  const [, storedAt] = await others;
  const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  console.log(
    `${name}: ${answers}; liveness ${slowest.toFixed(0)} ms, another upload ${(storedAt - startedAt).toFixed(0)} ms`,
  );
  await Bun.sleep(REST_MS);
}
