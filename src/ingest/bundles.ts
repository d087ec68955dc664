/**
 * Joins the chunks of small uploads that arrive at the same moment into one queue job. No upload waits for those that may
 * come: a bundle is sent as soon as every upload in it is parsed, so one that is alone is sent at once, as a separate job.
 */
import { v7 as uuid7 } from 'uuid';
import { carrier } from '../observability/tracing.ts';
import type { PackedJob, PlainJob } from '../queue/producer.ts';
import { BUNDLE_UPLOADS_MAX, type BundledChunk, bundleOf, packBundle, uploadIdOf } from '../queue/upload-bundles.ts';

/**
 * A parsed upload waits for others to be parsed at most as long as it has taken so far, but so long in any case: on a busy
 * machine, all of them take long.
 */
const WAIT_MS = 50;
const WAIT_MS_MAX = 1_000;
/** So long after its first upload, others begin a new bundle. */
const OPEN_MS = 25;
/** Text of a bundle that takes no more: it is packed in a millisecond or two. */
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
  openedAt: number;
  /** How many uploads were ever in it, and how many of them are being parsed. */
  entered: number;
  parsing: number;
  waiting: Waiting[];
  length: number;
  isSent: boolean;
  timer?: ReturnType<typeof setTimeout>;
}

export class UploadBundles {
  #open: Bundle | undefined;

  constructor(
    /** Returns once the queue holds the job. */
    private readonly enqueue: (job: PackedJob) => Promise<void>,
  ) {}

  /** A place beside those who arrive now. */
  enter(): Place {
    const bundle = this.#openBundle();
    const uploadId = uploadIdOf(bundle.id, bundle.entered++);
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
        return this.#put(bundle, job);
      },
      leave: () => {
        parsed();
        this.#sendIfReady(bundle);
      },
    };
  }

  #openBundle(): Bundle {
    const now = performance.now();
    if (this.#open && (now - this.#open.openedAt > OPEN_MS || this.#open.entered === BUNDLE_UPLOADS_MAX))
      this.#open = undefined;
    this.#open ??= {
      id: bundleOf(uuid7()),
      openedAt: now,
      entered: 0,
      parsing: 0,
      waiting: [],
      length: 0,
      isSent: false,
    };
    return this.#open;
  }

  #put(bundle: Bundle, job: PlainJob): Promise<boolean> {
    if (bundle.isSent) return Promise.resolve(false);
    const settle = Promise.withResolvers<boolean>();
    bundle.waiting.push({ ...job, trace: carrier(), settle });
    bundle.length += job.json.length;
    const waitMs = Math.min(Math.max(performance.now() - bundle.openedAt, WAIT_MS), WAIT_MS_MAX);
    bundle.timer ??= setTimeout(() => void this.#send(bundle), waitMs);
    this.#sendIfReady(bundle);
    return settle.promise;
  }

  #sendIfReady(bundle: Bundle): void {
    if (bundle.parsing === 0 || bundle.length >= LENGTH_MAX) void this.#send(bundle);
  }

  async #send(bundle: Bundle): Promise<void> {
    if (bundle.isSent) return;
    bundle.isSent = true;
    clearTimeout(bundle.timer);
    if (this.#open === bundle) this.#open = undefined;
    const { waiting } = bundle;
    const isJoined = waiting.length > 1;
    try {
      if (isJoined) await this.enqueue(packBundle(bundle.id, waiting));
      for (const { settle } of waiting) settle.resolve(isJoined);
    } catch (error) {
      for (const { settle } of waiting) settle.reject(error);
    }
  }
}
