/** How a list is split, as the first shard of a run was answered, for the others. */
import { and, eq, sql } from 'drizzle-orm';
import type { RepositoryName } from '../domain/repository-path.ts';
import { type Database, onPostgres } from './client.ts';
import { splits } from './schema.ts';

/** A shard that runs again later may be given other tests than before. */
export const SPLITS_KEPT_DAYS = 7;
/** Lists of one run that are looked at: a second one is a mistake. */
const LISTS_MAX = 16;
const FORGOTTEN_AT_ONCE = 1_000;
/** Splits that are kept of one repository; the oldest make room. Any key that may read can ask for one. */
const SPLITS_MAX = 10_000;

export interface SplitKey {
  repository: RepositoryName;
  runKey: string;
  listKey: string;
}

export interface StoredSplit {
  /** Undefined if no shard has asked with this list. */
  split: string | undefined;
  /** Whether a shard has asked with another list. */
  hasOtherLists: boolean;
}

const nameOf = ({ owner, name }: RepositoryName): string => `${owner}/${name}`.toLowerCase();

export async function findSplit(db: Database, { repository, runKey, listKey }: SplitKey): Promise<StoredSplit> {
  const rows = await onPostgres(() =>
    db
      .select({ listKey: splits.listKey, split: splits.split })
      .from(splits)
      .where(and(eq(splits.repository, nameOf(repository)), eq(splits.runKey, runKey)))
      .orderBy(sql`${splits.listKey} = ${listKey} desc`, splits.listKey)
      .limit(LISTS_MAX),
  );
  const own = rows.find((row) => row.listKey === listKey);
  return { split: own?.split, hasOtherLists: rows.some((row) => row !== own) };
}

/** Keeps it, unless another shard was faster. Either way, {@link findSplit} tells what counts. */
export async function keepSplit(db: Database, { repository, ...keys }: SplitKey, split: string): Promise<void> {
  await onPostgres(() =>
    db
      .insert(splits)
      .values({ repository: nameOf(repository), ...keys, split })
      .onConflictDoNothing(),
  );
}

/** Makes room for the splits of a repository that come next. */
export async function trimSplits(db: Database, repository: RepositoryName, max = SPLITS_MAX): Promise<void> {
  await onPostgres(() =>
    db.execute(sql`delete from ${splits} where ctid in (
      select ctid from ${splits} where repository = ${nameOf(repository)} order by created_at desc offset ${max})`),
  );
}

/** Forgets old ones. Returns how many; call it again until there is none. */
export async function forgetSplits(db: Database): Promise<number> {
  const { rowCount } = await onPostgres(() =>
    db.execute(sql`delete from ${splits} where ctid in (
      select ctid from ${splits} where ${splits.createdAt} < now() - make_interval(days => ${SPLITS_KEPT_DAYS})
      limit ${FORGOTTEN_AT_ONCE})`),
  );
  return rowCount ?? 0;
}
