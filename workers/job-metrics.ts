/** Metrics and log lines of jobs. */
import type { Worker } from 'bullmq';
import { StoreUnavailable } from '../src/errors.ts';
import type { Logger } from '../src/observability/log.ts';
import { jobSeconds, jobs, storeUnavailable } from '../src/observability/metrics.ts';

/** Counts how a worker's jobs end. */
export function countJobs(worker: Worker, queue: string, log: Logger): void {
  for (const outcome of ['done', 'retried', 'failed']) jobs.inc({ queue, outcome }, 0);
  worker.on('completed', (job) => {
    jobs.inc({ queue, outcome: 'done' });
    if (job.processedOn !== undefined && job.finishedOn !== undefined)
      jobSeconds.observe({ queue }, Math.max(job.finishedOn - job.processedOn, 0) / 1_000);
  });
  worker.on('failed', (job, error) => {
    const isLast = job !== undefined && job.attemptsMade >= (job.opts.attempts ?? 1);
    jobs.inc({ queue, outcome: isLast ? 'failed' : 'retried' });
    if (error instanceof StoreUnavailable) storeUnavailable.inc({ store: error.store, needed_by: 'job' });
    if (isLast)
      log.error({ job: job.id, queue, err: error }, 'a job ran out of attempts and stays in the queue as failed');
    else log.warn({ job: job?.id, queue, err: error }, 'a job failed; will retry');
  });
}
