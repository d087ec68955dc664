/** Metrics and log lines of jobs. */
import type { Worker } from 'bullmq';
import { failingStore } from '../src/clickhouse/failing-store.ts';
import { StoreUnavailable } from '../src/errors.ts';
import type { Logger } from '../src/observability/log.ts';
import { deadLetters, jobSeconds, jobs, storeUnavailable } from '../src/observability/metrics.ts';
import { outagesOf } from '../src/observability/outages.ts';

/** Counts how a worker's jobs end. All counters begin at 0: Prometheus sees no increase in a first sample of 1. */
export function countJobs(worker: Worker, queue: string, log: Logger): void {
  deadLetters.inc({ queue }, 0);
  for (const outcome of ['done', 'retried', 'failed']) jobs.inc({ queue, outcome }, 0);
  const outages = outagesOf(log);
  worker.on('completed', (job) => {
    outages.worked(queue);
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
    const store = failingStore(error);
    if (store !== undefined) outages.failed(store, queue, error);
    else if (!isLast) log.warn({ job: job?.id, queue, err: error }, 'a job failed; will retry');
  });
}
