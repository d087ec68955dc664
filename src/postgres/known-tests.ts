/** Reads of tests: one statement for all that is known of those that are asked for at the same time. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { ALL_LEGS, legKey } from '../domain/test-identity.ts';
import { executionsOf } from '../domain/test-state.ts';
import type { Window } from '../domain/window.ts';
import { type Database, onPostgres } from './client.ts';
import { identityArray, identityOfArray, type ShownIdentity, withSuspects } from './identities.ts';
import { definePrepared } from './prepared.ts';
import type { PullRequest } from './pull-requests.ts';
import { flakyExecutions, pullRequests, testDurations, testOwners, tests } from './schema.ts';
import { type TestRecord, testColumns, testOf, testRow } from './tests.ts';

type ShownPull = Pick<PullRequest, 'id' | 'number' | 'title' | 'authorId' | 'authorLogin'>;

export interface KnownTest extends TestRecord {
  /** Executions that count as flaky, on the days that a ratio covers. */
  flakyCount: number;
  /** The pull request that was merged as the commit of the first failure; of several the newest. */
  firstFailurePull: ShownPull | null;
  /** In the order in which they are named. */
  owners: string[];
  /** One for each pipeline and CI job with retained executions, its legs added up; at least one. */
  identities: ShownIdentity[];
  /** One for each leg with retained executions. */
  legs: ShownIdentity[];
  /** How long it takes, by `legKey`: in each leg, and in all legs together of a CI job that has several. */
  durations: ReadonlyMap<string, KnownDurations>;
}

/** See src/postgres/durations.ts. */
interface KnownDurations {
  medianUs: number;
  p95Us: number;
  grownDay: number | null;
}

const pull = z
  .tuple([z.number(), z.number(), z.string(), z.number().nullable(), z.string().nullable()])
  .transform(([id, number, title, authorId, authorLogin]): ShownPull => ({ id, number, title, authorId, authorLogin }));

const testAndMore = testRow.extend({
  flaky_count: z.number(),
  pull: pull.nullable(),
  owners: z.array(z.string()),
  identities: z.array(z.array(z.unknown())),
  durations: z.array(z.tuple([z.string(), z.string(), z.string(), z.number(), z.number(), z.number().nullable()])),
});

const read = definePrepared<{ repository: string; tests: string; start: number; end: number }>(
  'known_tests',
  sql`
    select ${testColumns},
      (select count(*)::int from ${flakyExecutions} as flaky
        where flaky.repository_id = tests.repository_id and flaky.test_id = tests.test_id
          and flaky.finished_ms >= ${sql.placeholder('start')}::bigint
          and flaky.finished_ms < ${sql.placeholder('end')}::bigint) as flaky_count,
      (select json_build_array(id, number, title, author_id, author_login) from ${pullRequests} as pulls
        where pulls.repository_id = tests.repository_id and pulls.merge_commit = nullif(tests.first_failed_commit, '')
        order by number desc limit 1) as pull,
      (select coalesce(json_agg(owner order by position), '[]') from ${testOwners} as owned
        where owned.repository_id = tests.repository_id and owned.test_id = tests.test_id and owner <> '') as owners,
      (select coalesce(json_agg(${identityArray}), '[]') from ${withSuspects}
        where identities.repository_id = tests.repository_id and identities.test_id = tests.test_id) as identities,
      (select coalesce(json_agg(json_build_array(pipeline_name, job_name, axes, median_us, p95_us, grown_day)), '[]')
        from ${testDurations} as lasting
        where lasting.repository_id = tests.repository_id and lasting.test_id = tests.test_id) as durations
    from ${tests}
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
  const known = rows.map(knownOf).filter(({ legs, identities: all }) => legs.length + all.length > 0);
  return new Map(known.map((test) => [test.testId, test]));
}

function knownOf(row: unknown): KnownTest {
  const {
    pull: firstFailurePull,
    flaky_count: flakyCount,
    owners,
    identities: arrays,
    durations,
    ...test
  } = testAndMore.parse(row);
  const retained = arrays.map(identityOfArray).filter(({ summary }) => executionsOf(summary) > 0);
  return {
    ...testOf(test),
    flakyCount,
    firstFailurePull,
    owners,
    identities: retained.filter(({ isFolded }) => !isFolded),
    legs: retained.filter(({ axes }) => axes !== ALL_LEGS),
    durations: new Map(
      durations.map(([pipelineName, jobName, axes, medianUs, p95Us, grownDay]) => [
        legKey({ pipelineName, jobName, axes }),
        { medianUs, p95Us, grownDay },
      ]),
    ),
  };
}
