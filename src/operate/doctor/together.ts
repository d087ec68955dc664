/** Checks that PostgreSQL and ClickHouse belong together: each may be restored, or lost, without the other. */
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.ts';
import type { Executor } from '../../postgres/client.ts';
import { unfinishedDeletions } from '../../postgres/deleted-repositories.ts';
import { everyRepositoryId } from '../../postgres/repositories.ts';
import { type Finding, inTime, reasonOf, warning } from './finding.ts';
import { unknownRepositoriesFinding } from './rules.ts';

const CHECK = 'Both stores';
/** No more are counted. */
const REPOSITORIES_MAX = 10_000;
const row = z.object({ id: z.string() });

/** Both are migrated. */
export async function checkTogether(clickhouse: ClickHouse, db: Executor): Promise<Finding> {
  try {
    // A row for each attempt of a CI job on a day: thousands of times fewer than executions.
    const rows = await inTime(() =>
      clickhouse.rows(`SELECT DISTINCT toString(repository_id) AS id FROM ci.runs LIMIT ${REPOSITORIES_MAX}`),
    );
    const stored = rows.map((one) => row.parse(one).id);
    const [recorded, leaving] = await inTime(() => Promise.all([everyRepositoryId(db), unfinishedDeletions(db)]));
    const known = new Set([...recorded, ...leaving.map(({ id }) => id)]);
    return unknownRepositoriesFinding(CHECK, stored.filter((id) => !known.has(id)).length, recorded.length === 0);
  } catch (error) {
    return warning(CHECK, `They were not compared: ${reasonOf(error)}.`, 'Run `ci-insights doctor` again.');
  }
}
