/** Finishes what a process that died left behind: blocks that are claimed but not stored, or stored but not evaluated. */
import type { BlockStore } from '../src/ledger/blocks.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Evaluator } from './evaluator.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 5_000;
/** The process that made a younger block is probably still at work on it; doing the work twice would be harmless. */
const AGE_SECONDS = 20;
/** How many one round takes up. The evaluator reads only as many at once as it has memory for. */
const BLOCKS_MAX = 500;

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
    let taken = 0;
    for (const { blockId, executions, isStored } of found) {
      if (this.loop.isStopped) break;
      taken++;
      log.info({ block: blockId, isStored }, 'finishing a block that was left behind');
      // The ledger passes what it stores on to the evaluator.
      if (isStored) evaluator.add({ blockId, executions });
      else await ledger.replay(blockId);
    }
    if (taken > 0) await evaluator.loop.idle();
    // There are more than one round takes.
    if (taken > 0 && leftBehind.length === BLOCKS_MAX) this.loop.wake();
    return taken;
  }
}
