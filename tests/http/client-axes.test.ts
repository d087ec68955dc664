/** The axes and places that push, gate and the reporters send, up to what ClickHouse stores. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ReporterOptions, ReporterSession } from '../../src/client/reporter/session.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { unpack } from '../../src/queue/encoding.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { makeFolder } from '../support/folder.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const CLI = resolve(import.meta.dir, '../../src/cli.ts');
const XML = '<testsuite><testcase name="a"/></testsuite>';
const folder = makeFolder('client-axes');
let app: TestApp;
let stores: TestStores;
let driver: IngestDriver;
let queued: TestRunsJob[];
let repository: ReturnType<typeof uniqueRepository>;

beforeAll(async () => {
  stores = await openTestStores();
  driver = new IngestDriver(stores);
  app = await openTestApp({
    features: [
      (elysia, http) =>
        mountIngest(elysia, http, {
          clock: http.clock,
          log: stores.log,
          limits: { sentBytesMax: 100_000, unpackedBytesMax: 1_000_000 },
          executionsMax: 1_000,
          enqueue: async (jobs) => {
            queued.push(...jobs.map(({ data }) => unpack(data).payload as TestRunsJob));
          },
          receipt: async () => null,
        }),
    ],
  });
  app.app.listen({ hostname: '127.0.0.1', port: 0 });
});
beforeEach(() => {
  queued = [];
  repository = uniqueRepository();
});
afterAll(async () => {
  await app.app.stop(true);
  await driver.stop();
  rmSync(folder, { recursive: true, force: true });
});

const job = () => ({
  CI_INSIGHTS_URL: `http://127.0.0.1:${app.app.server?.port}`,
  CI_INSIGHTS_TOKEN: app.adminToken,
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: `${repository.owner}/${repository.name}`,
  GITHUB_WORKFLOW: 'CI',
  GITHUB_JOB: 'unit',
  GITHUB_RUN_ID: '1',
  GITHUB_SHA: 'abc',
  GITHUB_REF: 'refs/heads/main',
  RUNNER_OS: 'Windows',
  RUNNER_ARCH: 'X64',
  RUNNER_NAME: 'GitHub Actions 12',
  CI_INSIGHTS_AXES: '{"python":"3.13","shard":2}',
});

async function client(...args: string[]): Promise<string> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...job() };
  const child = Bun.spawn([process.execPath, CLI, ...args], { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return out + err;
}

/** `axes place` of what is stored when all that was sent has been taken. */
async function stored(): Promise<string[]> {
  await driver.ingest(...queued);
  const found = await stores.repositories.find(repository.owner, repository.name);
  const rows = (await stores.clickhouse.rows(
    'SELECT axes, place FROM ci.executions WHERE repository_id = {id: UUID} ORDER BY axes',
    { id: found?.id ?? '' },
  )) as { axes: string; place: string }[];
  return rows.map(({ axes, place }) => `${axes} ${place}`);
}

const PLACE = '{"runner":"GitHub Actions 12","shard":"2"}';

test('push sends the leg that the CI and its flags name, and prints it', async () => {
  writeFileSync(join(folder, 'a.xml'), XML);
  const printed = await client(
    'push',
    'junit',
    'a.xml',
    '--no-wait',
    '--axis',
    'os=windows server',
    '--place',
    'region=eu',
  );
  expect(printed).toContain('Leg: os="windows server" python=3.13 arch=x64.');
  expect(await stored()).toEqual([
    '{"arch":"x64","os":"windows server","python":"3.13"} {"region":"eu","runner":"GitHub Actions 12","shard":"2"}',
  ]);
});

test('two legs of one attempt that send the same report are two', async () => {
  writeFileSync(join(folder, 'a.xml'), XML);
  await client('push', 'junit', 'a.xml', '--no-wait', '--axis', 'os=linux');
  await client('push', 'junit', 'a.xml', '--no-wait');
  expect(await stored()).toEqual([
    `{"arch":"x64","os":"linux","python":"3.13"} ${PLACE}`,
    `{"arch":"x64","os":"windows","python":"3.13"} ${PLACE}`,
  ]);
});

test('gate sends the leg of the job', async () => {
  writeFileSync(join(folder, 'written.xml'), XML);
  await client('gate', 'junit', 'b.xml', '--axis', 'python=3.14', '--', 'cp', 'written.xml', 'b.xml');
  expect(await stored()).toEqual([`{"arch":"x64","os":"windows","python":"3.14"} ${PLACE}`]);
});

/** Sends a report as the plugin of a runner does, and returns the lines that it prints. */
async function report(options: ReporterOptions, text = XML): Promise<string[]> {
  const before = { ...process.env };
  Object.assign(process.env, job());
  try {
    const session = new ReporterSession('vitest', junit, options);
    session.add('a.test.ts', text, []);
    return await session.end();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

test('a reporter sends the leg of the job', async () => {
  await report({ axes: { browser: 'webkit' } });
  expect(await stored()).toEqual([`{"arch":"x64","browser":"webkit","os":"windows","python":"3.13"} ${PLACE}`]);
});

describe('a reporter', () => {
  const failing = (...paths: string[]) =>
    `<testsuite><testcase name="a"><failure/><system-out>${paths.map((path) => `[[ATTACHMENT|${path}]]`).join('')}</system-out></testcase></testsuite>`;
  const linksSent = () =>
    queued.flatMap(({ failures }) => failures.attachments?.flat().flatMap((link) => link?.url ?? []) ?? []);

  test('links attachments below its option, from the working directory or its other option', async () => {
    await report({ attachmentsUrl: 'https://files.example/7' }, failing('a.png', resolve('shots/b.png'), '/tmp/c.png'));
    expect(linksSent()).toEqual(['https://files.example/7/a.png', 'https://files.example/7/shots/b.png']);
    queued = [];
    const place = { attachmentsUrl: 'https://files.example/7/', attachmentsRoot: '/tmp/out' };
    await report(place, failing('/tmp/out/c.png', resolve('shots/b.png'), '../d.png'));
    expect(linksSent()).toEqual(['https://files.example/7/c.png']);
  });
  test('links none without the option, and says of a wrong one what it must be', async () => {
    await report({}, failing('a.png', 'https://other.example/b.png'));
    expect(linksSent()).toEqual(['https://other.example/b.png']);
    queued = [];
    for (const wrong of [
      'http://files.example/',
      'https://me:secret@files.example/',
      'https://files.example/?sig=1',
      7,
    ])
      expect(await report({ attachmentsUrl: wrong as string }, failing('a.png'))).toEqual([
        'ci-insights: nothing is sent. attachmentsUrl must be an https:// URL without a password or a query in it.',
      ]);
    expect(queued).toEqual([]);
  });
});
