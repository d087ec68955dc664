/** Which identities are meant, by the names of their tests and by what is known of them. */
import { type SQL, sql } from 'drizzle-orm';
import { NAME_START_LENGTH, testListings, tests } from './schema.ts';

/** Tests by their names. */
export interface TestNames {
  /** Tests by their whole names. */
  testIds: readonly string[];
  /** Patterns of LIKE; every test if one of them is `%`. */
  patterns: readonly string[];
}

export interface TestSelection extends TestNames {
  /** Further conditions on each identity, such as those of identity-conditions.ts. */
  conditions: readonly SQL[];
}

/** The tests whose names are meant; undefined: every one. */
export function namedTests(repositoryId: string, { testIds, patterns }: TestNames): SQL | undefined {
  if (patterns.includes('%')) return undefined;
  // Both conditions are on one table, so that each can use its index.
  const either = patterns.map(isNamedLike);
  if (testIds.length > 0) either.push(sql`found.test_id = any(${sql.param(testIds)}::uuid[])`);
  return sql`select found.test_id from ${tests} as found
      where found.repository_id = ${repositoryId} and (${sql.join(either, sql` or `)})`;
}

/** Whether only the names of tests are asked about. */
export const isByNamesOnly = ({ conditions }: TestSelection): boolean => conditions.length === 0;

/**
 * Listings of the tests whose names are meant, each once. Names that begin with a text are looked for in the table
 * of listings alone, others among the tests: in at most two parts, however many names there are.
 */
export function namedListings(repositoryId: string, { testIds, patterns }: TestNames): SQL {
  const listed = sql`select listed.test_id, listed.name_start, listed.executions, listed.identities
      from ${testListings} as listed`;
  if (patterns.includes('%')) return sql`${listed} where listed.repository_id = ${repositoryId}`;
  const beginning = patterns.filter(startsWithText).map((pattern) => isListedLike(repositoryId, pattern));
  const others = patterns
    .filter((pattern) => !startsWithText(pattern))
    .map((pattern) => sql`found.name like ${pattern}`);
  if (testIds.length > 0) others.push(sql`found.test_id = any(${sql.param(testIds)}::uuid[])`);
  const parts: SQL[] = [];
  if (beginning.length > 0)
    parts.push(sql`${listed} where listed.repository_id = ${repositoryId} and (${sql.join(beginning, sql` or `)})`);
  if (others.length > 0)
    parts.push(sql`${listed}
      join ${tests} as found on found.repository_id = listed.repository_id and found.test_id = listed.test_id
        and listed.name_start = ${startOf(sql`found.name`)}
      where found.repository_id = ${repositoryId} and (${sql.join(others, sql` or `)})`);
  return sql.join(parts, sql` union `);
}

/** The literal start of a pattern of LIKE, as far as `tests_start` holds it: characters and escapes, but no wildcard. */
const LITERAL_START = new RegExp(`^(?:\\\\.|[^%_\\\\]){1,${NAME_START_LENGTH}}`, 'su');

const textBefore = (pattern: string): string | undefined => LITERAL_START.exec(pattern)?.[0];
const startsWithText = (pattern: string): boolean => textBefore(pattern) !== undefined;

/** A condition on `listed`, for a pattern that begins with a text. A listing has the whole name if that is short. */
const isListedLike = (repositoryId: string, pattern: string): SQL => sql`(
  listed.name_start like ${`${textBefore(pattern)}%`}
  and case when length(listed.name_start) < ${sql.raw(String(NAME_START_LENGTH))} then listed.name_start like ${pattern}
    else exists (
      select from ${tests} as found where found.repository_id = ${repositoryId}
        and found.test_id = listed.test_id and found.name like ${pattern}) end)`;

/**
 * A condition on `found`. A name that begins with a text is found by that (`tests_start`): 0.05 ms among 20,000 names,
 * where the index of letters takes 10 to intersect those that most names have.
 */
function isNamedLike(pattern: string): SQL {
  const start = textBefore(pattern);
  if (start === undefined) return sql`found.name like ${pattern}`;
  return sql`(found.name like ${pattern} and ${startOf(sql`found.name`)} like ${`${start}%`})`;
}

/** How a name begins, as indexes have it. */
export const startOf = (name: SQL): SQL => sql`left(${name}, ${sql.raw(String(NAME_START_LENGTH))}) collate "C"`;

/**
 * A condition on `identities`.
 *
 * @param named the tests whose names are meant; null if the statement reads no others
 */
export function matching(
  repositoryId: string,
  selection: TestSelection,
  named: SQL | null = namedTests(repositoryId, selection) ?? null,
): SQL {
  const conditions = [...(named ? [sql`identities.test_id in (${named})`] : []), ...selection.conditions];
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
