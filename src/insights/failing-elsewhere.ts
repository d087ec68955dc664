/** The failures on other commits at the time of a commit: one statement, asked only if something is to be explained. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { asLookUp, defineQuery } from '../clickhouse/query.ts';
import type { CommitResult, CommitRun } from '../commits/commit-record.ts';
import { type ChangeRun, changesAmong } from '../domain/changes.ts';
import { briefFingerprint } from '../domain/fingerprint.ts';
import { DAY_MS } from '../domain/time.ts';
import {
  type Elsewhere,
  NEARBY_MS,
  type NearAndFar,
  NOTHING_ELSEWHERE,
  SAME_FAILURE_MS,
} from '../domain/trouble-elsewhere.ts';
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { authorsOf } from '../postgres/pull-requests.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Other pull requests on which a test fails are counted that long before the commit ran, and an hour after. */
export const PULL_REQUESTS_DAYS = 7;
/** Runs, and messages, that are compared at most; beyond, some trouble is not recognised. */
const ROWS_MAX = 1_000;
/** Failed executions of a run that are compared: of the asked tests, and of others for their messages. */
const ASKED_OF_RUN = 100;
const SAMPLE_OF_RUN = 50;
const MESSAGE_LENGTH = 200;
/** Tests of others whose health is looked up to tell how usual failures are at the time. */
const AROUND_TESTS_MAX = 300;
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
      starts_ms: 'Array(Int64)',
      ends_ms: 'Array(Int64)',
      near_ms: 'Int64',
      far_ms: 'Int64',
      pulls_ms: 'Int64',
      asked_of_run: 'UInt32',
      sample_of_run: 'UInt32',
      rows: 'UInt32',
      message_length: 'UInt32',
    },
    z.object({
      kind: z.enum(['run', 'group', 'message']),
      /** The id of a failure group, or of the test with a message. */
      id: z.string(),
      on_default: z.boolean(),
      pull_request: z.int(),
      branch: z.string(),
      base_ref: z.string(),
      is_near: z.boolean(),
      is_far: z.boolean(),
      is_of_week: z.coerce.boolean(),
      /** Asked ones. */
      tests: z.array(z.string()),
      executions: z.array(z.string()),
      type: z.string(),
      message: z.string(),
    }),
  ),
);
type Row = z.infer<(typeof query)['row']>;

/** Names the part of a failure that other tests may share. */
export const messageOf = ({ type, message }: Pick<CommitResult['failures'][number], 'type' | 'message'>): string =>
  JSON.stringify([type, briefFingerprint(message.slice(0, MESSAGE_LENGTH))]);

export interface FailingElsewhere {
  elsewhere: Elsewhere;
  /** By test that was asked about: on how many other pull requests it failed. Null if it cannot be read now. */
  pullRequests: ReadonlyMap<string, number> | null;
  /** Other changes that ran within the hour, and on how many of them tests failed that were healthy on the default branch. */
  around: { changes: number; failing: number };
}

export const NOTHING_FAILING: FailingElsewhere = {
  elsewhere: NOTHING_ELSEWHERE,
  pullRequests: null,
  around: { changes: 0, failing: 0 },
};

interface Asked {
  commit: string;
  /** The runs of the commit off the default branch in which these tests failed. */
  runs: readonly CommitRun[];
  testIds: readonly string[];
  failureIds: readonly string[];
  /** {@link messageOf} what failed. */
  messages: ReadonlySet<string>;
}

/**
 * While ClickHouse does not answer, verdicts go without: they then excuse less.
 *
 * @param areHealthy which of these tests were healthy on the default branch: what others fail in anyway explains nothing
 */
export async function readFailingElsewhere(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  { id, owner, defaultBranch }: Repository,
  { commit, runs, testIds, failureIds, messages: ownMessages }: Asked,
  areHealthy: (testIds: readonly string[]) => Promise<ReadonlySet<string>>,
  signal?: AbortSignal,
): Promise<FailingElsewhere> {
  const own = runs.map(runOf);
  const times = runs.slice(0, TIMES_MAX);
  const asked = {
    ...{ repository_id: id, commit, test_ids: [...testIds], failure_ids: [...failureIds] },
    starts_ms: times.map(({ started_ms }) => started_ms),
    ends_ms: times.map(({ ended_ms }) => ended_ms),
    ...{ near_ms: NEARBY_MS, far_ms: SAME_FAILURE_MS, pulls_ms: PULL_REQUESTS_DAYS * DAY_MS },
    ...{ asked_of_run: ASKED_OF_RUN, sample_of_run: SAMPLE_OF_RUN, rows: ROWS_MAX, message_length: MESSAGE_LENGTH },
  };
  let rows: Row[];
  try {
    rows = await clickhouse.select(query, asked, { owner, signal });
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof ReadRefused) return NOTHING_FAILING;
    throw error;
  }
  const { run: others = [], group = [], message = [] } = Object.groupBy(rows, ({ kind }) => kind);
  // The commit itself has failed like that, too.
  const ofOthers = new Set(others.flatMap(({ executions }) => executions));
  const isOfOthers = ({ executions }: Row): boolean => executions.some((execution) => ofOthers.has(execution));
  const groups = group.filter(isOfOthers);
  const near = message.filter(isOfOthers);
  const messages = near.filter((row) => ownMessages.has(messageOf(row)));
  const pullRequests = pullRequestsOf(testIds, others, own);
  if (others.length === 0) return { ...NOTHING_FAILING, pullRequests };
  const isPull = own.some(({ pullRequest }) => pullRequest > 0);
  const seen = others.flatMap((row) => {
    const run = runOf(row);
    // Beside pull requests, a branch without one may be a merge queue that tries the same change.
    return run.isOnDefaultBranch || run.pullRequest > 0 || !isPull ? [{ row, run }] : [];
  });
  const compared = [...seen.map(({ run }) => run), ...own];
  const numbers = compared.flatMap(({ pullRequest }) => (pullRequest > 0 ? [pullRequest] : []));
  const [authors, healthy] = await Promise.all([
    seen.length === 0 || numbers.length === 0
      ? new Map<number, number>()
      : onPostgres(() => authorsOf(db, id, numbers)),
    areHealthy([
      ...new Set([
        ...messages.map((row) => row.id),
        ...[...new Set(near.map((row) => row.id))].slice(0, AROUND_TESTS_MAX),
      ]),
    ]),
  ]);
  const changeOf = changesAmong(compared, authors, defaultBranch);
  const ownChanges = new Set(own.map(changeOf));
  const witnesses = seen
    .map(({ row, run }) => ({ ...row, change: changeOf(run) }))
    .filter(({ is_far: isFar, change }) => isFar && !ownChanges.has(change));
  const byExecution = new Map(witnesses.flatMap((one) => one.executions.map((execution) => [execution, one] as const)));
  const runsOf = (some: readonly Row[]) =>
    some.flatMap(({ executions }) => executions.flatMap((execution) => byExecution.get(execution) ?? []));
  const windowOf = (some: readonly (typeof witnesses)[number][]): NearAndFar => ({
    near: new Set(some.flatMap((one) => (one.is_near ? [one.change] : []))),
    far: new Set(some.map(({ change }) => change)),
  });
  const byGroup = Map.groupBy(groups, (row) => row.id);
  const byMessage = Map.groupBy(
    messages.filter((row) => healthy.has(row.id) && runsOf([row]).some((one) => one.is_near)),
    messageOf,
  );
  const changes = windowOf(witnesses);
  return {
    elsewhere: {
      changes,
      groups: new Map([...byGroup].map(([group, some]) => [group, windowOf(runsOf(some))])),
      messages: new Map(
        [...byMessage].map(([message, some]) => [
          message,
          { changes: windowOf(runsOf(some)).near, tests: new Set(some.map((row) => row.id)) },
        ]),
      ),
    },
    pullRequests,
    // With too many runs to read, those without failures are missing: then nothing is said.
    around:
      others.length < ROWS_MAX
        ? { changes: changes.near.size, failing: windowOf(runsOf(near.filter((row) => healthy.has(row.id)))).near.size }
        : NOTHING_FAILING.around,
  };
}

/** By test: the pull requests other than these in whose runs of the week it failed. */
function pullRequestsOf(
  testIds: readonly string[],
  rows: readonly Row[],
  own: readonly ChangeRun[],
): Map<string, number> {
  const found = new Map(testIds.map((test) => [test, new Set<number>()]));
  const known = new Set(own.map(({ pullRequest }) => pullRequest));
  for (const { is_of_week: isOfWeek, on_default: isOnDefault, pull_request: pull, tests } of rows)
    if (isOfWeek && !isOnDefault && pull > 0 && !known.has(pull)) for (const test of tests) found.get(test)?.add(pull);
  return new Map([...found].map(([test, pulls]) => [test, pulls.size]));
}

const runOf = (run: Pick<CommitRun, 'on_default' | 'pull_request' | 'branch' | 'base_ref'>): ChangeRun => ({
  isOnDefaultBranch: run.on_default,
  pullRequest: run.pull_request,
  branch: run.branch,
  baseRef: run.base_ref,
});
