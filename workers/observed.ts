/** What is told of jobs: measurements and a log line of those that failed, and a span that goes on with the upload's trace. */
import type { Job, Worker } from 'bullmq';
import { StoreUnavailable } from '../src/errors.ts';
import type { Logger } from '../src/observability/log.ts';
import { jobSeconds, jobs, storeUnavailable } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';

type Handler = (job: Job) => Promise<void>;

/** The handler in a span. The trace is that of whoever queued the job, if it was traced there. */
export const traced = (queue: string, handle: Handler): Handler => {
  return (job) =>
    inSpan(
      `process ${queue}`,
      {
        kind: 'consumer',
        parent: job.opts.telemetry?.metadata ?? null,
        attributes: {
          'messaging.system': 'bullmq',
          'messaging.destination.name': queue,
          'messaging.message.id': job.id ?? 'unknown',
          'ci_insights.job.attempt': job.attemptsMade + 1,
        },
      },
      () => handle(job),
    );
};

/** Counts what becomes of a worker's jobs. */
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
    if (isLast) log.error({ job: job.id, queue, err: error }, 'a job is out of tries; it stays in the queue as failed');
    else log.warn({ job: job?.id, queue, err: error }, 'a job failed, it is tried again');
  });
}
