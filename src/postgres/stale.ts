/**
 * Notes of stale state (src/domain/stale.ts). A pass notes it in its own transaction, and a refresh takes the note away in
 * the transaction that brings it up to date. A note that rises meanwhile has a higher revision and stays. So nothing is
 * forgotten, and to refresh twice changes nothing.
 *
 *     refreshed ──noted──► noted ──refreshed──► resting ──some times as long as that took──► may be refreshed again
 */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { STALE_KINDS, type StaleKind } from '../domain/stale.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { stale, staleCommits } from './schema.ts';

export interface StaleNote {
  repositoryId: string;
  kind: StaleKind;
  /** The earliest moment that is concerned; milliseconds since the epoch. */
  since?: number;
  testIds?: Iterable<string>;
  /** The first block that makes it so. */
  blockId: number;
  /** Whether it follows from imported results only: then nothing is quarantined for it. */
  isImported?: boolean;
}

/** Adds to what is noted. Each repository and kind is given once. */
export async function noteStale(tx: Executor, notes: readonly StaleNote[]): Promise<void> {
  if (notes.length === 0) return;
  await tx.execute(sql`
    insert into ${stale} as known (repository_id, kind, since_ms, test_ids, first_block, is_imported, noted_at)
    select repository_id, kind, nullif(since_ms, -1), test_ids::uuid[], first_block, is_imported, clock_timestamp()
    from unnest(${plainColumn(notes.map(({ repositoryId }) => repositoryId))}::uuid[],
      ${plainColumn(notes.map(({ kind }) => kind))}::text[], ${plainColumn(notes.map(({ since = -1 }) => since))}::bigint[],
      ${textColumn(notes.map(({ testIds = [] }) => `{${[...testIds].join()}}`))},
      ${plainColumn(notes.map(({ blockId }) => blockId))}::bigint[],
      ${plainColumn(notes.map(({ isImported = false }) => String(isImported)))}::boolean[])
      as note (repository_id, kind, since_ms, test_ids, first_block, is_imported)
    on conflict (repository_id, kind) do update set
      since_ms = least(known.since_ms, excluded.since_ms),
      test_ids = case when excluded.test_ids <@ known.test_ids then known.test_ids
        else array(select distinct unnest(known.test_ids || excluded.test_ids)) end,
      first_block = least(known.first_block, excluded.first_block),
      is_imported = excluded.is_imported and (known.is_imported or known.noted_at is null),
      revision = known.revision + 1,
      noted_at = coalesce(known.noted_at, excluded.noted_at)`);
}

export interface Noted {
  since: number | null;
  testIds: ReadonlySet<string>;
  firstBlock: number;
  /** Whether it follows from imported results only. */
  isImported: boolean;
  revision: number;
  /** Whether it may be refreshed now. */
  isRested: boolean;
}

const notedRow = z.object({
  repository_id: z.string(),
  kind: z.enum(STALE_KINDS),
  since_ms: z.number().nullable(),
  test_ids: z.array(z.string()),
  first_block: z.number(),
  is_imported: z.boolean(),
  revision: z.coerce.number(),
  is_rested: z.boolean(),
});

/** Notes of some repositories: by repository id, then by kind. */
export async function readStale(
  tx: Executor,
  repositoryIds: readonly string[],
): Promise<Map<string, Map<StaleKind, Noted>>> {
  const { rows } = await tx.execute(sql`
    select repository_id, kind, since_ms::float8 as since_ms, test_ids, coalesce(first_block, 0)::float8 as first_block,
      is_imported, revision, rests_until <= now() as is_rested
    from ${stale} where repository_id = any(${plainColumn(repositoryIds)}::uuid[]) and noted_at is not null`);
  const found = new Map<string, Map<StaleKind, Noted>>();
  for (const row of rows.map((one) => notedRow.parse(one))) {
    const kinds = found.get(row.repository_id) ?? new Map<StaleKind, Noted>();
    found.set(row.repository_id, kinds);
    kinds.set(row.kind, {
      since: row.since_ms,
      testIds: new Set(row.test_ids),
      firstBlock: row.first_block,
      isImported: row.is_imported,
      revision: row.revision,
      isRested: row.is_rested,
    });
  }
  return found;
}

/** How long commits are left alone before their records are written: their jobs arrive one after the other. */
const RECORDS_WAIT_SECONDS = 3;

export interface DueOptions {
  kinds: readonly StaleKind[];
  /** Only what follows from imported results alone, or only the rest; absent: both. */
  isImported?: boolean | undefined;
  /** Also what rests or waits; tests do. */
  isHasty: boolean;
  /** Repositories that were looked at already. */
  except: readonly string[];
}

/** The repository with the oldest note that may be refreshed now; undefined if there is none. */
export async function nextStale(
  tx: Executor,
  { kinds, isImported, isHasty, except }: DueOptions,
): Promise<string | undefined> {
  const isDue: SQL = isHasty
    ? sql`true`
    : sql`rests_until <= now() and (kind <> 'records' or noted_at <= now() - make_interval(secs => ${RECORDS_WAIT_SECONDS}))`;
  const isMeant = isImported === undefined ? sql`true` : sql`is_imported = ${isImported}`;
  const { rows } = await tx.execute(sql`
    select repository_id from ${stale}
    where noted_at is not null and kind = any(${plainColumn(kinds)}::text[]) and ${isMeant} and ${isDue}
      and not repository_id = any(${plainColumn(except)}::uuid[])
    order by noted_at limit 1`);
  return rows[0] && z.object({ repository_id: z.string() }).parse(rows[0]).repository_id;
}

/** A kind may rest for this long, however new it is. */
const SHORT_REST_SECONDS = 10;

/**
 * Takes a note away: it is refreshed. Another may be made at once, and is refreshed once this one has rested. It rests no
 * longer than it has been known. Otherwise a repository that an import has just filled would show only how the import began.
 *
 * @param revision as it was read: a note that came since stays
 */
export async function settleStale(
  tx: Executor,
  repositoryId: string,
  kind: StaleKind,
  { restMs, revision }: { restMs: number; revision: number },
): Promise<void> {
  await tx.execute(sql`
    update ${stale} set noted_at = null, since_ms = null, test_ids = '{}', first_block = null,
      rests_until = clock_timestamp() + least(make_interval(secs => ${restMs / 1_000}),
        greatest(make_interval(secs => ${SHORT_REST_SECONDS}), clock_timestamp() - known_since))
    where repository_id = ${repositoryId} and kind = ${kind} and revision = ${revision}`);
}

/** Everything that is noted of a repository is forgotten, because it is derived from scratch. */
export async function forgetStale(tx: Executor, repositoryId: string, kinds: readonly StaleKind[]): Promise<void> {
  await tx.execute(sql`
    update ${stale} set noted_at = null, since_ms = null, test_ids = '{}', first_block = null
    where repository_id = ${repositoryId} and kind = any(${textColumn(kinds)})`);
}

export interface StaleCommit {
  commit: string;
  /** Whether what it contradicts is to be read again. */
  isEvidenceStale: boolean;
  /** Tests that passed there only after failed attempts. */
  retriedTests: ReadonlySet<string>;
}

/** Each commit is given once. */
export async function noteStaleCommits(
  tx: Executor,
  repositoryId: string,
  commits: readonly StaleCommit[],
): Promise<void> {
  if (commits.length === 0) return;
  await tx.execute(sql`
    insert into ${staleCommits} as known (repository_id, commit_sha, is_evidence_stale, retried_tests, touched_at)
    select ${repositoryId}::uuid, commit_sha, is_evidence_stale, retried_tests::uuid[], clock_timestamp()
    from unnest(${textColumn(commits.map(({ commit }) => commit))},
      ${plainColumn(commits.map(({ isEvidenceStale }) => String(isEvidenceStale)))}::boolean[],
      ${textColumn(commits.map(({ retriedTests }) => `{${[...retriedTests].join()}}`))})
      as touched (commit_sha, is_evidence_stale, retried_tests)
    on conflict (repository_id, commit_sha) do update set
      is_evidence_stale = known.is_evidence_stale or excluded.is_evidence_stale,
      retried_tests = array(select distinct unnest(known.retried_tests || excluded.retried_tests)),
      touched_at = excluded.touched_at`);
}

const commitRow = z
  .object({ commit_sha: z.string(), is_evidence_stale: z.boolean(), retried_tests: z.array(z.string()) })
  .transform(
    (row): StaleCommit => ({
      commit: row.commit_sha,
      isEvidenceStale: row.is_evidence_stale,
      retriedTests: new Set(row.retried_tests),
    }),
  );

/** Commits whose evidence is stale, or all others; in the order in which something last ran on them. */
export async function readStaleCommits(
  tx: Executor,
  repositoryId: string,
  { isEvidence, limit }: { isEvidence: boolean; limit: number },
): Promise<StaleCommit[]> {
  const { rows } = await tx.execute(sql`
    select commit_sha, is_evidence_stale, retried_tests from ${staleCommits}
    where repository_id = ${repositoryId} and is_evidence_stale = ${isEvidence}
    order by touched_at, commit_sha limit ${limit}`);
  return rows.map((row) => commitRow.parse(row));
}

/** The evidence of some commits is no longer stale. */
export async function settleEvidence(tx: Executor, repositoryId: string, commits: readonly string[]): Promise<void> {
  await tx.execute(sql`
    update ${staleCommits} set is_evidence_stale = false, retried_tests = '{}'
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
}

/** The records of some commits are written; those whose evidence is stale stay noted. */
export async function settleRecords(tx: Executor, repositoryId: string, commits: readonly string[]): Promise<void> {
  await tx.execute(sql`
    delete from ${staleCommits}
    where repository_id = ${repositoryId} and commit_sha = any(${textColumn(commits)})`);
}

/** Nothing of the evidence of a repository is stale any more: it was derived from scratch. */
export async function settleAllEvidence(tx: Executor, repositoryId: string): Promise<void> {
  await tx
    .update(staleCommits)
    .set({ isEvidenceStale: false, retriedTests: [] })
    .where(and(eq(staleCommits.repositoryId, repositoryId), eq(staleCommits.isEvidenceStale, true)));
}
