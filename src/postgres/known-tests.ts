/** What reads show of tests: one statement for all that is known of those that are asked for at the same time. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { executionsOf } from '../domain/test-state.ts';
import { type Database, onPostgres } from './client.ts';
import { definePrepared } from './prepared.ts';
import type { PullRequest } from './pull-requests.ts';
import { identities, pullRequests, tests } from './schema.ts';
import { identityOf, identityRow, ms, type ShownIdentity, type TestState, testOf, testRow } from './test-states.ts';

type ShownPull = Pick<PullRequest, 'id' | 'number' | 'title' | 'authorId' | 'authorLogin'>;

export interface KnownTest extends TestState {
  /** The pull request that was merged as the commit of the first failure; of several the newest. */
  firstFailurePull: ShownPull | null;
  /** Those with retained executions; at least one. */
  identities: ShownIdentity[];
}

const pull = z
  .tuple([z.number(), z.number(), z.string(), z.number().nullable(), z.string().nullable()])
  .transform(([id, number, title, authorId, authorLogin]): ShownPull => ({ id, number, title, authorId, authorLogin }));

const testAndPull = testRow.extend({ pull: pull.nullable() });

/** The columns of a test come with each of its identities, which takes less than a second statement. */
const read = definePrepared<{ repository: string; tests: string }>(
  'known_tests',
  sql`
    select tests.test_id, name, ${ms(tests.firstFailedAt)} as failed_ms, first_failed_execution as execution,
      first_failed_commit as commit, flaky_days, first_executions, last_day, pipeline_name, job_name, health, summary,
      belief,
      (select json_build_array(id, number, title, author_id, author_login) from ${pullRequests} as pulls
        where pulls.repository_id = tests.repository_id and pulls.merge_commit = nullif(tests.first_failed_commit, '')
        order by number desc limit 1) as pull
    from ${tests} join ${identities} using (repository_id, test_id)
    where tests.repository_id = ${sql.placeholder('repository')} and tests.test_id = any(${sql.placeholder('tests')}::uuid[])`,
);

/** By id. Tests without retained executions on the default branch are missing. Throws StoreUnavailable. */
export async function readKnownTests(
  db: Database,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Map<string, KnownTest>> {
  const rows = await onPostgres(() => read(db, { repository: repositoryId, tests: `{${testIds.join()}}` }));
  const known = new Map<string, KnownTest>();
  for (const row of rows) {
    const identity = identityOf(identityRow.parse(row));
    if (executionsOf(identity.summary) === 0) continue;
    const test = known.get(identity.testId);
    if (test) test.identities.push(identity);
    else known.set(identity.testId, knownOf(row, identity));
  }
  return known;
}

function knownOf(row: unknown, first: ShownIdentity): KnownTest {
  const { pull: firstFailurePull, ...test } = testAndPull.parse(row);
  return { ...testOf(test), firstFailurePull, identities: [first] };
}
