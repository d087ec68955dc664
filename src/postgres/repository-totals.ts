/**
 * How many tests of a repository are in which health, now and day by day, and when it last ran. A refresh counts every test; a
 * pass only notes when something ran.
 */
import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { NOTHING_REPORTED, type ReportedAt } from '../domain/report-source.ts';
import { type DayTotals, RepositoryTotals, type TestCounts } from '../domain/repository-stats.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn } from './columns.ts';
import { visitIdentityDays } from './identity-days.ts';
import { TOTALS_LOCK } from './locks.ts';
import { repositoryCounts, repositoryDays } from './schema.ts';

function dayRows(repositoryId: string, { days }: RepositoryTotals): SQL {
  const column = (pick: (totals: DayTotals) => number) => plainColumn(days.map(([, totals]) => pick(totals)));
  return sql`select ${repositoryId}::uuid, * from unnest(${plainColumn(days.map(([day]) => day))}::int[],
    ${column(({ healths }) => healths.healthy)}::int[], ${column(({ healths }) => healths.flaky)}::int[],
    ${column(({ healths }) => healths.broken)}::int[], ${column(({ failures }) => failures)}::int[])`;
}

/** The note that a pass makes about a repository. */
interface Ran {
  /** When the newest execution finished; milliseconds since the epoch. */
  newestAt: number;
  /** The same of what CI has sent. */
  reportedAt: ReportedAt;
}

/** Notes when executions finished, by repository id. In one order, in which all processes lock rows. */
export async function noteRuns(tx: Executor, ran: ReadonlyMap<string, Ran>): Promise<void> {
  if (ran.size === 0) return;
  const ordered = [...ran].sort(([one], [other]) => (one < other ? -1 : 1));
  const column = (pick: (ran: Ran) => number) => plainColumn(ordered.map(([, one]) => pick(one)));
  await tx.execute(sql`
    insert into ${repositoryCounts} as kept
      (repository_id, newest_ms, live_default_ms, live_pull_ms, live_other_ms)
    select * from unnest(${plainColumn(ordered.map(([id]) => id))}::uuid[],
      ${column(({ newestAt }) => newestAt)}::bigint[],
      ${column(({ reportedAt }) => reportedAt.default_branch)}::bigint[],
      ${column(({ reportedAt }) => reportedAt.pull_request)}::bigint[],
      ${column(({ reportedAt }) => reportedAt.other_branch)}::bigint[])
    on conflict (repository_id) do update set
      newest_ms = greatest(kept.newest_ms, excluded.newest_ms),
      live_default_ms = greatest(kept.live_default_ms, excluded.live_default_ms),
      live_pull_ms = greatest(kept.live_pull_ms, excluded.live_pull_ms),
      live_other_ms = greatest(kept.live_other_ms, excluded.live_other_ms)
    where kept.newest_ms < excluded.newest_ms or kept.live_default_ms < excluded.live_default_ms
      or kept.live_pull_ms < excluded.live_pull_ms or kept.live_other_ms < excluded.live_other_ms`);
}

/** When the newest execution of each that CI has sent finished, without imported ones. */
export async function readReportedAt(db: Database, repositoryId: string): Promise<ReportedAt> {
  const [row] = await onPostgres(() =>
    db.select().from(repositoryCounts).where(eq(repositoryCounts.repositoryId, repositoryId)),
  );
  if (!row) return NOTHING_REPORTED;
  return { default_branch: row.liveDefaultMs, pull_request: row.livePullMs, other_branch: row.liveOtherMs };
}

/** When the newest execution of a repository finished; milliseconds since the epoch, 0 if nothing ran. */
export async function newestRunOf(tx: Executor, repositoryId: string): Promise<number> {
  const [row] = await tx
    .select({ newestMs: repositoryCounts.newestMs })
    .from(repositoryCounts)
    .where(eq(repositoryCounts.repositoryId, repositoryId));
  return row?.newestMs ?? 0;
}

/** Replaces when something last ran in a repository, because that is derived from scratch. */
export async function replaceNewest(tx: Executor, repositoryId: string, newestAt: number): Promise<void> {
  await tx
    .insert(repositoryCounts)
    .values({ repositoryId, newestMs: newestAt })
    .onConflictDoUpdate({ target: repositoryCounts.repositoryId, set: { newestMs: newestAt } });
}

/** Adds up every test of a repository, from what is stored of each. Identities that are only remembered count as tests. */
export async function countRepository(tx: Executor, repositoryId: string): Promise<RepositoryTotals> {
  const totals = new RepositoryTotals();
  await visitIdentityDays(tx, repositoryId, { selection: null, since: 0 }, (identities) => totals.add(identities));
  return totals;
}

/**
 * Counts every test of a repository, as of one moment, and replaces the totals.
 *
 * @returns undefined if another process is doing so
 */
export async function refreshTotals(tx: Executor, repositoryId: string): Promise<TestCounts | undefined> {
  const { rows } = await tx.execute(
    sql`select pg_try_advisory_xact_lock(${TOTALS_LOCK}, hashtext(${repositoryId})) as is_mine`,
  );
  if (!z.object({ is_mine: z.boolean() }).parse(rows[0]).is_mine) return undefined;
  const totals = await countRepository(tx, repositoryId);
  await tx
    .insert(repositoryCounts)
    .values({ repositoryId, ...totals.counts })
    .onConflictDoUpdate({ target: repositoryCounts.repositoryId, set: totals.counts });
  await tx.delete(repositoryDays).where(eq(repositoryDays.repositoryId, repositoryId));
  await tx.execute(sql`
    insert into ${repositoryDays} (repository_id, day, healthy, flaky, broken, failures)
    ${dayRows(repositoryId, totals)}`);
  return totals.counts;
}

export interface KeptCounts {
  tests: TestCounts;
  /** When the newest execution finished; milliseconds since the epoch, 0 if nothing ran. */
  newestAt: number;
}

export async function readCounts(tx: Executor, repositoryId: string): Promise<KeptCounts> {
  const [row] = await tx.select().from(repositoryCounts).where(eq(repositoryCounts.repositoryId, repositoryId));
  const { tests = 0, flaky = 0, broken = 0, flakyDays = [], newestMs: newestAt = 0 } = row ?? {};
  return { tests: { tests, flaky, broken, flakyDays }, newestAt };
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
