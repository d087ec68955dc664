/**
 * The TypeScript producer: what puts `test-runs` jobs into the queue. Exported by the package as `ci-insights/producer`.
 *
 * @example
 * const backend = await openRedisQueues('redis://127.0.0.1:6379', console.error);
 * const producer = new TestRunsProducer(backend);
 * await producer.add([job]);
 */
import type { JobState, Queue } from 'bullmq';
import { StoreUnavailable } from '../errors.ts';
import type { QueueBackend } from './backend.ts';
import { testRuns } from './catalogue.ts';
import { compress, unpack } from './encoding.ts';
import { type TestRunsJob, testRunsSchema } from './test-runs.ts';
import { enqueued, traceOptions } from './trace.ts';

export { openPostgresQueues, openRedisQueues, type QueueBackend } from './backend.ts';
export { JOB_EVENTS_MAX, type PrEventsJob, prEventsSchema } from './pr-events.ts';
export { PrEventsProducer } from './pr-events-producer.ts';
export { CHUNK_EXECUTIONS_MAX, type TestRunsJob, testRunsSchema } from './test-runs.ts';

/** The job of one chunk; adding it twice while it is queued is one job. A job id has no colon and is not all digits. */
export const jobIdOf = (uploadId: string, chunkIndex: number): string => `${uploadId}-${chunkIndex}`;

export interface QueuedChunk {
  state: JobState | 'unknown';
  job: TestRunsJob;
}

export class TestRunsProducer {
  readonly #queue: Queue;

  constructor(backend: QueueBackend) {
    this.#queue = backend.queue(testRuns.name);
  }

  /** Returns when the queue holds every job. Throws {@link StoreUnavailable} when it cannot. */
  async add(jobs: readonly TestRunsJob[]): Promise<void> {
    await enqueued(testRuns.name, () => this.#addBulk(jobs));
  }

  async #addBulk(jobs: readonly TestRunsJob[]): Promise<void> {
    const bulk = jobs.map((job) => ({
      name: testRuns.name,
      data: compress(job),
      opts: {
        ...traceOptions(),
        jobId: jobIdOf(job.upload_id, job.chunk.index),
        attempts: testRuns.attempts,
        backoff: { type: 'custom' },
        removeOnComplete: true,
        // A job that ran out of tries stays in the queue's failed set: nothing is dropped.
        removeOnFail: false,
      },
    }));
    await this.#reach(() => this.#queue.addBulk(bulk));
  }

  /** Puts the data of a dead letter back as it was. */
  async addAgain(jobId: string, data: unknown): Promise<void> {
    const opts = { jobId, attempts: testRuns.attempts, backoff: { type: 'custom' }, removeOnComplete: true };
    await this.#reach(() => this.#queue.add(testRuns.name, data, opts));
  }

  /** A chunk that is still in the queue, or undefined. */
  async find(uploadId: string, chunkIndex: number): Promise<QueuedChunk | undefined> {
    const job = await this.#reach(() => this.#queue.getJob(jobIdOf(uploadId, chunkIndex)));
    if (!job) return undefined;
    const parsed = testRunsSchema.safeParse(unpack(job.data).payload);
    return parsed.success ? { state: await this.#reach(() => job.getState()), job: parsed.data } : undefined;
  }

  /** Jobs that are waiting, delayed or being worked on. */
  async depth(): Promise<number> {
    const counts = await this.#reach(() => this.#queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized'));
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  async #reach<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (cause) {
      throw new StoreUnavailable('queue', cause);
    }
  }
}
