/**
 * What lists know of tests: how many identities each has, and by how many executions the first of them is listed. It
 * follows from the identities, and is written with them.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { identities, testListings } from './schema.ts';

/** What identities say about their tests. */
const countedOf = (condition: SQL): SQL => sql`
  select test_id, name_start collate "C" as name_start, coalesce(max(executions), 0) as executions,
    count(*) filter (where executions > 0)::int as identities
  from ${identities} where ${condition}
  group by test_id, name_start`;

const identitiesOf = (repositoryId: string, testIds: readonly string[]): SQL =>
  sql`repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`;

/** Brings what lists know of some tests up to date with their identities. In the order of names, so that those lie together. */
export async function listTests(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  if (testIds.length === 0) return;
  await tx.execute(sql`
    insert into ${testListings} (repository_id, name_start, test_id, executions, identities)
    select ${repositoryId}, name_start, test_id, executions, identities
    from (${countedOf(identitiesOf(repositoryId, testIds))}) as counted
    order by name_start, test_id
    on conflict (repository_id, name_start, test_id)
      do update set executions = excluded.executions, identities = excluded.identities
      where (test_listings.executions, test_listings.identities) <> (excluded.executions, excluded.identities)`);
}

/** Before their identities are removed. */
export async function unlistTests(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  await tx.execute(sql`
    delete from ${testListings} as listed
    using (select distinct test_id, name_start from ${identities} where ${identitiesOf(repositoryId, testIds)}) as gone
    where listed.repository_id = ${repositoryId} and listed.name_start = gone.name_start and listed.test_id = gone.test_id`);
}

const differenceRow = z.object({ test_id: z.string(), listed: z.string(), counted: z.string() });

/** A sentence for each test of which lists know something else than its identities say. */
export async function testListingDifferences(db: Executor, repositoryId: string): Promise<string[]> {
  const { rows } = await db.execute(sql`
    select coalesce(listed.test_id, counted.test_id) as test_id,
      format('%s identities and %s executions', coalesce(listed.identities, 0), coalesce(listed.executions, 0)) as listed,
      format('%s and %s', coalesce(counted.identities, 0), coalesce(counted.executions, 0)) as counted
    from (select * from ${testListings} where repository_id = ${repositoryId}) as listed
      full join (${countedOf(sql`repository_id = ${repositoryId}`)}) as counted
        on listed.test_id = counted.test_id and listed.name_start = counted.name_start
    where (listed.executions, listed.identities) is distinct from (counted.executions, counted.identities)`);
  return rows.map((row) => {
    const { test_id, listed, counted } = differenceRow.parse(row);
    return `lists know ${listed} of test ${test_id}, but it has ${counted}`;
  });
}
