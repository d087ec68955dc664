/** Host tokens in a service started as a process, with its configuration. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { FakeHost } from '../support/fake-host.ts';
import { makeFolder } from '../support/folder.ts';
import { READER, WRITER } from '../support/host-app.ts';
import { ServiceProcess } from '../support/service-process.ts';

const SEARCH = '/v1/ci/acme/repositories/shop/search/tests?test_name=*';
const host = new FakeHost('/api/v3');
let dataDir: string;

beforeAll(async () => {
  dataDir = makeFolder('host');
  await host.start();
  host.addUser('rita', READER);
  host.addRepository('acme/shop');
  host.allow('rita', 'acme/shop', { pull: true, push: false });
});
afterAll(async () => {
  await host.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts the service, calls `ask`, stops it; returns what `ask` returns and everything the service wrote. */
async function served<T>(environment: Record<string, string>, ask: (origin: string) => Promise<T>) {
  const service = ServiceProcess.onFolder(dataDir, { LOG_LEVEL: 'debug', ...environment });
  await service.start();
  const result = await ask(service.origin).finally(() => service.stop());
  return { result, written: service.written };
}

const HOSTED = () => ({ HOSTS: `github=github:${new URL(host.url).origin}` });

const statusOf = async (origin: string, token: string): Promise<number> =>
  (await fetch(`${origin}${SEARCH}`, { headers: { authorization: `Bearer ${token}` } })).status;

test('host tokens work where HOST_AUTH names the host, and elsewhere nothing is sent to it', async () => {
  const statuses = async (origin: string) => [await statusOf(origin, READER), await statusOf(origin, WRITER)];
  const on = await served({ ...HOSTED(), HOST_AUTH: 'github', RATE_LIMIT_PER_MINUTE: '2' }, async (origin) => [
    ...(await statuses(origin)),
    await statusOf(origin, READER),
    await statusOf(origin, READER),
  ]);
  // The last one is beyond the limit of requests, which holds for host tokens, too.
  expect(on.result).toEqual([200, 403, 200, 429]);
  expect(host.requests.map(({ path }) => path)).toEqual(['/api/v3/user', '/api/v3/repos/acme/shop', '/api/v3/user']);
  expect(on.written).toContain('"status":403');
  expect(on.written).not.toContain(READER);

  host.forgetRequests();
  const off = await served(HOSTED(), statuses);
  expect(off.result).toEqual([403, 403]);
  expect(host.requests).toEqual([]);
});
