/** Reads of tests: one statement for all that is known of those that are asked for at the same time. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { ALL_LEGS } from '../domain/test-identity.ts';
import { executionsOf } from '../domain/test-state.ts';
import type { Window } from '../domain/window.ts';
import { type Database, onPostgres } from './client.ts';
import { identityColumns, identityOf, identityRow, type ShownIdentity } from './identities.ts';
import { definePrepared } from './prepared.ts';
import type { PullRequest } from './pull-requests.ts';
import { flakyExecutions, identities, pullRequests, suspects, tests } from './schema.ts';
import { type TestRecord, testColumns, testOf, testRow } from './tests.ts';

type ShownPull = Pick<PullRequest, 'id' | 'number' | 'title' | 'authorId' | 'authorLogin'>;

export interface KnownTest extends TestRecord {
  /** Executions that count as flaky, on the days that a ratio covers. */
  flakyCount: number;
  /** The pull request that was merged as the commit of the first failure; of several the newest. */
  firstFailurePull: ShownPull | null;
  /** One for each pipeline and CI job with retained executions, its legs added up; at least one. */
  identities: ShownIdentity[];
  /** One for each leg with retained executions. */
  legs: ShownIdentity[];
}

const pull = z
  .tuple([z.number(), z.number(), z.string(), z.number().nullable(), z.string().nullable()])
  .transform(([id, number, title, authorId, authorLogin]): ShownPull => ({ id, number, title, authorId, authorLogin }));

const testAndPull = testRow.extend({ flaky_count: z.number(), pull: pull.nullable() });

/** The columns of a test come with each of its identities, which takes less than a second statement. */
const read = definePrepared<{ repository: string; tests: string; start: number; end: number }>(
  'known_tests',
  sql`
    select ${testColumns}, ${identityColumns},
      (select count(*)::int from ${flakyExecutions} as flaky
        where flaky.repository_id = tests.repository_id and flaky.test_id = tests.test_id
          and flaky.finished_ms >= ${sql.placeholder('start')}::bigint
          and flaky.finished_ms < ${sql.placeholder('end')}::bigint) as flaky_count,
      (select json_build_array(id, number, title, author_id, author_login) from ${pullRequests} as pulls
        where pulls.repository_id = tests.repository_id and pulls.merge_commit = nullif(tests.first_failed_commit, '')
        order by number desc limit 1) as pull
    from ${tests} join ${identities} on identities.repository_id = tests.repository_id and identities.test_id = tests.test_id
      left join ${suspects} on suspects.repository_id = identities.repository_id and suspects.test_id = identities.test_id
        and suspects.pipeline_name = identities.pipeline_name and suspects.job_name = identities.job_name
        and suspects.axes = identities.axes
    where tests.repository_id = ${sql.placeholder('repository')} and tests.test_id = any(${sql.placeholder('tests')}::uuid[])`,
);

/**
 * By id. Tests without retained executions on the default branch are missing. Throws StoreUnavailable.
 *
 * @param window that a ratio covers
 */
export async function readKnownTests(
  db: Database,
  repositoryId: string,
  testIds: readonly string[],
  { start, end }: Window,
): Promise<Map<string, KnownTest>> {
  const asked = { repository: repositoryId, tests: `{${testIds.join()}}`, start, end };
  const rows = await onPostgres(() => read(db, asked));
  const known = new Map<string, KnownTest>();
  for (const row of rows) {
    const identity = identityOf(identityRow.parse(row));
    if (executionsOf(identity.summary) === 0) continue;
    const test = known.get(identity.testId) ?? knownOf(row);
    known.set(identity.testId, test);
    if (!identity.isFolded) test.identities.push(identity);
    if (identity.axes !== ALL_LEGS) test.legs.push(identity);
  }
  return known;
}

function knownOf(row: unknown): KnownTest {
  const { pull: firstFailurePull, flaky_count: flakyCount, ...test } = testAndPull.parse(row);
  return { ...testOf(test), flakyCount, firstFailurePull, identities: [], legs: [] };
}
