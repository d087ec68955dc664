/** Which groups have the failures of a group that an older fingerprint made. */
import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, type Executor, onPostgres } from './client.ts';
import { formerGroups } from './schema.ts';

export interface FormerGroup {
  repositoryId: string;
  testId: string;
  failureId: string;
  movedTo: string;
  /** The newest failure that moved; milliseconds since the epoch. */
  lastAt: number;
}

/** @param isPending whether the state of these tests is still to be derived from the new groups */
export async function recordFormerGroups(
  db: Executor,
  groups: readonly FormerGroup[],
  isPending: boolean,
): Promise<void> {
  if (groups.length === 0) return;
  // Several messages of a group may move together, and a statement may write a row only once.
  const distinct = new Map(
    groups.map((group) => [JSON.stringify([group.testId, group.failureId, group.movedTo]), group]),
  );
  for (const group of groups) {
    const key = JSON.stringify([group.testId, group.failureId, group.movedTo]);
    if (group.lastAt > (distinct.get(key)?.lastAt ?? 0)) distinct.set(key, group);
  }
  const column = <T>(pick: (group: FormerGroup) => T) => sql.param([...distinct.values()].map(pick));
  await onPostgres(() =>
    db.execute(sql`
      insert into ${formerGroups} as known (repository_id, test_id, failure_id, moved_to, last_ms, is_pending)
      select *, ${isPending}::boolean from unnest(
        ${column((group) => group.repositoryId)}::uuid[], ${column((group) => group.testId)}::uuid[],
        ${column((group) => group.failureId)}::uuid[], ${column((group) => group.movedTo)}::uuid[],
        ${column((group) => group.lastAt)}::bigint[])
      on conflict (repository_id, test_id, failure_id, moved_to) do update
        set last_ms = greatest(known.last_ms, excluded.last_ms), is_pending = excluded.is_pending`),
  );
}

/** Up to `limit` tests of one repository whose state waits to be derived; undefined if none does. */
export async function nextPending(
  db: Executor,
  limit: number,
): Promise<{ repositoryId: string; testIds: string[] } | undefined> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select repository_id, test_id from ${formerGroups}
      where is_pending and repository_id = (select repository_id from ${formerGroups} where is_pending limit 1)
      group by repository_id, test_id limit ${limit}`),
  );
  const found = rows.map((row) => z.object({ repository_id: z.string(), test_id: z.string() }).parse(row));
  const [first] = found;
  return first && { repositoryId: first.repository_id, testIds: found.map((row) => row.test_id) };
}

/** Where the failures of former groups of some tests went, by test. */
export async function movesOf(
  db: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Map<string, Pick<FormerGroup, 'failureId' | 'movedTo'>[]>> {
  const rows = await onPostgres(() =>
    db
      .select({ testId: formerGroups.testId, failureId: formerGroups.failureId, movedTo: formerGroups.movedTo })
      .from(formerGroups)
      .where(and(eq(formerGroups.repositoryId, repositoryId), inArray(formerGroups.testId, [...testIds]))),
  );
  return Map.groupBy(rows, ({ testId }) => testId);
}

/** Every test whose state waits to be derived, by repository. */
export async function pendingTests(db: Executor): Promise<Map<string, string[]>> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select repository_id, array_agg(distinct test_id::text) as test_ids from ${formerGroups}
      where is_pending group by repository_id`),
  );
  const found = rows.map((row) => z.object({ repository_id: z.string(), test_ids: z.array(z.string()) }).parse(row));
  return new Map(found.map((row) => [row.repository_id, row.test_ids]));
}

export async function settlePending(db: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  await onPostgres(() =>
    db.execute(sql`
      update ${formerGroups} set is_pending = false
      where is_pending and repository_id = ${repositoryId} and test_id = any(${sql.param(testIds)}::uuid[])`),
  );
}

/** The group that has the newest failure of a former one, however often it was moved; undefined if it never was. */
export async function successorOf(
  db: Executor,
  repositoryId: string,
  testId: string,
  failureId: string,
): Promise<string | undefined> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with recursive moves as (
        (select moved_to, 1 as moves from ${formerGroups}
          where repository_id = ${repositoryId} and test_id = ${testId} and failure_id = ${failureId}
          order by last_ms desc, moved_to limit 1)
        union all
        select next.moved_to, moves.moves + 1 from moves cross join lateral (
          select moved_to from ${formerGroups} as former
          where former.repository_id = ${repositoryId} and former.test_id = ${testId}
            and former.failure_id = moves.moved_to
          order by former.last_ms desc, former.moved_to limit 1) as next
        where moves.moves < ${MOVES_MAX}
      )
      select moved_to from moves order by moves desc limit 1`),
  );
  const [found] = rows.map((row) => z.object({ moved_to: z.string() }).parse(row));
  return found?.moved_to;
}

/** More versions of the fingerprint than a retained failure can have seen. */
const MOVES_MAX = 10;

/** Forgets groups whose newest failure has left. */
export async function forgetFormerGroups(db: Database, before: number): Promise<void> {
  await onPostgres(() => db.delete(formerGroups).where(lt(formerGroups.lastMs, before)));
}
