/** What an overview says of each repository. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, onPostgres } from './client.ts';

const rowSchema = z.object({
  owner: z.string(),
  name: z.string(),
  default_branch: z.string().nullable(),
  created_ms: z.coerce.number(),
  tests: z.coerce.number(),
  flaky: z.coerce.number(),
  broken: z.coerce.number(),
  quarantined: z.coerce.number(),
  recovered: z.coerce.number(),
});
export type RepositoryOverview = z.infer<typeof rowSchema>;

/**
 * The repositories of an owner, or some of them by name; in lower case, null for all. Those with the most trouble come
 * first. It counts the identities of these repositories by their primary key, so it costs as much as they are many.
 */
export async function overviewOf(
  db: Database,
  { owner, names }: { owner: string | null; names: readonly string[] | null },
): Promise<RepositoryOverview[]> {
  const only = names === null ? null : sql.param([...names]);
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with listed as (
        select id, owner, name, default_branch, created_at
        from ci_insights.repositories
        where (${owner}::text is null or lower(owner) = ${owner})
          and (${only}::text[] is null or lower(name) = any(${only}::text[]))
      ), health as (
        select repository_id, count(*) as tests,
          count(*) filter (where is_flaky and not is_broken) as flaky, count(*) filter (where is_broken) as broken
        from (
          select repository_id, test_id, bool_or(health = 'flaky') as is_flaky, bool_or(health = 'broken') as is_broken
          from ci_insights.identities
          where repository_id in (select id from listed)
          group by repository_id, test_id
        ) as tests
        group by repository_id
      ), held as (
        select repository_id, count(distinct test_id) as quarantined,
          count(distinct test_id) filter (where is_recovered) as recovered
        from ci_insights.quarantines
        where removed_at is null and repository_id in (select id from listed)
        group by repository_id
      )
      select owner, name, default_branch, extract(epoch from created_at) * 1000 as created_ms,
        coalesce(tests, 0) as tests, coalesce(flaky, 0) as flaky, coalesce(broken, 0) as broken,
        coalesce(quarantined, 0) as quarantined, coalesce(recovered, 0) as recovered
      from listed
      left join health on health.repository_id = listed.id
      left join held on held.repository_id = listed.id
      order by coalesce(broken, 0) desc, coalesce(flaky, 0) desc, lower(owner), lower(name)`),
  );
  return rows.map((row) => rowSchema.parse(row));
}
