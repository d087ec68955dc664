/** A few figures of each repository, for the list of repositories. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, onPostgres } from './client.ts';
import { quarantines, repositories, repositoryCounts, repositoryDays, uploadChunks } from './schema.ts';

const rowSchema = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  default_branch: z.string().nullable(),
  created_ms: z.coerce.number(),
  tests: z.coerce.number(),
  flaky: z.coerce.number(),
  broken: z.coerce.number(),
  /** Flaky tests by the day on which they last failed on their own (days since the epoch): day, tests, day, … */
  flaky_days: z.array(z.number()),
  quarantined: z.coerce.number(),
  recovered: z.coerce.number(),
  /** Failed executions by day (days since the epoch), on those with any. */
  failures: z.array(z.tuple([z.number(), z.number()])),
  /** When its newest execution finished; 0: nothing ran. */
  newest_ms: z.coerce.number(),
  /** When its newest upload arrived, and when that was stored; null: there is none, it is not stored yet. */
  received_ms: z.coerce.number().nullable(),
  stored_ms: z.coerce.number().nullable(),
});
export type RepositoryOverview = z.infer<typeof rowSchema>;

/** In lower case, null for all. */
export interface ListedRepositories {
  owner: string | null;
  names: readonly string[] | null;
  /** A part of `owner/name`. */
  part: string | null;
}

/**
 * In no order. A few rows and index entries for each repository, and nothing for each test.
 *
 * @param firstDay the first day of the failures; days since the epoch
 */
export async function overviewOf(
  db: Database,
  listed: ListedRepositories,
  firstDay: number,
): Promise<RepositoryOverview[]> {
  return onPostgres(async () => {
    const { rows } = await db.execute(overviewStatement(listedOnly(listed), firstDay));
    return rows.map((row) => rowSchema.parse(row));
  });
}

const listedOnly = ({ owner, names, part }: ListedRepositories): SQL => sql`
  ${owner === null ? sql`true` : sql`lower(owner) = ${owner}`}
  and ${names === null ? sql`true` : sql`lower(name) = any(${sql.param([...names])}::text[])`}
  and ${part === null ? sql`true` : sql`position(${part} in lower(owner || '/' || name)) > 0`}`;

const ms = (column: SQL): SQL => sql`extract(epoch from ${column}) * 1000`;

const overviewStatement = (isListed: SQL, firstDay: number): SQL => sql`
  with listed as (
    select id, owner, name, default_branch, created_at from ${repositories} where ${isListed}
  ), held as (
    select repository_id, count(distinct test_id) as quarantined,
      count(distinct test_id) filter (where is_recovered) as recovered
    from ${quarantines}
    where removed_at is null and (expires_at is null or expires_at > now())
      and repository_id in (select id from listed)
    group by repository_id
  ), failed as (
    select repository_id, json_agg(json_build_array(day, failures)) as days
    from ${repositoryDays}
    where day >= ${firstDay} and failures > 0 and repository_id in (select id from listed)
    group by repository_id
  )
  select id, owner, name, default_branch, ${ms(sql`created_at`)} as created_ms,
    coalesce(tests, 0) as tests, coalesce(flaky, 0) as flaky, coalesce(broken, 0) as broken,
    coalesce(flaky_days, '{}') as flaky_days,
    coalesce(failed.days, '[]') as failures, coalesce(counts.newest_ms, 0) as newest_ms,
    coalesce(quarantined, 0) as quarantined, coalesce(recovered, 0) as recovered,
    ${ms(sql`newest.received_at`)} as received_ms, ${ms(sql`newest.stored_at`)} as stored_ms
  from listed
  left join ${repositoryCounts} as counts on counts.repository_id = listed.id
  left join held on held.repository_id = listed.id
  left join failed on failed.repository_id = listed.id
  left join lateral (
    select received_at, stored_at from ${uploadChunks} as chunks
    where chunks.repository_id = listed.id order by received_at desc, upload_id desc limit 1
  ) as newest on true`;
