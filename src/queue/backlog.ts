/** How much waits in a queue, and for how long: for metrics and `ci-insights doctor`. */
import type { Queue } from 'bullmq';

export interface QueueBacklog {
  /** Jobs by state: waiting, active, delayed (to be tried again) and failed (out of attempts). */
  jobs: Readonly<Record<string, number>>;
  /** Age of the job at the head of the line, in seconds; 0 when nothing waits. */
  lagSeconds: number;
}

/** Jobs that are not done yet, and will be tried. */
export const waitingIn = ({ jobs }: QueueBacklog): number =>
  (jobs.waiting ?? 0) + (jobs.active ?? 0) + (jobs.delayed ?? 0);

/** @param now Milliseconds since the epoch, by the clock of the process that queued the jobs. */
export async function readQueueBacklog(queue: Queue, now: number): Promise<QueueBacklog> {
  const [jobs, waiting, delayed] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    // Jobs that will be tried again are delayed: while a store is away, all of them. Ascending: the oldest comes first.
    queue.getJobs(['waiting'], 0, 0, true),
    queue.getJobs(['delayed'], 0, 0, true),
  ]);
  const queuedAt = [...waiting, ...delayed].flatMap((job) => (job ? [job.timestamp] : []));
  const lagSeconds = queuedAt.length === 0 ? 0 : Math.max(now - Math.min(...queuedAt), 0) / 1_000;
  return { jobs, lagSeconds };
}
