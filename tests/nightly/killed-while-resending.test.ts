/** `resend` that is killed, after everything was lost: once another has run to its end, each execution counts once. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/patience.ts';
import { CLI, runCommand, ServiceProcess } from '../support/service-process.ts';
import { storedReceipt } from '../support/stored-receipt.ts';

const KILLS = 5;
const UPLOADS = 200;
const TESTS = 150;
const REPOSITORIES = ['shop', 'cart', 'search'];

const folder = makeFolder('killed-while-resending');
const kept = { UPLOADS_KEPT_DAYS: '7', UPLOADS_KEPT_IN: join(folder, 'kept') };
const dataDir = join(folder, 'data');
const emptyDir = join(folder, 'empty');
mkdirSync(dataDir);
const service = ServiceProcess.onFolder(dataDir, kept);
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const reportOf = (upload: number): string => {
  const cases = Array.from({ length: TESTS }, (_, i) => {
    const failure = (upload + i) % 23 === 0 ? '<failure message="expected 1 to be 2"/>' : '';
    return `<testcase classname="src/a.test.ts" name="does ${i}" time="0.1">${failure}</testcase>`;
  });
  return `<testsuite name="unit">${cases.join('')}</testsuite>`;
};

/** Returns when it is stored. */
async function upload(nth: number): Promise<void> {
  const repository = REPOSITORIES[nth % REPOSITORIES.length];
  const commit = nth.toString(16).padStart(40, '0');
  const run = `pipeline_name=CI&job_name=unit&run_id=${nth}&branch=main&commit=${commit}`;
  const response = await service.request(`/v1/ci/acme/repositories/${repository}/junit?${run}`, {
    method: 'POST',
    headers: { 'content-type': 'application/xml' },
    body: reportOf(nth),
  });
  expect(response.status).toBe(202);
  const { url } = (await response.json()) as { url: string };
  await storedReceipt(() => service.request(url));
}

/** Reads the tests of each repository. */
async function read(): Promise<unknown[]> {
  const paths = REPOSITORIES.map((name) => `/v1/ci/acme/repositories/${name}/tests?per_page=100`);
  return Promise.all(paths.map(async (path) => (await service.request(path)).json()));
}

const command = (...args: string[]) => {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: dataDir, ...kept };
  return Bun.spawn([process.execPath, CLI, ...args], { env, stdout: 'pipe', stderr: 'pipe' });
};

async function finished(child: ReturnType<typeof command>): Promise<{ code: number; out: string }> {
  const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return { code, out };
}

test('however far resend came before it was killed, the next one brings back the rest, once', async () => {
  await service.start();
  await service.stop();
  // With its owners: PostgreSQL runs as another user.
  expect(Bun.spawnSync(['cp', '-a', dataDir, emptyDir]).exitCode).toBe(0);
  await service.start();
  for (let nth = 0; nth < UPLOADS; nth += 8) await Promise.all(Array.from({ length: 8 }, (_, i) => upload(nth + i)));
  const before = await read();
  await service.stop();
  // Restored from before the first upload.
  const restore = (): void => {
    rmSync(dataDir, { recursive: true });
    expect(Bun.spawnSync(['cp', '-a', emptyDir, dataDir]).exitCode).toBe(0);
  };
  restore();
  const startedAt = performance.now();
  expect(await command('resend').exited).toBe(0);
  const takesMs = performance.now() - startedAt;

  for (let kill = 0; kill < KILLS; kill++) {
    restore();
    const killed = command('resend');
    // At any point of its way.
    await Promise.race([killed.exited, Bun.sleep(takesMs * Math.random())]);
    killed.kill('SIGKILL');
    await killed.exited;
    const { code, out } = await finished(command('resend', '--json'));
    expect(code).toBe(0);
    const resent = JSON.parse(out) as { stored: number };
    expect(resent).toMatchObject({ chunks: UPLOADS, sent: UPLOADS * TESTS, requeued: 0, unreadable: 0 });
    console.error(`killed when ${UPLOADS * TESTS - resent.stored} of ${UPLOADS * TESTS} executions were on their way`);
    // What the killed one left half done is finished by a worker.
    await service.start();
    await until(read, (found) => Bun.deepEquals(found, before), 200);
    await service.stop();
    expect(runCommand(dataDir, 'verify').out).toContain(
      `All derived tables agree with ${(UPLOADS * TESTS).toLocaleString('en-US')} executions.`,
    );
  }
}, 1_800_000);
