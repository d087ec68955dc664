/**
 * How many tests of a repository are in which health, now and day by day, and when it last ran, as it is kept. Whatever
 * changes identities or their changes of health adds the difference, in the same transaction and under the evaluation lock.
 */
import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import { type DayTotals, RepositoryTotals, type TestCounts } from '../domain/repository-stats.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { visitIdentityDays } from './identity-days.ts';
import { repositoryCounts, repositoryDays } from './schema.ts';

/** Adds what a change makes of the totals of a repository. Nothing is written when they stay the same. */
export async function addTotals(tx: Executor, repositoryId: string, difference: RepositoryTotals): Promise<void> {
  if (difference.isZero) return;
  const { tests, flaky, broken } = difference.counts;
  await tx.execute(sql`
    with counted as (
      insert into ${repositoryCounts} as kept (repository_id, tests, flaky, broken)
      values (${repositoryId}, ${tests}, ${flaky}, ${broken})
      on conflict (repository_id) do update set tests = kept.tests + excluded.tests,
        flaky = kept.flaky + excluded.flaky, broken = kept.broken + excluded.broken
    )
    insert into ${repositoryDays} as kept (repository_id, day, healthy, flaky, broken, failures)
    ${dayRows(repositoryId, difference)}
    on conflict (repository_id, day) do update set healthy = kept.healthy + excluded.healthy,
      flaky = kept.flaky + excluded.flaky, broken = kept.broken + excluded.broken,
      failures = kept.failures + excluded.failures`);
}

function dayRows(repositoryId: string, { days }: RepositoryTotals): SQL {
  const column = (of: (totals: DayTotals) => number) => plainColumn(days.map(([, totals]) => of(totals)));
  return sql`select ${repositoryId}::uuid, * from unnest(${plainColumn(days.map(([day]) => day))}::int[],
    ${column(({ healths }) => healths.healthy)}::int[], ${column(({ healths }) => healths.flaky)}::int[],
    ${column(({ healths }) => healths.broken)}::int[], ${column(({ failures }) => failures)}::int[])`;
}

/**
 * Notes when executions finished, by repository id, in milliseconds since the epoch. Under the evaluation locks: so rows are
 * locked in one order.
 */
export async function noteRuns(tx: Executor, newest: ReadonlyMap<string, number>): Promise<void> {
  if (newest.size === 0) return;
  await tx.execute(sql`
    insert into ${repositoryCounts} as kept (repository_id, newest_ms)
    select * from unnest(${plainColumn([...newest.keys()])}::uuid[], ${plainColumn([...newest.values()])}::bigint[])
    on conflict (repository_id) do update set newest_ms = excluded.newest_ms where kept.newest_ms < excluded.newest_ms`);
}

/** Forgets the tests of a repository that are counted; in the transaction that removes all of them. */
export async function forgetTotals(tx: Executor, repositoryId: string): Promise<void> {
  await tx
    .update(repositoryCounts)
    .set({ tests: 0, flaky: 0, broken: 0 })
    .where(eq(repositoryCounts.repositoryId, repositoryId));
  await tx.delete(repositoryDays).where(eq(repositoryDays.repositoryId, repositoryId));
}

/** Adds up every test of a repository, from what is stored of each. Identities that are only remembered count as tests. */
export async function countRepository(tx: Executor, repositoryId: string): Promise<RepositoryTotals> {
  const totals = new RepositoryTotals();
  await visitIdentityDays(tx, repositoryId, { selection: null, since: 0 }, (of) => totals.add(of));
  return totals;
}

/**
 * Replaces the totals of a repository. Under its evaluation lock: nothing may change between the count and this.
 *
 * @param newestAt when its newest execution finished; milliseconds since the epoch, 0 if nothing ran
 */
export async function replaceTotals(
  tx: Executor,
  repositoryId: string,
  totals: RepositoryTotals,
  newestAt: number,
): Promise<void> {
  const counts = { ...totals.counts, newestMs: newestAt };
  await tx
    .insert(repositoryCounts)
    .values({ repositoryId, ...counts })
    .onConflictDoUpdate({ target: repositoryCounts.repositoryId, set: counts });
  await tx.delete(repositoryDays).where(eq(repositoryDays.repositoryId, repositoryId));
  await tx.execute(sql`
    insert into ${repositoryDays} (repository_id, day, healthy, flaky, broken, failures)
    ${dayRows(repositoryId, totals)}`);
}

export interface KeptCounts {
  tests: TestCounts;
  /** When the newest execution finished; milliseconds since the epoch, 0 if nothing ran. */
  newestAt: number;
}

export async function readCounts(tx: Executor, repositoryId: string): Promise<KeptCounts> {
  const [row] = await tx.select().from(repositoryCounts).where(eq(repositoryCounts.repositoryId, repositoryId));
  const { tests = 0, flaky = 0, broken = 0, newestMs: newestAt = 0 } = row ?? {};
  return { tests: { tests, flaky, broken }, newestAt };
}

/** By day, from one on; days since the epoch. Those that are missing are zero. */
export async function readDaysSince(
  tx: Executor,
  repositoryId: string,
  firstDay: number,
): Promise<Map<number, DayTotals>> {
  const rows = await tx
    .select()
    .from(repositoryDays)
    .where(and(eq(repositoryDays.repositoryId, repositoryId), gte(repositoryDays.day, firstDay)));
  return new Map(
    rows.map(({ day, failures, healthy, flaky, broken }) => [day, { healths: { healthy, flaky, broken }, failures }]),
  );
}

/** Forgets days that no series shows any more. */
export async function forgetDaysBefore(db: Executor, day: number): Promise<void> {
  await db.delete(repositoryDays).where(lt(repositoryDays.day, day));
}
