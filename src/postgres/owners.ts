/**
 * Who owns tests: the CODEOWNERS of repositories, and the owners of each test that follow from it, from the settings, and
 * from the file of its newest execution. Owners are written under the lock of the partition.
 */
import { eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { Codeowners, type CodeownersProblem, type CodeownersRule } from '../domain/codeowners.ts';
import type { CodeownersHost } from '../domain/codeowners-pattern.ts';
import type { PreviewedTest } from '../domain/owner-preview.ts';
import { Ownership, type OwnershipRules, type TestOwners } from '../domain/test-owners.ts';
import { inSlices } from '../in-slices.ts';
import { piecesOf } from '../pieces.ts';
import { readWhole } from './abandonable.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { newestOf } from './newest-text.ts';
import { codeowners, identities, ownedTests, repositories, stale, testOwners, tests } from './schema.ts';
import { noteStale } from './stale.ts';

export interface CodeownersFile {
  host: CodeownersHost;
  path: string;
  content: string;
  /** Files of the repository that may hold tests; empty: not known. */
  files: readonly string[];
}

export type StoredCodeowners = typeof codeowners.$inferSelect;

/** An empty text is no file. */
export const filesIn = (lines: string): string[] => (lines === '' ? [] : lines.split('\n'));

export async function readCodeowners(db: Executor, repositoryId: string): Promise<StoredCodeowners | undefined> {
  const [found] = await db.select().from(codeowners).where(eq(codeowners.repositoryId, repositoryId));
  return found;
}

/**
 * Stores the CODEOWNERS of a repository. The owners of its tests follow within seconds. What is the same already changes
 * nothing: every job of the default branch sends it.
 *
 * @returns whether something changed
 */
export function writeCodeowners(
  db: Database,
  repositoryId: string,
  { host, path, content, files }: CodeownersFile,
  { name, now }: { name: string; now: number },
): Promise<boolean> {
  const row = { host, path, content, files: [...new Set(files)].sort().join('\n') };
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const [known] = await tx.select().from(codeowners).where(eq(codeowners.repositoryId, repositoryId)).for('update');
      if (known?.host === host && known.path === path && known.content === content && known.files === row.files)
        return false;
      const changed = { ...row, changedAt: new Date(now), changedBy: name };
      await tx
        .insert(codeowners)
        .values({ repositoryId, ...changed })
        .onConflictDoUpdate({ target: codeowners.repositoryId, set: changed });
      await noteOwnersStale(tx, repositoryId);
      return true;
    }),
  );
}

/** The owners of every test are to be derived again. */
export const noteOwnersStale = (tx: Executor, repositoryId: string): Promise<void> =>
  noteStale(tx, [{ repositoryId, kind: 'owners', since: 0, blockId: Number.MAX_SAFE_INTEGER }]);

const idRow = z.object({ id: z.string() });

/** Those among some repositories that say who owns tests. */
export async function repositoriesWithOwners(tx: Executor, repositoryIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.execute(sql`
    select id from ${repositories}
    where id = any(${plainColumn(repositoryIds)}::uuid[])
      and (test_owners <> '[]' or exists (select from ${codeowners} where repository_id = id))`);
  return rows.map((row) => idRow.parse(row).id);
}

/**
 * Tests whose owners may follow from another file than that of their newest execution.
 *
 * @param files of the newest execution of each test among those that were just counted
 */
export async function testsInOtherFiles(
  tx: Executor,
  repositoryId: string,
  files: ReadonlyMap<string, string>,
): Promise<string[]> {
  if (files.size === 0) return [];
  const { rows } = await tx.execute(sql`
    select ran.test_id as id
    from unnest(${plainColumn([...files.keys()])}::uuid[], ${textColumn([...files.values()])}) as ran (test_id, file)
      left join ${ownedTests} as owned on owned.repository_id = ${repositoryId} and owned.test_id = ran.test_id
    where owned.file is distinct from ran.file`);
  return rows.map((row) => idRow.parse(row).id);
}

const ranRow = z
  .object({ test_id: z.string(), name: z.string(), newest_ms: z.coerce.number(), newest: z.string() })
  .transform(
    ({ test_id: testId, name, newest_ms, newest }): PreviewedTest => ({
      testId,
      name,
      file: newestOf(newest_ms, newest)?.filepath ?? '',
    }),
  );

/** Tests with retained executions, each with the file of its newest one. */
export async function readRanTests(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[] | undefined,
): Promise<PreviewedTest[]> {
  const { rows } = await tx.execute(sql`
    select ran.test_id, tests.name, ran.newest_ms, ran.newest
    from (
      select distinct on (test_id) test_id, newest_ms, newest from ${identities}
      where repository_id = ${repositoryId} and newest_ms > 0 ${amongTests(testIds)}
      order by test_id, newest_ms desc, newest desc) as ran
      join ${tests} on tests.repository_id = ${repositoryId} and tests.test_id = ran.test_id`);
  return rows.map((row) => ranRow.parse(row));
}

const amongTests = (testIds: readonly string[] | undefined): SQL =>
  testIds === undefined ? sql`` : sql`and test_id = any(${plainColumn(testIds)}::uuid[])`;

/** What says who owns the tests of a repository. */
export async function readOwnershipRules(tx: Executor, repositoryId: string): Promise<OwnershipRules> {
  const [settings] = await tx
    .select({ rules: repositories.testOwners })
    .from(repositories)
    .where(eq(repositories.id, repositoryId));
  const file = await readCodeowners(tx, repositoryId);
  return {
    rules: settings?.rules ?? [],
    codeowners: file ? new Codeowners(file.content, file.host) : null,
    files: filesIn(file?.files ?? ''),
  };
}

/** A planner that does not know of so many rows reads all of them for each test. */
const ANALYZED_MIN = 1_000;

interface DerivedOwners extends TestOwners {
  testId: string;
  file: string;
}

/** Derives the owners of some tests, or of every one with retained executions. */
async function derive(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[] | undefined,
): Promise<DerivedOwners[]> {
  const said = await readOwnershipRules(tx, repositoryId);
  if (said.codeowners === null && said.rules.length === 0) return [];
  const ownership = new Ownership(said);
  const ran = await readRanTests(tx, repositoryId, testIds);
  return inSlices(
    (function* () {
      const found: DerivedOwners[] = [];
      for (const test of ran) {
        found.push({ testId: test.testId, file: test.file, ...ownership.ownersOf(test) });
        yield;
      }
      return found;
    })(),
  );
}

/**
 * Derives the owners of some tests again, or of all. Under the lock of the partition.
 *
 * @param testIds undefined: all
 */
export async function refreshOwners(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[] | undefined,
): Promise<void> {
  const derived = await derive(tx, repositoryId, testIds);
  for (const table of [testOwners, ownedTests])
    await tx.execute(sql`delete from ${table} where repository_id = ${repositoryId} ${amongTests(testIds)}`);
  await insertOwners(tx, repositoryId, derived);
  if (derived.length >= ANALYZED_MIN) await tx.execute(sql`analyze ${testOwners}`);
  const lines = [...new Set(derived.flatMap((test) => test.lines))].sort((one, other) => one - other);
  const matched = sql`${plainColumn(lines)}::int[]`;
  await tx
    .update(codeowners)
    .set({
      matchedLines:
        testIds === undefined
          ? matched
          : sql`array(select distinct unnest(${codeowners.matchedLines} || ${matched}) order by 1)`,
    })
    .where(eq(codeowners.repositoryId, repositoryId));
}

/** The owner of tests that have none. */
export const NO_OWNER = '';

/** A row of an owner is some 100 bytes. */
const ROWS_PER_STATEMENT = 10_000;

async function insertOwners(tx: Executor, repositoryId: string, derived: readonly DerivedOwners[]): Promise<void> {
  for (const some of piecesOf(derived, ROWS_PER_STATEMENT)) {
    await tx.execute(sql`
      insert into ${ownedTests} (repository_id, test_id, file)
      select ${repositoryId}::uuid, test_id, file
      from unnest(${plainColumn(some.map(({ testId }) => testId))}::uuid[],
        ${textColumn(some.map(({ file }) => file))}) as owned (test_id, file)`);
    const owned = some.flatMap(({ testId, owners }) =>
      (owners.length === 0 ? [NO_OWNER] : owners).map((owner, position) => ({ testId, owner, position })),
    );
    await tx.execute(sql`
      insert into ${testOwners} (repository_id, owner, test_id, position)
      select ${repositoryId}::uuid, owner, test_id, position
      from unnest(${plainColumn(owned.map(({ testId }) => testId))}::uuid[],
        ${textColumn(owned.map(({ owner }) => owner))},
        ${plainColumn(owned.map(({ position }) => position))}::smallint[]) as owned (test_id, owner, position)`);
  }
}

const ownersRow = z.object({ test_id: z.string(), owners: z.array(z.string()) });

/** The owners of some tests, in order; tests without one are missing. */
export async function readOwners(
  db: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (testIds.length === 0) return new Map();
  const { rows } = await db.execute(sql`
    select test_id, array_agg(owner order by position) as owners from ${testOwners}
    where repository_id = ${repositoryId} ${amongTests(testIds)} and owner <> ${NO_OWNER}
    group by test_id`);
  return new Map(rows.map((row) => ownersRow.parse(row)).map(({ test_id, owners }) => [test_id, owners]));
}

const storedRow = z.object({ test_id: z.string(), file: z.string(), owners: z.array(z.string()) });

/**
 * A sentence for each test whose stored owners are not those that the rules say. Repositories whose owners are to be
 * derived again, or of which something waits, are not compared.
 */
export async function ownerDifferences(
  db: Database,
  isWaiting: (repositoryId: string) => boolean,
  repositoryId?: string,
): Promise<string[]> {
  const all = db.select({ id: repositories.id }).from(repositories).orderBy(repositories.id);
  const asked = repositoryId === undefined ? all : all.where(eq(repositories.id, repositoryId));
  const differences: string[] = [];
  for (const { id } of await onPostgres(() => asked))
    if (!isWaiting(id)) differences.push(...(await readWhole(db, (tx) => differencesIn(tx, id))));
  return differences;
}

async function differencesIn(tx: Executor, repositoryId: string): Promise<string[]> {
  const noted = await tx.execute(sql`
    select from ${stale} where repository_id = ${repositoryId} and kind = 'owners' and noted_at is not null`);
  if (noted.rows.length > 0) return [];
  const derived = new Map((await derive(tx, repositoryId, undefined)).map((one) => [one.testId, one]));
  const { rows } = await tx.execute(sql`
    select test_id, file, array(select owner from ${testOwners} as one
      where one.repository_id = ${repositoryId} and one.test_id = owned.test_id and owner <> ${NO_OWNER}
      order by position) as owners
    from ${ownedTests} as owned where repository_id = ${repositoryId}`);
  const stored = new Map(rows.map((row) => storedRow.parse(row)).map((one) => [one.test_id, one]));
  return [...new Set([...derived.keys(), ...stored.keys()])].flatMap((testId) => {
    const [is, was] = [described(derived.get(testId)), described(stored.get(testId))];
    return is === was ? [] : [`the owners of test ${testId} are ${is}, but stored as ${was}`];
  });
}

const described = (owned: { file: string; owners: readonly string[] } | undefined): string =>
  owned === undefined ? 'unknown' : JSON.stringify([owned.file, owned.owners]);

/** What a page says of the lines of a file that are not read, or match no test. */
export interface CodeownersReport {
  patterns: number;
  problems: readonly CodeownersProblem[];
  unmatched: readonly CodeownersRule[];
}

export function reportOn({ content, host, matchedLines }: StoredCodeowners): CodeownersReport {
  const { rules, problems } = new Codeowners(content, host);
  const matched = new Set(matchedLines);
  return { patterns: rules.length, problems, unmatched: rules.filter(({ line }) => !matched.has(line)) };
}
