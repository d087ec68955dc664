/** What else failed when a commit did: the runs of the hours around it, and the other pull requests that a test fails on. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { asLookUp, defineQuery } from '../clickhouse/query.ts';
import type { CommitRun } from '../commits/commit-record.ts';
import { DAY_MS } from '../domain/time.ts';
import { NEARBY_MS, type NearbyRun, TOGETHER_MIN } from '../domain/trouble-elsewhere.ts';
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { authorsOf } from '../postgres/pull-requests.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Other pull requests on which a test fails are counted that long before the commit ran, and an hour after. */
export const PULL_REQUESTS_DAYS = 7;
/** Those in which most of the tests failed; more witnesses of the same trouble say nothing new. */
const NEARBY_RUNS_MAX = 300;
/** Runs of one commit that are compared with others. */
const RUNS_MAX = 500;

const failingNearby = asLookUp(
  defineQuery(
    'insights/failing_nearby',
    {
      repository_id: 'UUID',
      test_ids: 'Array(UUID)',
      start_ms: 'Int64',
      end_ms: 'Int64',
      together: 'UInt32',
      rows: 'UInt32',
    },
    z.object({
      on_default: z.boolean(),
      run_branch: z.string(),
      run_pull_request: z.int(),
      started_ms: z.int(),
      ended_ms: z.int(),
      run_passed: z.int(),
      run_failed: z.int(),
      tests: z.array(z.string()),
    }),
  ),
);
const failingPullRequests = asLookUp(
  defineQuery(
    'insights/failing_pull_requests',
    { repository_id: 'UUID', test_ids: 'Array(UUID)', start_ms: 'Int64', end_ms: 'Int64', own: 'Array(UInt32)' },
    z.object({ test_id: z.string(), pull_requests: z.int() }),
  ),
);

interface Deps {
  clickhouse: ClickHouse;
  db: Database;
}
interface Asked {
  runs: readonly CommitRun[];
  testIds: readonly string[];
}

const windowOf = (runs: readonly CommitRun[], beforeMs: number) => ({
  start_ms: Math.min(...runs.map(({ started_ms }) => started_ms)) - beforeMs,
  end_ms: Math.max(...runs.map(({ ended_ms }) => ended_ms)) + NEARBY_MS,
});

/** By test: on how many other pull requests it failed. It is a hint: null if it cannot be read now. */
export async function countPullRequests(
  { clickhouse }: Deps,
  { id, owner }: Repository,
  { runs, testIds }: Asked,
  signal?: AbortSignal,
): Promise<Map<string, number> | null> {
  const own = [...new Set(runs.map(({ pull_request }) => pull_request))];
  const asked = { repository_id: id, test_ids: [...testIds], own, ...windowOf(runs, PULL_REQUESTS_DAYS * DAY_MS) };
  try {
    const rows = await clickhouse.select(failingPullRequests, asked, { owner, signal });
    return new Map(rows.map(({ test_id, pull_requests }) => [test_id, pull_requests]));
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof ReadRefused) return null;
    throw error;
  }
}

/** Other runs of the time around those of a commit, and whose change each of the commit's ran. */
export interface Nearby {
  runs: NearbyRun[];
  originOf(run: CommitRun): string;
}

/** Of a commit on which so few tests failed together that no other run could explain them, nothing is read. */
export async function readNearby(
  { clickhouse, db }: Deps,
  { id, owner }: Repository,
  { runs, testIds }: Asked,
  signal?: AbortSignal,
): Promise<Nearby> {
  const asked = runs
    .filter(({ on_default, failed_tests: failed }) => !on_default && failed.length >= TOGETHER_MIN)
    .slice(0, RUNS_MAX);
  const found =
    asked.length === 0
      ? []
      : await clickhouse.select(
          failingNearby,
          {
            repository_id: id,
            test_ids: [...testIds],
            ...windowOf(asked, NEARBY_MS),
            together: TOGETHER_MIN,
            rows: NEARBY_RUNS_MAX,
          },
          { owner, signal },
        );
  const numbers = [...found.map(({ run_pull_request: number }) => number), ...asked.map((run) => run.pull_request)];
  const authors = found.length === 0 ? new Map<number, number>() : await onPostgres(() => authorsOf(db, id, numbers));
  const originOf = (pullRequest: number, branch: string): string => {
    const author = authors.get(pullRequest);
    // Pull requests of one person may share a fault: they are one witness.
    if (author !== undefined) return `author ${author}`;
    return pullRequest > 0 ? `pull request ${pullRequest}` : `branch ${branch}`;
  };
  return {
    runs: found.map((row) => ({
      origin: row.on_default ? null : originOf(row.run_pull_request, row.run_branch),
      startedAt: row.started_ms,
      endedAt: row.ended_ms,
      passed: row.run_passed,
      failed: row.run_failed,
      failedTests: new Set(row.tests),
    })),
    originOf: (run) => originOf(run.pull_request, run.branch),
  };
}
