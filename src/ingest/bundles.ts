/**
 * Joins the chunks of small uploads that arrive at the same moment into one queue job. No upload waits for those that may
 * come: a bundle is sent as soon as every upload in it is parsed, so one that is alone is sent at once, as a separate job.
 */
import { v7 as uuid7 } from 'uuid';
import { carrier } from '../observability/tracing.ts';
import type { PackedJob, PlainJob } from '../queue/packed-job.ts';
import {
  BUNDLE_UPLOADS_MAX,
  type BundledChunk,
  bundleJobIds,
  bundleOf,
  packBundle,
  uploadIdOf,
} from '../queue/upload-bundles.ts';

/**
 * A parsed upload waits for others to be parsed at most as long as it has taken so far, but so long in any case: on a busy
 * machine, all of them take long. What is parsed later follows in the next job of the bundle.
 */
const WAIT_MS = 50;
const WAIT_MS_MAX = 1_000;
/** Text of a job that takes no more: it is packed in a millisecond or two. */
const LENGTH_MAX = 512 * 1024;

/** An upload between its arrival and the queue. */
export interface Place {
  uploadId: string;
  /**
   * Returns once the queue holds the chunk with others, or false if it goes alone: the caller then queues it. Throws
   * why the queue did not take it.
   */
  put(job: PlainJob): Promise<boolean>;
  /** It is not put after all. Harmless after {@link put}. */
  leave(): void;
}

interface Waiting extends BundledChunk {
  settle: PromiseWithResolvers<boolean>;
}

interface Bundle {
  id: string;
  /** Ids of the jobs that it may still have. */
  jobIds: string[];
  /** How many uploads were ever in it, and how many of them are being parsed. */
  entered: number;
  parsing: number;
  /** Uploads of the next job. */
  waiting: Waiting[];
  length: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

export class UploadBundles {
  /** Uploads that arrive now go into this one, until its first job is sent. */
  #open: Bundle | undefined;

  constructor(
    /** Returns once the queue holds the job. */
    private readonly enqueue: (job: PackedJob) => Promise<void>,
  ) {}

  /** A place beside those who arrive now. */
  enter(): Place {
    const bundle = this.#openBundle();
    const uploadId = uploadIdOf(bundle.id, bundle.entered++);
    const enteredAt = performance.now();
    bundle.parsing++;
    let isParsing = true;
    const parsed = (): void => {
      if (isParsing) bundle.parsing--;
      isParsing = false;
    };
    return {
      uploadId,
      put: (job) => {
        parsed();
        return this.#put(bundle, job, performance.now() - enteredAt);
      },
      leave: () => {
        parsed();
        this.#sendIfReady(bundle);
      },
    };
  }

  #openBundle(): Bundle {
    if (this.#open?.entered === BUNDLE_UPLOADS_MAX) this.#open = undefined;
    if (!this.#open) {
      const id = bundleOf(uuid7());
      this.#open = { id, jobIds: bundleJobIds(id), entered: 0, parsing: 0, waiting: [], length: 0 };
    }
    return this.#open;
  }

  #put(bundle: Bundle, job: PlainJob, tookMs: number): Promise<boolean> {
    if (bundle.jobIds.length === 0) return Promise.resolve(false);
    const settle = Promise.withResolvers<boolean>();
    bundle.waiting.push({ ...job, trace: carrier(), settle });
    bundle.length += job.json.length;
    bundle.timer ??= setTimeout(() => void this.#send(bundle), Math.min(Math.max(tookMs, WAIT_MS), WAIT_MS_MAX));
    this.#sendIfReady(bundle);
    return settle.promise;
  }

  #sendIfReady(bundle: Bundle): void {
    if (bundle.waiting.length > 0 && (bundle.parsing === 0 || bundle.length >= LENGTH_MAX)) void this.#send(bundle);
  }

  async #send(bundle: Bundle): Promise<void> {
    if (this.#open === bundle) this.#open = undefined;
    clearTimeout(bundle.timer);
    bundle.timer = undefined;
    const waiting = bundle.waiting.splice(0);
    bundle.length = 0;
    const jobId = waiting.length > 1 ? bundle.jobIds.shift() : undefined;
    try {
      if (jobId !== undefined) await this.enqueue(packBundle(jobId, waiting));
      for (const { settle } of waiting) settle.resolve(jobId !== undefined);
    } catch (error) {
      for (const { settle } of waiting) settle.reject(error);
    }
  }
}
