/**
 * The record of a commit: its runs (attempts of CI jobs by UTC day, on any branch), and the results of the tests that
 * failed in them. Read from ClickHouse, in statements that commits share.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { Turn } from '../fair-queue.ts';
import type { CommitName } from '../postgres/commit-records.ts';

/** Longer messages are cut. */
const MESSAGE_LENGTH_MAX = 1_000;

/** Columns that name a run within its commit. */
const runName = {
  day_number: z.int(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  run_id: z.string(),
  run_attempt: z.int(),
};
const run = z.object({
  ...runName,
  on_default: z.boolean(),
  branch: z.string(),
  base_ref: z.string(),
  pull_request: z.int(),
  job_url: z.string(),
  started_ms: z.int(),
  ended_ms: z.int(),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  failed_tests: z.array(z.string()),
});
export type CommitRun = z.infer<typeof run>;

const failure = z.object({
  id: z.string(),
  type: z.string(),
  message: z.string(),
  /** JSON; absent without any, so that a record takes no room for what hardly any failure has. */
  attachments: z
    .string()
    .transform((text) => text || undefined)
    .optional(),
});
const resultFields = z.object({
  ...runName,
  test_id: z.string(),
  test_name: z.string(),
  /** Id of the execution that failed; empty for those that passed. */
  id: z.string(),
  is_failed: z.coerce.boolean(),
  is_quarantined: z.boolean(),
  /** The newest of them. */
  finished_ms: z.int(),
  /** One that failed, or all that passed. */
  executions: z.int(),
});
const result = resultFields.extend({
  /** Each with the id of its failure group. */
  failures: z.array(failure),
});
/** A failure of a test in a run, or how often it passed there. */
export type CommitResult = z.infer<typeof result>;

export interface CommitRecord {
  /** In order of {@link runKey}. */
  runs: CommitRun[];
  /** In order of their executions. */
  results: CommitResult[];
}

/** The stored form: JSON on one line. */
export const writeCommitRecord = ({ runs, results }: CommitRecord): string => JSON.stringify([runs, results]);

/** Reads what {@link writeCommitRecord} writes. */
export const commitRecordSchema = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.tuple([z.array(run), z.array(result)]))
  .transform(([runs, results]): CommitRecord => ({ runs, results }));

const commitFields = { repository_id: z.string(), commit_sha: z.string() };
const runs = defineQuery(
  'commits/runs',
  { repository_ids: 'Array(UUID)', commits: 'Array(String)' },
  run.extend(commitFields),
);
const times = {
  repository_ids: 'Array(UUID)',
  test_ids: 'Array(UUID)',
  on_default: 'Array(Bool)',
} as const;
const results = defineQuery(
  'commits/results',
  { ...times, commits: 'Array(String)', start_ms: 'Int64', end_ms: 'Int64' },
  resultFields.extend(commitFields),
);
const failures = defineQuery(
  'commits/failures',
  { ...times, starts_ms: 'Array(Int64)', ends_ms: 'Array(Int64)', message_length: 'UInt32' },
  failure.extend({ execution: z.string() }),
);

/** By {@link commitKey}. */
export type ByCommit<T> = Map<string, T>;
export const commitKey = ({ repositoryId, commit }: CommitName): string => `${repositoryId}/${commit}`;
const keyOfRow = (row: { repository_id: string; commit_sha: string }): string =>
  commitKey({ repositoryId: row.repository_id, commit: row.commit_sha });

/** @param asked gives the commits when the statement is about to be sent */
export async function readRuns(
  clickhouse: ClickHouse,
  asked: () => readonly CommitName[],
  turn?: Turn,
): Promise<ByCommit<CommitRun[]>> {
  const values = () => {
    const commits = asked();
    return {
      repository_ids: distinct(commits.map(({ repositoryId }) => repositoryId)),
      commits: distinct(commits.map(({ commit }) => commit)),
    };
  };
  const rows = await clickhouse.select(runs, values, turn);
  return new Map([...Map.groupBy(rows, keyOfRow)].map(([key, parts]) => [key, merged(parts)]));
}

/** Tests that failed on a commit, with its runs; at least one of each. */
export interface AskedResults extends CommitName {
  runs: readonly CommitRun[];
  testIds: readonly string[];
}

/**
 * Results of these tests on these commits, in any of their runs.
 *
 * @param asked gives the commits when the first statement is about to be sent
 */
export async function readResults(
  clickhouse: ClickHouse,
  asked: () => readonly AskedResults[],
  turn?: Turn & { signal: AbortSignal },
): Promise<ByCommit<CommitResult[]>> {
  const union = once(() => unionOf(asked()));
  // When one statement fails, the other one is waited for no more.
  const failed = new AbortController();
  const turns = turn && { ...turn, signal: AbortSignal.any([turn.signal, failed.signal]) };
  const [rows, causes] = await Promise.all([
    clickhouse.select(results, () => union().results, turns),
    clickhouse.select(failures, () => union().failures, turns),
  ]).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  const byExecution = Map.groupBy(causes, ({ execution }) => execution);
  const found: ByCommit<CommitResult[]> = new Map();
  for (const [key, group] of Map.groupBy(rows, keyOfRow)) {
    const isAsked = union().tests.get(key);
    found.set(
      key,
      group
        .filter(({ test_id: testId }) => isAsked?.has(testId))
        .map(({ repository_id: _, commit_sha: __, ...row }) => ({
          ...row,
          failures: (byExecution.get(row.id) ?? []).map(({ execution: ___, ...cause }) => cause),
        })),
    );
  }
  return found;
}

function unionOf(asked: readonly AskedResults[]) {
  const shared = {
    repository_ids: distinct(asked.map(({ repositoryId }) => repositoryId)),
    test_ids: distinct(asked.flatMap(({ testIds }) => testIds)),
    on_default: distinct(asked.flatMap((one) => one.runs.map(({ on_default }) => on_default))),
  };
  const starts_ms = asked.map((one) => Math.min(...one.runs.map(({ started_ms }) => started_ms)));
  const ends_ms = asked.map((one) => Math.max(...one.runs.map(({ ended_ms }) => ended_ms)));
  const commits = distinct(asked.map(({ commit }) => commit));
  return {
    tests: new Map(asked.map((one) => [commitKey(one), new Set(one.testIds)])),
    results: { ...shared, commits, start_ms: Math.min(...starts_ms), end_ms: Math.max(...ends_ms) },
    failures: { ...shared, starts_ms, ends_ms, message_length: MESSAGE_LENGTH_MAX },
  };
}

/** Names a run within its commit. */
export const runKey = (row: Pick<CommitRun, keyof typeof runName>): string =>
  JSON.stringify([row.day_number, row.pipeline_name, row.job_name, row.axes, row.run_id, row.run_attempt]);

/** One for each run, of the rows that its uploads left: as the table merges them. */
function merged(rows: readonly z.infer<(typeof runs)['row']>[]): CommitRun[] {
  const groups = Map.groupBy(rows, (row) => `${row.on_default} ${runKey(row)}`);
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => mergedRun(group));
}

function mergedRun(group: readonly z.infer<(typeof runs)['row']>[]): CommitRun {
  const [{ repository_id: _, commit_sha: __, ...first }] = group as [z.infer<(typeof runs)['row']>];
  const total = (countOf: (row: CommitRun) => number): number => group.reduce((sum, row) => sum + countOf(row), 0);
  return {
    ...first,
    branch: greatest(group.map(({ branch }) => branch)),
    base_ref: greatest(group.map(({ base_ref }) => base_ref)),
    pull_request: Math.max(...group.map(({ pull_request }) => pull_request)),
    job_url: greatest(group.map(({ job_url }) => job_url)),
    started_ms: Math.min(...group.map(({ started_ms }) => started_ms)),
    ended_ms: Math.max(...group.map(({ ended_ms }) => ended_ms)),
    passed: total(({ passed }) => passed),
    failed: total(({ failed }) => failed),
    skipped: total(({ skipped }) => skipped),
    failed_tests: distinct(group.flatMap(({ failed_tests }) => failed_tests)).sort(),
  };
}

/** In the order of bytes, in which the table compares texts. */
const greatest = (texts: readonly string[]): string =>
  texts.reduce((one, other) => (Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0 ? other : one));

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
