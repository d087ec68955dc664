/** A ClickHouse for work that must not slow down reads. */
import { changed } from './changed.ts';
import type { ClickHouse } from './client.ts';

/** The same one, whose long statements take one thread, and wait for the others. */
export const onOneThread = (clickhouse: ClickHouse): ClickHouse =>
  changed(clickhouse, {
    select: (query, params, turn) => clickhouse.select({ ...query, isPatient: true }, params, turn),
  });
