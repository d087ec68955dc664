/** Producers that put jobs straight into the queue: BullMQ's Python client and this package's export, as docs/producers.md shows. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid7 } from 'uuid';
import { makeFolder } from '../support/folder.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { pythonEnvironment } from './support/python.ts';
import { recipe } from './support/recipes.ts';
import { machine, run } from './support/run.ts';
import { ClientService, freshRepository, ROOT } from './support/service.ts';

interface Found {
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}
interface Log {
  size: number;
  events: { type: string; trigger: string; metadata: { reason?: string } }[];
}
interface Payload {
  upload_id?: string;
  repository: { name: string };
}

const python = hasRedis ? await pythonEnvironment('newest') : undefined;
let redis: TestRedis;
let service: ClientService;
let folder: string;
beforeAll(async () => {
  if (!hasRedis) return;
  folder = makeFolder('producers');
  redis = await startRedis();
  service = await ClientService.start({ REDIS_URL: redis.url });
});
afterAll(async () => {
  await service?.stop();
  await redis?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** The payloads of the page, for the repository of a test. */
function payloads(repository: string): string {
  const [runs, events] = JSON.parse(recipe('### Python', 'json')) as [Payload, Payload];
  for (const payload of [runs, events]) payload.repository.name = repository;
  runs.upload_id = uuid7();
  return JSON.stringify([runs, events]);
}

async function expectStored(repository: string): Promise<void> {
  const base = `/v1/ci/acme/repositories/${repository}`;
  const { tests } = await service.until<Found>(`${base}/search/tests?test_name=*`, (found) => found.tests.length === 2);
  expect(tests).toMatchObject([
    { test_name: 'load > checkout', pipeline_name: 'nightly', job_name: 'load' },
    { test_name: 'load > search' },
  ]);
  // A test appears a moment before its failures: one insert fills the tables one after another.
  const { failures } = await service.until<{ failures: object[] }>(
    `${base}/tests/${tests[1]?.test_id}/failures`,
    (found) => found.failures.length > 0,
  );
  expect(failures).toMatchObject([
    { exception_type: 'TimeoutError', exception_message: 'no answer in 3 s', failure_count: 1 },
  ]);
  const { events } = await service.until<Log>(`/v1/repos/acme/${repository}/logs`, ({ size }) => size > 0);
  expect(events).toMatchObject([
    { type: 'queue.pause.create', trigger: '@octocat', metadata: { reason: 'release 42' } },
  ]);
}

describe.skipIf(!hasRedis)('a producer of jobs', () => {
  test.skipIf(!python)('in Python: its executions and events can be read; resent, they count nothing', async () => {
    const repository = freshRepository('python');
    const program = join(folder, 'producer.py');
    writeFileSync(program, recipe('### Python', 'python'));
    const command = [join(python?.bin ?? '', 'python'), program, redis.url];
    const input = payloads(repository);
    expect(await run(command, { env: machine(), input })).toMatchObject({ code: 0, printed: '' });
    await expectStored(repository);

    expect((await run(command, { env: machine(), input })).code).toBe(0);
    const other = freshRepository('python');
    // The queue is processed in order: once the later jobs are stored, the repeated ones are done.
    expect((await run(command, { env: machine(), input: payloads(other) })).code).toBe(0);
    await expectStored(other);
    await expectStored(repository);
  });

  test('in TypeScript, through the export of the package', async () => {
    const repository = freshRepository('typescript');
    // Inside the repository, whose workspaces have the name; tests/nightly/reporters.test.ts installs the package.
    const program = join(ROOT, 'tests/clients', `producer-${uuid7()}.tmp.ts`);
    writeFileSync(program, recipe('### TypeScript', 'ts'));
    try {
      const command = [process.execPath, program, redis.url];
      expect(await run(command, { env: machine(), input: payloads(repository) })).toMatchObject({
        code: 0,
        printed: '',
      });
    } finally {
      rmSync(program);
    }
    await expectStored(repository);
  });
});
