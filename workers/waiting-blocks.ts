/**
 * Stored blocks that wait for an evaluation, in the order in which they came. The order matters: executions that are
 * evaluated after later ones of the same test make it start over, which takes many times as long.
 */
import { type BlocksAhead, NewsAhead } from '../src/evaluation/news-ahead.ts';
import type { StoredBlock } from '../src/ledger/ledger.ts';

/** What one pass is to evaluate. */
export interface TakenBlocks {
  /** The first blocks, with what they bring. */
  ahead: BlocksAhead;
  /** Those after them, to be read from PostgreSQL. */
  others: readonly StoredBlock[];
}

export class WaitingBlocks {
  readonly #executionsMax: number;
  readonly #ahead: NewsAhead;
  /** What came after everything in `#ahead`. */
  #others: StoredBlock[] = [];
  /** Waiting, or taken. */
  readonly #inHand = new Set<number>();

  /** @param executionsMax how many executions a pass may have, unless its first block alone has more */
  constructor(executionsMax: number) {
    this.#executionsMax = executionsMax;
    this.#ahead = new NewsAhead(executionsMax);
  }

  get isEmpty(): boolean {
    return this.#ahead.isEmpty && this.#others.length === 0;
  }

  /** Whether the block waits, or is taken and neither done nor put back. */
  has(blockId: number): boolean {
    return this.#inHand.has(blockId);
  }

  /**
   * Adds a block behind all others. One that is in hand already is not added again.
   *
   * @param values of the lines of one that no process can have evaluated yet
   */
  add(block: StoredBlock, values?: readonly unknown[]): void {
    if (this.#inHand.has(block.blockId)) return;
    this.#inHand.add(block.blockId);
    const isAhead = values !== undefined && this.#others.length === 0 && this.#ahead.add(block, values);
    if (!isAhead) this.#others.push(block);
  }

  /** As many of the first blocks as a pass takes, and at least one of those that wait. */
  take(): TakenBlocks {
    const ahead = this.#ahead.take();
    let executions = executionsOf(ahead.blocks);
    let count = 0;
    for (const block of this.#others) {
      executions += block.executions;
      if (executions > this.#executionsMax && ahead.blocks.length + count > 0) break;
      count++;
    }
    return { ahead, others: this.#others.splice(0, count) };
  }

  /** What was taken is evaluated. */
  done({ ahead, others }: TakenBlocks): void {
    for (const { blockId } of [...ahead.blocks, ...others]) this.#inHand.delete(blockId);
  }

  /** What was taken waits again, before all others. */
  putBack({ ahead, others }: TakenBlocks): void {
    this.#others = [...ahead.blocks, ...others, ...this.#ahead.take().blocks, ...this.#others];
  }
}

const executionsOf = (blocks: readonly StoredBlock[]): number =>
  blocks.reduce((sum, { executions }) => sum + executions, 0);
