/** What an overview says of each repository. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, onPostgres } from './client.ts';
import { recount } from './repository-counts.ts';
import { quarantines, repositories, repositoryCounts, uploadChunks } from './schema.ts';

const rowSchema = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  default_branch: z.string().nullable(),
  created_ms: z.coerce.number(),
  tests: z.coerce.number(),
  flaky: z.coerce.number(),
  broken: z.coerce.number(),
  quarantined: z.coerce.number(),
  recovered: z.coerce.number(),
  /** When its newest upload arrived, and when that was stored; null: there is none, it is not stored yet. */
  received_ms: z.coerce.number().nullable(),
  stored_ms: z.coerce.number().nullable(),
});
export type RepositoryOverview = z.infer<typeof rowSchema>;

/** The repositories of an owner, or some of them by name; in lower case, null for all. */
export interface ListedRepositories {
  owner: string | null;
  names: readonly string[] | null;
}

/**
 * In no order. Tests are counted where something changed since the last look; the rest is a row and a few index entries
 * for each repository.
 */
export async function overviewOf(db: Database, listed: ListedRepositories): Promise<RepositoryOverview[]> {
  return onPostgres(async () => {
    const isListed = listedOnly(listed);
    const counted = await recount(db, sql`select id from ${repositories} where ${isListed}`);
    const { rows } = await db.execute(overviewStatement(isListed));
    return rows.map((row) => {
      const found = rowSchema.parse(row);
      return { ...found, ...counted.get(found.id) };
    });
  });
}

function listedOnly({ owner, names }: ListedRepositories): SQL {
  const ofOwner = owner === null ? sql`true` : sql`lower(owner) = ${owner}`;
  return names === null ? ofOwner : sql`${ofOwner} and lower(name) = any(${sql.param([...names])}::text[])`;
}

const ms = (column: SQL): SQL => sql`extract(epoch from ${column}) * 1000`;

const overviewStatement = (isListed: SQL): SQL => sql`
  with listed as (
    select id, owner, name, default_branch, created_at from ${repositories} where ${isListed}
  ), held as (
    select repository_id, count(distinct test_id) as quarantined,
      count(distinct test_id) filter (where is_recovered) as recovered
    from ${quarantines}
    where removed_at is null and repository_id in (select id from listed)
    group by repository_id
  )
  select id, owner, name, default_branch, ${ms(sql`created_at`)} as created_ms,
    coalesce(tests, 0) as tests, coalesce(flaky, 0) as flaky, coalesce(broken, 0) as broken,
    coalesce(quarantined, 0) as quarantined, coalesce(recovered, 0) as recovered,
    ${ms(sql`newest.received_at`)} as received_ms, ${ms(sql`newest.stored_at`)} as stored_ms
  from listed
  left join ${repositoryCounts} as counts on counts.repository_id = listed.id
  left join held on held.repository_id = listed.id
  left join lateral (
    select received_at, stored_at from ${uploadChunks} as chunks
    where chunks.repository_id = listed.id order by received_at desc, upload_id desc limit 1
  ) as newest on true`;
