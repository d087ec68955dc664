/**
 * By which number of executions lists order an identity.
 *
 * That number is in an index, and a row whose number changes gets a new entry in every index. So a large pass of the
 * evaluation leaves the number, and notes the tests as late. They are listed by the current number, which is in the summary,
 * as soon as there is time (src/evaluation/late-listings.ts).
 *
 *     listed ──written by a large pass──► late ──listed again──► listed
 *
 * What lists know of a test as a whole (src/postgres/test-listings.ts) follows from how its identities are listed.
 * Identities and notes are written under the evaluation lock of the repository.
 */
import { eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { readWhole } from './abandonable.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn } from './columns.ts';
import { executionsIn } from './identity-summary.ts';
import { identities, lateListings, repositories } from './schema.ts';
import { listTests, testListingDifferences } from './test-listings.ts';

/** What to list an identity by that is written again: in SQL, of the row and of `excluded`. */
export type ListedBy = SQL;

export const LISTED_NOW: ListedBy = sql`excluded.executions`;

/** Nothing is listed without executions that has some, or with more than it has. */
export const LISTED_LATER: ListedBy = sql`case
  when identities.executions between 1 and excluded.executions then identities.executions
  else excluded.executions end`;

/** Notes tests as late, in the transaction that writes their identities. */
export async function noteLate(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  if (testIds.length === 0) return;
  await tx.execute(sql`
    insert into ${lateListings} (repository_id, test_ids) values (${repositoryId}, ${plainColumn(testIds)})`);
}

/** What some notes of one repository say. */
export interface LateTests {
  repositoryId: string;
  /** In order, at least one. */
  noteIds: readonly number[];
  /** Each once. */
  testIds: readonly string[];
}

const notesRow = z.object({
  repository_id: z.string(),
  note_ids: z.array(z.number()),
  test_ids: z.array(z.string()),
});

/** Read at most at once, however few tests they name. */
const NOTES_MAX = 1_000;

/**
 * The first notes after some others, in the order of repositories; undefined if there are none. Notes of a repository are
 * read together, because most name the same tests.
 *
 * @param after undefined: from the beginning
 * @param namedMax no further note once these name so many tests, each counted as often as it is named
 */
export async function nextLate(
  db: Executor,
  after: LateTests | undefined,
  namedMax: number,
): Promise<LateTests | undefined> {
  const beyond = after ? sql`(repository_id, note_id) > (${after.repositoryId}, ${after.noteIds.at(-1)})` : sql`true`;
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with first as (
        select repository_id from ${lateListings} where ${beyond} order by repository_id, note_id limit 1
      ), following as (
        select note_id, test_ids from ${lateListings}
        where ${beyond} and repository_id = (select repository_id from first)
        order by note_id limit ${NOTES_MAX}
      ), counted as (
        select *, sum(cardinality(test_ids)) over (order by note_id) - cardinality(test_ids) as named_before
        from following
      )
      select repository_id, json_agg(distinct note_id) as note_ids, json_agg(distinct test_id) as test_ids
      from first cross join counted cross join unnest(test_ids) as late (test_id)
      where named_before < ${namedMax}
      group by repository_id`),
  );
  const [row] = rows.map((one) => notesRow.parse(one));
  return row && { repositoryId: row.repository_id, noteIds: row.note_ids, testIds: row.test_ids };
}

/** Lists the identities of some tests by their current numbers. */
export async function listNow(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  const counted = executionsIn(sql`summary`);
  await tx.execute(sql`
    update ${identities} set executions = ${counted}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) and executions <> ${counted}`);
  await listTests(tx, repositoryId, testIds);
}

/** Forgets notes of which every test was listed since they were read. Another may have come between them meanwhile. */
export async function forgetNotes(db: Executor, { repositoryId, noteIds }: LateTests): Promise<void> {
  await onPostgres(() =>
    db.execute(sql`
      delete from ${lateListings}
      where repository_id = ${repositoryId} and note_id = any(${plainColumn(noteIds)}::bigint[])`),
  );
}

const differenceRow = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  listed: z.string(),
  counted: z.string(),
});

/** A sentence for each identity that is listed by another number than it has, and is not late; each repository as of one moment. */
export async function listingDifferences(db: Database, repositoryId?: string): Promise<string[]> {
  const differences: string[] = [];
  const all = db.select({ id: repositories.id }).from(repositories).orderBy(repositories.id);
  const asked = repositoryId === undefined ? all : all.where(eq(repositories.id, repositoryId));
  for (const { id } of await onPostgres(() => asked))
    await readWhole(db, async (tx) => {
      const { rows } = await tx.execute(wronglyListed(id));
      for (const row of rows) {
        const { test_id, pipeline_name, job_name, listed, counted } = differenceRow.parse(row);
        const place = JSON.stringify([pipeline_name, job_name]);
        differences.push(`test ${test_id} ran ${counted} times in ${place}, but is listed with ${listed}`);
      }
      differences.push(...(await testListingDifferences(tx, id)));
    });
  return differences;
}

/** A join, because every test of a large repository may be late: a list of them would be read once for each identity. */
export const wronglyListed = (repositoryId: string): SQL => sql`
  select test_id, pipeline_name, job_name, executions::text as listed, counted::text as counted
  from ${identities} cross join lateral (select ${executionsIn(sql`summary`)} as counted) as counts
    left join (
      select distinct unnest(test_ids) as test_id from ${lateListings} where repository_id = ${repositoryId}
    ) as late using (test_id)
  where repository_id = ${repositoryId} and executions <> counted and late.test_id is null`;
