/**
 * Reads commits: their runs, and the results of the tests that failed in them. Every CI job asks when it ends,
 * and many end together: commits that are asked for at the same time share the statements. Most that are asked for have a
 * record in PostgreSQL; ClickHouse is asked about the others.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import {
  type AskedResults,
  type CommitRecord,
  type CommitResult,
  type CommitRun,
  commitKey,
  commitRecordSchema,
  readResults,
  readRuns,
} from '../commits/commit-record.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readCommitRecords } from '../postgres/commit-records.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';

/** Tests of one commit. */
export const FAILED_TESTS_MAX = 1_000;
/** Commits whose results share a statement. With as many tests each, their ids fit in the 1 MiB of an address. */
const COMMITS_MAX = 16;

/** Results are there if the commit has a record. */
export type KnownCommit = Pick<CommitRecord, 'runs'> & Partial<CommitRecord>;

export class Commits {
  readonly #records: RepositoryBatches<string, CommitRecord>;
  readonly #runs: RepositoryBatches<string, CommitRun[]>;
  readonly #results: RepositoryBatches<AskedResults, CommitResult[]>;

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
  }

  /** Its runs: attempts of CI jobs by UTC day, on any branch. Empty for one that nothing is stored of. */
  async find(repository: Repository, commit: string, signal?: AbortSignal): Promise<KnownCommit> {
    const record = await this.#records.get(repository, commit, signal);
    return record ?? { runs: (await this.#runs.get(repository, commit, signal)) ?? [] };
  }

  /** Results of some tests on a commit, in any of its runs. */
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
}

/** Takes the questions once, and remembers them. */
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
