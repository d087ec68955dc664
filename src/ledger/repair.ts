/**
 * Completes what was on its way into the embedded ClickHouse when its process or its machine stopped.
 *
 * An insert reaches several tables and months, as a separate part in each. ClickHouse notes the token of a part before
 * the part is in place, in a log that it does not flush. After a power loss each part of an insert that was not
 * acknowledged may be there or not, with or without its token. Sent again under the token, the block would count twice
 * in some tables and be missing in others.
 *
 * So a folder that is opened again is repaired before anything is sent again. What is there decides, not the tokens: raw
 * rows that are missing are added, then what the derived tables lack of what the executions give. A repair that is cut
 * off begins again.
 */
import { eq, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type ClickHouse, isPermanentInsertError } from '../clickhouse/client.ts';
import { defineStatement, type Statement } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import { readBlock } from './parts.ts';

export interface RepairDeps {
  clickhouse: ClickHouse;
  db: Database;
  log: Logger;
}

/** Call it before anything is inserted, and only where no other process inserts. */
export async function repairBlocks({ clickhouse, db, log }: RepairDeps): Promise<void> {
  const unstored = await onPostgres(() =>
    db
      .select({ blockId: ingestBlocks.blockId })
      .from(ingestBlocks)
      .where(isNull(ingestBlocks.storedAt))
      .orderBy(ingestBlocks.blockId),
  );
  for (const { blockId } of unstored) {
    try {
      // One at a time: a block is up to 8 MiB.
      await completeBlock(clickhouse, await readBlock(db, blockId));
    } catch (error) {
      // ClickHouse refuses the lines, so nothing of them is there. The next replay takes the block back.
      if (isPermanentInsertError(error)) continue;
      throw error;
    }
    await onPostgres(() =>
      db.update(ingestBlocks).set({ storedAt: sql`now()` }).where(eq(ingestBlocks.blockId, blockId)),
    );
    log.info({ block: blockId }, 'completed a block that was being stored when the service stopped');
  }
}

/** The raw tables. The views that fill them say how a line becomes rows. */
export const RAW = [
  { table: 'executions', missing: defineStatement('repair/executions', {}) },
  { table: 'failures', missing: defineStatement('repair/failures', {}) },
] as const;

export const DERIVED = [
  { table: 'runs', missing: defineStatement('repair/runs', scope) },
  { table: 'commit_runs', missing: defineStatement('repair/commit_runs', scope) },
] as const;

async function completeBlock(clickhouse: ClickHouse, lines: string): Promise<void> {
  await forgetBlock(clickhouse);
  await clickhouse.command('CREATE TABLE ci.repair AS ci.ingest ENGINE = Memory');
  await clickhouse.insert('ci.repair', lines, 'repair');
  for (const { table, missing } of RAW) {
    await clickhouse.command(`CREATE VIEW ci.repair_${table} AS ${await rowsOfLines(clickhouse, table)}`);
    await add(clickhouse, table, missing({}));
  }
  const repositories = z
    .array(z.object({ repository_id: z.string() }))
    .parse(await clickhouse.rows('SELECT DISTINCT repository_id FROM ci.repair'));
  for (const { repository_id } of repositories)
    for (const { table, missing } of DERIVED) await add(clickhouse, table, missing(scopeOf(repository_id)));
  await forgetBlock(clickhouse);
}

async function forgetBlock(clickhouse: ClickHouse): Promise<void> {
  for (const { table } of RAW) await clickhouse.command(`DROP VIEW IF EXISTS ci.repair_${table} SYNC`);
  await clickhouse.command('DROP TABLE IF EXISTS ci.repair SYNC');
}

/** The SELECT of the view that fills a raw table, of the lines of the block. */
async function rowsOfLines(clickhouse: ClickHouse, table: string): Promise<string> {
  const [view] = z
    .array(z.object({ as_select: z.string() }))
    .parse(
      await clickhouse.rows(
        "SELECT as_select FROM system.tables WHERE database = 'ci' AND name = {view: String} AND as_select != ''",
        { view: `ingest_to_${table}` },
      ),
    );
  if (!view) throw new Error(`no view fills ci.${table}`);
  return view.as_select.replaceAll('ci.ingest', 'ci.repair');
}

/** Without a token: the rows are those that are missing, whatever was inserted before. */
async function add(clickhouse: ClickHouse, table: string, statement: Statement): Promise<void> {
  const { sql, params } = statement;
  const columns = z
    .array(z.object({ name: z.string() }))
    .parse(await clickhouse.rows(`DESCRIBE (${sql})`, params))
    .map(({ name }) => name);
  await clickhouse.fill(`ci.${table} (${columns.join(', ')})`, statement);
}
