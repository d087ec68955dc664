/**
 * Contents of blocks that are not stored or not evaluated yet, and everything stale: `verify` reports no difference there.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { commitKey } from '../commits/commit-record.ts';
import { STALE_KINDS, type StaleKind } from '../domain/stale.ts';
import { linesOf } from '../ledger/parts.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { blockParts, ingestBlocks, stale } from '../postgres/schema.ts';
import { Contents } from './contents.ts';

/** Since when a test is to be judged, in milliseconds since the epoch, by repository id, then by test id. */
export type PendingTests = Map<string, Map<string, number>>;

export interface Pending {
  blocks: number;
  /** Tests that are to be judged. */
  tests: PendingTests;
  /** By `commitKey`. */
  commits: ReadonlySet<string>;
  /** Ids of the repositories that something ran in. */
  repositories: ReadonlySet<string>;
  /** Ids of the tests and runs in blocks that are not stored, or only in some of the tables. */
  arriving: ReadonlySet<string>;
  /** By repository id: what is stale, and is not compared. */
  stale: ReadonlyMap<string, ReadonlySet<StaleKind>>;
}

const partRow = z.object({
  partition: z.number(),
  block_id: z.string(),
  repository_id: z.string(),
  is_stored: z.boolean(),
});
const bodyRow = z.object({ body: z.instanceof(Uint8Array) });
const staleRow = z.object({ repository_id: z.string(), kind: z.enum(STALE_KINDS) });

/** Reads one part at a time: thousands may be waiting. */
export async function readPending(db: Database): Promise<Pending> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select partition, block_id, repository_id, stored_at is not null as is_stored
      from ${blockParts} join ${ingestBlocks} using (block_id) order by block_id`),
  );
  const parts = rows.map((row) => partRow.parse(row));
  const tests: PendingTests = new Map();
  const commits = new Set<string>();
  const repositories = new Set<string>();
  const arriving = new Set<string>();
  for (const { partition, block_id: blockId, repository_id: repositoryId, is_stored: isStored } of parts) {
    const found = await onPostgres(() =>
      db.execute(sql`
        select body from ${blockParts}
        where partition = ${partition} and block_id = ${blockId} and repository_id = ${repositoryId}`),
    );
    // Evaluated meanwhile.
    if (!found.rows[0]) continue;
    const contents = new Contents();
    contents.add(await linesOf(bodyRow.parse(found.rows[0]).body));
    addTests(tests, repositoryId, contents);
    repositories.add(repositoryId);
    for (const commit of contents.commits.keys()) commits.add(commitKey({ repositoryId, commit }));
    if (!isStored) for (const name of contents.names) arriving.add(name);
  }
  return {
    blocks: new Set(parts.map(({ block_id }) => block_id)).size,
    ...{ tests, commits, repositories, arriving },
    stale: await readStaleKinds(db),
  };
}

async function readStaleKinds(db: Database): Promise<ReadonlyMap<string, ReadonlySet<StaleKind>>> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`select repository_id, kind from ${stale} where noted_at is not null`),
  );
  const byRepository = Map.groupBy(
    rows.map((row) => staleRow.parse(row)),
    (row) => row.repository_id,
  );
  return new Map([...byRepository].map(([id, found]) => [id, new Set(found.map(({ kind }) => kind))]));
}

function addTests(pending: PendingTests, repositoryId: string, { identities }: Contents): void {
  const known = pending.get(repositoryId) ?? new Map<string, number>();
  pending.set(repositoryId, known);
  for (const identity of identities.values()) {
    const times = identity.conclusive().map(({ finishedAt }) => finishedAt);
    const since = Math.min(Number.MAX_SAFE_INTEGER, ...times);
    known.set(identity.testId, Math.min(since, known.get(identity.testId) ?? since));
  }
}
