/** Comparisons of everything derived with the executions: what was asked for, and the reports. */
import { and, desc, eq, isNull, lt } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { AuditActor } from '../domain/audit.ts';
import { DAY_MS } from '../domain/time.ts';
import { type VerifyReportDocument, verifyReportSchema } from '../domain/verify-report.ts';
import { recordAudit } from './audit.ts';
import { type Database, onPostgres } from './client.ts';
import { verifications } from './schema.ts';

const KEPT_MS = 30 * DAY_MS;

export interface Verification {
  id: string;
  requestedAt: Date;
  /** How many repositories were compared, of how many. */
  compared: number;
  repositories: number;
  finishedAt: Date | null;
  /** Null until it is finished, or if it failed. */
  report: VerifyReportDocument | null;
  failure: string | null;
}

const read = (row: typeof verifications.$inferSelect): Verification => ({
  ...row,
  report: row.report === null ? null : verifyReportSchema.parse(JSON.parse(row.report)),
});

export class VerificationStore {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Asks for one, or returns the one that is not finished yet. Forgets those of more than thirty days ago. */
  async request(by: AuditActor): Promise<Verification> {
    const now = this.clock.now();
    return onPostgres(async () => {
      await this.db.delete(verifications).where(lt(verifications.finishedAt, new Date(now - KEPT_MS)));
      for (;;) {
        const row = { id: uuid7(), requestedAt: new Date(now) };
        const made = await this.db.transaction(async (tx) => {
          const [inserted] = await tx.insert(verifications).values(row).onConflictDoNothing().returning();
          if (inserted) await recordAudit(tx, by, { action: 'verification.request', objectId: row.id }, now);
          return inserted;
        });
        const open = made ? read(made) : await this.open();
        // It may have finished in between.
        if (open) return open;
      }
    });
  }

  /** The one that is not finished; undefined if there is none. */
  async open(): Promise<Verification | undefined> {
    const rows = await onPostgres(() =>
      this.db
        .select()
        .from(verifications)
        .where(isNull(verifications.finishedAt))
        .orderBy(desc(verifications.id))
        .limit(1),
    );
    return rows.map(read)[0];
  }

  async find(id: string): Promise<Verification | undefined> {
    const rows = await onPostgres(() => this.db.select().from(verifications).where(eq(verifications.id, id)));
    return rows.map(read)[0];
  }

  async progress(id: string, compared: number, repositories: number): Promise<void> {
    await onPostgres(() =>
      this.db.update(verifications).set({ compared, repositories }).where(eq(verifications.id, id)),
    );
  }

  async finish(id: string, outcome: { report: VerifyReportDocument } | { failure: string }): Promise<void> {
    const result = 'report' in outcome ? { report: JSON.stringify(outcome.report) } : outcome;
    await onPostgres(() =>
      this.db
        .update(verifications)
        .set({ ...result, finishedAt: new Date(this.clock.now()) })
        .where(and(eq(verifications.id, id), isNull(verifications.finishedAt))),
    );
  }
}
