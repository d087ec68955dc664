/** Which tests may be forgotten: those that are named, or those that have not run for some time. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { FORGOTTEN_AT_ONCE_MAX } from '../domain/forgetting.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn } from './columns.ts';
import { baselines, identities, quarantines, tests } from './schema.ts';

export interface NamedTest {
  testId: string;
  name: string;
}

/** Tests that could be forgotten, and those that stay until their quarantine ends. */
export interface Forgettable {
  tests: NamedTest[];
  quarantined: NamedTest[];
}

const isQuarantined = (repositoryId: string) => sql`exists (
  select from ${quarantines} where quarantines.repository_id = ${repositoryId} and quarantines.test_id = tests.test_id
    and removed_at is null)`;

const row = z
  .object({ test_id: z.string(), name: z.string(), is_quarantined: z.boolean() })
  .transform(({ test_id, name, is_quarantined }) => ({ testId: test_id, name, isQuarantined: is_quarantined }));

const split = (found: readonly z.output<typeof row>[]): Forgettable => {
  const named = (isOf: boolean): NamedTest[] =>
    found.filter((one) => one.isQuarantined === isOf).map(({ testId, name }) => ({ testId, name }));
  return { tests: named(false), quarantined: named(true) };
};

/** Picks those that are known from some tests. */
async function forgettableAmong(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<Forgettable> {
  const { rows } = await onPostgres(() =>
    tx.execute(sql`
      select test_id, name, ${isQuarantined(repositoryId)} as is_quarantined from ${tests}
      where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) order by test_id`),
  );
  return split(rows.map((found) => row.parse(found)));
}

/** Picks those that are not quarantined from some tests, whether or not they are still known. */
export async function withoutQuarantine(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.execute<{ test_id: string }>(sql`
    select distinct test_id from ${quarantines}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) and removed_at is null`);
  const kept = new Set(rows.map(({ test_id: testId }) => testId));
  return testIds.filter((testId) => !kept.has(testId));
}

/** Reads the tests of a repository from ClickHouse, on any branch: PostgreSQL knows those of default branches only. */
export interface StoredTests {
  /** Which of some tests have run since a moment. */
  ranSince(testIds: readonly string[], since: number): Promise<ReadonlySet<string>>;
  /** Picks the tests among these that have run. */
  named(testIds: readonly string[]): Promise<NamedTest[]>;
  /** A page of the tests that ran off the default branch, and not since a moment. */
  offDefaultBranch(page: { since: number; after: string | null; rows: number }): Promise<NamedTest[]>;
}

export interface TestsWanted {
  /** The ids of tests; undefined: those that have not run. */
  testIds: readonly string[] | undefined;
  /** A date and time. */
  notRunSince: string | undefined;
}

/** The tests that a request means. `isMore`: there are more than are forgotten at once. */
export async function selectTests(
  db: Database,
  repositoryId: string,
  { testIds = [], notRunSince }: TestsWanted,
  stored: StoredTests,
): Promise<Forgettable & { isMore: boolean }> {
  if (notRunSince !== undefined) return testsNotRunSince(db, repositoryId, Date.parse(notRunSince), stored);
  const known = await forgettableAmong(db, repositoryId, testIds);
  const isKnown = new Set([...known.tests, ...known.quarantined].map(({ testId }) => testId));
  const unknown = testIds.filter((testId) => !isKnown.has(testId));
  const others = await splitUnknown(db, repositoryId, unknown.length > 0 ? await stored.named(unknown) : []);
  return { ...joined(known, others), isMore: false };
}

const joined = (one: Forgettable, other: Forgettable): Forgettable => ({
  tests: [...one.tests, ...other.tests],
  quarantined: [...one.quarantined, ...other.quarantined],
});

/** For tests that ran on no default branch. */
async function splitUnknown(db: Executor, repositoryId: string, found: readonly NamedTest[]): Promise<Forgettable> {
  const ids = found.map(({ testId }) => testId);
  const free = new Set(await onPostgres(() => withoutQuarantine(db, repositoryId, ids)));
  return {
    tests: found.filter(({ testId }) => free.has(testId)),
    quarantined: found.filter(({ testId }) => !free.has(testId)),
  };
}

/** Candidates that are looked at in one statement. */
const CANDIDATES_AT_ONCE = 2_000;

/**
 * Tests that have not run since a moment on any branch: first those that ever ran on the default branch, then the others, each
 * in the order of their ids. `isMore`: there are more than are forgotten at once.
 *
 * @param since milliseconds since the epoch
 */
async function testsNotRunSince(
  db: Database,
  repositoryId: string,
  since: number,
  stored: StoredTests,
): Promise<Forgettable & { isMore: boolean }> {
  let found: Forgettable = { tests: [], quarantined: [] };
  for (const pageAfter of [onDefaultBranch, offDefaultBranch])
    for (let after: string | null = null; ; ) {
      const page = await pageAfter(db, repositoryId, { since, after }, stored);
      found = joined(found, page.found);
      if (found.tests.length > FORGOTTEN_AT_ONCE_MAX)
        return { ...found, tests: found.tests.slice(0, FORGOTTEN_AT_ONCE_MAX), isMore: true };
      after = page.last;
      if (after === null) break;
    }
  return { ...found, isMore: false };
}

interface Page {
  found: Forgettable;
  /** The last test that was looked at; null if there are no further ones. */
  last: string | null;
}

interface Place {
  since: number;
  after: string | null;
}

const lastOf = (candidates: readonly NamedTest[]): string | null =>
  candidates.length < CANDIDATES_AT_ONCE ? null : (candidates.at(-1)?.testId ?? null);

async function onDefaultBranch(
  db: Database,
  repositoryId: string,
  { since, after }: Place,
  { ranSince }: StoredTests,
): Promise<Page> {
  const candidates = await notRunOnDefaultBranch(db, repositoryId, since, after);
  const ids = candidates.map(({ testId }) => testId);
  const ran = ids.length === 0 ? new Set() : await ranSince(ids, since);
  return { found: split(candidates.filter(({ testId }) => !ran.has(testId))), last: lastOf(candidates) };
}

async function offDefaultBranch(db: Database, repositoryId: string, place: Place, stored: StoredTests): Promise<Page> {
  const candidates = await stored.offDefaultBranch({ ...place, rows: CANDIDATES_AT_ONCE });
  const known = await forgettableAmong(
    db,
    repositoryId,
    candidates.map(({ testId }) => testId),
  );
  const isKnown = new Set([...known.tests, ...known.quarantined].map(({ testId }) => testId));
  const others = candidates.filter(({ testId }) => !isKnown.has(testId));
  return { found: await splitUnknown(db, repositoryId, others), last: lastOf(candidates) };
}

/**
 * When a test last ran on the default branch is known of its retained executions, of its last clean pass, and of what was
 * believed when its last month left.
 */
async function notRunOnDefaultBranch(
  db: Database,
  repositoryId: string,
  since: number,
  after: string | null,
): Promise<z.output<typeof row>[]> {
  const beyond = sql`test_id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid`;
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with ran as (
        select test_id, max(greatest(newest_ms, pass_ms, last_success_ms, last_failure_ms)) as at from ${identities}
        where repository_id = ${repositoryId} and ${beyond} group by test_id
        union all
        select test_id, max((belief::jsonb ->> 0)::float8) from ${baselines}
        where repository_id = ${repositoryId} and belief <> '' and ${beyond} group by test_id
      ), last as (select test_id, max(at) as at from ran group by test_id)
      select test_id, name, ${isQuarantined(repositoryId)} as is_quarantined
      from ${tests} left join last using (test_id)
      where repository_id = ${repositoryId} and ${beyond} and coalesce(last.at, 0) < ${since}
      order by test_id limit ${CANDIDATES_AT_ONCE}`),
  );
  return rows.map((found) => row.parse(found));
}
