/** How many tests of each repository are in which health: kept, and counted again where something changed. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { identities, repositoryCounts } from './schema.ts';

export interface TestCounts {
  tests: number;
  flaky: number;
  broken: number;
}

const countedRow = z.object({
  repository_id: z.string(),
  changes: z.coerce.number(),
  tests: z.coerce.number(),
  flaky: z.coerce.number(),
  broken: z.coerce.number(),
});
type Counted = z.infer<typeof countedRow>;

/** Part of whatever writes identities of a repository, in the same transaction. */
export const noteChange = (repositoryId: string): SQL => sql`
  insert into ${repositoryCounts} (repository_id, changes) values (${repositoryId}, 1)
  on conflict (repository_id) do update set changes = repository_counts.changes + 1`;

/**
 * The counts of those repositories that changed since they were counted, by id; they are kept for who asks next.
 *
 * The numbers and the changes that they include come from one snapshot. So whatever is committed meanwhile makes the
 * repository differ again, and the count that includes more changes wins. To keep them waits for no one: a row that is
 * being changed is left as it is, and counted again.
 *
 * @param ids a statement that selects the ids of repositories
 */
export async function recount(db: Executor, ids: SQL): Promise<Map<string, TestCounts>> {
  const { rows } = await db.execute(sql`
    with stale as (
      select repository_id, changes from ${repositoryCounts} where changes <> counted and repository_id in (${ids})
    ), tests as (
      select repository_id, bool_or(health = 'flaky') as is_flaky, bool_or(health = 'broken') as is_broken
      from ${identities} where repository_id in (select repository_id from stale)
      group by repository_id, test_id
    )
    select repository_id, changes, count(tests.is_broken) as tests,
      count(*) filter (where is_flaky and not is_broken) as flaky, count(*) filter (where is_broken) as broken
    from stale left join tests using (repository_id)
    group by repository_id, changes`);
  const counted = rows.map((row) => countedRow.parse(row));
  if (counted.length > 0) await keep(db, counted);
  return new Map(counted.map(({ repository_id: id, tests, flaky, broken }) => [id, { tests, flaky, broken }]));
}

async function keep(db: Executor, counted: readonly Counted[]): Promise<void> {
  const column = (of: (one: Counted) => number | string) => plainColumn(counted.map(of));
  await db.execute(sql`
    with counted as (
      select * from unnest(${column((one) => one.repository_id)}::uuid[], ${column((one) => one.changes)}::bigint[],
        ${column((one) => one.tests)}::int[], ${column((one) => one.flaky)}::int[],
        ${column((one) => one.broken)}::int[]) as counted (repository_id, changes, tests, flaky, broken)
    ), free as (
      select repository_id from ${repositoryCounts} where repository_id in (select repository_id from counted)
      for update skip locked
    )
    update ${repositoryCounts} as kept
    set counted = counted.changes, tests = counted.tests, flaky = counted.flaky, broken = counted.broken
    from free join counted using (repository_id)
    where kept.repository_id = free.repository_id and kept.counted < counted.changes`);
}
