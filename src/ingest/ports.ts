/** The gateway's needs of the rest of the service: a queue for the work, and the receipts of uploads. */
import type { Receipt } from '../ledger/receipt.ts';
import type { ListedReceipt, ReceiptListRequest } from '../ledger/receipt-list.ts';
import type { PackedJob } from '../queue/packed-job.ts';
import type { PrEventsJob } from '../queue/pr-events.ts';
import type { WriteRefusals } from './refusals.ts';

/** Large uploads, and what is imported, have separate queues, so that small ones never wait for them. */
type Track = 'small' | 'large' | 'imported';

export interface IngestPort {
  /** Returns once the queue holds every job; throws StoreUnavailable when it cannot. */
  enqueue(jobs: readonly PackedJob[], track: Track): Promise<void>;
  /** Whether so much that was imported waits that more would be too much. Without it, it never does. */
  isImportFull?(): Promise<boolean>;
  /** Queues the chunks of several uploads as one job. Without it, every upload is a separate job. */
  enqueueBundle?(bundle: PackedJob): Promise<void>;
  /** Notes uploads that were refused as a whole. Without it, only their senders learn of it. */
  writeRefusals?: WriteRefusals;
  /** Notes that `gate` sends reports of this repository. Its failure must not fail the upload. */
  noteGate?(repository: { owner: string; name: string }): Promise<void>;
  /** The receipt of an upload to this repository, or null when there is none. */
  receipt(repository: { owner: string; name: string }, uploadId: string): Promise<Receipt | null>;
}

export interface EventsPort {
  /**
   * Returns once the queue holds the job; throws StoreUnavailable when it cannot. The same id again, while queued, is
   * the same job.
   */
  enqueueEvents(jobId: string, job: PrEventsJob): Promise<void>;
}

export interface ReceiptsPort {
  /** Uploads of which a chunk was taken by a worker, nearest to the key first. */
  list(request: ReceiptListRequest): Promise<ListedReceipt[]>;
}
