/**
 * Large merges of the embedded ClickHouse, which has its cores in common with all else of the service. Of the table with
 * nearly everything that is stored; a setting of the table, so it outlives the process.
 */
import type { ClickHouse } from './client.ts';

const SETTING = 'max_bytes_to_merge_at_max_space_in_pool';
/** Half a million executions. Smaller parts are merged as ever: reads would have too many to look at. */
const MERGED_BYTES_MAX = 16 * 1024 * 1024;

/** Parts are merged up to a size only. A larger merge that has begun ends. */
export const postponeLargeMerges = (clickhouse: ClickHouse): Promise<void> =>
  clickhouse.command(`ALTER TABLE ci.executions MODIFY SETTING ${SETTING} = ${MERGED_BYTES_MAX}`);

/** Parts are merged as ClickHouse thinks best. */
export const allowLargeMerges = (clickhouse: ClickHouse): Promise<void> =>
  clickhouse.command(`ALTER TABLE ci.executions RESET SETTING ${SETTING}`);
