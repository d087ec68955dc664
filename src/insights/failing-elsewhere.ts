/** What else failed about when a commit did, on other commits: one statement, asked only if something is to be explained. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { asLookUp, defineQuery } from '../clickhouse/query.ts';
import type { CommitResult, CommitRun } from '../commits/commit-record.ts';
import { briefFingerprint } from '../domain/fingerprint.ts';
import { type ChangeRun, originsAmong } from '../domain/origins.ts';
import { DAY_MS } from '../domain/time.ts';
import {
  type Elsewhere,
  NEARBY_MS,
  NOTHING_ELSEWHERE,
  SAME_FAILURE_MS,
  type Window,
} from '../domain/trouble-elsewhere.ts';
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { authorsOf } from '../postgres/pull-requests.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Other pull requests on which a test fails are counted that long before the commit ran, and an hour after. */
export const PULL_REQUESTS_DAYS = 7;
/** Failures of other tests whose messages are compared: of one run, and in all. */
const RUN_SAMPLE = 3;
const SAMPLE = 300;
const MESSAGE_LENGTH = 200;
/** Runs of one commit around which others are looked for. */
const TIMES_MAX = 100;

const query = asLookUp(
  defineQuery(
    'insights/failing_elsewhere',
    {
      repository_id: 'UUID',
      commit: 'String',
      test_ids: 'Array(UUID)',
      failure_ids: 'Array(UUID)',
      own: 'Array(UInt32)',
      starts_ms: 'Array(Int64)',
      ends_ms: 'Array(Int64)',
      near_ms: 'Int64',
      far_ms: 'Int64',
      pulls_ms: 'Int64',
      run_sample: 'UInt32',
      sample: 'UInt32',
      message_length: 'UInt32',
    },
    z.object({
      kind: z.enum(['group', 'message', 'origins', 'test']),
      /** Of a failure group or a test. */
      id: z.string(),
      type: z.string(),
      message: z.string(),
      origins: z.array(
        z
          .tuple([z.enum(['true', 'false']), z.coerce.number(), z.string(), z.string()])
          .transform(([onDefault, pullRequest, branch, baseRef]): ChangeRun => {
            return { isOnDefaultBranch: onDefault === 'true', pullRequest, branch, baseRef };
          }),
      ),
      is_near: z.boolean(),
      pull_requests: z.int(),
    }),
  ),
);
type Row = z.infer<(typeof query)['row']>;

/** What a failure may share with those of other tests. */
export const messageOf = ({ type, message }: Pick<CommitResult['failures'][number], 'type' | 'message'>): string =>
  JSON.stringify([type, briefFingerprint(message.slice(0, MESSAGE_LENGTH))]);

export interface FailingElsewhere {
  elsewhere: Elsewhere;
  /** By test that was asked about: on how many other pull requests it failed. Null if it cannot be read now. */
  pullRequests: ReadonlyMap<string, number> | null;
}

export const NOTHING_FAILING: FailingElsewhere = { elsewhere: NOTHING_ELSEWHERE, pullRequests: null };

interface Asked {
  commit: string;
  /** Those of the commit off the default branch, in which these tests failed. */
  runs: readonly CommitRun[];
  testIds: readonly string[];
  failureIds: readonly string[];
}

/**
 * While ClickHouse does not answer, verdicts go without: they then excuse less.
 *
 * @param areHealthy which of these tests were healthy on the default branch: what others fail in anyway explains nothing
 */
export async function readFailingElsewhere(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  { id, owner, defaultBranch }: Repository,
  { commit, runs, testIds, failureIds }: Asked,
  areHealthy: (testIds: readonly string[]) => Promise<ReadonlySet<string>>,
  signal?: AbortSignal,
): Promise<FailingElsewhere> {
  const own = runs.map(changeOf);
  const times = runs.slice(0, TIMES_MAX);
  const asked = {
    ...{ repository_id: id, commit, test_ids: [...testIds], failure_ids: [...failureIds] },
    own: [...new Set(own.map(({ pullRequest }) => pullRequest))],
    starts_ms: times.map(({ started_ms }) => started_ms),
    ends_ms: times.map(({ ended_ms }) => ended_ms),
    ...{ near_ms: NEARBY_MS, far_ms: SAME_FAILURE_MS, pulls_ms: PULL_REQUESTS_DAYS * DAY_MS },
    ...{ run_sample: RUN_SAMPLE, sample: SAMPLE, message_length: MESSAGE_LENGTH },
  };
  let rows: Row[];
  try {
    rows = await clickhouse.select(query, asked, { owner, signal });
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof ReadRefused) return NOTHING_FAILING;
    throw error;
  }
  const rowsOf = (kind: Row['kind']): Row[] => rows.filter((row) => row.kind === kind);
  const seen = rows.flatMap(({ origins }) => origins);
  const compared = [...seen, ...own];
  const numbers = compared.flatMap(({ pullRequest }) => (pullRequest > 0 ? [pullRequest] : []));
  const [authors, healthy] = await Promise.all([
    seen.length === 0 || numbers.length === 0
      ? new Map<number, number>()
      : onPostgres(() => authorsOf(db, id, numbers)),
    areHealthy([...new Set(rowsOf('message').map((row) => row.id))]),
  ]);
  const originOf = originsAmong(compared, authors, defaultBranch);
  const ownOrigins = new Set(own.map(originOf));
  const isPull = own.some(({ pullRequest }) => pullRequest > 0);
  // Beside pull requests, a branch without one may be a merge queue that tries the same change.
  const witnesses = (all: readonly ChangeRun[]): Set<string> =>
    new Set(all.filter((run) => run.isOnDefaultBranch || run.pullRequest > 0 || !isPull).map(originOf)).difference(
      ownOrigins,
    );
  const messages = new Map<string, { origins: Set<string>; tests: Set<string> }>();
  for (const row of rowsOf('message')) {
    const origins = witnesses(row.origins);
    if (!healthy.has(row.id) || origins.size === 0) continue;
    const { origins: others, tests } = messages.get(messageOf(row)) ?? {
      origins: new Set<string>(),
      tests: new Set<string>(),
    };
    messages.set(messageOf(row), { origins: origins.union(others), tests: new Set([row.id]).union(tests) });
  }
  const windowOf = (some: readonly Row[]): Window => ({
    near: witnesses(some.filter((row) => row.is_near).flatMap(({ origins }) => origins)),
    far: witnesses(some.flatMap(({ origins }) => origins)),
  });
  const byGroup = Map.groupBy(rowsOf('group'), (row) => row.id);
  return {
    elsewhere: {
      origins: windowOf(rowsOf('origins')),
      groups: new Map([...byGroup].map(([group, some]) => [group, windowOf(some)])),
      messages,
    },
    pullRequests: new Map([
      ...testIds.map((test) => [test, 0] as const),
      ...rowsOf('test').map((row) => [row.id, row.pull_requests] as const),
    ]),
  };
}

const changeOf = (run: CommitRun): ChangeRun => ({
  isOnDefaultBranch: run.on_default,
  pullRequest: run.pull_request,
  branch: run.branch,
  baseRef: run.base_ref,
});
