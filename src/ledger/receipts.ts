/**
 * Receipts of uploads, assembled from their chunks: from the ledger once these are written, from the queue before that.
 */
import { and, eq, isNotNull, isNull, lt } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { DAY_MS } from '../domain/time.ts';
import { NO_ORIGIN, type Refusal, type UploadOrigin } from '../domain/upload-origin.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { payloadOf } from '../postgres/dead-letters.ts';
import { RefusedUploads } from '../postgres/refused-uploads.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { deadLetters, uploadChunks } from '../postgres/schema.ts';
import { unpack } from '../queue/encoding.ts';
import { importedTestRuns } from '../queue/imported-test-runs.ts';
import { largeTestRuns } from '../queue/large-test-runs.ts';
import type { Producers } from '../queue/producer.ts';
import { chunkJobId, type TestRunsJob, testRuns, testRunsSchema } from '../queue/test-runs.ts';
import { bundleJobIds, bundleOf, uploadBundles } from '../queue/upload-bundles.ts';
import {
  assembleReceipt,
  chunkColumns,
  NOTHING_STORED,
  originOfJob,
  type Receipt,
  receiptOfRefusal,
} from './receipt.ts';
import { type ListedReceipt, listReceipts, type ReceiptListRequest } from './receipt-list.ts';

/** How long a receipt can be read, far longer than any job waits for one. */
const RECEIPT_DAYS = 30;

/** Removes receipts that are too old to be read. What was uploaded stays. */
export async function forgetOldReceipts(db: Database, now: number): Promise<void> {
  const before = new Date(now - RECEIPT_DAYS * DAY_MS);
  await onPostgres(() =>
    db.delete(uploadChunks).where(and(lt(uploadChunks.receivedAt, before), isNotNull(uploadChunks.storedAt))),
  );
  await new RefusedUploads(db).forget(before);
}

export interface ReceiptDeps {
  db: Database;
  repositories: RepositoryStore;
  producers: Pick<Producers, 'of'>;
}

/** Parts of a job that a receipt needs. */
type JobHead = Pick<TestRunsJob, 'repository' | 'received_at' | 'rejections' | 'warnings'> & { origin: UploadOrigin };

/** With the queue in which it is. */
interface QueuedHead extends JobHead {
  isQueued(): Promise<boolean>;
}

const HEADS_MAX = 1_000;

export class ReceiptStore {
  /** Heads of uploads that were asked for while they were queued. */
  readonly #heads = new LRUCache<string, QueuedHead>({ max: HEADS_MAX });

  readonly #refusals: RefusedUploads;

  constructor(private readonly deps: ReceiptDeps) {
    this.#refusals = new RefusedUploads(deps.db);
  }

  /** The receipt of an upload to this repository, or null when there is none. */
  async find(owner: string, name: string, uploadId: string): Promise<Receipt | null> {
    const written = await this.#written(owner, name, uploadId);
    if (written) return written;
    const queued = (await this.#queued(owner, name, uploadId)) ?? (await this.#buried(owner, name, uploadId));
    // Its only job may have completed between the two reads.
    return queued ?? (await this.#written(owner, name, uploadId)) ?? (await this.#refused(owner, name, uploadId));
  }

  /** Uploads of which a chunk was taken by a worker, nearest to the key first. */
  list(request: ReceiptListRequest): Promise<ListedReceipt[]> {
    return listReceipts({ ...this.deps, refusals: this.#refusals }, request);
  }

  /** Uploads that were refused as a whole, each with how often. */
  noteRefusals(refused: readonly (Refusal & { refusals: number })[], now: number): Promise<void> {
    return this.#refusals.add(refused, now);
  }

  async #written(owner: string, name: string, uploadId: string): Promise<Receipt | null> {
    const repository = await this.deps.repositories.find(owner, name);
    if (!repository) return null;
    const [chunks, letters] = await onPostgres(() =>
      Promise.all([
        this.deps.db.select(chunkColumns).from(uploadChunks).where(eq(uploadChunks.uploadId, uploadId)),
        this.deps.db
          .select({ reason: deadLetters.reason, createdAt: deadLetters.createdAt })
          .from(deadLetters)
          .where(and(eq(deadLetters.uploadId, uploadId), isNull(deadLetters.replayedAt))),
      ]),
    );
    const own = chunks.filter((chunk) => chunk.repositoryId === repository.id);
    const [first] = own;
    if (!first) return null;
    return assembleReceipt(first, own, letters[0]?.reason ?? null);
  }

  /** The receipt of an upload of which no chunk was stored, because all of its jobs are dead letters. */
  async #buried(owner: string, name: string, uploadId: string): Promise<Receipt | null> {
    const [letter] = await onPostgres(() =>
      this.deps.db
        .select({ reason: deadLetters.reason, payload: deadLetters.payload })
        .from(deadLetters)
        .where(and(eq(deadLetters.uploadId, uploadId), isNull(deadLetters.replayedAt)))
        .limit(1),
    );
    const job = letter && buriedJob(letter.payload);
    if (!job || !isPathOf(job.repository, owner, name)) return null;
    return {
      ...NO_ORIGIN,
      id: uploadId,
      status: 'failed',
      receivedAt: new Date(job.received_at),
      ...NOTHING_STORED,
      failure: letter.reason,
      refusals: 0,
    };
  }

  async #refused(owner: string, name: string, uploadId: string): Promise<Receipt | null> {
    const refused = await this.#refusals.find({ owner, name }, uploadId);
    return refused ? receiptOfRefusal(refused) : null;
  }

  /** Clients ask again until their upload is stored, so the job is unpacked once: that takes 10 to 30 ms. */
  async #queued(owner: string, name: string, uploadId: string): Promise<Receipt | null> {
    const known = this.#heads.get(uploadId);
    const head = known && (await known.isQueued()) ? known : await this.#headOf(uploadId);
    if (!head || !isPathOf(head.repository, owner, name)) return null;
    this.#heads.set(uploadId, head);
    const { received_at, rejections, warnings, origin } = head;
    return {
      ...origin,
      id: uploadId,
      status: 'queued',
      receivedAt: new Date(received_at),
      storedAt: null,
      accepted: null,
      duplicate: null,
      rejected: rejections.reduce((sum, rejection) => sum + rejection.count, 0),
      conflicting: null,
      unnamedLeg: null,
      nameLegsWith: null,
      onDefaultBranch: null,
      rejections,
      warnings,
      failure: null,
      refusals: 0,
    };
  }

  /** The head of the upload's first job, or of the bundle that it is in. */
  async #headOf(uploadId: string): Promise<QueuedHead | undefined> {
    const { producers } = this.deps;
    const jobId = chunkJobId(uploadId, 0);
    for (const track of [testRuns, largeTestRuns, importedTestRuns].map((kind) => producers.of(kind))) {
      const job = await track.find(jobId);
      if (job) return { ...headOf(job.payload), isQueued: () => track.has(jobId) };
    }
    const bundles = producers.of(uploadBundles);
    for (const bundleId of bundleJobIds(bundleOf(uploadId))) {
      const bundled = (await bundles.find(bundleId))?.payload.uploads.find(({ id }) => id === jobId);
      const payload = bundled && testRunsSchema.safeParse(bundled.job).data;
      if (payload) return { ...headOf(payload), isQueued: () => bundles.has(bundleId) };
    }
    return undefined;
  }
}

const headOf = (job: TestRunsJob): JobHead => {
  const { repository, received_at, rejections, warnings } = job;
  return { repository, received_at, rejections, warnings, origin: originOfJob(job) };
};

const isPathOf = (repository: { owner: string; name: string }, owner: string, name: string): boolean =>
  `${repository.owner}/${repository.name}`.toLowerCase() === `${owner}/${name}`.toLowerCase();

/** Parts of a job that a receipt needs, however wrong the rest of it is. */
const buriedSchema = z.object({
  repository: z.object({ owner: z.string(), name: z.string() }),
  received_at: z.iso.datetime({ offset: true }),
});

function buriedJob(stored: Uint8Array): z.infer<typeof buriedSchema> | undefined {
  try {
    return buriedSchema.safeParse(unpack(payloadOf(stored)).payload).data;
  } catch {
    return undefined;
  }
}
