/**
 * Numbered, forward-only migrations of ClickHouse (`sql/clickhouse/NNNN_name.sql`).
 *
 * Every statement is safe to run twice. So several replicas may migrate at the same time, and an interrupted migration
 * is simply run again; `ci.migrations` only saves the repetition.
 */
import { z } from 'zod';
import { UserError } from '../errors.ts';
import { type ClickHouse, StatementRefused } from './client.ts';
import { grantsFor } from './grants.ts';
import { loadMigrations, type Migration } from './migrations.ts';

const ACCESS_DENIED = '497';
const ANY_REPOSITORY = '00000000-0000-0000-0000-000000000000';
const UNKNOWN_SETTING = '115';
const UNKNOWN_TABLE_OR_DATABASE = new Set(['60', '81']);

/**
 * Brings the database up to date. Returns the versions it ran. With none to run it creates nothing, so a service on a
 * migrated database needs no right to create. Throws a {@link UserError} if its user may not do what is needed.
 */
export async function migrateClickHouse(clickhouse: ClickHouse): Promise<number[]> {
  try {
    // Workers ask this for each upload: without the right, it is the start that fails.
    await clickhouse.shardOf(ANY_REPOSITORY);
    const done = await migrationsDone(clickhouse);
    const pending = loadMigrations().filter(({ version }) => !done.has(version));
    if (pending.length > 0) await runMigrations(clickhouse, pending);
    return pending.map(({ version }) => version);
  } catch (error) {
    if (!(error instanceof StatementRefused && error.code === ACCESS_DENIED)) throw error;
    const grants = grantsFor(clickhouse.isSharded, clickhouse.database).map(({ statement }) => `  ${statement};`);
    throw new UserError(
      `ClickHouse does not permit what migrations do: ${error.message}\nGrant its user:\n${grants.join('\n')}`,
      { cause: error },
    );
  }
}

/** The versions that were run; none if there is no database yet. */
export async function migrationsDone(clickhouse: ClickHouse): Promise<ReadonlySet<number>> {
  try {
    const rows = await clickhouse.rows('SELECT DISTINCT version FROM ci.migrations');
    return new Set(rows.map((row) => z.object({ version: z.number() }).parse(row).version));
  } catch (error) {
    if (error instanceof StatementRefused && UNKNOWN_TABLE_OR_DATABASE.has(error.code)) return new Set();
    throw error;
  }
}

async function runMigrations(clickhouse: ClickHouse, migrations: readonly Migration[]): Promise<void> {
  await clickhouse.command('CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic');
  await clickhouse.command(
    'CREATE TABLE IF NOT EXISTS ci.migrations (version UInt32, name String) ENGINE = MergeTree ORDER BY version',
  );
  for (const migration of migrations) {
    for (const statement of migration.statements) await runMigrationStatement(clickhouse, statement);
    await clickhouse.insert(
      'ci.migrations',
      JSON.stringify({ version: migration.version, name: migration.name }),
      `migration-${migration.version}`,
    );
  }
}

/** Runs one, except that a server may be older than a setting of a table: then it lacks what the setting turns off, too. */
export async function runMigrationStatement(clickhouse: ClickHouse, statement: string): Promise<void> {
  try {
    await clickhouse.command(statement, {}, { mayRunTwice: true });
  } catch (error) {
    const isUnknown = error instanceof StatementRefused && error.code === UNKNOWN_SETTING;
    if (!isUnknown || !/^ALTER TABLE \S+ MODIFY SETTING/.test(statement)) throw error;
  }
}
