/** Every row of a repository: counted before it is deleted, and removed. A test compares the lists with the schema. */
import { getTableName, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { addCounts, isFromBefore, type RowCounts } from '../domain/deletion.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { payloadOf } from './dead-letters.ts';
import { CAUSES_LOCK, DURATIONS_LOCK, TOTALS_LOCK } from './locks.ts';
import { lockPartitionsOf } from './partitions.ts';
import {
  backtests,
  baselines,
  blockParts,
  causeDays,
  causeGroups,
  causeNodes,
  causeTerms,
  changedFiles,
  clues,
  codeowners,
  commitRecords,
  deadLetters,
  durationTotals,
  eventOutbox,
  failedCommits,
  failureGroups,
  flakyExecutions,
  forgottenExecutions,
  forgottenTests,
  formerGroups,
  healthChanges,
  identities,
  imports,
  ingestClaims,
  jobLegs,
  judgedRuns,
  ownedTests,
  postponedRepositories,
  pullComments,
  pullRequests,
  quarantinedCauses,
  quarantines,
  refusedUploads,
  repositoryCounts,
  repositoryDays,
  savedViews,
  splits,
  stale,
  staleCommits,
  suspects,
  testDurations,
  testListings,
  testOwners,
  testRenames,
  tests,
  uploadChunks,
} from './schema.ts';

/**
 * Tables whose rows name their repository. What waits to be evaluated or refreshed leaves first, so that nothing new follows
 * from it.
 */
export const TABLES_BY_ID = [
  ...[blockParts, stale, staleCommits, postponedRepositories, eventOutbox],
  ...[tests, identities, jobLegs, suspects, baselines, flakyExecutions, testListings, healthChanges],
  ...[failureGroups, formerGroups, judgedRuns, clues, failedCommits, commitRecords],
  ...[causeNodes, causeGroups, causeDays, causeTerms, quarantinedCauses, testDurations, durationTotals],
  ...[quarantines, codeowners, ownedTests, testOwners, changedFiles, pullRequests, pullComments],
  ...[repositoryCounts, repositoryDays, savedViews, testRenames, backtests, uploadChunks, ingestClaims],
  ...[forgottenTests, forgottenExecutions],
] as const;
type TableById = (typeof TABLES_BY_ID)[number];

/** Tables whose rows name the path of their repository, because it may not be known yet. */
export const TABLES_BY_PATH = [refusedUploads, splits, imports, deadLetters] as const;

/** A statement that removes so many rows stays far below the time that it may take. */
const ROWS_AT_ONCE = 10_000;
const LETTERS_AT_ONCE = 100;

const countRow = z.object({ rows: z.coerce.number() });

/** How many rows a repository has, by table. */
export async function countRows(db: Database, repositoryId: string): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  for (const table of TABLES_BY_ID) {
    const { rows } = await onPostgres(() =>
      db.execute(sql`select count(*) as rows from ${table} where repository_id = ${repositoryId}`),
    );
    counts[getTableName(table)] = countRow.parse(rows[0]).rows;
  }
  return addCounts(counts);
}

/**
 * Removes every row of a repository. Each step is a transaction, which also notes what it removed: one that is cut off
 * continues.
 */
export async function removeRows(
  db: Database,
  repositoryId: string,
  note: (tx: Executor, removed: RowCounts) => Promise<void>,
): Promise<void> {
  for (const table of TABLES_BY_ID)
    for (let removed = ROWS_AT_ONCE; removed === ROWS_AT_ONCE; )
      removed = await onPostgres(() =>
        db.transaction(async (tx) => {
          await lockState(tx, repositoryId);
          const count = await removeSome(tx, table, sql`repository_id = ${repositoryId}`);
          if (count > 0) await note(tx, { [getTableName(table)]: count });
          return count;
        }),
      );
}

/** Waits for the pass or refresh that is at the repository, and keeps others away until the end of the transaction. */
export async function lockState(tx: Executor, repositoryId: string): Promise<void> {
  await lockPartitionsOf(tx, repositoryId);
  for (const lock of [TOTALS_LOCK, CAUSES_LOCK, DURATIONS_LOCK])
    await tx.execute(sql`select pg_advisory_xact_lock(${lock}, hashtext(${repositoryId}))`);
}

async function removeSome(
  tx: Executor,
  table: TableById | (typeof TABLES_BY_PATH)[number],
  which: SQL,
): Promise<number> {
  const { rowCount } = await tx.execute(
    sql`delete from ${table} where ctid = any(array(select ctid from ${table} where ${which} limit ${ROWS_AT_ONCE}))`,
  );
  return rowCount ?? 0;
}

/**
 * Removes what names a repository by its path, as far as it is from before a moment: whatever is there later belongs to the next
 * repository at that path.
 *
 * @param before milliseconds since the epoch
 */
export async function removeByPath(tx: Executor, { owner, name }: RepositoryName, before: number): Promise<RowCounts> {
  const at = sql`${new Date(before).toISOString()}::timestamptz`;
  const [lowerOwner, lowerName] = [owner.toLowerCase(), name.toLowerCase()];
  const isRefused = sql`lower(owner) = ${lowerOwner} and lower(repository) = ${lowerName} and refused_at <= ${at}`;
  const path = `${lowerOwner}/${lowerName}`;
  const isSplit = sql`repository = ${path} and created_at <= ${at}`;
  const isImported = sql`path = ${path} and started_at <= ${at}`;
  const letters = await lettersOf(tx, { owner, name }, before);
  return addCounts({
    refused_uploads: await removeSome(tx, refusedUploads, isRefused),
    splits: await removeSome(tx, splits, isSplit),
    imports: await removeSome(tx, imports, isImported),
    dead_letters: await removeSome(tx, deadLetters, sql`id = any(${sql.param(letters)}::uuid[])`),
  });
}

const letterRow = z.object({ id: z.string(), payload: z.instanceof(Uint8Array), created_at: z.coerce.date() });
/** The payload of a dead letter need not be one that a queue takes. */
const jobOfRepository = z.object({
  repository: z.object({ owner: z.string(), name: z.string() }),
  received_at: z.iso.datetime({ offset: true }).optional().catch(undefined),
});

/** Their payloads are packed, so each is looked at. */
async function lettersOf(tx: Executor, { owner, name }: RepositoryName, before: number): Promise<string[]> {
  const found: string[] = [];
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await tx.execute(sql`
      select id, payload, created_at from ${deadLetters} where id > ${after}::uuid order by id limit ${LETTERS_AT_ONCE}`);
    const letters = rows.map((row) => letterRow.parse(row));
    for (const { id, payload, created_at: createdAt } of letters) {
      const job = jobOfRepository.safeParse(payloadOf(payload)).data;
      if (job?.repository.owner.toLowerCase() !== owner.toLowerCase()) continue;
      if (job.repository.name.toLowerCase() !== name.toLowerCase()) continue;
      if (isFromBefore(job.received_at ? Date.parse(job.received_at) : createdAt.getTime(), before)) found.push(id);
    }
    const last = letters.at(-1);
    if (!last || letters.length < LETTERS_AT_ONCE) return found;
    after = last.id;
  }
}
