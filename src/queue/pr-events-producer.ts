/**
 * What puts `pr-events` jobs into the queue. Exported by the package with the other producer as `ci-insights/producer`.
 *
 * @example
 * const producer = new PrEventsProducer(await openRedisQueues('redis://127.0.0.1:6379', console.error));
 * await producer.add('deploy-42', {
 *   v: 1,
 *   repository: { host: 'github.com', owner: 'acme', name: 'shop' },
 *   events: [{ key: 'deploy-42', type: 'queue.pause.create', trigger: '@octocat', metadata: { reason: 'release' } }],
 * });
 */
import { createHash } from 'node:crypto';
import type { Queue } from 'bullmq';
import type { z } from 'zod';
import { StoreUnavailable } from '../errors.ts';
import type { QueueBackend } from './backend.ts';
import { prEvents } from './catalogue.ts';
import { compress } from './encoding.ts';
import type { prEventsSchema } from './pr-events.ts';
import { enqueued, traceOptions } from './trace.ts';

/**
 * A host deletes the branch in the second in which it merges the pull request, and tells of both in no order: the deletion is looked at
 * a little later, when the merge is known.
 */
const DELETED_BRANCH_DELAY_MS = 2_000;

export class PrEventsProducer {
  readonly #queue: Queue;

  constructor(backend: QueueBackend) {
    this.#queue = backend.queue(prEvents.name);
  }

  /**
   * Returns when the queue holds the job. Throws {@link StoreUnavailable} when it cannot.
   *
   * @param id names the job at its source: added twice while it is queued, it is one job
   */
  async add(id: string, job: z.input<typeof prEventsSchema>): Promise<void> {
    const delay = job.deleted_branches?.length ? DELETED_BRANCH_DELAY_MS : 0;
    await enqueued(prEvents.name, () => this.#queueJob(jobIdOf(id), compress(job), delay));
  }

  /** Puts the data of a dead letter back as it was. */
  async addAgain(jobId: string, data: unknown): Promise<void> {
    await this.#queueJob(jobId, data, 0);
  }

  async #queueJob(jobId: string, data: unknown, delay: number): Promise<void> {
    const opts = {
      ...traceOptions(),
      delay,
      jobId,
      attempts: prEvents.attempts,
      backoff: { type: 'custom' },
      removeOnComplete: true,
      removeOnFail: false,
    };
    try {
      await this.#queue.add(prEvents.name, data, opts);
    } catch (cause) {
      throw new StoreUnavailable('queue', cause);
    }
  }

  /** Jobs that are waiting, delayed or being worked on. */
  async depth(): Promise<number> {
    const counts = await this.#queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}

/** A job id has no colon and is not all digits, whatever the source's ids are like. */
const jobIdOf = (id: string): string => `events-${createHash('sha256').update(id).digest('base64url')}`;
