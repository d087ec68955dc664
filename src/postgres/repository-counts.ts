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

const staleRow = z.object({ repository_id: z.string(), changes: z.coerce.number() });
const countedRow = z.object({
  repository_id: z.string(),
  tests: z.coerce.number(),
  flaky: z.coerce.number(),
  broken: z.coerce.number(),
});

/** Part of whatever writes identities of a repository, in the same transaction. */
export const noteChange = (repositoryId: string): SQL => sql`
  insert into ${repositoryCounts} (repository_id, changes) values (${repositoryId}, 1)
  on conflict (repository_id) do update set changes = repository_counts.changes + 1`;

/**
 * The counts of those repositories that changed since they were counted, by id; they are kept for who asks next.
 *
 * The changes are read before the tests are counted. So a count includes the changes that it is kept with, and perhaps
 * more, which are counted again. To keep it waits for no one: a row that is being changed is left as it is.
 *
 * @param ids a statement that selects the ids of repositories
 */
export async function recount(db: Executor, ids: SQL): Promise<Map<string, TestCounts>> {
  const { rows } = await db.execute(sql`
    select repository_id, changes from ${repositoryCounts} where changes <> counted and repository_id in (${ids})`);
  const changes = new Map(rows.map((row) => staleRow.parse(row)).map((stale) => [stale.repository_id, stale.changes]));
  if (changes.size === 0) return new Map();
  const counts = await countTests(db, [...changes.keys()]);
  await keep(db, counts, changes);
  return counts;
}

/** The ids are values: from a subquery, PostgreSQL does not see how few there are, and reads the whole table. */
async function countTests(db: Executor, ids: readonly string[]): Promise<Map<string, TestCounts>> {
  const { rows } = await db.execute(sql`
    select repository_id, count(*) as tests, count(*) filter (where is_flaky and not is_broken) as flaky,
      count(*) filter (where is_broken) as broken
    from (
      select repository_id, bool_or(health = 'flaky') as is_flaky, bool_or(health = 'broken') as is_broken
      from ${identities} where repository_id = any(${plainColumn(ids)}::uuid[])
      group by repository_id, test_id
    ) as tests
    group by repository_id`);
  const counted = new Map<string, TestCounts>(ids.map((id) => [id, { tests: 0, flaky: 0, broken: 0 }]));
  for (const row of rows) {
    const { repository_id: id, ...counts } = countedRow.parse(row);
    counted.set(id, counts);
  }
  return counted;
}

async function keep(
  db: Executor,
  counts: ReadonlyMap<string, TestCounts>,
  changes: ReadonlyMap<string, number>,
): Promise<void> {
  const entries = [...counts];
  const column = (of: (counts: TestCounts, id: string) => number | string) =>
    plainColumn(entries.map(([id, one]) => of(one, id)));
  await db.execute(sql`
    with counted as (
      select * from unnest(${column((_, id) => id)}::uuid[], ${column((_, id) => changes.get(id) ?? 0)}::bigint[],
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
