/** Jobs that ran out of attempts, on both backends. */
import { expect, test } from 'bun:test';
import type { QueueBackend } from '../../src/queue/backend.ts';
import { openRedisQueues } from '../../src/queue/backend.ts';
import { retryFailedJobs } from '../../src/queue/retry.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { openTestStores } from '../support/stores.ts';

async function failsAndIsRetried(backend: QueueBackend): Promise<void> {
  const queue = backend.queue(testRuns.name);
  const seen: unknown[] = [];
  let isStoreAway = true;
  const worker = backend.worker(
    testRuns.name,
    async (job) => {
      if (isStoreAway) throw new Error('away');
      seen.push(job.data);
    },
    { concurrency: 1, isOrdered: false },
  );
  try {
    const failed = new Promise((resolve) => worker.once('failed', resolve));
    await queue.add(testRuns.name, { is: 'kept' }, { jobId: 'out-of-tries', attempts: 1, removeOnComplete: true });
    await failed;
    expect(await queue.getFailedCount()).toBe(1);
    isStoreAway = false;
    const done = new Promise((resolve) => worker.once('completed', resolve));
    expect(await retryFailedJobs(backend)).toBe(1);
    await done;
    expect(seen).toEqual([{ is: 'kept' }]);
    expect(await retryFailedJobs(backend)).toBe(0);
  } finally {
    await worker.close();
    await queue.close();
  }
}

test('on PostgreSQL a job that ran out of attempts is kept, and is done once it is back in the queue', async () => {
  await failsAndIsRetried((await openTestStores()).queues);
});

test.skipIf(!hasRedis)(
  'on Redis a job that ran out of attempts is kept, and is done once it is back in the queue',
  async () => {
    const redis = await startRedis();
    const backend = await openRedisQueues(redis.url, () => {});
    try {
      await failsAndIsRetried(backend);
    } finally {
      await backend.close();
      await redis.stop();
    }
  },
);
