/**
 * Makes the records of commits on which a test failed: each is read from ClickHouse as a whole, so it does not matter how often
 * and how late that happens.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Executor } from '../postgres/client.ts';
import {
  type CommitName,
  forgetCommitRecords,
  type StoredCommit,
  writeCommitRecords,
} from '../postgres/commit-records.ts';
import { type CommitRecord, commitKey, readResults, readRuns, runKey, writeCommitRecord } from './commit-record.ts';

/** Commits in a statement. With as many tests each, their ids fit in the 1 MiB of an address. */
export const COMMITS_MAX = 40;
/** A commit with more is not kept as a row, which every run would rewrite; it is read from ClickHouse. */
const FAILED_TESTS_MAX = 200;
const RUNS_MAX = 500;

/** Writes the records of up to {@link COMMITS_MAX} commits of a repository as they are now, under the lock of its partition. */
export async function recordCommits(
  tx: Executor,
  clickhouse: ClickHouse,
  repositoryId: string,
  commits: readonly string[],
): Promise<void> {
  const names = commits.map((commit): CommitName => ({ repositoryId, commit }));
  const records = await readCommitRecordsOf(clickhouse, names);
  const kept = names.flatMap((name): StoredCommit[] => {
    const record = records.get(commitKey(name));
    if (!record) return [];
    const firstAt = Math.min(...record.runs.map(({ started_ms }) => started_ms));
    return [{ ...name, firstAt, record: writeCommitRecord(record) }];
  });
  await writeCommitRecords(tx, kept);
  await forgetCommitRecords(
    tx,
    repositoryId,
    names.flatMap((name) => (records.has(commitKey(name)) ? [] : [name.commit])),
  );
}

/** By {@link commitKey}: those of commits on which a test failed, but not too many. */
export async function readCommitRecordsOf(
  clickhouse: ClickHouse,
  commits: readonly CommitName[],
): Promise<Map<string, CommitRecord>> {
  const runs = await readRuns(clickhouse, () => commits);
  const asked = commits.flatMap((name) => {
    const runsOn = runs.get(commitKey(name)) ?? [];
    const testIds = [...new Set(runsOn.flatMap(({ failed_tests }) => failed_tests))];
    const isKept = testIds.length > 0 && testIds.length <= FAILED_TESTS_MAX && runsOn.length <= RUNS_MAX;
    return isKept ? [{ ...name, runs: runsOn, testIds }] : [];
  });
  if (asked.length === 0) return new Map();
  const results = await readResults(clickhouse, () => asked);
  return new Map(
    asked.map((one) => {
      const rows = (results.get(commitKey(one)) ?? []).sort(
        by((row) => `${row.id} ${row.test_id} ${row.is_quarantined} ${runKey(row)}`),
      );
      for (const { failures } of rows)
        failures.sort(by(({ id, type, message, attachments }) => JSON.stringify([id, type, message, attachments])));
      return [commitKey(one), { runs: [...one.runs], results: rows }];
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
