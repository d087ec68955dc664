/** Everything that the transitions of a test follow from, in one statement. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { HEALTHS, type Health } from '../domain/status.ts';
import { ALL_LEGS, legKey } from '../domain/test-identity.ts';
import type { Window } from '../domain/window.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import type { PullRequest } from './pull-requests.ts';
import { healthChanges, identities, pullRequests, tests } from './schema.ts';

type ShownPull = Pick<PullRequest, 'id' | 'number' | 'title' | 'authorId' | 'authorLogin'>;

interface ShownChange {
  /** Milliseconds since the epoch. */
  at: number;
  after: Health;
  /** Exception type of the first failure of the episode. */
  exceptionType: string | null;
  /** The commit of that failure; null if it is not known, and on recovery. */
  commit: string | null;
  /** The one that ran that failure, or was merged as its commit. */
  pull: ShownPull | null;
}

export interface HealthHistory {
  /** When the test first ran, as far as that is retained; milliseconds since the epoch. */
  firstAt: number | null;
  identities: {
    /** When its newest execution finished; milliseconds since the epoch. */
    newestAt: number;
    /** In order of time. */
    changes: ShownChange[];
  }[];
}

const row = z.object({
  test_id: z.string(),
  first_ms: z.number().nullable(),
  /** Null for none. */
  identities: z.array(z.tuple([z.string(), z.string(), z.string(), z.number()])).nullable(),
  changes: z
    .array(
      z.tuple([
        z.string(),
        z.string(),
        z.string(),
        z.number(),
        z.enum(HEALTHS),
        z.string().nullable(),
        z.string(),
        z.tuple([z.number(), z.number(), z.string(), z.number().nullable(), z.string().nullable()]).nullable(),
      ]),
    )
    .nullable(),
});
type Row = z.infer<typeof row>;

/** By test id; nothing of tests without retained executions on the default branch. */
export async function readHealthHistories(
  db: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<Map<string, HealthHistory>> {
  const { rows } = await db.execute(historiesStatement(repositoryId, testIds));
  return new Map(
    rows.flatMap((found) => {
      const { test_id: testId, ...health } = row.parse(found);
      return health.identities ? [[testId, historyOf(health)] as const] : [];
    }),
  );
}

function historyOf({ first_ms: firstAt, identities: places, changes }: Omit<Row, 'test_id'>): HealthHistory {
  const byPlace = Map.groupBy(changes ?? [], ([pipelineName, jobName, axes]) =>
    legKey({ pipelineName, jobName, axes }),
  );
  return {
    firstAt,
    identities: (places ?? []).flatMap(([pipelineName, jobName, axes, newestAt]) =>
      newestAt === 0
        ? []
        : [{ newestAt, changes: (byPlace.get(legKey({ pipelineName, jobName, axes })) ?? []).map(changeOf) }],
    ),
  };
}

function changeOf([, , , at, after, exceptionType, began, pull]: NonNullable<Row['changes']>[number]): ShownChange {
  const commit = began || null;
  if (!pull) return { at, after, exceptionType, commit, pull };
  const [id, number, title, authorId, authorLogin] = pull;
  return { at, after, exceptionType, commit, pull: { id, number, title, authorId, authorLogin } };
}

const shownPull = sql`json_build_array(pulls.id, pulls.number, pulls.title, pulls.author_id, pulls.author_login)`;

/**
 * Ranges of the primary keys of each test; a pull request is looked up by its number or its merge commit, of several the
 * newest.
 */
export const historiesStatement = (repositoryId: string, testIds: readonly string[]): SQL => sql`
  select tests.test_id, (
      select min(case when months = '{}' then month_first_ms
        else least(month_first_ms, (select min(first) from unnest(months) with ordinality as triple (first, place) where place % 3 = 0)) end)::float8
      from ${identities} as places
      where places.repository_id = tests.repository_id and places.test_id = tests.test_id and places.executions > 0
    ) as first_ms,
    (
      select json_agg(json_build_array(pipeline_name, job_name, axes, greatest(last_success_ms, last_failure_ms))
        order by pipeline_name, job_name, axes)
      from ${identities} as places
      where places.repository_id = tests.repository_id and places.test_id = tests.test_id and places.executions > 0
        and places.axes <> ${ALL_LEGS}
    ) as identities,
    (
      select json_agg(json_build_array(pipeline_name, job_name, axes, at_ms, after, exception_type, began_commit,
          case
            when changes.pull_request is not null then (
              select ${shownPull} from ${pullRequests} as pulls
              where pulls.repository_id = changes.repository_id and pulls.number = changes.pull_request
            )
            when changes.began_commit <> '' then (
              select ${shownPull} from ${pullRequests} as pulls
              where pulls.repository_id = changes.repository_id and pulls.merge_commit = changes.began_commit
              order by pulls.number desc limit 1
            )
          end)
        order by at_ms, run_id collate "C", run_attempt, execution_id::numeric)
      from ${healthChanges} as changes
      where changes.repository_id = tests.repository_id and changes.test_id = tests.test_id
    ) as changes
  from ${tests} where tests.repository_id = ${repositoryId} and tests.test_id = any(${plainColumn(testIds)}::uuid[])`;

/** A test whose health changed within a window. */
const changedRow = z.object({ test_id: z.string(), name: z.string() });
export type ChangedTest = z.infer<typeof changedRow>;

/** The tests with an identity that changed within a window, those that changed last first. A range of an index. */
export async function readChangedTests(
  db: Executor,
  repositoryId: string,
  { start, end }: Window,
  testsMax: number,
): Promise<ChangedTest[]> {
  const { rows } = await db.execute(changedTestsStatement(repositoryId, { start, end }, testsMax));
  return rows.map((found) => changedRow.parse(found));
}

export const changedTestsStatement = (repositoryId: string, { start, end }: Window, testsMax: number): SQL => sql`
  select changed.test_id, tests.name
  from (
    select test_id, max(at_ms) as last_ms from ${healthChanges}
    where repository_id::text = ${repositoryId} and at_ms >= ${start} and at_ms < ${end}
    group by test_id order by last_ms desc, test_id limit ${testsMax}
  ) as changed
  join ${tests} on tests.repository_id = ${repositoryId} and tests.test_id = changed.test_id`;
