/** Which identities are meant, by the names of their tests and by what is known of them. */
import { type SQL, sql } from 'drizzle-orm';
import type { Level } from '../domain/health-confidence.ts';
import type { Health } from '../domain/status.ts';
import { levelRank } from '../domain/test-metrics.ts';
import { NAME_START_LENGTH, quarantines, testListings, tests } from './schema.ts';

export interface TestSelection {
  /** Tests by their whole names. */
  testIds: readonly string[];
  /** Patterns of LIKE; every test if one of them is `%`. */
  patterns: readonly string[];
  pipelines: readonly string[];
  pipelinesExcluded: readonly string[];
  jobs: readonly string[];
  jobsExcluded: readonly string[];
  /** Without these tests, and those whose names match one of these patterns. */
  testIdsExcluded: readonly string[];
  patternsExcluded: readonly string[];
  /** Only these; null: any. */
  healths: readonly Health[] | null;
  confidences: readonly Level[] | null;
  /** Healthy tests have the impact null. */
  impacts: readonly (Level | null)[] | null;
  /** Whether a quarantine of the test is open; null: either. */
  isQuarantined: boolean | null;
}

/** The tests whose names are meant; undefined: every one. */
export function namedTests(repositoryId: string, { testIds, patterns }: TestSelection): SQL | undefined {
  if (patterns.includes('%')) return undefined;
  // Both conditions are on one table, so that each can use its index.
  const either = patterns.map(isNamedLike);
  if (testIds.length > 0) either.push(sql`found.test_id = any(${sql.param(testIds)}::uuid[])`);
  return sql`select found.test_id from ${tests} as found
      where found.repository_id = ${repositoryId} and (${sql.join(either, sql` or `)})`;
}

/** Whether only the names of tests are asked about. */
export const isByNamesOnly = (selection: TestSelection): boolean =>
  [selection.pipelines, selection.pipelinesExcluded, selection.jobs, selection.jobsExcluded].every(isEmpty) &&
  [selection.testIdsExcluded, selection.patternsExcluded].every(isEmpty) &&
  [selection.healths, selection.confidences, selection.impacts, selection.isQuarantined].every((one) => one === null);

const isEmpty = ({ length }: readonly unknown[]): boolean => length === 0;

/**
 * What lists know of the tests whose names are meant, of each once. Names that begin with a text are looked for in the table
 * of listings alone, others among the tests: in at most two parts, however many names there are.
 */
export function namedListings(repositoryId: string, { testIds, patterns }: TestSelection): SQL {
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

/** What a pattern of LIKE begins with, as far as `tests_start` holds it: characters and escapes, but no wildcard. */
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
  const { pipelines, pipelinesExcluded, jobs, jobsExcluded } = selection;
  const conditions: SQL[] = [];
  if (named) conditions.push(sql`identities.test_id in (${named})`);
  const { testIdsExcluded, patternsExcluded, healths, confidences, impacts, isQuarantined } = selection;
  if (testIdsExcluded.length > 0)
    conditions.push(sql`not identities.test_id = any(${sql.param(testIdsExcluded)}::uuid[])`);
  // Asks which tests are left, because that is a join. A list of excluded tests that does not fit into the memory of a
  // statement would be read once for each identity.
  if (patternsExcluded.length > 0)
    conditions.push(sql`identities.test_id in (
      select found.test_id from ${tests} as found
      where found.repository_id = ${repositoryId}
        and not (${sql.join(
          patternsExcluded.map((pattern) => sql`found.name like ${pattern}`),
          sql` or `,
        )}))`);
  if (healths) {
    conditions.push(sql`identities.health = any(${sql.param(healths)}::text[])`);
    // As the index of unhealthy tests has it.
    if (!healths.includes('healthy')) conditions.push(sql`identities.health <> 'healthy'`);
  }
  const ranked = (column: SQL, levels: readonly (Level | null)[]) =>
    sql`${column} = any(${sql.param(levels.map(levelRank))}::smallint[])`;
  if (confidences) conditions.push(ranked(sql`identities.confidence`, confidences));
  if (impacts) conditions.push(ranked(sql`identities.impact`, impacts));
  if (isQuarantined !== null)
    conditions.push(sql`${isQuarantined ? sql`` : sql`not `}exists (
      select from ${quarantines} where quarantines.repository_id = ${repositoryId}
        and quarantines.test_id = identities.test_id and quarantines.removed_at is null)`);
  const one = (column: SQL, names: readonly string[]) => sql`${column} = any(${sql.param(names)}::text[])`;
  if (pipelines.length > 0) conditions.push(one(sql`identities.pipeline_name`, pipelines));
  if (pipelinesExcluded.length > 0) conditions.push(sql`not ${one(sql`identities.pipeline_name`, pipelinesExcluded)}`);
  if (jobs.length > 0) conditions.push(one(sql`identities.job_name`, jobs));
  if (jobsExcluded.length > 0) conditions.push(sql`not ${one(sql`identities.job_name`, jobsExcluded)}`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
