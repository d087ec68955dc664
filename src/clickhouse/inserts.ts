/** How lines are inserted, embedded or over HTTP. */

/** Lines of JSONEachRow, as UTF-8. */
export interface Insertion {
  table: string;
  /** Makes repeats harmless; letters, digits, `-` and `_`. It identifies exactly these lines. */
  token: string;
  lines: Uint8Array;
}

export const INSERT_FORMAT = 'JSONEachRow';

/** Parallel parsing would split the block, and a replay might be split differently. */
export const insertSettings = (token: string): Readonly<Record<string, string | number>> => ({
  insert_deduplication_token: token,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  async_insert: 0,
  input_format_parallel_parsing: 0,
  max_insert_block_size: 1_000_000,
});

/** The statement that the lines follow. */
export function insertStatement({ table, token }: Pick<Insertion, 'table' | 'token'>): string {
  const settings = Object.entries(insertSettings(token)).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  return `INSERT INTO ${table} SETTINGS ${settings.join(', ')} FORMAT ${INSERT_FORMAT}`;
}
