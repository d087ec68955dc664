/** A worker whose first connections to Redis are lost, as when Redis fails over while workers start. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, createServer, type Server } from 'node:net';
import { openRedisQueues } from '../../src/queue/backend.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';

const QUEUE = 'jobs';

/** Passes connections on to a port, or cuts them off as soon as they are open. */
class Gate {
  isOpen = true;
  refused = 0;
  readonly #server: Server;

  constructor(target: number) {
    this.#server = createServer((socket) => {
      socket.on('error', () => {});
      if (!this.isOpen) {
        this.refused++;
        socket.destroy();
        return;
      }
      const onward = connect(target, '127.0.0.1');
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
  }

  /** Returns its port. */
  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address();
        if (typeof address === 'object' && address) resolve(address.port);
      });
    });
  }

  close(): void {
    this.#server.close();
  }
}

describe.skipIf(!hasRedis)('a worker that starts while Redis closes its connections', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  test('takes jobs as soon as Redis is back', async () => {
    const gate = new Gate(Number(new URL(redis.url).port));
    const queues = await openRedisQueues(`redis://127.0.0.1:${await gate.listen()}`, () => {});
    const queue = queues.queue(QUEUE);
    gate.isOpen = false;
    const done: unknown[] = [];
    const worker = queues.worker(QUEUE, async (job) => void done.push(job.data), { concurrency: 1, isOrdered: false });
    try {
      await until(() => gate.refused >= 2);
      gate.isOpen = true;
      await queue.add(QUEUE, 1);
      await until(() => done.length > 0);
      // The second comes when the worker waits for jobs.
      await Bun.sleep(200);
      await queue.add(QUEUE, 2);
      await until(() => done.length > 1);
      expect(done).toEqual([1, 2]);
    } finally {
      await worker.close();
      await queue.close();
      await queues.close();
      gate.close();
    }
  });
});
