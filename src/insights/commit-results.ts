/** The results on commits of tests that failed there. Commits that are asked for at the same time share the statements. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';
import { type CommitRun, runFields } from './commit-runs.ts';

/** Tests of one commit. */
export const FAILED_TESTS_MAX = 1_000;
/** Commits whose results share a statement. With as many tests each, their ids fit in the 1 MiB of an address. */
const COMMITS_MAX = 16;
const MESSAGE_LENGTH_MAX = 1_000;

const results = defineQuery(
  'insights/commit_results',
  {
    repository_id: 'UUID',
    commits: 'Array(String)',
    test_ids: 'Array(UUID)',
    on_default: 'Array(Bool)',
    start_ms: 'Int64',
    end_ms: 'Int64',
  },
  z.object({
    ...runFields,
    commit_sha: z.string(),
    test_id: z.string(),
    test_name: z.string(),
    /** Of the execution. */
    id: z.string(),
    is_failed: z.coerce.boolean(),
    is_quarantined: z.boolean(),
    finished_ms: z.int(),
  }),
);
const failures = defineQuery(
  'insights/commit_failures',
  {
    repository_id: 'UUID',
    test_ids: 'Array(UUID)',
    on_default: 'Array(Bool)',
    starts_ms: 'Array(Int64)',
    ends_ms: 'Array(Int64)',
    message_length: 'UInt32',
  },
  z.object({ execution: z.string(), id: z.string(), type: z.string(), message: z.string() }),
);

/** What one test showed in a run. */
export interface CommitResult extends z.infer<(typeof results)['row']> {
  /** Each with the id of its failure group. */
  failures: Pick<z.infer<(typeof failures)['row']>, 'id' | 'type' | 'message'>[];
}

interface Asked {
  commit: string;
  /** Runs of the commit; at least one. */
  runs: readonly CommitRun[];
  /** Up to {@link FAILED_TESTS_MAX} that failed in them. */
  testIds: readonly string[];
}

export class CommitResults {
  readonly #results: RepositoryBatches<Asked, CommitResult[]>;

  constructor(clickhouse: ClickHouse) {
    this.#results = new RepositoryBatches<Asked, CommitResult[]>(
      ({ id, owner }) =>
        async (take, signal) => {
          const asked: Asked[] = [];
          const union = once(() => {
            asked.push(...take());
            return unionOf(asked);
          });
          // When one statement fails, the other one is waited for no more.
          const failed = new AbortController();
          const turn = { owner, signal: AbortSignal.any([signal, failed.signal]) };
          const [rows, causes] = await Promise.all([
            clickhouse.select(results, () => resultsOf(id, union()), turn),
            clickhouse.select(failures, () => failuresOf(id, union()), turn),
          ]).catch((error: unknown) => {
            failed.abort(error);
            throw error;
          });
          const byExecution = Map.groupBy(causes, ({ execution }) => execution);
          const byCommit = Map.groupBy(rows, ({ commit_sha: commit }) => commit);
          return asked.map(({ commit, testIds }) => {
            const isAsked = new Set(testIds);
            const of = byCommit.get(commit)?.filter(({ test_id }) => isAsked.has(test_id));
            return of?.map((row) => ({ ...row, failures: byExecution.get(row.id) ?? [] }));
          });
        },
      { sizeMax: COMMITS_MAX },
    );
  }

  /** What some tests showed on a commit, in any of its runs. */
  async of(repository: Repository, asked: Asked, signal?: AbortSignal): Promise<CommitResult[]> {
    return (await this.#results.get(repository, asked, signal)) ?? [];
  }
}

interface Union {
  commits: string[];
  testIds: string[];
  onDefault: boolean[];
  /** When each commit ran. */
  times: { start: number; end: number }[];
}

function unionOf(asked: readonly Asked[]): Union {
  return {
    commits: [...new Set(asked.map(({ commit }) => commit))],
    testIds: [...new Set(asked.flatMap(({ testIds }) => testIds))],
    onDefault: [...new Set(asked.flatMap(({ runs }) => runs.map(({ on_default }) => on_default)))],
    times: asked.map(({ runs }) => ({
      start: Math.min(...runs.map(({ started_ms }) => started_ms)),
      end: Math.max(...runs.map(({ ended_ms }) => ended_ms)),
    })),
  };
}

const resultsOf = (repositoryId: string, { commits, testIds, onDefault, times }: Union) => ({
  repository_id: repositoryId,
  commits,
  test_ids: testIds,
  on_default: onDefault,
  start_ms: Math.min(...times.map(({ start }) => start)),
  end_ms: Math.max(...times.map(({ end }) => end)),
});

const failuresOf = (repositoryId: string, { testIds, onDefault, times }: Union) => ({
  repository_id: repositoryId,
  test_ids: testIds,
  on_default: onDefault,
  starts_ms: times.map(({ start }) => start),
  ends_ms: times.map(({ end }) => end),
  message_length: MESSAGE_LENGTH_MAX,
});

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
