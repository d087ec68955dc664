/** Queue jobs that no retry can help, kept with the reason until they are replayed. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { and, asc, count, eq, isNull } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { AuditActor } from '../domain/audit.ts';
import { recordAudit } from './audit.ts';
import { type Database, onPostgres } from './client.ts';
import { deadLetters } from './schema.ts';

export interface DeadLetter {
  id: string;
  queue: string;
  jobId: string;
  uploadId: string | null;
  reason: string;
  createdAt: Date;
}

/** Without the payload, which may be large. */
const LETTER = {
  id: deadLetters.id,
  queue: deadLetters.queue,
  jobId: deadLetters.jobId,
  uploadId: deadLetters.uploadId,
  reason: deadLetters.reason,
  createdAt: deadLetters.createdAt,
};

/** The job's data, from the column. */
export const payloadOf = (column: Uint8Array): unknown => JSON.parse(zstdDecompressSync(column).toString('utf8'));

export class DeadLetterStore {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Keeps a job. If it is there already, its reason and payload are replaced. */
  async add(queue: string, jobId: string, uploadId: string | null, payload: unknown, reason: string): Promise<void> {
    const row = {
      queue,
      jobId,
      uploadId,
      reason,
      payload: zstdCompressSync(JSON.stringify(payload ?? null)),
      createdAt: new Date(this.clock.now()),
    };
    await onPostgres(() =>
      this.db
        .insert(deadLetters)
        .values({ id: uuid7(), ...row })
        .onConflictDoUpdate({ target: [deadLetters.queue, deadLetters.jobId], set: { ...row, replayedAt: null } }),
    );
  }

  /** Dead letters that were not replayed yet, oldest first. */
  list(limit?: number): Promise<DeadLetter[]> {
    return onPostgres(() => {
      const letters = this.db
        .select(LETTER)
        .from(deadLetters)
        .where(isNull(deadLetters.replayedAt))
        .orderBy(asc(deadLetters.createdAt), asc(deadLetters.id));
      return limit === undefined ? letters : letters.limit(limit);
    });
  }

  /** How many were not replayed yet. */
  async count(): Promise<number> {
    const [row] = await onPostgres(() =>
      this.db.select({ letters: count() }).from(deadLetters).where(isNull(deadLetters.replayedAt)),
    );
    return row?.letters ?? 0;
  }

  /** One that was not replayed yet. */
  async find(id: string): Promise<DeadLetter | undefined> {
    const [row] = await onPostgres(() =>
      this.db
        .select(LETTER)
        .from(deadLetters)
        .where(and(eq(deadLetters.id, id), isNull(deadLetters.replayedAt))),
    );
    return row;
  }

  /** The job's data as it was queued, or undefined if there is no such letter. */
  async payload(id: string): Promise<unknown> {
    const [row] = await onPostgres(() =>
      this.db.select({ payload: deadLetters.payload }).from(deadLetters).where(eq(deadLetters.id, id)),
    );
    return row && payloadOf(row.payload);
  }

  /** Unless the job has become a letter again meanwhile: its worker may be quicker than who replays it. */
  async markReplayed({ id, queue, jobId, uploadId, reason, createdAt }: DeadLetter, by: AuditActor): Promise<void> {
    const now = this.clock.now();
    const before = { job_id: jobId, upload_id: uploadId, reason };
    await onPostgres(() =>
      this.db.transaction(async (tx) => {
        await tx
          .update(deadLetters)
          .set({ replayedAt: new Date(now) })
          .where(and(eq(deadLetters.id, id), eq(deadLetters.createdAt, createdAt), isNull(deadLetters.replayedAt)));
        // Also if it is a letter again: it was replayed.
        await recordAudit(tx, by, { action: 'dead_letter.replay', objectId: id, objectName: queue, before }, now);
      }),
    );
  }
}
