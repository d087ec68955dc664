/**
 * The settings on which the service relies. They are sent with every statement: the profile of its user at a server may
 * say otherwise, and then rows would count twice, be left out, or come in another form.
 */

/** Sent with every statement over HTTP. Nearly all are the defaults of ClickHouse. */
export const RELIED_ON = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_quote_denormals: 0,
  output_format_json_named_tuples_as_objects: 1,
  output_format_json_skip_null_value_in_named_tuples: 0,
  output_format_json_map_as_array_of_tuples: 0,
  output_format_json_array_of_rows: 0,
  date_time_output_format: 'simple',
  aggregate_functions_null_for_empty: 0,
  empty_result_for_aggregation_by_empty_set: 0,
  join_use_nulls: 0,
  group_by_use_nulls: 0,
  transform_null_in: 0,
  cast_keep_nullable: 0,
  // An answer must not be older than what was inserted before the read.
  use_query_cache: 0,
  // An answer that is too large or takes too long is an error, and never a part of the answer.
  max_result_rows: '0',
  max_result_bytes: '0',
  limit: '0',
  offset: '0',
  result_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  // An insert stores every line in every table, or none.
  materialized_views_ignore_errors: 0,
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: 0,
} as const;

/**
 * Since ClickHouse 25.12 and 26.2, the first two overrule `insert_deduplicate`. Newer servers refuse to replace a partition
 * by none without the third. A server that lacks one refuses its name.
 */
const NEWER = ['deduplicate_insert', 'deduplicate_insert_select', 'allow_replace_partition_from_empty_source'] as const;
export type NewerSetting = (typeof NEWER)[number];
export const ALL_NEWER: ReadonlySet<NewerSetting> = new Set(NEWER);

export type Settings = Readonly<Record<string, string | number>>;

/** For inserts under a token. */
export const deduplicating = (newer: ReadonlySet<NewerSetting>): Settings => ({
  insert_deduplicate: 1,
  ...(newer.has('deduplicate_insert') && { deduplicate_insert: 'enable' }),
});

/** For inserts whose equal rows must all be kept. */
export const notDeduplicating = (newer: ReadonlySet<NewerSetting>): Settings => ({
  async_insert: 0,
  insert_deduplicate: 0,
  ...(newer.has('deduplicate_insert') && { deduplicate_insert: 'disable' }),
  ...(newer.has('deduplicate_insert_select') && { deduplicate_insert_select: 'disable' }),
});

/** For a partition that is replaced on every shard: only some may have rows for it. */
export const replacing = (newer: ReadonlySet<NewerSetting>): Settings =>
  newer.has('allow_replace_partition_from_empty_source') ? { allow_replace_partition_from_empty_source: 1 } : {};

/** The clause of a statement. */
export function settingsClause(settings: Settings): string {
  const set = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  return `SETTINGS ${set.join(', ')}`;
}

/** A question for the newer settings that a server has: rows with a `name`. */
export const NEWER_SETTINGS_SQL = `SELECT name FROM system.settings WHERE name IN (${NEWER.map((name) => `'${name}'`).join(', ')})`;

/** A server may be upgraded while the service runs. */
const FRESH_MS = 60_000;

/** Which of the newer settings a server has. */
export class NewerSettings {
  #known: Promise<ReadonlySet<NewerSetting>> | undefined;
  #readAt = 0;

  /** @param read the names that the server has */
  constructor(private readonly read: () => Promise<readonly string[]>) {}

  known(): Promise<ReadonlySet<NewerSetting>> {
    const now = performance.now();
    if (this.#known && now - this.#readAt < FRESH_MS) return this.#known;
    this.#readAt = now;
    const known = this.read().then((names) => new Set(NEWER.filter((name) => names.includes(name))));
    known.catch(() => this.forget());
    this.#known = known;
    return known;
  }

  /** The server has refused one. */
  forget(): void {
    this.#known = undefined;
  }
}
