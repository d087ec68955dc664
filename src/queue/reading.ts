/** How a queue stands: how many jobs in which state, and how long the one at the head of the line has waited. */
import type { Queue } from 'bullmq';

/** One queue, as it stands. */
export interface QueueReading {
  /** Jobs by state: waiting, active, delayed (to be tried again) and failed (out of tries). */
  depth: Readonly<Record<string, number>>;
  /** Age of the job at the head of the line, in seconds; 0 when nothing waits. */
  lagSeconds: number;
}

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
