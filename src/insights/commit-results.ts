/**
 * What ClickHouse knows of commits: their runs, and the results of the tests that failed in them. Every CI job asks when
 * it ends, and many end together: commits that are asked for at the same time share the statements.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';

/** Tests of one commit. */
export const FAILED_TESTS_MAX = 1_000;
/** Commits whose results share a statement. With as many tests each, their ids fit in the 1 MiB of an address. */
const COMMITS_MAX = 16;
const MESSAGE_LENGTH_MAX = 1_000;

const runFields = {
  commit_sha: z.string(),
  day_number: z.int(),
  pipeline_name: z.string(),
  job_name: z.string(),
  run_id: z.string(),
  run_attempt: z.int(),
};
const commitRuns = defineQuery(
  'insights/commit_runs',
  { repository_id: 'UUID', commits: 'Array(String)' },
  z.object({
    ...runFields,
    on_default: z.boolean(),
    run_branch: z.string(),
    run_base_ref: z.string(),
    run_pull_request: z.int(),
    run_job_url: z.string(),
    started_ms: z.int(),
    ended_ms: z.int(),
    run_passed: z.int(),
    run_failed: z.int(),
    tests: z.array(z.string()),
    trouble: z.string(),
  }),
);
export type CommitRun = z.infer<(typeof commitRuns)['row']>;

const commitFailures = defineQuery(
  'insights/commit_failures',
  {
    repository_id: 'UUID',
    commits: 'Array(String)',
    test_ids: 'Array(UUID)',
    on_default: 'Array(Bool)',
    start_ms: 'Int64',
    end_ms: 'Int64',
    message_length: 'UInt32',
  },
  z.object({
    ...runFields,
    test_id: z.string(),
    test_name: z.string(),
    is_failed: z.coerce.boolean(),
    is_quarantined: z.boolean(),
    finished_ms: z.int(),
    failures: z.array(z.object({ id: z.string(), type: z.string(), message: z.string() })),
  }),
);
/** What one test showed in a run. */
export type CommitResult = z.infer<(typeof commitFailures)['row']>;

interface Asked {
  commit: string;
  /** Runs of the commit; at least one. */
  runs: readonly CommitRun[];
  /** Up to {@link FAILED_TESTS_MAX} that failed in them. */
  testIds: readonly string[];
}

export class CommitResults {
  readonly #runs: RepositoryBatches<string, CommitRun[]>;
  readonly #results: RepositoryBatches<Asked, CommitResult[]>;

  constructor(clickhouse: ClickHouse) {
    this.#runs = new RepositoryBatches(({ id, owner }) => async (take, signal) => {
      const commits: string[] = [];
      const valuesOf = () => {
        commits.push(...take());
        return { repository_id: id, commits: [...new Set(commits)] };
      };
      const rows = await clickhouse.select(commitRuns, valuesOf, { owner, signal });
      const byCommit = Map.groupBy(rows, ({ commit_sha: commit }) => commit);
      return commits.map((commit) => byCommit.get(commit));
    });
    this.#results = new RepositoryBatches(
      ({ id, owner }) =>
        async (take, signal) => {
          const asked: Asked[] = [];
          const valuesOf = () => {
            asked.push(...take());
            return { repository_id: id, ...unionOf(asked), message_length: MESSAGE_LENGTH_MAX };
          };
          const rows = await clickhouse.select(commitFailures, valuesOf, { owner, signal });
          const byCommit = Map.groupBy(rows, ({ commit_sha: commit }) => commit);
          return asked.map(({ commit, testIds }) => {
            const isAsked = new Set(testIds);
            return byCommit.get(commit)?.filter(({ test_id }) => isAsked.has(test_id));
          });
        },
      { sizeMax: COMMITS_MAX },
    );
  }

  /** The attempts of CI jobs on a commit, on any branch. */
  async runsOf(repository: Repository, commit: string, signal?: AbortSignal): Promise<CommitRun[]> {
    return (await this.#runs.get(repository, commit, signal)) ?? [];
  }

  /** What some tests showed on a commit, in any of its runs. */
  async resultsOf(repository: Repository, asked: Asked, signal?: AbortSignal): Promise<CommitResult[]> {
    return (await this.#results.get(repository, asked, signal)) ?? [];
  }
}

function unionOf(asked: readonly Asked[]) {
  const runs = asked.flatMap((one) => one.runs);
  return {
    commits: [...new Set(asked.map(({ commit }) => commit))],
    test_ids: [...new Set(asked.flatMap(({ testIds }) => testIds))],
    on_default: [...new Set(runs.map(({ on_default }) => on_default))],
    start_ms: Math.min(...runs.map(({ started_ms }) => started_ms)),
    end_ms: Math.max(...runs.map(({ ended_ms }) => ended_ms)),
  };
}

/** Names a run within its commit. */
export const runKey = (row: Pick<CommitRun, Exclude<keyof typeof runFields, 'commit_sha'>>): string =>
  JSON.stringify([row.day_number, row.pipeline_name, row.job_name, row.run_id, row.run_attempt]);
