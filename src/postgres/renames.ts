/** Renames of tests: what was proposed, and what is still to be applied. */
import { and, asc, desc, eq, inArray, ne, not, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { z } from 'zod';
import type { RenameState } from '../domain/rename-decisions.ts';
import type { RenameReason } from '../domain/renames.ts';
import { cleanText } from '../domain/text.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { testRenames } from './schema.ts';

export type Rename = typeof testRenames.$inferSelect;

/** When it was proposed, in milliseconds since the epoch, and its id. */
export type RenameKey = [proposedMs: number, id: string];

export interface RenamesRequest {
  states: readonly RenameState[];
  /** Those in which it is the test that continues, or whose name was given. */
  testId: string | undefined;
  key: RenameKey | null;
  direction: 'next' | 'previous';
  rows: number;
}

/** Beyond a key, nearest first; newest first. */
export function listRenames(
  db: Database,
  repositoryId: string,
  { states, testId, key, direction, rows }: RenamesRequest,
): Promise<Rename[]> {
  const isNext = direction === 'next';
  const inOrder = isNext ? desc : asc;
  const at = key && new Date(key[0]).toISOString();
  return onPostgres(() =>
    db
      .select()
      .from(testRenames)
      .where(
        and(
          eq(testRenames.repositoryId, repositoryId),
          states.length > 0 ? inArray(testRenames.state, [...states]) : undefined,
          testId === undefined ? undefined : sql`${testId} in (${testRenames.fromId}, ${testRenames.toId})`,
          key
            ? sql`(${testRenames.proposedAt}, ${testRenames.id}) ${isNext ? sql`<` : sql`>`} (${at}::timestamptz, ${key[1]}::uuid)`
            : undefined,
        ),
      )
      .orderBy(inOrder(testRenames.proposedAt), inOrder(testRenames.id))
      .limit(rows),
  );
}

export interface NewProposal {
  fromId: string;
  fromName: string;
  toId: string;
  toName: string;
  reasons: readonly RenameReason[];
  confidence: number;
  firstMs: number;
}

/** Of more, the others follow when these are known. */
const PROPOSALS_AT_ONCE = 2_000;

/** Adds what is not known yet: a pair that someone rejected is not proposed again. */
export async function addProposals(
  tx: Executor,
  repositoryId: string,
  proposals: readonly NewProposal[],
): Promise<void> {
  const known = await tx
    .select({ fromId: testRenames.fromId, toId: testRenames.toId })
    .from(testRenames)
    .where(eq(testRenames.repositoryId, repositoryId));
  const pairs = new Set(known.map(({ fromId, toId }) => `${fromId} ${toId}`));
  const unknown = proposals.filter(({ fromId, toId }) => !pairs.has(`${fromId} ${toId}`));
  if (unknown.length === 0) return;
  await tx
    .insert(testRenames)
    .values(
      unknown.slice(0, PROPOSALS_AT_ONCE).map(({ reasons, ...one }) => ({
        ...{ id: uuid7(), repositoryId, ...one, reasons: [...reasons], state: 'proposed' as const },
        ...{ proposedAt: sql`date_trunc('milliseconds', now())`, isApplied: true },
      })),
    )
    .onConflictDoNothing();
}

export type DecidedRename = Pick<Rename, 'id' | 'repositoryId' | 'fromId' | 'toId' | 'toName' | 'state' | 'isApplied'>;

const decidedColumns = {
  id: testRenames.id,
  repositoryId: testRenames.repositoryId,
  fromId: testRenames.fromId,
  toId: testRenames.toId,
  toName: testRenames.toName,
  state: testRenames.state,
  isApplied: testRenames.isApplied,
};

/** Renames of all repositories. */
export const unappliedRenames = (tx: Executor): Promise<DecidedRename[]> =>
  tx.select(decidedColumns).from(testRenames).where(sql`not ${testRenames.isApplied}`);

/** Renames that are or were accepted, of all repositories or of one. */
export const decidedRenames = (tx: Executor, repositoryId?: string): Promise<DecidedRename[]> =>
  tx
    .select(decidedColumns)
    .from(testRenames)
    .where(
      and(
        inArray(testRenames.state, ['accepted', 'undone']),
        repositoryId === undefined ? undefined : eq(testRenames.repositoryId, repositoryId),
      ),
    );

/** A rename that was decided again meanwhile stays to be applied. */
export async function settleRenames(tx: Executor, renames: readonly DecidedRename[]): Promise<void> {
  for (const { id, state } of renames)
    await tx
      .update(testRenames)
      .set({
        isApplied: true,
        tries: 0,
        failure: sql`case when ${testRenames.decidedBy} = ${GIVEN_UP_BY} then ${testRenames.failure} end`,
      })
      .where(and(eq(testRenames.id, id), eq(testRenames.state, state)));
}

/** Uploads of the repository wait meanwhile, so there is an end: at one try in ten seconds, after some minutes. */
export const APPLY_TRIES_MAX = 20;
/** Who undoes a rename that cannot be applied, in the trail and in the log. */
export const GIVEN_UP_BY = 'rename that cannot be applied';
const FAILURE_LENGTH_MAX = 1_000;

/**
 * Notes that renames could not be applied.
 *
 * @returns those that were tried often enough
 */
export async function noteFailedTry(
  db: Executor,
  renames: readonly DecidedRename[],
  failure: string,
): Promise<DecidedRename[]> {
  const ids = renames.map(({ id }) => id);
  const tried = await db
    .update(testRenames)
    .set({ tries: sql`${testRenames.tries} + 1`, failure: cleanText(failure.slice(0, FAILURE_LENGTH_MAX)) })
    .where(and(inArray(testRenames.id, ids), not(testRenames.isApplied)))
    .returning({ ...decidedColumns, tries: testRenames.tries });
  return tried.filter(({ tries }) => tries >= APPLY_TRIES_MAX);
}

const FAILED_DAYS = 7;

/** Renames of the last seven days that could not be applied, and why one could not. */
export async function readFailedRenames(db: Executor, now: number): Promise<{ count: number; reason: string | null }> {
  const since = new Date(now - FAILED_DAYS * DAY_MS).toISOString();
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select count(*) as count, max(failure) as reason from ${testRenames}
      where failure is not null and decided_at > ${since}::timestamptz`),
  );
  return z.object({ count: z.coerce.number(), reason: z.string().nullable() }).parse(rows[0]);
}

/**
 * Notes that results were stored under a name that belongs to another test by now: a worker had not heard of the rename. They are
 * moved like those from before it.
 */
export async function noteStrays(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  await tx
    .update(testRenames)
    .set({ isApplied: false })
    .where(
      and(
        eq(testRenames.repositoryId, repositoryId),
        eq(testRenames.state, 'accepted'),
        inArray(testRenames.toId, [...testIds]),
        ne(testRenames.isApplied, false),
      ),
    );
}
