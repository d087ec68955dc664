/** Renames of tests: what was proposed, and what is still to be applied. */
import { and, asc, desc, eq, inArray, ne, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { RenameState } from '../domain/rename-decisions.ts';
import type { RenameReason } from '../domain/renames.ts';
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
      .set({ isApplied: true })
      .where(and(eq(testRenames.id, id), eq(testRenames.state, state)));
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
