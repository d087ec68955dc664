/** How a queue stands: how many jobs in which state, and how long the one at the head of the line has waited. */
import type { Queue } from 'bullmq';
import type { QueueReading } from '../observability/sampled.ts';

/** @param now Milliseconds since the epoch, by the clock of whoever queued the jobs. */
export async function readQueue(queue: Queue, now: number): Promise<QueueReading> {
  const [depth, waiting, delayed] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    // Those that are tried again are delayed: while a store is away, all of them. Ascending: the oldest is the first.
    queue.getJobs(['waiting'], 0, 0, true),
    queue.getJobs(['delayed'], 0, 0, true),
  ]);
  const queuedAt = [...waiting, ...delayed].flatMap((job) => (job ? [job.timestamp] : []));
  const lagSeconds = queuedAt.length === 0 ? 0 : Math.max(now - Math.min(...queuedAt), 0) / 1_000;
  return { depth, lagSeconds };
}
