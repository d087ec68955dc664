/**
 * Evaluates stored blocks soon after they are stored. A process runs one pass at a time; blocks that arrive meanwhile
 * wait for the next pass and are evaluated together. A process that dies leaves its blocks to the sweeper of any other.
 */
import { BlockEvaluation, type EvaluationDeps, Stopped } from '../src/evaluation/block-evaluation.ts';
import { type BlocksAhead, NewsAhead } from '../src/evaluation/news-ahead.ts';
import type { StoredBlock } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import { evaluationSeconds } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';
import { Loop } from './loop.ts';

const RETRY_MS = 1_000;
/**
 * Under load, a pause lets blocks collect and be evaluated together: a test that ran in ten blocks is read and written
 * once. Verdicts must be visible within two seconds, so a pass begins at most a second after the one before it began, or
 * right after a longer one. A pass that took little time is followed by a shorter pause.
 */
const PERIOD_MS = 1_000;
const PAUSE_MS_MIN = 100;
const PAUSE_PER_PASS = 2;
/** What one pass takes at most, and repeats as a whole if it is cut off. */
const EXECUTIONS_MAX = 500_000;

/** How long to wait after a pass that took so long; both in milliseconds. */
const pauseAfter = (tookMs: number): number =>
  Math.max(Math.min(PAUSE_PER_PASS * tookMs, PERIOD_MS - tookMs), PAUSE_MS_MIN);

export interface EvaluatorDeps extends EvaluationDeps {
  log: Logger;
  /** Milliseconds between two passes; tests want none. */
  pauseMs?: number;
}

export class Evaluator {
  readonly loop: Loop;
  readonly #evaluation: BlockEvaluation;
  /** How long the last pass took, in milliseconds. */
  #lastTook = 0;
  #waiting: StoredBlock[] = [];
  readonly #ahead = new NewsAhead(EXECUTIONS_MAX);
  /** Blocks that are waiting or being evaluated: the sweeper sees them too and need not bring them again. */
  readonly #inHand = new Set<number>();

  constructor(deps: EvaluatorDeps) {
    const { log, pauseMs } = deps;
    this.loop = new Loop({
      name: 'evaluation',
      log,
      run: () => this.#run(),
      pauseMs: () => pauseMs ?? pauseAfter(this.#lastTook),
      retryMs: RETRY_MS,
    });
    this.#evaluation = new BlockEvaluation(deps, () => this.loop.isStopped);
  }

  /**
   * Queues a stored block for evaluation.
   *
   * @param values of the lines of one that this process has just stored
   */
  add(block: StoredBlock, values?: readonly unknown[]): void {
    if (this.#inHand.has(block.blockId)) return;
    this.#inHand.add(block.blockId);
    const isAhead = values !== undefined && this.#ahead.add(block, values);
    if (!isAhead) this.#waiting.push(block);
    this.loop.wake();
  }

  /** Whether this process is about to evaluate the block. */
  has(blockId: number): boolean {
    return this.#inHand.has(blockId);
  }

  async #run(): Promise<void> {
    const ahead = this.#ahead.take();
    const others = this.#nextBlocks(ahead);
    const blocks = [...ahead.blocks, ...others];
    const startedAt = performance.now();
    try {
      const measured = evaluationSeconds.startTimer();
      // A separate trace: the blocks come from many uploads.
      await inSpan('evaluate', { parent: null, attributes: { 'ci_insights.blocks': blocks.length } }, () =>
        this.#evaluation.run(
          others.map(({ blockId }) => blockId),
          ahead,
        ),
      );
      measured();
    } catch (error) {
      if (error instanceof Stopped) return;
      this.#waiting.unshift(...blocks);
      throw error;
    }
    this.#lastTook = performance.now() - startedAt;
    for (const block of blocks) this.#inHand.delete(block.blockId);
    if (this.#waiting.length > 0 || !this.#ahead.isEmpty) this.loop.wake();
  }

  /** As many as a pass takes beside those; at least one if there are none of those. */
  #nextBlocks(ahead: BlocksAhead): StoredBlock[] {
    let executions = ahead.blocks.reduce((sum, block) => sum + block.executions, 0);
    const end = this.#waiting.findIndex((block) => {
      executions += block.executions;
      return executions > EXECUTIONS_MAX;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(end, ahead.blocks.length === 0 ? 1 : 0));
  }

  /** See {@link BlockEvaluation.run}. */
  evaluate(blockIds: readonly number[]): Promise<void> {
    return this.#evaluation.run(blockIds);
  }
}
