/** Finishes what a process that died left behind: blocks written down but not stored, or stored but not evaluated. */

import { touchedBy } from '../src/ledger/block.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Evaluator } from './evaluator.ts';

const EVERY_MS = 5_000;
/** A block that is younger is most likely in good hands; doing its work twice would be harmless. */
const AGE_SECONDS = 20;
const BLOCKS_MAX = 20;

export class Sweeper {
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly ledger: Ledger,
    private readonly evaluator: Evaluator,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      // A round that takes longer than the interval is not joined by another.
      this.#running ??= this.sweep()
        .then(
          () => {},
          (error) => this.log.warn({ err: error }, 'sweep failed, it is tried again'),
        )
        .finally(() => {
          this.#running = undefined;
        });
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round; `ageSeconds` of 0 takes every unfinished block. Returns how many it took up. */
  async sweep(ageSeconds = AGE_SECONDS): Promise<number> {
    const found = await this.ledger.leftBehind(ageSeconds, BLOCKS_MAX);
    const blocks = found.filter(({ blockId }) => !this.evaluator.has(blockId));
    for (const { blockId, isStored } of blocks) {
      this.log.info({ block: blockId, isStored }, 'a block was left behind, it is finished now');
      if (!isStored) {
        // The ledger hands what it stores on to the evaluation by itself.
        await this.ledger.replay(blockId);
        continue;
      }
      const lines = await this.ledger.lines(blockId);
      if (lines !== undefined) this.evaluator.add({ blockId, touched: touchedBy(lines) });
    }
    if (blocks.length > 0) await this.evaluator.drain();
    return blocks.length;
  }
}
