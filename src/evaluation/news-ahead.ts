/**
 * What the next pass brings, of the blocks that this process has just stored: added up as they are stored, while the pass
 * before it waits for its stores. Reading, unpacking and parsing each of them again would take longer. What is not here is
 * read from PostgreSQL: a block's lines never change, so it does not matter where they come from.
 */
import type { StoredBlock } from '../ledger/ledger.ts';
import { News } from './news.ts';

/** About what the news may take in memory, in bytes: half a million executions of 60,000 identities. */
const BYTES_MAX = 48 * 2 ** 20;

/** Blocks, and what they bring: all of it, and nothing else. */
export interface BlocksAhead {
  blocks: readonly StoredBlock[];
  /** Undefined if it is not known. */
  news: News | undefined;
}

export class NewsAhead {
  #news = new News();
  #blocks: StoredBlock[] = [];
  #executions = 0;
  #isWhole = true;

  /** @param executionsMax how many executions all blocks together may have. */
  constructor(
    private readonly executionsMax: number,
    private readonly bytesMax = BYTES_MAX,
  ) {}

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /**
   * Adds a block that no process can have evaluated yet. Returns false if there is no room.
   *
   * @param lines as values
   */
  add(block: StoredBlock, lines: readonly unknown[]): boolean {
    if (this.#news.bytes >= this.bytesMax || this.#executions + block.executions > this.executionsMax) return false;
    this.#blocks.push(block);
    this.#executions += block.executions;
    try {
      this.#news.add(lines);
    } catch {
      // Part of it may be added. The pass reads these blocks from PostgreSQL, and fails if the lines are wrong there, too.
      this.#isWhole = false;
    }
    return true;
  }

  /** All of it, once. */
  take(): BlocksAhead {
    const taken = { blocks: this.#blocks, news: this.#isWhole ? this.#news : undefined };
    this.#news = new News();
    this.#blocks = [];
    this.#executions = 0;
    this.#isWhole = true;
    return taken;
  }
}
