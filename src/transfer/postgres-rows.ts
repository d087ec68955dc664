/** All rows of PostgreSQL, out as streams and in again, in its binary format for COPY: rows of any version fit any other. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { z } from 'zod';

const SCHEMA = 'ci_insights';

const tableRows = z.array(z.object({ table: z.string(), columns: z.array(z.string()) }));
const sequenceRows = z.array(z.object({ name: z.string(), last: z.coerce.bigint().nullable() }));
const countRows = z.array(z.object({ rows: z.coerce.number() }));

/** A table, and its columns without those that are generated from others. */
type Table = z.output<typeof tableRows>[number];

/** The last value that each sequence gave; null: none yet. */
export type Sequences = Readonly<Record<string, string | null>>;

/** Reads everything as of one moment. */
export class PostgresReader implements Described {
  private constructor(
    private readonly client: pg.Client,
    readonly tables: readonly Table[],
    readonly sequences: Sequences,
  ) {}

  static async open(url: string): Promise<PostgresReader> {
    const client = await begin(url, 'begin isolation level repeatable read, read only');
    return new PostgresReader(client, await tablesOf(client), await sequencesOf(client));
  }

  rowsOf({ table, columns }: Table): Readable {
    return this.client.query(to(`copy ${place(table)} (${list(columns)}) to stdout (format binary)`));
  }

  async count({ table }: Table): Promise<number> {
    const { rows } = await this.client.query(`select count(*) as rows from ${place(table)}`);
    return countRows.parse(rows)[0]?.rows ?? 0;
  }

  close(): Promise<void> {
    return this.client.end();
  }
}

/** The tables that rows are of, and how far their sequences are. */
export interface Described {
  tables: readonly Table[];
  sequences: Sequences;
}

/**
 * Puts other rows in the place of all rows, in one transaction: all of them, or none.
 *
 * @param afterwards runs in that transaction, after the rows
 */
export async function replaceRows(
  url: string,
  { tables, sequences }: Described,
  rowsOf: (table: Table) => Readable,
  afterwards: (client: pg.Client) => Promise<void> = async () => {},
): Promise<void> {
  const client = await begin(url, 'begin');
  try {
    await client.query(`truncate ${tables.map(({ table }) => place(table)).join(', ')}`);
    for (const table of tables)
      await pipeline(
        rowsOf(table),
        client.query(from(`copy ${place(table.table)} (${list(table.columns)}) from stdin (format binary)`)),
      );
    for (const [name, last] of Object.entries(sequences))
      await client.query('select setval($1::regclass, coalesce($2::bigint, 1), $2::bigint is not null)', [
        place(name),
        last,
      ]);
    await afterwards(client);
    await client.query('commit');
    await client.query('analyze');
  } finally {
    await client.end();
  }
}

async function begin(url: string, statement: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'ci-insights transfer' });
  await client.connect();
  await client.query(statement);
  // A large table takes longer than statements may.
  await client.query('set local statement_timeout = 0');
  return client;
}

async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query(
    `select tables.table_name as table, json_agg(columns.column_name order by columns.ordinal_position) as columns
     from information_schema.tables
     join information_schema.columns using (table_schema, table_name)
     where tables.table_schema = $1 and tables.table_type = 'BASE TABLE' and columns.is_generated = 'NEVER'
     group by tables.table_name order by tables.table_name`,
    [SCHEMA],
  );
  return tableRows.parse(rows);
}

async function sequencesOf(client: pg.Client): Promise<Sequences> {
  const { rows } = await client.query(
    'select sequencename as name, last_value as last from pg_sequences where schemaname = $1',
    [SCHEMA],
  );
  return Object.fromEntries(sequenceRows.parse(rows).map(({ name, last }) => [name, last?.toString() ?? null]));
}

const place = (name: string): string => `${SCHEMA}.${pg.escapeIdentifier(name)}`;
const list = (columns: readonly string[]): string => columns.map((name) => pg.escapeIdentifier(name)).join(', ');
