/**
 * Months of the tables, out to files and in again: for moving them to another ClickHouse. A file has ClickHouse's own format
 * `Native`, compressed by zstd. The embedded engine writes and reads files itself; a server sends and gets their bytes.
 */
import type { ClickHouseClient } from '@clickhouse/client';
import { z } from 'zod';
import { readPacked, writePacked } from '../packed-file.ts';
import type { ClickHouse } from './client.ts';
import { type Place, topologyAt } from './database.ts';
import { overHttp } from './http.ts';
import { bindLiterals } from './literals.ts';
import { NEWER_SETTINGS_SQL, type NewerSetting, notDeduplicating, settingsClause } from './settings.ts';
import type { Topology } from './topology.ts';

/** The tables that hold what was ingested, with the column by whose month they are partitioned. */
export const MONTHLY_TABLES = {
  executions: 'finished_at',
  failures: 'failed_at',
  runs: 'day',
  commit_runs: 'day',
  events: 'received_at',
} as const;

const TABLES = Object.keys(MONTHLY_TABLES) as MonthlyTable[];
type MonthlyTable = keyof typeof MONTHLY_TABLES;

export const monthSchema = z.strictObject({
  table: z.enum(TABLES),
  /** Such as `202611`. */
  month: z.string().regex(/^\d{6}$/),
});
export type Month = z.output<typeof monthSchema>;

/** Two stores with the same rows in a month have equal contents, however its parts are merged. */
export interface Contents {
  rows: number;
  /** Sum of the hashes of its rows, in decimal digits. */
  digest: string;
}

const listed = z.array(z.object({ table: z.enum(TABLES), month: z.string() }));
const columns = z.array(z.object({ name: z.string(), type: z.string() }));
const contents = z.array(z.object({ rows: z.number(), digest: z.string() }));
const names = z.array(z.object({ name: z.string() }));

export class Months {
  /** Undefined: the engine is embedded. */
  readonly #server: ClickHouseClient | undefined;
  readonly #topology: Topology;

  constructor(
    private readonly clickhouse: ClickHouse,
    { url, ...place }: Place & { url: string | undefined },
  ) {
    this.#topology = topologyAt(place);
    this.#server = url ? overHttp(url, this.#topology) : undefined;
  }

  /** All that hold rows, the oldest first. */
  async list(): Promise<Month[]> {
    const rows = await this.clickhouse.rows(
      `SELECT DISTINCT table, partition_id AS month FROM system.parts
       WHERE database = 'ci' AND active AND rows > 0 AND table IN {tables: Array(String)} ORDER BY month, table`,
      { tables: TABLES },
    );
    return listed.parse(rows);
  }

  async contentsOf({ table, month }: Month): Promise<Contents> {
    const described = await this.clickhouse.rows(
      `SELECT name, type FROM system.columns WHERE database = 'ci' AND table = {table: String} ORDER BY position`,
      { table },
    );
    const hashed = columns.parse(described).map(hashable).join(', ');
    const [found] = contents.parse(
      await this.clickhouse.rows(
        `SELECT count() AS rows, toString(sum(cityHash64(${hashed}))) AS digest FROM ci.${table}${isMerged(table) ? ' FINAL' : ''}
         WHERE toYYYYMM(${MONTHLY_TABLES[table]}) = {month: UInt32}`,
        { month: Number(month) },
      ),
    );
    return found ?? { rows: 0, digest: '0' };
  }

  /** Writes the rows of a month to a file that does not exist yet. */
  async write({ table, month }: Month, path: string): Promise<void> {
    const select = `SELECT * FROM ci.${table} WHERE toYYYYMM(${MONTHLY_TABLES[table]}) = ${Number(month)}`;
    if (!this.#server)
      return this.clickhouse.command(
        bindLiterals(`INSERT INTO FUNCTION file({path: String}, 'Native', auto, 'zstd') ${select}`, { path }),
      );
    const { stream } = await this.#server.exec({ query: this.#topology.read(`${select} FORMAT Native`) });
    await writePacked(stream, path);
  }

  /** Puts the rows of a file in the place of what the month holds. */
  async replace(month: Month, path: string): Promise<void> {
    await this.drop(month);
    const target = `ci.${month.table}`;
    const settings = settingsClause(notDeduplicating(await this.#newerSettings()));
    if (!this.#server)
      return this.clickhouse.command(
        bindLiterals(`INSERT INTO ${target} ${settings} SELECT * FROM file({path: String}, 'Native', auto, 'zstd')`, {
          path,
        }),
      );
    const values = readPacked(path);
    const query = this.#topology.read(`INSERT INTO ${target} ${settings} FORMAT Native`);
    const { stream } = await this.#server.exec({ query, values });
    stream.resume();
  }

  async drop({ table, month }: Month): Promise<void> {
    await this.clickhouse.command(`ALTER TABLE ci.${table} DROP PARTITION ID '${month}'`);
  }

  /** Closes the connections that were opened for this; the ClickHouse that was given stays open. */
  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #newerSettings(): Promise<ReadonlySet<NewerSetting>> {
    const known = names.parse(await this.clickhouse.rows(NEWER_SETTINGS_SQL));
    return new Set(known.map(({ name }) => name as NewerSetting));
  }
}

/** Whether rows with the same key become one as parts are merged. */
const isMerged = (table: MonthlyTable): boolean => table !== 'executions' && table !== 'failures';

/** A hash of NULL is NULL, and lists of distinct values have no order. */
function hashable({ name, type }: { name: string; type: string }): string {
  if (type.startsWith('Nullable(')) return `isNull(${name}), assumeNotNull(${name})`;
  return type.includes('groupUniqArrayArray') ? `arraySort(${name})` : name;
}
