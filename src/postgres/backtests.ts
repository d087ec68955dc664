/** Replays of policies of automatic quarantine: what was asked for, and the reports. */
import { and, asc, eq, isNull, lt } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { AuditActor } from '../domain/audit.ts';
import { type BacktestPolicy, backtestPolicySchema } from '../domain/backtest-policy.ts';
import { type BacktestReport, backtestReportSchema } from '../domain/backtest-report.ts';
import { DAY_MS } from '../domain/time.ts';
import { recordAudit } from './audit.ts';
import { type Database, onPostgres } from './client.ts';
import type { Repository } from './repositories.ts';
import { backtests } from './schema.ts';

const KEPT_MS = 30 * DAY_MS;

export interface Backtest {
  id: string;
  repositoryId: string;
  requestedAt: Date;
  policy: BacktestPolicy;
  /** How many tests were replayed, of how many. */
  replayed: number;
  tests: number;
  finishedAt: Date | null;
  /** Null until it is finished, or if it failed. */
  report: BacktestReport | null;
  failure: string | null;
}

const read = (row: typeof backtests.$inferSelect): Backtest => ({
  ...row,
  policy: backtestPolicySchema.parse(JSON.parse(row.policy)),
  report: row.report === null ? null : backtestReportSchema.parse(JSON.parse(row.report)),
});

export class BacktestStore {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /** Asks for one, or returns the one of the repository that is not finished yet. Forgets those of thirty days ago. */
  async request(
    { id: repositoryId, owner, name }: Pick<Repository, 'id' | 'owner' | 'name'>,
    policy: BacktestPolicy,
    by: AuditActor,
  ): Promise<Backtest> {
    const now = this.clock.now();
    return onPostgres(async () => {
      await this.db.delete(backtests).where(lt(backtests.finishedAt, new Date(now - KEPT_MS)));
      for (;;) {
        const row = { id: uuid7(), repositoryId, requestedAt: new Date(now), policy: JSON.stringify(policy) };
        const deed = { action: 'backtest.request', objectId: row.id, owner, repository: name, after: policy } as const;
        const made = await this.db.transaction(async (tx) => {
          const [inserted] = await tx.insert(backtests).values(row).onConflictDoNothing().returning();
          if (inserted) await recordAudit(tx, by, deed, now);
          return inserted;
        });
        const isOpen = and(eq(backtests.repositoryId, repositoryId), isNull(backtests.finishedAt));
        const [open] = made ? [made] : await this.db.select().from(backtests).where(isOpen);
        // It may have finished in between.
        if (open) return read(open);
      }
    });
  }

  /** The one that has waited longest; undefined if there is none. */
  async next(): Promise<Backtest | undefined> {
    const rows = await onPostgres(() =>
      this.db.select().from(backtests).where(isNull(backtests.finishedAt)).orderBy(asc(backtests.id)).limit(1),
    );
    return rows.map(read)[0];
  }

  async find(repositoryId: string, id: string): Promise<Backtest | undefined> {
    const rows = await onPostgres(() =>
      this.db
        .select()
        .from(backtests)
        .where(and(eq(backtests.id, id), eq(backtests.repositoryId, repositoryId))),
    );
    return rows.map(read)[0];
  }

  async progress(id: string, replayed: number, tests: number): Promise<void> {
    await onPostgres(() => this.db.update(backtests).set({ replayed, tests }).where(eq(backtests.id, id)));
  }

  async finish(id: string, outcome: { report: BacktestReport } | { failure: string }): Promise<void> {
    const result = 'report' in outcome ? { report: JSON.stringify(outcome.report) } : outcome;
    await onPostgres(() =>
      this.db
        .update(backtests)
        .set({ ...result, finishedAt: new Date(this.clock.now()) })
        .where(and(eq(backtests.id, id), isNull(backtests.finishedAt))),
    );
  }
}
