/**
 * Evaluates stored blocks soon after they are stored. A process runs one pass at a time; blocks that arrive meanwhile
 * wait for the next pass and are evaluated together. A process that dies leaves its blocks to the sweeper of any other.
 */
import { eq } from 'drizzle-orm';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { evaluate } from '../src/evaluation/evaluate.ts';
import { drawVersion, lockEvaluation } from '../src/evaluation/lock.ts';
import { QuarantineEvidenceStore } from '../src/evaluation/quarantine-evidence.ts';
import { judgeQuarantines } from '../src/evaluation/quarantines.ts';
import { RunStore, TESTS_MAX } from '../src/evaluation/run-store.ts';
import { EvaluationStore } from '../src/evaluation/store.ts';
import { mergeTouched, type Touched, type TouchedTest } from '../src/ledger/block.ts';
import type { BlockStore } from '../src/ledger/blocks.ts';
import type { StoredBlock } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import { evaluationSeconds } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import type { QuarantineStore } from '../src/postgres/quarantines.ts';
import { repositories } from '../src/postgres/schema.ts';
import { Loop } from './loop.ts';

const RETRY_MS = 1_000;
/**
 * Under load, a pause lets blocks collect and be evaluated together: a test that ran in ten blocks is read and written
 * once. Verdicts must be visible within two seconds.
 */
const PAUSE_MS = 1_000;
/** A pass over more would be repeated as a whole if it is cut off, and would take up its memory at once. */
const BLOCKS_MAX = 50;

export interface EvaluatorDeps {
  db: Database;
  clickhouse: ClickHouse;
  blocks: BlockStore;
  quarantines: QuarantineStore;
  log: Logger;
  /** Milliseconds between two passes; tests want none. */
  pauseMs?: number;
}

export class Evaluator {
  readonly loop: Loop;
  readonly #deps: EvaluatorDeps;
  #waiting: StoredBlock[] = [];
  /** Blocks that are waiting or being evaluated: the sweeper sees them too and need not bring them again. */
  readonly #inHand = new Set<number>();

  constructor(deps: EvaluatorDeps) {
    this.#deps = deps;
    const { log, pauseMs = PAUSE_MS } = deps;
    this.loop = new Loop({ name: 'evaluation', log, run: () => this.#run(), pauseMs, retryMs: RETRY_MS });
  }

  /** Queues a stored block for evaluation. */
  add(block: StoredBlock): void {
    if (this.#inHand.has(block.blockId)) return;
    this.#inHand.add(block.blockId);
    this.#waiting.push(block);
    this.loop.wake();
  }

  /** Whether this process is about to evaluate the block. */
  has(blockId: number): boolean {
    return this.#inHand.has(blockId);
  }

  async #run(): Promise<void> {
    const blocks = this.#waiting.splice(0, BLOCKS_MAX);
    try {
      const measured = evaluationSeconds.startTimer();
      // A separate trace: the blocks come from many uploads.
      await inSpan('evaluate', { parent: null, attributes: { 'ci_insights.blocks': blocks.length } }, () =>
        this.#evaluate(blocks),
      );
      measured();
    } catch (error) {
      this.#waiting.unshift(...blocks);
      throw error;
    }
    for (const block of blocks) this.#inHand.delete(block.blockId);
    if (this.#waiting.length > 0) this.loop.wake();
  }

  async #evaluate(blocks: readonly StoredBlock[]): Promise<void> {
    const touched: Touched = new Map();
    for (const block of blocks) mergeTouched(touched, block.touched);
    for (const [repositoryId, tests] of touched) await this.evaluateTests(repositoryId, tests);
    // What is left is evaluated by another process or the next start, with what was done once more.
    if (this.loop.isStopped) return;
    await this.#deps.blocks.markEvaluated(blocks.map((block) => block.blockId));
  }

  /** Judges some tests of a repository, under its lock. Ends early when the loop is stopped. */
  async evaluateTests(repositoryId: string, tests: ReadonlyMap<string, TouchedTest>): Promise<void> {
    const { db, clickhouse, quarantines } = this.#deps;
    const stores = {
      executions: new EvaluationStore(clickhouse, repositoryId),
      runs: new RunStore(clickhouse, repositoryId),
    };
    const entries = [...tests];
    for (let from = 0; from < entries.length && !this.loop.isStopped; from += TESTS_MAX)
      await onPostgres(() =>
        db.transaction(async (tx) => {
          await lockEvaluation(tx, repositoryId);
          const [repository] = await tx
            .select({ isEnabled: repositories.flakyDetectionEnabled, autoQuarantine: repositories.autoQuarantine })
            .from(repositories)
            .where(eq(repositories.id, repositoryId));
          const options = {
            isFlakyDetectionEnabled: repository?.isEnabled ?? true,
            nextVersion: () => drawVersion(db),
          };
          const context = {
            repositoryId,
            mode: repository?.autoQuarantine ?? 'off',
            quarantines,
            evidence: new QuarantineEvidenceStore(clickhouse, repositoryId),
          };
          await evaluate(stores, new Map(entries.slice(from, from + TESTS_MAX)), options, (identities) =>
            judgeQuarantines(context, identities),
          );
        }),
      );
  }
}
