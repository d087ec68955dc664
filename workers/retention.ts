/**
 * Retention: whole months leave together, raw rows and everything counted from them (design §5).
 *
 * Done by dropping partitions, not by a TTL: tables would drop theirs at different merges, and totals would not agree with
 * what they count meanwhile; the clock is ours, too. First failures and health are kept: before a month leaves, the fold of
 * every identity that ran in it is moved up to the month's end.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import type { Clock } from '../src/clock.ts';
import { isRetained } from '../src/domain/retention.ts';
import { DAY_MS, HOUR_MS } from '../src/domain/time.ts';
import { moveBaselines } from '../src/evaluation/baseline.ts';
import { forgetOldReceipts } from '../src/ledger/receipts.ts';
import type { Logger } from '../src/observability/log.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import { RETENTION_LOCK } from '../src/postgres/locks.ts';
import { forgetEventKeys } from '../src/postgres/outbox.ts';

const EVERY_MS = HOUR_MS;

/** Derived rows first: a reader meets a total without its executions never, and executions without their total for a moment. */
const MONTHLY_TABLES = [
  'catalog',
  'flaky_verdicts',
  'troubled_runs',
  'runs',
  'failures',
  'executions',
  'events',
] as const;

export class RetentionTask {
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly retentionDays: number,
    private readonly log: Logger,
  ) {}

  start(): void {
    const run = () => {
      this.#running = this.run().then(
        () => {},
        (error) => this.log.warn({ err: error }, 'retention failed, it is tried again in an hour'),
      );
    };
    run();
    this.#timer = setInterval(run, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Drops every month that is past its retention, old receipts, and the keys of events that have left. Returns the months as YYYYMM. */
  async run(): Promise<number[]> {
    const expired = (await this.#months()).filter(
      (month) => !isRetained(startOf(month), this.clock.now(), this.retentionDays),
    );
    for (const month of expired) {
      await onPostgres(() =>
        this.db.transaction(async (tx) => {
          await tx.execute(sql`select pg_advisory_xact_lock(${RETENTION_LOCK})`);
          await moveBaselines(this.clickhouse, tx, startOf(month));
          for (const table of MONTHLY_TABLES)
            await this.clickhouse.command(`ALTER TABLE ci.${table} DROP PARTITION ID '${partitionId(table, month)}'`);
        }),
      );
      this.log.info({ month }, 'a month was past its retention and is gone');
    }
    await forgetOldReceipts(this.db, this.clock.now());
    await onPostgres(() => forgetEventKeys(this.db, this.clock.now() - this.retentionDays * DAY_MS));
    return expired;
  }

  async #months(): Promise<number[]> {
    const rows = await this.clickhouse.rows(`
      SELECT DISTINCT toUInt32(substring(partition_id, 1, 6)) AS month FROM system.parts
      WHERE database = 'ci' AND active AND table IN ('executions', 'failures', 'catalog', 'flaky_verdicts', 'events')
      ORDER BY month`);
    return z
      .array(z.object({ month: z.number() }))
      .parse(rows)
      .map((row) => row.month);
  }
}

const startOf = (month: number): number => Date.UTC(Math.floor(month / 100), (month % 100) - 1, 1);

/** The catalog's partitions are named by the month's first day, the others' by year and month. */
const partitionId = (table: (typeof MONTHLY_TABLES)[number], month: number): string =>
  table === 'catalog' ? `${month}01` : `${month}`;
