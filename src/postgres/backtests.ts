/** Replays of policies of automatic quarantine: what was asked for, and the reports. */
import { and, asc, desc, eq, getTableColumns, inArray, isNull, lt } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { AuditActor } from '../domain/audit.ts';
import { type BacktestPolicy, backtestPolicySchema } from '../domain/backtest-policy.ts';
import { type BacktestReport, backtestReportSchema, backtestSummary } from '../domain/backtest-report.ts';
import { DAY_MS } from '../domain/time.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import type { Repository } from './repositories.ts';
import { backtests } from './schema.ts';

const KEPT_MS = 30 * DAY_MS;
/** Of a repository. */
export const BACKTESTS_KEPT_MAX = 50;

/** What a list says of a backtest. */
export interface ListedBacktest {
  id: string;
  repositoryId: string;
  requestedAt: Date;
  /** The login, or the name of the key. */
  requestedBy: string;
  policy: BacktestPolicy;
  /** How many tests were replayed, of how many. */
  replayed: number;
  tests: number;
  finishedAt: Date | null;
  /** The report in a sentence. Null until it is finished, or if it failed. */
  summary: string | null;
  failure: string | null;
}

export interface Backtest extends ListedBacktest {
  /** Null until it is finished, or if it failed. */
  report: BacktestReport | null;
}

const { report: _, ...listedColumns } = getTableColumns(backtests);

const policyOf = (text: string): BacktestPolicy => backtestPolicySchema.parse(JSON.parse(text));
const read = (row: typeof backtests.$inferSelect): Backtest => ({
  ...row,
  policy: policyOf(row.policy),
  report: row.report === null ? null : backtestReportSchema.parse(JSON.parse(row.report)),
});

export class BacktestStore {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Asks for one, or returns the one of the repository that is not finished yet. Forgets those of thirty days ago, and
   * all but the newest of the repository.
   */
  async request(
    { id: repositoryId, owner, name }: Pick<Repository, 'id' | 'owner' | 'name'>,
    policy: BacktestPolicy,
    by: AuditActor,
  ): Promise<Backtest> {
    const now = this.clock.now();
    return onPostgres(async () => {
      await this.db.delete(backtests).where(lt(backtests.finishedAt, new Date(now - KEPT_MS)));
      for (;;) {
        const asked = { requestedAt: new Date(now), requestedBy: by.name, policy: JSON.stringify(policy) };
        const row = { id: uuid7(), repositoryId, ...asked };
        const deed = { action: 'backtest.request', objectId: row.id, owner, repository: name, after: policy } as const;
        const made = await this.db.transaction(async (tx) => {
          const [inserted] = await tx.insert(backtests).values(row).onConflictDoNothing().returning();
          if (!inserted) return undefined;
          await recordAudit(tx, by, deed, now);
          await forgetOldest(tx, repositoryId);
          return inserted;
        });
        const isOpen = and(eq(backtests.repositoryId, repositoryId), isNull(backtests.finishedAt));
        const [open] = made ? [made] : await this.db.select().from(backtests).where(isOpen);
        // It may have finished in between.
        if (open) return read(open);
      }
    });
  }

  /** Those of a repository, the newest first. */
  async list(repositoryId: string): Promise<ListedBacktest[]> {
    const rows = await onPostgres(() =>
      this.db
        .select(listedColumns)
        .from(backtests)
        .where(eq(backtests.repositoryId, repositoryId))
        .orderBy(desc(backtests.id))
        .limit(BACKTESTS_KEPT_MAX),
    );
    return rows.map((row) => ({ ...row, policy: policyOf(row.policy) }));
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
    const result =
      'report' in outcome
        ? { report: JSON.stringify(outcome.report), summary: backtestSummary(outcome.report) }
        : outcome;
    await onPostgres(() =>
      this.db
        .update(backtests)
        .set({ ...result, finishedAt: new Date(this.clock.now()) })
        .where(and(eq(backtests.id, id), isNull(backtests.finishedAt))),
    );
  }
}

/** The one that is open is among the newest. */
async function forgetOldest(tx: Executor, repositoryId: string): Promise<void> {
  const older = tx
    .select({ id: backtests.id })
    .from(backtests)
    .where(eq(backtests.repositoryId, repositoryId))
    .orderBy(desc(backtests.id))
    .offset(BACKTESTS_KEPT_MAX);
  await tx.delete(backtests).where(inArray(backtests.id, older));
}
