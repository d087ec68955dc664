/** What blocks bring that are not stored or not evaluated yet. */
import { asc, eq, isNull } from 'drizzle-orm';
import { linesOf } from '../ledger/blocks.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import { commitKey } from './commit-record.ts';
import { News, namesIn } from './news.ts';

/** Since when a test is to be judged, in milliseconds since the epoch, by repository id, then by test id. */
export type PendingTests = Map<string, Map<string, number>>;

export interface Pending {
  blocks: number;
  /** What is to be judged. */
  tests: PendingTests;
  /** By {@link commitKey}. */
  commits: ReadonlySet<string>;
  /** Ids of the repositories that something ran in. */
  repositories: ReadonlySet<string>;
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
  const tests: PendingTests = new Map();
  const commits = new Set<string>();
  const repositories = new Set<string>();
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
    const news = new News();
    news.add(lines);
    addPending(tests, news);
    for (const repositoryId of news.newest.keys()) repositories.add(repositoryId);
    for (const [repositoryId, of] of news.commits)
      for (const commit of of.keys()) commits.add(commitKey({ repositoryId, commit }));
    if (block.storedAt === null) for (const name of namesIn(lines)) arriving.add(name);
  }
  return { blocks: blocks.length, tests, commits, repositories, arriving };
}

function addPending(pending: PendingTests, news: News): void {
  for (const [repositoryId, tests] of news.repositories) {
    const known = pending.get(repositoryId) ?? new Map<string, number>();
    pending.set(repositoryId, known);
    for (const [testId, { since }] of tests) known.set(testId, Math.min(since, known.get(testId) ?? since));
  }
}
