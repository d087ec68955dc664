/** Compares the records of commits with what ClickHouse has. A commit without a record is read from there. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { commitKey, commitRecordSchema } from '../commits/commit-record.ts';
import { readCommitRecordsOf } from '../commits/record-commits.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { type CommitName, commitRecordsAfter } from '../postgres/commit-records.ts';

const COMMITS_AT_ONCE = 40;
const FIRST: CommitName = { repositoryId: '00000000-0000-0000-0000-000000000000', commit: '' };

/**
 * A sentence for each record that differs.
 *
 * @param pending the commits of blocks that are not evaluated yet, by {@link commitKey}; they are not compared
 */
export async function commitDifferences(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  pending: ReadonlySet<string>,
  repositoryId?: string,
): Promise<string[]> {
  const differences: string[] = [];
  for (let after: CommitName | undefined = FIRST; after; ) {
    const name: CommitName = after;
    const stored = await onPostgres(() => commitRecordsAfter(db, name, { limit: COMMITS_AT_ONCE, repositoryId }));
    const compared = stored.filter((one) => !pending.has(commitKey(one)));
    const records = compared.length > 0 ? await readCommitRecordsOf(clickhouse, compared) : new Map();
    for (const one of compared)
      if (!Bun.deepEquals(records.get(commitKey(one)), commitRecordSchema.parse(one.record)))
        differences.push(`the record of commit ${one.commit} of repository ${one.repositoryId} is outdated`);
    after = stored.at(-1);
  }
  return differences;
}
