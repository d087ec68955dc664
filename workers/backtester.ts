/** Makes the backtests that the API was asked for, one at a time. */
import { eq, sql } from 'drizzle-orm';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import type { Clock } from '../src/clock.ts';
import { StoreUnavailable } from '../src/errors.ts';
import { backtest } from '../src/explain/backtest.ts';
import type { Logger } from '../src/observability/log.ts';
import { type Backtest, BacktestStore } from '../src/postgres/backtests.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import { BACKTEST_LOCK } from '../src/postgres/locks.ts';
import { repositories } from '../src/postgres/schema.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 3_000;

interface BacktesterDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  log: Logger;
}

export class Backtester {
  readonly loop: Loop;
  readonly #store: BacktestStore;

  constructor(private readonly deps: BacktesterDeps) {
    this.#store = new BacktestStore(deps.db, deps.clock);
    this.loop = new Loop({
      name: 'backtester',
      log: deps.log,
      run: () => this.run(),
      everyMs: EVERY_MS,
      retryMs: EVERY_MS,
      retryMsMax: 60_000,
    });
  }

  /** Makes those that are asked for, if no other process does. One whose process has ended is begun again. */
  async run(): Promise<void> {
    if (!(await this.#store.next())) return;
    await onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        const { rows } = await tx.execute<{ locked: boolean }>(
          sql`select pg_try_advisory_xact_lock(${BACKTEST_LOCK}) as locked`,
        );
        if (!rows[0]?.locked) return;
        for (let asked = await this.#store.next(); asked && !this.loop.isStopped; asked = await this.#store.next())
          await this.#make(asked);
      }),
    );
  }

  async #make({ id, repositoryId, requestedAt, policy }: Backtest): Promise<void> {
    try {
      const repository = await this.#repository(repositoryId);
      const report = await backtest(this.deps, {
        repository,
        policy,
        until: requestedAt.getTime(),
        onProgress: (replayed, tests) => this.#store.progress(id, replayed, tests),
        isStopped: () => this.loop.isStopped,
      });
      if (report) await this.#store.finish(id, { report });
    } catch (error) {
      // When the store is back, it is begun again. Anything else would fail again.
      if (!(error instanceof StoreUnavailable)) await this.#store.finish(id, { failure: String(error) });
      throw error;
    }
  }

  async #repository(id: string): Promise<{ id: string; flakyDetectionEnabled: boolean }> {
    const rows = await onPostgres(() => this.deps.db.select().from(repositories).where(eq(repositories.id, id)));
    return { id, flakyDetectionEnabled: rows[0]?.flakyDetectionEnabled ?? true };
  }
}
