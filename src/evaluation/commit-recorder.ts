/**
 * Keeps the records of commits on which a test failed: after blocks were stored, the commits that they touch are read from
 * ClickHouse as a whole. So it does not matter how often and how late that happens, or where it is cut off.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import {
  type CommitName,
  forgetCommitRecords,
  leaveCommits,
  recordedCommits,
  type StoredCommit,
  shareCommitRecords,
  type TouchedCommit,
  writeCommitRecords,
} from '../postgres/commit-records.ts';
import { type CommitRecord, commitKey, readResults, readRuns, runKey, writeCommitRecord } from './commit-record.ts';

/** By repository id, then by commit: whether a test failed. */
export type TouchedCommits = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** Commits in a statement. With as many tests each, their ids fit in the 1 MiB of an address. */
export const COMMITS_MAX = 40;
/** A commit with more is not kept as a row, which every run would rewrite; it is read from ClickHouse. */
const FAILED_TESTS_MAX = 200;
const RUNS_MAX = 500;

export class CommitRecorder {
  constructor(private readonly deps: { db: Database; clickhouse: ClickHouse }) {}

  /** Under the evaluation locks of these repositories: what is read later is written later. */
  refresh(touched: TouchedCommits): Promise<void> {
    return this.#change(touched, async (tx, names) => {
      const recorded = new Set((await recordedCommits(tx, names)).map(commitKey));
      const due = names.filter((one) => one.hasFailed || recorded.has(commitKey(one)));
      for (let from = 0; from < due.length; from += COMMITS_MAX)
        await recordCommits(tx, this.deps.clickhouse, due.slice(from, from + COMMITS_MAX));
    });
  }

  /** Leaves the records to be written later (late-records.ts); under the evaluation locks of these repositories, too. */
  leave(touched: TouchedCommits): Promise<void> {
    return this.#change(touched, leaveCommits);
  }

  async #change(
    touched: TouchedCommits,
    change: (tx: Executor, commits: readonly TouchedCommit[]) => Promise<void>,
  ): Promise<void> {
    const names = [...touched].flatMap(([repositoryId, commits]) =>
      [...commits].map(([commit, hasFailed]) => ({ repositoryId, commit, hasFailed })),
    );
    if (names.length === 0) return;
    await onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        await shareCommitRecords(tx);
        await change(tx, names);
      }),
    );
  }
}

/** Writes the records of up to {@link COMMITS_MAX} commits as they are now. */
export async function recordCommits(
  tx: Executor,
  clickhouse: ClickHouse,
  commits: readonly CommitName[],
): Promise<void> {
  const records = await readCommitRecordsOf(clickhouse, commits);
  const kept = commits.flatMap((name): StoredCommit[] => {
    const record = records.get(commitKey(name));
    if (!record) return [];
    const { repositoryId, commit } = name;
    const firstAt = Math.min(...record.runs.map(({ started_ms }) => started_ms));
    return [{ repositoryId, commit, firstAt, record: writeCommitRecord(record) }];
  });
  await writeCommitRecords(tx, kept);
  await forgetCommitRecords(
    tx,
    commits.filter((name) => !records.has(commitKey(name))),
  );
}

/** By {@link commitKey}: those of commits on which a test failed, but not too many. */
export async function readCommitRecordsOf(
  clickhouse: ClickHouse,
  commits: readonly CommitName[],
): Promise<Map<string, CommitRecord>> {
  const runs = await readRuns(clickhouse, () => commits);
  const asked = commits.flatMap((name) => {
    const of = runs.get(commitKey(name)) ?? [];
    const testIds = [...new Set(of.flatMap(({ failed_tests }) => failed_tests))];
    const isKept = testIds.length > 0 && testIds.length <= FAILED_TESTS_MAX && of.length <= RUNS_MAX;
    return isKept ? [{ ...name, runs: of, testIds }] : [];
  });
  if (asked.length === 0) return new Map();
  const results = await readResults(clickhouse, () => asked);
  return new Map(
    asked.map((one) => {
      const of = (results.get(commitKey(one)) ?? []).sort(
        by((row) => `${row.id} ${row.test_id} ${row.is_quarantined} ${runKey(row)}`),
      );
      for (const { failures } of of) failures.sort(by(({ id, type, message }) => JSON.stringify([id, type, message])));
      return [commitKey(one), { runs: [...one.runs], results: of }];
    }),
  );
}

/** So that equal records are equal texts. */
const by =
  <T>(keyOf: (one: T) => string) =>
  (one: T, other: T): number => {
    const [a, b] = [keyOf(one), keyOf(other)];
    return a < b ? -1 : a > b ? 1 : 0;
  };
