/** Renames of tests: what was proposed, and what people decided. */
import { and, asc, desc, eq, inArray, ne, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { testIdOf } from '../domain/identity.ts';
import type { RenameState } from '../domain/rename-decisions.ts';
import type { RenameReason } from '../domain/renames.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import type { Repository } from './repositories.ts';
import type { Doer } from './repository-changes.ts';
import { testRenames, tests } from './schema.ts';
import { readTestNames, testIdNamed } from './test-names.ts';

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

/** `taken`: the name belongs to a test already, or one would become its own predecessor; `settled`: the state does not allow it. */
export type RenameRefusal = 'taken' | 'settled';

/** Which states each decision may follow. */
const BEFORE: Readonly<Record<'accepted' | 'rejected' | 'undone', readonly RenameState[]>> = {
  accepted: ['proposed', 'rejected', 'undone'],
  rejected: ['proposed'],
  undone: ['accepted'],
};
const ACTIONS = { accepted: 'rename.accept', rejected: 'rename.reject', undone: 'rename.undo' } as const;
export type RenameDecision = keyof typeof BEFORE;

interface DecidedBy {
  by: Doer;
  now: number;
}

/** Undefined if there is none with this id. What was accepted or undone is applied to what is stored within seconds. */
export function decideRename(
  db: Database,
  repository: Pick<Repository, 'id' | 'owner' | 'name'>,
  id: string,
  decision: RenameDecision,
  decided: DecidedBy,
): Promise<Rename | RenameRefusal | undefined> {
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const ofRepository = eq(testRenames.repositoryId, repository.id);
      await lockRenames(tx, repository.id);
      const [known] = await tx
        .select()
        .from(testRenames)
        .where(and(ofRepository, eq(testRenames.id, id)));
      if (!known || known.state === decision) return known;
      if (!BEFORE[decision].includes(known.state)) return 'settled';
      if (decision === 'accepted' && (await readTestNames(tx, repository.id)).refuses(known)) return 'taken';
      return writeDecision(tx, repository, known, decision, decided);
    }),
  );
}

/** A person says that a test has another name now. `unknown`: no test of the name before ran on the default branch. */
export function renameTest(
  db: Database,
  repository: Pick<Repository, 'id' | 'owner' | 'name'>,
  { fromName, toName }: { fromName: string; toName: string },
  decided: DecidedBy,
): Promise<Rename | RenameRefusal | 'unknown'> {
  return onPostgres(() =>
    db.transaction(async (tx) => {
      await lockRenames(tx, repository.id);
      const fromId = await testIdNamed(tx, repository.id, fromName);
      const toId = testIdOf(repository.id, toName);
      const [test] = await tx
        .select({ name: tests.name })
        .from(tests)
        .where(and(eq(tests.repositoryId, repository.id), eq(tests.testId, fromId)));
      if (!test) return 'unknown';
      if ((await readTestNames(tx, repository.id)).refuses({ fromId, toId })) return 'taken';
      const at = new Date(decided.now);
      const [made] = await tx
        .insert(testRenames)
        .values({
          ...{ id: uuid7(), repositoryId: repository.id, fromId, fromName: test.name, toId, toName },
          ...{
            state: 'proposed',
            reasons: [],
            confidence: null,
            firstMs: decided.now,
            proposedAt: at,
            isApplied: true,
          },
        })
        .onConflictDoUpdate({
          target: [testRenames.repositoryId, testRenames.fromId, testRenames.toId],
          set: { toName },
        })
        .returning();
      return made ? writeDecision(tx, repository, made, 'accepted', decided) : 'settled';
    }),
  );
}

/** From here on to its end, the transaction is the only one that decides about renames of the repository. */
const lockRenames = (tx: Executor, repositoryId: string) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`renames ${repositoryId}`}, 0))`);

async function writeDecision(
  tx: Executor,
  { owner, name: repository }: Pick<Repository, 'owner' | 'name'>,
  known: Rename,
  state: RenameDecision,
  { by, now }: DecidedBy,
): Promise<Rename | 'settled'> {
  const isApplied = state === 'rejected';
  const [decided] = await tx
    .update(testRenames)
    .set({ state, isApplied, decidedAt: new Date(now), decidedBy: by.name })
    .where(eq(testRenames.id, known.id))
    .returning();
  const names = { test_name: known.fromName, new_name: known.toName };
  await recordAudit(
    tx,
    by.audit,
    {
      ...{ action: ACTIONS[state], objectId: known.id, objectName: known.toName, owner, repository },
      ...{ before: { state: known.state, ...names }, after: { state, ...names } },
    },
    now,
  );
  return decided ?? 'settled';
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
