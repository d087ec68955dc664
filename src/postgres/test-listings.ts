/**
 * Listings of tests: how many identities each has, and by how many executions the first of them is listed. A listing
 * follows from the identities, and is written with them (src/postgres/count-identities.ts).
 */
import { eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { readWhole } from './abandonable.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { identities, repositories, testListings } from './schema.ts';

/** Counts the identities of each test. */
const countedOf = (condition: SQL): SQL => sql`
  select test_id, name_start collate "C" as name_start, coalesce(max(executions), 0) as executions,
    count(*) filter (where executions > 0)::int as identities
  from ${identities} where ${condition} and not is_folded
  group by test_id, name_start`;

const differenceRow = z.object({ test_id: z.string(), listed: z.string(), counted: z.string() });

/** A sentence for each test of which lists know something else than its identities say. */
async function testListingDifferences(db: Executor, repositoryId: string): Promise<string[]> {
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

/** The same of every repository or of one, each as of one moment. */
export async function listingDifferences(db: Database, repositoryId?: string): Promise<string[]> {
  const all = db.select({ id: repositories.id }).from(repositories).orderBy(repositories.id);
  const asked = repositoryId === undefined ? all : all.where(eq(repositories.id, repositoryId));
  const differences: string[] = [];
  for (const { id } of await onPostgres(() => asked))
    differences.push(...(await readWhole(db, (tx) => testListingDifferences(tx, id))));
  return differences;
}
