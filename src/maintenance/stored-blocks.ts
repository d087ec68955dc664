/** Evaluation of every stored block, before the state of tests is derived from scratch. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { BlockEvaluation } from '../evaluation/block-evaluation.ts';
import { BlockStore } from '../ledger/blocks.ts';
import type { Database } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';

/** In one pass; they are up to 8 MiB each. */
const BLOCKS_AT_ONCE = 10;

export interface StoredBlocksDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  quarantines: QuarantineStore;
}

/**
 * Call it while nothing is stored: under the rebuild lock. A block that was counted later would count twice. Returns how
 * many blocks it evaluated.
 */
export async function evaluateStoredBlocks({
  clickhouse,
  postgres: { db },
  quarantines,
}: StoredBlocksDeps): Promise<number> {
  const blocks = new BlockStore(db);
  const evaluation = new BlockEvaluation({ db, clickhouse, blocks, quarantines });
  for (let evaluated = 0; ; ) {
    const blockIds = await blocks.storedOnly(BLOCKS_AT_ONCE);
    if (blockIds.length === 0) return evaluated;
    await evaluation.run(blockIds);
    evaluated += blockIds.length;
  }
}
