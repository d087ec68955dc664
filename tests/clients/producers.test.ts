/** Producers that put jobs straight into the queue: BullMQ's Python client and this package's export, as docs/producers.md shows. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid7 } from 'uuid';
import { makeFolder } from '../support/folder.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { expectStored, payloads } from './support/producers.ts';
import { pythonEnvironment } from './support/python.ts';
import { recipe } from './support/recipes.ts';
import { machine, run } from './support/run.ts';
import { ClientService, freshRepository, ROOT } from './support/service.ts';

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

describe.skipIf(!hasRedis)('a producer of jobs', () => {
  test.skipIf(!python)('in Python: its executions and events can be read; resent, they count nothing', async () => {
    const repository = freshRepository('python');
    const program = join(folder, 'producer.py');
    writeFileSync(program, recipe('### Python', 'python'));
    const command = [join(python?.bin ?? '', 'python'), program, redis.url];
    const input = payloads(repository);
    expect(await run(command, { env: machine(), input })).toMatchObject({ code: 0, printed: '' });
    await expectStored(service, repository);

    expect((await run(command, { env: machine(), input })).code).toBe(0);
    const other = freshRepository('python');
    // The queue is processed in order: once the later jobs are stored, the repeated ones are done.
    expect((await run(command, { env: machine(), input: payloads(other) })).code).toBe(0);
    await expectStored(service, other);
    await expectStored(service, repository);
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
    await expectStored(service, repository);
  });
});
