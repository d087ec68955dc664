/** Backups of both stores of the tests, each of another moment, and their restore in any combination. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Month, Months } from '../../src/clickhouse/months.ts';
import { type Described, PostgresReader, replaceRows } from '../../src/transfer/postgres-rows.ts';
import type { TestStores } from './stores.ts';

/** Months and the files of their rows. */
export type ClickHouseBackup = Map<string, Month>;

export type PostgresBackup = Described & { rows: Map<string, Buffer> };

export class Backups {
  readonly #months: Months;

  constructor(private readonly stores: TestStores) {
    const { clickhouse, config } = stores;
    this.#months = new Months(clickhouse, { url: config.clickhouseUrl, cluster: config.clickhouseCluster });
  }

  /** @param place a folder that does not exist yet */
  async ofClickHouse(place: string): Promise<ClickHouseBackup> {
    await mkdir(place, { recursive: true });
    const backup: ClickHouseBackup = new Map();
    for (const month of await this.#months.list()) {
      const path = join(place, `${month.table}-${month.month}`);
      await this.#months.write(month, path);
      backup.set(path, month);
    }
    return backup;
  }

  async ofPostgres(): Promise<PostgresBackup> {
    const reader = await PostgresReader.open(this.stores.databaseUrl);
    const rows = new Map<string, Buffer>();
    for (const table of reader.tables) rows.set(table.table, await buffer(reader.rowsOf(table)));
    const { tables, sequences } = reader;
    await reader.close();
    return { tables, sequences, rows };
  }

  async restore(clickhouse: ClickHouseBackup, postgres: PostgresBackup): Promise<void> {
    for (const month of await this.#months.list()) await this.#months.drop(month);
    for (const [path, month] of clickhouse) await this.#months.replace(month, path);
    await replaceRows(this.stores.databaseUrl, postgres, ({ table }) =>
      Readable.from([postgres.rows.get(table) ?? Buffer.alloc(0)]),
    );
  }

  close(): Promise<void> {
    return this.#months.close();
  }
}
