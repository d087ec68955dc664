/**
 * Large merges of the embedded ClickHouse, which shares its cores with the rest of the service. The limit is for the table
 * of executions, which has nearly everything that is stored. It is a setting of the table, so it outlives the process.
 */
import type { ClickHouse } from './client.ts';

const SETTING = 'max_bytes_to_merge_at_max_space_in_pool';
/** Half a million executions. Smaller parts are still merged: otherwise reads would have too many to look at. */
const MERGED_BYTES_MAX = 16 * 1024 * 1024;

/** No merge that begins now makes a larger part than that. One that is running finishes. */
export const postponeLargeMerges = (clickhouse: ClickHouse): Promise<void> =>
  clickhouse.command(`ALTER TABLE ci.executions MODIFY SETTING ${SETTING} = ${MERGED_BYTES_MAX}`);

/** ClickHouse decides again how large parts become. */
export const allowLargeMerges = (clickhouse: ClickHouse): Promise<void> =>
  clickhouse.command(`ALTER TABLE ci.executions RESET SETTING ${SETTING}`);
