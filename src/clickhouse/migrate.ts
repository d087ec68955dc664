/**
 * Numbered, forward-only migrations of ClickHouse (`sql/clickhouse/NNNN_name.sql`).
 *
 * Every statement is safe to run twice. So several replicas may migrate at the same time, and an interrupted migration
 * is simply run again; `ci.migrations` only saves the repetition.
 */
import { z } from 'zod';
import { type ClickHouse, StatementRefused } from './client.ts';
import { loadMigrations } from './migrations.ts';

/** Brings the database up to date. Returns the versions it ran. */
export async function migrateClickHouse(clickhouse: ClickHouse): Promise<number[]> {
  await clickhouse.command('CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic');
  await clickhouse.command(
    'CREATE TABLE IF NOT EXISTS ci.migrations (version UInt32, name String) ENGINE = MergeTree ORDER BY version',
  );
  const rows = z
    .array(z.object({ version: z.number() }))
    .parse(await clickhouse.rows('SELECT version FROM ci.migrations'));
  const done = new Set(rows.map(({ version }) => version));
  const run: number[] = [];
  for (const migration of loadMigrations()) {
    if (done.has(migration.version)) continue;
    for (const statement of migration.statements) await runMigrationStatement(clickhouse, statement);
    await clickhouse.insert(
      'ci.migrations',
      JSON.stringify({ version: migration.version, name: migration.name }),
      `migration-${migration.version}`,
    );
    run.push(migration.version);
  }
  return run;
}

const UNKNOWN_SETTING = '115';

/** Runs one, except that a server may be older than a setting of a table: then it lacks what the setting turns off, too. */
export async function runMigrationStatement(clickhouse: ClickHouse, statement: string): Promise<void> {
  try {
    await clickhouse.command(statement);
  } catch (error) {
    const isUnknown = error instanceof StatementRefused && error.code === UNKNOWN_SETTING;
    if (!isUnknown || !/^ALTER TABLE \S+ MODIFY SETTING/.test(statement)) throw error;
  }
}
