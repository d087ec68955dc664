/**
 * Finishes what a process that died left behind: blocks that are claimed but not stored. Forgets splits of old runs, too.
 */
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { ShardByShard } from '../src/clickhouse/shards.ts';
import { unstoredBlocks } from '../src/ledger/blocks.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Database } from '../src/postgres/client.ts';
import { forgetSplits } from '../src/postgres/splits.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 5_000;
/** The process that made a younger block is probably still at work on it; doing the work twice would be harmless. */
const AGE_SECONDS = 20;
/** How many one round takes up. */
const BLOCKS_MAX = 500;

export interface SweeperDeps {
  db: Database;
  clickhouse: Pick<ClickHouse, 'isSharded'>;
  ledger: Ledger;
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
    const { db, clickhouse, ledger, log } = this.deps;
    const shards = new ShardByShard(clickhouse);
    let taken = 0;
    let failed: number;
    do {
      failed = shards.failed.length;
      const found = await unstoredBlocks(db, ageSeconds, { limit: BLOCKS_MAX, exceptShards: shards.failed });
      for (const { blockId, shard } of found) {
        if (this.loop.isStopped || shards.failed.includes(shard)) continue;
        taken++;
        log.info({ block: blockId }, 'storing a block that was left behind');
        // The ledger wakes the evaluator.
        await shards.attempt(shard, () => ledger.replay(blockId));
      }
      // There are more than one round takes.
      if (found.length === BLOCKS_MAX) this.loop.wake();
      // Blocks of a shard that does not answer took the room of others.
    } while (shards.failed.length > failed && !this.loop.isStopped);
    while (!this.loop.isStopped && (await forgetSplits(db)) > 0);
    shards.rethrow();
    return taken;
  }
}
