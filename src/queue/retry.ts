/** Puts jobs that ran out of tries back: a store was away for longer than about a day, and nothing is wrong with them. */
import type { QueueBackend } from './backend.ts';
import { prEvents, testRuns } from './catalogue.ts';

/** Returns how many there were, in all queues. */
export async function retryFailedJobs(backend: QueueBackend): Promise<number> {
  let jobs = 0;
  for (const { name } of [testRuns, prEvents]) {
    const queue = backend.queue(name);
    try {
      jobs += await queue.getFailedCount();
      await queue.retryJobs({ state: 'failed' });
    } finally {
      await queue.close();
    }
  }
  return jobs;
}
