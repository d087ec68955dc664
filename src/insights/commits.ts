/**
 * What is known of commits: their runs, and the results of the tests that failed in them. Every CI job asks when it ends,
 * and many end together: commits that are asked for at the same time share the statements. Most that are asked for have a
 * record in PostgreSQL; ClickHouse is asked about the others.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { mayBeTroubled } from '../domain/infrastructure.ts';
import {
  type AskedResults,
  type CommitRecord,
  type CommitResult,
  type CommitRun,
  commitKey,
  commitRecordSchema,
  readResults,
  readRuns,
  runKey,
} from '../evaluation/commit-record.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readCommitRecords } from '../postgres/commit-records.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';

/** Tests of one commit. */
export const FAILED_TESTS_MAX = 1_000;
/** Commits whose results share a statement. With as many tests each, their ids fit in the 1 MiB of an address. */
const COMMITS_MAX = 16;

const troubles = defineQuery(
  'commits/troubles',
  { repository_id: 'UUID', days: 'Array(UInt16)' },
  z.object({
    day_number: z.int(),
    pipeline_name: z.string(),
    job_name: z.string(),
    run_id: z.string(),
    run_attempt: z.int(),
    run_trouble: z.enum(['partial', 'total']),
  }),
);
type TroubledRun = z.infer<(typeof troubles)['row']>;

/** Results are there if the commit has a record. */
export type KnownCommit = Pick<CommitRecord, 'runs'> & Partial<CommitRecord>;

export class Commits {
  readonly #records: RepositoryBatches<string, CommitRecord>;
  readonly #runs: RepositoryBatches<string, CommitRun[]>;
  readonly #results: RepositoryBatches<AskedResults, CommitResult[]>;
  readonly #troubles: RepositoryBatches<number, TroubledRun[]>;

  constructor(db: Database, clickhouse: ClickHouse) {
    this.#records = RepositoryBatches.byKey(async (id, commits) => {
      const texts = await onPostgres(() => readCommitRecords(db, id, commits));
      return new Map([...texts].map(([commit, text]) => [commit, commitRecordSchema.parse(text)]));
    });
    this.#runs = new RepositoryBatches(({ id, owner }) => async (take, signal) => {
      const { asked, takeOnce } = taken(take, (commit) => ({ repositoryId: id, commit }));
      const found = await readRuns(clickhouse, takeOnce, { owner, signal });
      return asked.map((one) => found.get(commitKey(one)));
    });
    this.#results = new RepositoryBatches(
      ({ owner }) =>
        async (take, signal) => {
          const { asked, takeOnce } = taken(take, (one) => one);
          const found = await readResults(clickhouse, takeOnce, { owner, signal });
          return asked.map((one) => found.get(commitKey(one)));
        },
      { sizeMax: COMMITS_MAX },
    );
    this.#troubles = new RepositoryBatches(({ id, owner }) => async (take, signal) => {
      const { asked, takeOnce } = taken(take, (day) => day);
      const values = () => ({ repository_id: id, days: [...new Set(takeOnce())] });
      const rows = await clickhouse.select(troubles, values, { owner, signal });
      const byDay = Map.groupBy(rows, ({ day_number: day }) => day);
      return asked.map((day) => byDay.get(day));
    });
  }

  /** Its runs: attempts of CI jobs by UTC day, on any branch. Empty for one that nothing is stored of. */
  async find(repository: Repository, commit: string, signal?: AbortSignal): Promise<KnownCommit> {
    const record = await this.#records.get(repository, commit, signal);
    return record ?? { runs: (await this.#runs.get(repository, commit, signal)) ?? [] };
  }

  /** What some tests showed on a commit, in any of its runs. */
  async resultsOf(
    repository: Repository,
    { commit, runs, testIds }: Omit<AskedResults, 'repositoryId'>,
    known: KnownCommit,
    signal?: AbortSignal,
  ): Promise<CommitResult[]> {
    const asked = new Set(testIds);
    if (known.results) return known.results.filter(({ test_id: testId }) => asked.has(testId));
    const results = await this.#results.get(repository, { repositoryId: repository.id, commit, runs, testIds }, signal);
    return results?.filter(({ test_id: testId }) => asked.has(testId)) ?? [];
  }

  /**
   * The trouble of those that the evaluation judged troubled, by {@link runKey}. It judges runs of the default branch, and
   * hardly any allow for trouble, so this is seldom asked.
   */
  async troublesOf(
    repository: Repository,
    runs: readonly CommitRun[],
    signal?: AbortSignal,
  ): Promise<Map<string, TroubledRun['run_trouble']>> {
    const days = new Set(
      runs
        .filter((run) => run.on_default && mayBeTroubled({ ...run, startedAt: run.started_ms }))
        .map(({ day_number: day }) => day),
    );
    const found = await Promise.all([...days].map((day) => this.#troubles.get(repository, day, signal)));
    return new Map(found.flatMap((of = []) => of.map((run) => [runKey(run), run.run_trouble] as const)));
  }
}

/** What is asked for when it is taken, and never twice. */
function taken<K, V>(take: () => K[], toAsked: (key: K) => V): { asked: V[]; takeOnce: () => V[] } {
  const asked: V[] = [];
  let hasTaken = false;
  const takeOnce = (): V[] => {
    if (!hasTaken) asked.push(...take().map(toAsked));
    hasTaken = true;
    return asked;
  };
  return { asked, takeOnce };
}
