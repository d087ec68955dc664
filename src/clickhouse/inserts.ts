/** How lines are inserted, embedded or over HTTP. */
import { deduplicating, type NewerSetting, type Settings, settingsClause } from './settings.ts';

/** Lines of JSONEachRow, as UTF-8. */
export interface Insertion {
  table: string;
  /** Makes repeats harmless; letters, digits, `-` and `_`. It identifies exactly these lines. */
  token: string;
  lines: Uint8Array;
}

export const INSERT_FORMAT = 'JSONEachRow';

/** Parallel parsing would split the block, and a replay might be split differently. */
export const insertSettings = (token: string, newer: ReadonlySet<NewerSetting>): Settings => ({
  ...deduplicating(newer),
  insert_deduplication_token: token,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  async_insert: 0,
  input_format_parallel_parsing: 0,
  max_insert_block_size: 1_000_000,
});

/** The statement that the lines follow. */
export const insertStatement = (
  { table, token }: Pick<Insertion, 'table' | 'token'>,
  newer: ReadonlySet<NewerSetting>,
): string => `INSERT INTO ${table} ${settingsClause(insertSettings(token, newer))} FORMAT ${INSERT_FORMAT}`;
