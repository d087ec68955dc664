/** Puts the jobs of one kind into their queue. */
import type { JobState, JobsOptions, Queue } from 'bullmq';
import pTimeout from 'p-timeout';
import type { z } from 'zod';
import { StoreUnavailable } from '../errors.ts';
import type { QueueBackend } from './backend.ts';
import { compress, unpack } from './encoding.ts';
import type { JobKind } from './job-kind.ts';
import { jobKinds } from './kinds.ts';
import { type PackedJob, packJob } from './packed-job.ts';
import { enqueued, traceOptions } from './trace.ts';

/**
 * How long the queue may take to answer. Its server may be frozen, and clients of uploads wait for 10 s or less. A job
 * that it takes nevertheless, later, is stored once, however often its upload is sent.
 */
const ANSWER_MS_MAX = 5_000;

export interface QueuedJob<S extends z.ZodType> {
  state: JobState | 'unknown';
  payload: z.output<S>;
}

/** Every method throws {@link StoreUnavailable} when the queue cannot be reached. */
export class Producer<S extends z.ZodType = z.ZodType> {
  readonly #queue: Queue;

  constructor(
    backend: QueueBackend,
    readonly kind: JobKind<S>,
  ) {
    this.#queue = backend.queue(kind.name);
  }

  /** Returns once the queue holds the job. Added twice under one id while it is queued, it is one job. */
  async add(payload: z.input<S>, id = this.kind.id(payload)): Promise<void> {
    const delay = this.kind.delayMs?.(payload) ?? 0;
    await this.#enqueue(() => this.#queue.add(this.kind.name, compress(payload), this.#options(id, delay)));
  }

  /** Returns once the queue holds every job: one round trip for all. */
  addMany(payloads: readonly z.input<S>[]): Promise<void> {
    return this.addPacked(payloads.map((payload) => packJob(this.kind, payload)));
  }

  /** Like {@link addMany}, for jobs that were packed elsewhere. Their kind must be one without a delay. */
  async addPacked(jobs: readonly PackedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.#enqueue<unknown>(() => {
      const { name } = this.kind;
      const added = jobs.map(({ id, data }) => ({ name, data, opts: this.#options(id, 0) }));
      const [first] = added;
      // In PostgreSQL, adding in bulk makes temporary tables, which costs as much as adding ten jobs one by one.
      return first && added.length === 1 ? this.#queue.add(name, first.data, first.opts) : this.#queue.addBulk(added);
    });
  }

  /** Puts the data of a dead letter back as it was. */
  async addAgain(id: string, data: unknown): Promise<void> {
    await this.#enqueue(() => this.#queue.add(this.kind.name, data, this.#options(id, 0)));
  }

  /** A job that is still in the queue, or undefined. */
  async find(id: string): Promise<QueuedJob<S> | undefined> {
    const job = await this.#reach(() => this.#queue.getJob(id));
    if (!job) return undefined;
    const parsed = this.kind.schema.safeParse(unpack(job.data).payload);
    if (!parsed.success) return undefined;
    return { state: await this.#reach(() => job.getState()), payload: parsed.data };
  }

  /** Whether the queue has this job; its payload is not read. */
  async has(id: string): Promise<boolean> {
    return (await this.#reach(() => this.#queue.getJobState(id))) !== 'unknown';
  }

  /** Jobs that are waiting, delayed or being worked on. */
  async depth(): Promise<number> {
    const counts = await this.#reach(() => this.#queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized'));
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  #options(jobId: string, delay: number): JobsOptions {
    return {
      ...traceOptions(),
      jobId,
      delay,
      attempts: this.kind.attempts,
      backoff: { type: 'custom' },
      removeOnComplete: true,
      // A job that ran out of attempts stays in the queue's failed set: nothing is dropped.
      removeOnFail: false,
    };
  }

  #enqueue<T>(run: () => Promise<T>): Promise<T> {
    return enqueued(this.kind.name, () => this.#reach(run));
  }

  async #reach<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await pTimeout(run(), {
        milliseconds: ANSWER_MS_MAX,
        message: `the queue did not answer within ${ANSWER_MS_MAX} ms`,
      });
    } catch (cause) {
      throw new StoreUnavailable('queue', cause);
    }
  }
}

/** A producer of each job kind. */
export class Producers {
  readonly #all: readonly Producer[];

  constructor(backend: QueueBackend) {
    this.#all = jobKinds.map((kind) => new Producer<z.ZodType>(backend, kind));
  }

  of<S extends z.ZodType>(kind: JobKind<S>): Producer<S> {
    const found = this.#all.find((producer): producer is Producer<S> => producer.kind === kind);
    if (!found) throw new Error(`${kind.name} is not in the list of job kinds`);
    return found;
  }

  /** Undefined for a queue that this version does not know. */
  ofQueue(name: string): Producer | undefined {
    return this.#all.find(({ kind }) => kind.name === name);
  }

  async close(): Promise<void> {
    for (const producer of this.#all) await producer.close();
  }
}
