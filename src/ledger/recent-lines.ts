/**
 * The lines of blocks that this process has just stored, as values. The evaluation follows within seconds, and would read,
 * unpack and parse each of them again. What is not here is read from PostgreSQL: a block's lines never change, so it does
 * not matter where they come from.
 */

/** What all of them may take in memory, in bytes. */
const BYTES_MAX = 64 * 2 ** 20;
/** What a UTF-16 unit of the text takes as values, in bytes, at most: 1.6 of generated executions. */
const BYTES_PER_UNIT = 2;

interface RecentBlock {
  lines: readonly unknown[];
  bytes: number;
}

export class RecentLines {
  readonly #blocks = new Map<number, RecentBlock>();
  #bytes = 0;

  /** @param bytesMax about what all lines together may take. */
  constructor(private readonly bytesMax = BYTES_MAX) {}

  /**
   * Keeps the lines of a block that is about to be evaluated; not if there is no room, because older blocks are evaluated
   * first.
   *
   * @param length of the text of the lines, in UTF-16 units.
   */
  keep(blockId: number, lines: readonly unknown[], length: number): void {
    const bytes = length * BYTES_PER_UNIT;
    if (this.#blocks.has(blockId) || this.#bytes + bytes > this.bytesMax) return;
    this.#blocks.set(blockId, { lines, bytes });
    this.#bytes += bytes;
  }

  /** The lines of a block, once: an evaluation that is repeated reads them from PostgreSQL. */
  take(blockId: number): readonly unknown[] | undefined {
    const block = this.#blocks.get(blockId);
    if (!block) return undefined;
    this.#blocks.delete(blockId);
    this.#bytes -= block.bytes;
    return block.lines;
  }
}
