/** Host tokens of the service as it is started, configuration included. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FakeHost } from '../support/fake-host.ts';
import { READER, WRITER } from '../support/host-app.ts';

const ROOT = resolve(import.meta.dir, '../..');
const SEARCH = '/v1/ci/acme/repositories/shop/search/tests?test_name=*';
const host = new FakeHost('/api/v3');
let dataDir: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-host-'));
  await host.start();
  host.addUser('rita', READER);
  host.addRepository('acme/shop');
  host.allow('rita', 'acme/shop', { pull: true, push: false });
});
afterAll(async () => {
  await host.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts the service, asks it, stops it; returns what `ask` does and what the service wrote. */
async function served<T>(environment: Record<string, string>, ask: (origin: string) => Promise<T>) {
  const { PATH, HOME } = process.env;
  const service = Bun.spawn([process.execPath, 'src/cli.ts', 'serve'], {
    cwd: ROOT,
    env: { PATH, HOME, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'debug', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const logged = new Response(service.stderr).text();
  const reader = service.stdout.getReader();
  let printed = '';
  while (!printed.includes('\n')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the service ended: ${printed}${await logged}`);
    printed += new TextDecoder().decode(value);
  }
  try {
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? '';
    return { result: await ask(origin), written: printed, logged };
  } finally {
    service.kill('SIGTERM');
    await service.exited;
  }
}

const statusOf = async (origin: string, token: string): Promise<number> =>
  (await fetch(`${origin}${SEARCH}`, { headers: { authorization: `Bearer ${token}` } })).status;

test('a service is asked with a host token: on with an address, and silent towards the host without', async () => {
  const statuses = async (origin: string) => [await statusOf(origin, READER), await statusOf(origin, WRITER)];
  const on = await served({ GITHUB_API_URL: host.url }, statuses);
  expect(on.result).toEqual([200, 403]);
  expect(host.requests.map(({ path }) => path)).toEqual(['/api/v3/user', '/api/v3/repos/acme/shop', '/api/v3/user']);
  expect(await on.logged).toContain('"status":403');
  expect(on.written + (await on.logged)).not.toContain(READER);

  host.forgetRequests();
  const off = await served({ GITHUB_API_URL: host.url, GITHUB_AUTH: 'off' }, statuses);
  expect(off.result).toEqual([403, 403]);
  expect(host.requests).toEqual([]);
}, 60_000);
