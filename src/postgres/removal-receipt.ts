/** Receipts of what leaves: each says how many rows were removed so far, by table. */
import { sql } from 'drizzle-orm';
import type { RowCounts } from '../domain/deletion.ts';
import type { Executor } from './client.ts';
import type { deletedRepositories, forgottenTests } from './schema.ts';

/** The table with a receipt, and its id. */
export interface Receipt {
  table: typeof deletedRepositories | typeof forgottenTests;
  id: string;
}

/** Adds removed rows to a receipt, in the transaction that removes them. */
export async function noteRemoved(tx: Executor, { table, id }: Receipt, removed: RowCounts): Promise<void> {
  for (const [name, rows] of Object.entries(removed))
    await tx.execute(sql`
      update ${table}
      set removed = removed || jsonb_build_object(${name}::text, coalesce((removed->>${name}::text)::bigint, 0) + ${rows}::bigint)
      where id = ${id}`);
}

/** Notes rows of ClickHouse that are about to be removed. As many are left at most when a removal continues. */
export async function noteStored(db: Executor, { table, id }: Receipt, stored: RowCounts): Promise<void> {
  for (const [name, rows] of Object.entries(stored))
    await db.execute(sql`
      update ${table}
      set removed = removed || jsonb_build_object(${name}::text, greatest((removed->>${name}::text)::bigint, ${rows}::bigint))
      where id = ${id}`);
}
