/** Writes the records of commits that large passes have left for later (src/postgres/commit-records.ts). */
import type { ClickHouse } from '../clickhouse/client.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import {
  type CommitName,
  forgetLateCommits,
  type LateCommit,
  nextLateCommits,
  shareCommitRecords,
} from '../postgres/commit-records.ts';
import { COMMITS_MAX, recordCommits } from './commit-recorder.ts';
import { lockEvaluation } from './lock.ts';

interface Stores {
  db: Database;
  clickhouse: ClickHouse;
}

/**
 * Each step reads and writes some commits, while their repositories are not evaluated: some 200 ms. Commits of many
 * repositories share its statements. Steps go in the order of repositories, so they end, however many become late meanwhile.
 */
export async function* lateRecordSteps({ db, clickhouse }: Stores): AsyncGenerator<void> {
  let last: LateCommit | undefined;
  do {
    yield;
    const after = last;
    const late = await onPostgres(() => nextLateCommits(db, after, COMMITS_MAX));
    if (late.length > 0) await record({ db, clickhouse }, late);
    last = late.length < COMMITS_MAX ? undefined : late.at(-1);
  } while (last);
}

/** Under the evaluation locks, so that no pass leaves one of these commits between the reading and the writing. */
function record({ db, clickhouse }: Stores, late: readonly CommitName[]): Promise<void> {
  return onPostgres(() =>
    db.transaction(async (tx) => {
      await lockEvaluation(tx, ...new Set(late.map(({ repositoryId }) => repositoryId)));
      await shareCommitRecords(tx);
      await recordCommits(tx, clickhouse, late);
      await forgetLateCommits(tx, late);
    }),
  );
}
