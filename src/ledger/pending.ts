/** What blocks bring that are not stored or not evaluated yet. */
import { asc, eq, isNull } from 'drizzle-orm';
import { type Database, onPostgres } from '../postgres/client.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import { mergeTouched, namesIn, type Touched, touchedBy } from './block.ts';
import { linesOf } from './blocks.ts';

export interface Pending {
  blocks: number;
  /** What is to be judged. */
  touched: Touched;
  /** Ids of the tests and runs in blocks that are not stored, or only in some of the tables. */
  arriving: ReadonlySet<string>;
}

/** Reads one block at a time: hundreds may be waiting, of up to 8 MiB each. */
export async function readPending(db: Database): Promise<Pending> {
  const blocks = await onPostgres(() =>
    db
      .select({ blockId: ingestBlocks.blockId })
      .from(ingestBlocks)
      .where(isNull(ingestBlocks.evaluatedAt))
      .orderBy(asc(ingestBlocks.blockId)),
  );
  const touched: Touched = new Map();
  const arriving = new Set<string>();
  for (const { blockId } of blocks) {
    const [block] = await onPostgres(() =>
      db
        .select({ body: ingestBlocks.body, storedAt: ingestBlocks.storedAt })
        .from(ingestBlocks)
        .where(eq(ingestBlocks.blockId, blockId)),
    );
    // Evaluated meanwhile.
    if (!block?.body) continue;
    const lines = await linesOf(block.body);
    mergeTouched(touched, touchedBy(lines));
    if (block.storedAt === null) for (const name of namesIn(lines)) arriving.add(name);
  }
  return { blocks: blocks.length, touched, arriving };
}
