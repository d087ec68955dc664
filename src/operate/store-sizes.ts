/** How much the stores hold, and how much room there is on their disks. */
import { statfs } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { type Executor, onPostgres } from '../postgres/client.ts';
import { answerOf } from '../probes.ts';

interface Disk {
  /** `clickhouse`, or `data` for the folder of embedded stores. */
  store: string;
  /** The name that ClickHouse gives it, or the path of the folder. */
  disk: string;
  freeBytes: number;
  totalBytes: number;
}

/** Leaves out what could not be read in time. */
export interface StoreSizes {
  /** Bytes on disk, by store. */
  bytes: Readonly<Record<string, number>>;
  disks: readonly Disk[];
}

const diskRow = z.object({ name: z.string(), free: z.number(), total: z.number() });
const bytesRow = z.object({ bytes: z.coerce.number() });

/** @param dataDir the folder of embedded stores; undefined if none is embedded */
export async function readStoreSizes(clickhouse: ClickHouse, db: Executor, dataDir?: string): Promise<StoreSizes> {
  const [inPostgres, inClickHouse, ofClickHouse, ofFolder] = await Promise.all([
    answerOf(() => databaseBytes(db)),
    answerOf(() => partsBytes(clickhouse)),
    answerOf(() => clickhouseDisks(clickhouse)),
    answerOf(() => folderDisk(dataDir)),
  ]);
  return {
    bytes: {
      ...(inPostgres !== undefined && { postgres: inPostgres }),
      ...(inClickHouse !== undefined && { clickhouse: inClickHouse }),
    },
    disks: [...(ofClickHouse ?? []), ...(ofFolder ?? [])],
  };
}

async function databaseBytes(db: Executor): Promise<number> {
  const { rows } = await onPostgres(() => db.execute(sql`select pg_database_size(current_database()) as bytes`));
  return bytesRow.parse(rows[0]).bytes;
}

/** On a cluster those of every shard. */
async function partsBytes(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rows(
    `SELECT toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE database = 'ci' AND active`,
  );
  return bytesRow.parse(row).bytes;
}

/** The disks of the server that answers; the user may not be permitted to see them. */
async function clickhouseDisks(clickhouse: ClickHouse): Promise<Disk[]> {
  const rows = await clickhouse.rows(
    'SELECT name, toFloat64(unreserved_space) AS free, toFloat64(total_space) AS total FROM system.disks',
  );
  return rows.map((row) => {
    const { name, free, total } = diskRow.parse(row);
    return { store: 'clickhouse', disk: name, freeBytes: free, totalBytes: total };
  });
}

async function folderDisk(dataDir: string | undefined): Promise<Disk[]> {
  if (dataDir === undefined) return [];
  const { bavail, blocks, bsize } = await statfs(dataDir);
  return [{ store: 'data', disk: dataDir, freeBytes: bavail * bsize, totalBytes: blocks * bsize }];
}
