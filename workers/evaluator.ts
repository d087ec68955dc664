/**
 * Evaluates stored blocks soon after they are stored. One pass at a time in a process; what comes in meanwhile waits for the
 * next pass and is evaluated together. A process that dies leaves its blocks to the sweeper of any other.
 */
import { eq } from 'drizzle-orm';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { StoreUnavailable } from '../src/errors.ts';
import { evaluate } from '../src/evaluation/evaluate.ts';
import { FigureStore } from '../src/evaluation/figures.ts';
import { drawVersion, lockEvaluation } from '../src/evaluation/lock.ts';
import { judgeQuarantines } from '../src/evaluation/quarantines.ts';
import { RunStore, TESTS_MAX } from '../src/evaluation/run-store.ts';
import { EvaluationStore } from '../src/evaluation/store.ts';
import { mergeTouched, type Touched, type TouchedTest } from '../src/ledger/block.ts';
import type { Ledger, StoredBlock } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import { evaluationSeconds, storeUnavailable } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import type { QuarantineStore } from '../src/postgres/quarantines.ts';
import { repositories } from '../src/postgres/schema.ts';

const RETRY_MS = 1_000;
/**
 * The pause between two passes. Under load, what came in meanwhile is evaluated together: a test that ran in ten blocks is read
 * and written once. Verdicts are to be visible within two seconds.
 */
const PAUSE_MS = 1_000;

export class Evaluator {
  #waiting: StoredBlock[] = [];
  /** Blocks that are waiting or being evaluated: the sweeper, which sees them too, need not bring them again. */
  readonly #inHand = new Set<number>();
  #running: Promise<void> | undefined;
  #isStopping = false;

  constructor(
    private readonly db: Database,
    private readonly clickhouse: ClickHouse,
    private readonly ledger: Ledger,
    private readonly quarantines: QuarantineStore,
    private readonly log: Logger,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /** Takes a stored block up for evaluation. */
  add(block: StoredBlock): void {
    if (this.#inHand.has(block.blockId)) return;
    this.#inHand.add(block.blockId);
    this.#waiting.push(block);
    this.#start();
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // What came in between the last look and this moment found a pass running and did not start one.
      if (this.#waiting.length > 0 && !this.#isStopping) this.#start();
    });
  }

  /** Whether this process is about to evaluate the block. */
  has(blockId: number): boolean {
    return this.#inHand.has(blockId);
  }

  /** Returns when nothing is waiting, or when stopped. */
  async drain(): Promise<void> {
    await this.#running;
  }

  /** Finishes the pass that is running and leaves the rest to others. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.drain();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isStopping) {
      const blocks = this.#waiting;
      this.#waiting = [];
      try {
        const measured = evaluationSeconds.startTimer();
        // A trace of its own: what it judges came with many uploads.
        await inSpan('evaluate', { parent: null, attributes: { 'ci_insights.blocks': blocks.length } }, () =>
          this.#evaluate(blocks),
        );
        measured();
        for (const block of blocks) this.#inHand.delete(block.blockId);
        if (!this.#isStopping) await Bun.sleep(this.pauseMs);
      } catch (error) {
        if (error instanceof StoreUnavailable) storeUnavailable.inc({ store: error.store, needed_by: 'evaluation' });
        this.log.warn({ err: error, blocks: blocks.length }, 'evaluation failed, it is tried again');
        this.#waiting.unshift(...blocks);
        if (!this.#isStopping) await Bun.sleep(RETRY_MS);
      }
    }
  }

  async #evaluate(blocks: readonly StoredBlock[]): Promise<void> {
    const touched: Touched = new Map();
    for (const block of blocks) mergeTouched(touched, block.touched);
    for (const [repositoryId, tests] of touched) await this.evaluateTests(repositoryId, tests);
    await this.ledger.markEvaluated(blocks.map((block) => block.blockId));
  }

  /** Judges some tests of a repository, under its lock. */
  async evaluateTests(repositoryId: string, tests: ReadonlyMap<string, TouchedTest>): Promise<void> {
    const stores = {
      executions: new EvaluationStore(this.clickhouse, repositoryId),
      runs: new RunStore(this.clickhouse, repositoryId),
    };
    const entries = [...tests];
    for (let from = 0; from < entries.length; from += TESTS_MAX)
      await onPostgres(() =>
        this.db.transaction(async (tx) => {
          await lockEvaluation(tx, repositoryId);
          const [repository] = await tx
            .select({ isEnabled: repositories.flakyDetectionEnabled, autoQuarantine: repositories.autoQuarantine })
            .from(repositories)
            .where(eq(repositories.id, repositoryId));
          const options = {
            isFlakyDetectionEnabled: repository?.isEnabled ?? true,
            nextVersion: () => drawVersion(tx),
          };
          const context = {
            repositoryId,
            mode: repository?.autoQuarantine ?? 'off',
            quarantines: this.quarantines,
            figures: new FigureStore(this.clickhouse, repositoryId),
          };
          await evaluate(stores, new Map(entries.slice(from, from + TESTS_MAX)), options, (ends) =>
            judgeQuarantines(context, ends),
          );
        }),
      );
  }
}
