/** Finishes what a process that died left behind: blocks that are claimed but not stored, or stored but not evaluated. */
import { touchedBy } from '../src/ledger/block.ts';
import type { BlockStore } from '../src/ledger/blocks.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Evaluator } from './evaluator.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 5_000;
/** The process that made a younger block is probably still at work on it; doing the work twice would be harmless. */
const AGE_SECONDS = 20;
/** How much one round takes up. Blocks that are evaluated together cost less, and memory. */
const BLOCKS_MAX = 500;
const EXECUTIONS_MAX = 500_000;

export interface SweeperDeps {
  blocks: BlockStore;
  ledger: Ledger;
  evaluator: Evaluator;
  log: Logger;
}

export class Sweeper {
  readonly loop: Loop;

  constructor(private readonly deps: SweeperDeps) {
    this.loop = new Loop({
      name: 'sweeper',
      log: deps.log,
      run: () => this.sweep(),
      everyMs: EVERY_MS,
      retryMs: EVERY_MS,
    });
  }

  /** One round; `ageSeconds` of 0 takes every unfinished block. Returns how many it took up. */
  async sweep(ageSeconds = AGE_SECONDS): Promise<number> {
    const { blocks, ledger, evaluator, log } = this.deps;
    const leftBehind = await blocks.leftBehind(ageSeconds, BLOCKS_MAX);
    const found = leftBehind.filter(({ blockId }) => !evaluator.has(blockId));
    let executions = 0;
    let taken = 0;
    for (const { blockId, isStored, executions: size } of found) {
      if (this.loop.isStopped || (taken > 0 && executions + size > EXECUTIONS_MAX)) break;
      executions += size;
      taken++;
      log.info({ block: blockId, isStored }, 'finishing a block that was left behind');
      if (!isStored) {
        // The ledger passes what it stores on to the evaluator.
        await ledger.replay(blockId);
        continue;
      }
      const lines = await blocks.lines(blockId);
      if (lines !== undefined) evaluator.add({ blockId, touched: touchedBy(lines) });
    }
    if (taken > 0) await evaluator.loop.idle();
    // There are more than one round takes.
    if (taken > 0 && (taken < found.length || leftBehind.length === BLOCKS_MAX)) this.loop.wake();
    return taken;
  }
}
