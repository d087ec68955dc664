/**
 * The body of a block, cut by repository. A part is what is inserted into ClickHouse, again if need be, and what the
 * evaluation reads once that is done. The lines of a block are those of its parts, in this order, so they never change.
 */
import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { plainColumn } from '../postgres/columns.ts';
import { partitionOf } from '../postgres/partitions.ts';
import { blockParts } from '../postgres/schema.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Smaller texts are compressed at once: to hand them to another thread takes longer. */
const SMALL_BYTES = 8_192;

/** The part of a block that belongs to one repository. */
export interface NewPart {
  repositoryId: string;
  /** Whether all of it is imported. */
  isImported: boolean;
  executions: number;
  lines: string;
}

/** Parts in the order in which their block has them. */
export const inBlockOrder = (parts: Iterable<NewPart>): NewPart[] =>
  [...parts].sort(
    (one, other) =>
      partitionOf(one.repositoryId) - partitionOf(other.repositoryId) ||
      (one.repositoryId < other.repositoryId ? -1 : 1),
  );

export async function writeParts(tx: Executor, blockId: number, parts: readonly NewPart[]): Promise<void> {
  const plain = parts.map(({ lines }) => Buffer.from(lines));
  const bodies = await Promise.all(
    plain.map((bytes) => (bytes.length <= SMALL_BYTES ? zstdCompressSync(bytes) : compress(bytes))),
  );
  await tx.execute(sql`
    insert into ${blockParts} (partition, block_id, repository_id, is_imported, executions, bytes, body)
    select partition, ${blockId}::bigint, repository_id, is_imported, executions, bytes, body
    from unnest(${plainColumn(parts.map(({ repositoryId }) => partitionOf(repositoryId)))}::smallint[],
      ${plainColumn(parts.map(({ repositoryId }) => repositoryId))}::uuid[],
      ${plainColumn(parts.map(({ isImported }) => String(isImported)))}::boolean[],
      ${plainColumn(parts.map(({ executions }) => executions))}::int[],
      ${plainColumn(plain.map(({ length }) => length))}::int[], ${sql.param(bodies)}::bytea[])
      as part (partition, repository_id, is_imported, executions, bytes, body)`);
}

export const linesOf = async (body: Uint8Array): Promise<string> => (await decompress(body)).toString('utf8');

/** The lines of a block that is not stored yet: until then, it has all of its parts. */
export async function readBlock(tx: Database | Executor, blockId: number): Promise<string> {
  const { rows } = await onPostgres(() =>
    tx.execute(sql`
      select body from ${blockParts} where block_id = ${blockId} order by partition, repository_id`),
  );
  if (rows.length === 0) throw new Error('a block without parts cannot be replayed');
  const lines: string[] = [];
  for (const row of rows) lines.push(await linesOf(z.object({ body: z.instanceof(Uint8Array) }).parse(row).body));
  return lines.join('');
}
