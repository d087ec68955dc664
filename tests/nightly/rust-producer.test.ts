/** BullMQ's Rust client, as docs/producers.md uses it: a program in another language puts jobs straight into the queue. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { expectStored, payloads } from '../clients/support/producers.ts';
import { machine, run } from '../clients/support/run.ts';
import { rustProducer } from '../clients/support/rust.ts';
import { ClientService, freshRepository } from '../clients/support/service.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';

const program = hasRedis ? await rustProducer() : undefined;
let redis: TestRedis;
let service: ClientService;
beforeAll(async () => {
  if (program === undefined) return;
  redis = await startRedis();
  service = await ClientService.start({ REDIS_URL: redis.url });
});
afterAll(async () => {
  await service?.stop();
  await redis?.stop();
});

test.skipIf(program === undefined)(
  'a producer in Rust: its executions and events can be read; resent, they count nothing',
  async () => {
    const repository = freshRepository('rust');
    const command = [program ?? '', redis.url];
    const input = payloads(repository);
    expect(await run(command, { env: machine(), input })).toMatchObject({ code: 0, printed: '' });
    await expectStored(service, repository);

    expect((await run(command, { env: machine(), input })).code).toBe(0);
    const other = freshRepository('rust');
    // The queue is processed in order: once the later jobs are stored, the repeated ones are done.
    expect((await run(command, { env: machine(), input: payloads(other) })).code).toBe(0);
    await expectStored(service, other);
    await expectStored(service, repository);
  },
);

test.skipIf(program === undefined)('a producer in Rust that has no queue says why', async () => {
  const ran = await run([program ?? ''], { env: machine(), input: payloads('none') });
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('usage: producer <redis-url>')]);
});
