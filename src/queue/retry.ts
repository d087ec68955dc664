/** Requeues jobs that ran out of attempts: a store was away for longer than about a day, and nothing is wrong with them. */
import type { QueueBackend } from './backend.ts';
import { jobKinds } from './kinds.ts';

/** Returns how many there were, in all queues. */
export async function retryFailedJobs(backend: QueueBackend): Promise<number> {
  let jobs = 0;
  for (const { name } of jobKinds) {
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
