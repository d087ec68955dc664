/** Checks ClickHouse. To check permissions, it creates a table, writes a row and drops the table again. */

import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.ts';
import { loadMigrations } from '../../clickhouse/migrations.ts';
import { systemClock } from '../../clock.ts';
import { type Finding, inTime, ok, problem, reasonOf } from './finding.ts';
import { clockFinding, diskFinding, durabilityFinding, migrationsFinding, versionFinding } from './rules.ts';

const facts = z.object({ version: z.string(), now: z.number(), has_migrations: z.number() });
const disk = z.object({ name: z.string(), free: z.number() });

/** @param mayProbe Whether to create a table to check permissions; not on a cluster, where that involves every server. */
export async function checkClickHouse(clickhouse: ClickHouse, mayProbe: boolean): Promise<Finding[]> {
  try {
    return await inTime(() => findingsOf(clickhouse, mayProbe));
  } catch (error) {
    const remedy = 'Check that it is running, and that address, user and password in CLICKHOUSE_URL are correct.';
    return [problem('ClickHouse', `It is not usable: ${reasonOf(error)}.`, remedy)];
  }
}

async function findingsOf(clickhouse: ClickHouse, mayProbe: boolean): Promise<Finding[]> {
  const askedAt = systemClock.now();
  const [row] = await clickhouse.rows(`
    SELECT version() AS version, toFloat64(toUnixTimestamp64Milli(now64(3))) AS now,
           toFloat64((SELECT count() FROM system.tables WHERE database = 'ci' AND name = 'migrations')) AS has_migrations`);
  const middle = (askedAt + systemClock.now()) / 2;
  const fact = facts.parse(row);
  const known = loadMigrations().length;
  const done = fact.has_migrations > 0 ? await migrationsDone(clickhouse) : 0;
  return [
    ok('ClickHouse', 'It responds.'),
    versionFinding('ClickHouse', fact.version),
    clockFinding('ClickHouse', fact.now - middle),
    migrationsFinding('ClickHouse', done, known),
    // The migrations set it.
    ...(done < known ? [] : [await durability(clickhouse)]),
    ...(await disks(clickhouse)),
    ...(mayProbe ? [await permissions(clickhouse, fact.has_migrations > 0)] : []),
  ];
}

async function migrationsDone(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.rows('SELECT toFloat64(uniqExact(version)) AS done FROM ci.migrations');
  return z.object({ done: z.number() }).parse(row).done;
}

async function durability(clickhouse: ClickHouse): Promise<Finding> {
  const rows = await clickhouse.rows(`
    SELECT name FROM system.tables
    WHERE database = 'ci' AND engine LIKE '%MergeTree' AND name != 'migrations'
      AND NOT (engine_full LIKE '%fsync_after_insert = 1%' AND engine_full LIKE '%fsync_part_directory = 1%'
        AND engine_full LIKE '%min_rows_to_fsync_after_merge = 1%')
    ORDER BY name`);
  return durabilityFinding(rows.map((row) => z.object({ name: z.string() }).parse(row).name));
}

/** The user may not be permitted to see the disks. */
async function disks(clickhouse: ClickHouse): Promise<Finding[]> {
  try {
    const rows = await clickhouse.rows('SELECT name, toFloat64(unreserved_space) AS free FROM system.disks');
    return rows.map((row) => {
      const { name, free } = disk.parse(row);
      return diskFinding(`ClickHouse ${name}`, free);
    });
  } catch {
    return [];
  }
}

/** Does with a temporary table what the service does with its tables. */
async function permissions(clickhouse: ClickHouse, hasDatabase: boolean): Promise<Finding> {
  const check = 'ClickHouse permissions';
  const table = `ci.doctor_${crypto.randomUUID().replaceAll('-', '')}`;
  const steps = [
    ...(hasDatabase ? [] : ['CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic']),
    `CREATE TABLE ${table} (month UInt32) ENGINE = MergeTree PARTITION BY month ORDER BY month`,
    `INSERT INTO ${table} VALUES (202611)`,
    `ALTER TABLE ${table} DROP PARTITION 202611`,
    `DROP TABLE ${table} SYNC`,
  ];
  for (const step of steps)
    try {
      await clickhouse.command(step);
    } catch (error) {
      await clickhouse.command(`DROP TABLE IF EXISTS ${table} SYNC`).catch(() => {});
      return problem(
        check,
        `${step.split(' ', 2).join(' ')} is not permitted: ${reasonOf(error)}`,
        'Run `GRANT SELECT, INSERT, CREATE, ALTER, DROP, TRUNCATE, OPTIMIZE ON ci.* TO <user>`.',
      );
    }
  return ok(check, 'Tables can be created, written, altered and dropped.');
}
