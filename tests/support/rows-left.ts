/** Rows that name a repository by its id, in every table of both stores that has such a column. */
import { z } from 'zod';
import type { TestStores } from './stores.ts';

const tablesOf = z.array(z.object({ name: z.string() }));
const rowsOf = z.array(z.object({ rows: z.coerce.number() }));

/** Their numbers by table; tables without any are left out. */
export async function rowsLeft({ postgres, clickhouse }: TestStores, id: string): Promise<Record<string, number>> {
  const left: Record<string, number> = {};
  const inPostgres = await postgres.pool.query(
    `select table_name as name from information_schema.columns
     where table_schema = 'ci_insights' and column_name = 'repository_id' and is_generated = 'NEVER'`,
  );
  for (const { name } of tablesOf.parse(inPostgres.rows)) {
    const { rows } = await postgres.pool.query(
      `select count(*) as rows from ci_insights.${name} where repository_id = $1`,
      [id],
    );
    left[name] = rowsOf.parse(rows)[0]?.rows ?? 0;
  }
  const inClickHouse = await clickhouse.rows(
    `SELECT name FROM system.tables WHERE database = 'ci' AND engine LIKE '%MergeTree' AND name IN (
       SELECT table FROM system.columns WHERE database = 'ci' AND name = 'repository_id')`,
  );
  for (const { name } of tablesOf.parse(inClickHouse)) {
    const rows = await clickhouse.rows(`SELECT count() AS rows FROM ci.${name} WHERE repository_id = {id: UUID}`, {
      id,
    });
    left[name] = rowsOf.parse(rows)[0]?.rows ?? 0;
  }
  return Object.fromEntries(Object.entries(left).filter(([, rows]) => rows > 0));
}
