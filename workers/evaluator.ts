/**
 * Evaluates stored blocks soon after they are stored. A process runs one pass at a time; blocks that arrive meanwhile
 * wait for the next pass and are evaluated together. A process that dies leaves its blocks to the sweeper of any other.
 */
import { BlockEvaluation, type EvaluationDeps, Stopped } from '../src/evaluation/block-evaluation.ts';
import type { StoredBlock } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import { evaluationSeconds } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';
import { Loop } from './loop.ts';
import { WaitingBlocks } from './waiting-blocks.ts';

const RETRY_MS = 1_000;
/**
 * Under load, a pause lets blocks collect and be evaluated together: a test that ran in ten blocks is read and written
 * once. Verdicts must be visible within two seconds, so a pass begins at most 700 ms after the one before it began, or right
 * after a longer one. A pass that took little time is followed by a shorter pause.
 */
const PERIOD_MS = 700;
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
  readonly #waiting = new WaitingBlocks(EXECUTIONS_MAX);

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
    this.#waiting.add(block, values);
    this.loop.wake();
  }

  /** Whether this process is about to evaluate the block: the sweeper sees it too, and need not bring it again. */
  has(blockId: number): boolean {
    return this.#waiting.has(blockId);
  }

  /** See {@link BlockEvaluation.lastLargeAt}. */
  get lastLargeAt(): number {
    return this.#evaluation.lastLargeAt;
  }

  async #run(): Promise<void> {
    const taken = this.#waiting.take();
    const { ahead, others } = taken;
    const blocks = ahead.blocks.length + others.length;
    const startedAt = performance.now();
    try {
      const measured = evaluationSeconds.startTimer();
      // A separate trace: the blocks come from many uploads.
      await inSpan('evaluate', { parent: null, attributes: { 'ci_insights.blocks': blocks } }, () =>
        this.#evaluation.run(
          others.map(({ blockId }) => blockId),
          ahead,
        ),
      );
      measured();
    } catch (error) {
      if (error instanceof Stopped) return;
      this.#waiting.putBack(taken);
      throw error;
    }
    this.#lastTook = performance.now() - startedAt;
    this.#waiting.done(taken);
    if (!this.#waiting.isEmpty) this.loop.wake();
  }

  /** See {@link BlockEvaluation.run}. */
  evaluate(blockIds: readonly number[]): Promise<void> {
    return this.#evaluation.run(blockIds);
  }
}
