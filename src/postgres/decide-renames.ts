/** Decisions about renames of tests: by people, and by the rule of a repository. */
import { and, asc, eq, inArray, not, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { byService } from '../domain/audit.ts';
import { newEvent } from '../domain/events.ts';
import { testIdOf } from '../domain/identity.ts';
import { type RenameState, TestNames } from '../domain/rename-decisions.ts';
import { recordAudits } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { recordEvents } from './outbox.ts';
import { type DecidedRename, GIVEN_UP_BY, type Rename } from './renames.ts';
import type { Repository } from './repositories.ts';
import { type Doer, doerOf } from './repository-changes.ts';
import { repositories, testRenames, tests } from './schema.ts';
import { readTestNames, testIdNamed } from './test-names.ts';

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
      return (await writeDecisions(tx, repository, [known], decision, decided))[0] ?? 'settled';
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
      const [accepted] = made ? await writeDecisions(tx, repository, [made], 'accepted', decided) : [];
      return accepted ?? 'settled';
    }),
  );
}

/** Decided in one transaction: each is an entry of the trail and an event. */
const RULE_AT_ONCE = 500;
const RULE = doerOf(byService('auto-rename'));

/**
 * Accepts what is proposed, as far as the setting of the repository says so; what was undone or rejected is no proposal any more.
 *
 * @param now milliseconds since the epoch
 * @returns how many were accepted
 */
export async function acceptByRule(db: Database, repositoryId: string, now: number): Promise<number> {
  for (let accepted = 0; ; ) {
    const some = await onPostgres(() => db.transaction((tx) => acceptSome(tx, repositoryId, now)));
    if (some === 0) return accepted;
    accepted += some;
  }
}

async function acceptSome(tx: Executor, repositoryId: string, now: number): Promise<number> {
  const [repository] = await tx.select().from(repositories).where(eq(repositories.id, repositoryId));
  if (repository?.renameConfidenceMin == null) return 0;
  await lockRenames(tx, repositoryId);
  const proposed = await tx
    .select()
    .from(testRenames)
    .where(
      and(
        eq(testRenames.repositoryId, repositoryId),
        eq(testRenames.state, 'proposed'),
        // Compared as the column is: 0.95 in four bytes is less than in eight.
        sql`${testRenames.confidence} >= ${repository.renameConfidenceMin}::real`,
      ),
    )
    .orderBy(asc(testRenames.firstMs), asc(testRenames.toId));
  const chosen: Rename[] = [];
  let names = await readTestNames(tx, repositoryId);
  for (const one of proposed) {
    if (chosen.length === RULE_AT_ONCE) break;
    if (names.refuses(one)) continue;
    chosen.push(one);
    names = new TestNames([...names.accepted, one]);
  }
  await writeDecisions(tx, repository, chosen, 'accepted', { by: RULE, now });
  return chosen.length;
}

const GIVEN_UP = doerOf(byService(GIVEN_UP_BY));

/**
 * Ends what cannot be applied, because results of the repository wait for it. What was accepted is undone, which is applied
 * in turn; where that fails as often, it is left as it is: `verify` names what is under the wrong test.
 */
export async function giveUpRenames(
  db: Database,
  repositoryId: string,
  renames: readonly DecidedRename[],
  now: number,
): Promise<void> {
  await onPostgres(() =>
    db.transaction(async (tx) => {
      await lockRenames(tx, repositoryId);
      const ids = renames.map(({ id }) => id);
      const known = await tx
        .select()
        .from(testRenames)
        .where(and(inArray(testRenames.id, ids), not(testRenames.isApplied)));
      const undone = known.filter(({ state }) => state === 'undone');
      const left = undone.map(({ id }) => id);
      if (left.length > 0) await tx.update(testRenames).set({ isApplied: true }).where(inArray(testRenames.id, left));
      const [repository] = await tx.select().from(repositories).where(eq(repositories.id, repositoryId));
      const accepted = known.filter(({ state }) => state === 'accepted');
      if (!repository || accepted.length === 0) return;
      await writeDecisions(tx, repository, accepted, 'undone', { by: GIVEN_UP, now });
      // A decision begins without a failure. This one has the one that it was made for.
      for (const { id, failure } of accepted)
        await tx.update(testRenames).set({ failure }).where(eq(testRenames.id, id));
    }),
  );
}

/** From here on to its end, the transaction is the only one that decides about renames of the repository. */
const lockRenames = (tx: Executor, repositoryId: string) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`renames ${repositoryId}`}, 0))`);

/** Returns them as they are now. */
async function writeDecisions(
  tx: Executor,
  { id, owner, name }: Pick<Repository, 'id' | 'owner' | 'name'>,
  known: readonly Rename[],
  state: RenameDecision,
  { by, now }: DecidedBy,
): Promise<Rename[]> {
  if (known.length === 0) return [];
  const ids = known.map((one) => one.id);
  const decided = await tx
    .update(testRenames)
    .set({
      ...{ state, isApplied: state === 'rejected', decidedAt: new Date(now), decidedBy: by.name },
      ...{ tries: 0, failure: null },
    })
    .where(inArray(testRenames.id, ids))
    .returning();
  const deeds = known.map((one) => {
    const names = { test_name: one.fromName, new_name: one.toName };
    return {
      ...{ action: ACTIONS[state], objectId: one.id, objectName: one.toName, owner, repository: name },
      ...{ before: { state: one.state, ...names }, after: { state, ...names } },
    };
  });
  await recordAudits(tx, by.audit, deeds, now);
  if (state !== 'rejected')
    await recordEvents(
      tx,
      id,
      known.map((one) => eventOf(one, state, { by, now })),
      now,
    );
  return decided;
}

function eventOf(rename: Rename, state: 'accepted' | 'undone', { by, now }: DecidedBy) {
  const at = new Date(now).toISOString();
  const test = {
    ...{ test_id: rename.fromId, test_name: rename.fromName },
    ...{ new_name: rename.toName, new_test_id: rename.toId },
  };
  if (state === 'undone')
    return newEvent(
      'test.rename.undone',
      {
        ...{ ...test, undone_by: by.actor, undone_at: at },
        reason: by === GIVEN_UP ? `It failed ${rename.tries} times. The log of the service says why.` : null,
      },
      { trigger: by.name },
    );
  const { reasons, confidence } = rename;
  const why = { reasons, confidence: confidence === null ? null : Math.round(confidence * 100) / 100 };
  return newEvent('test.renamed', { ...test, ...why, renamed_by: by.actor, renamed_at: at }, { trigger: by.name });
}
