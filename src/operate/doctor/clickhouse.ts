/** Checks ClickHouse. What its user may do (permissions.ts) is tried on a server only. */
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.ts';
import { migrationsDone } from '../../clickhouse/migrate.ts';
import { loadMigrations } from '../../clickhouse/migrations.ts';
import { dropsRepeats } from '../../clickhouse/tokens.ts';
import { systemClock } from '../../clock.ts';
import { type Finding, inTime, ok, problem, reasonOf, tlsRemedy } from './finding.ts';
import { checkPermissions, remedyFor } from './permissions.ts';
import {
  clockFinding,
  diskFinding,
  durabilityFinding,
  migrationsFinding,
  repeatsFinding,
  versionFinding,
} from './rules.ts';

const facts = z.object({ version: z.string(), now: z.number() });
const disk = z.object({ name: z.string(), free: z.number() });

/** @param isServer Whether it is a server, at which tables are created and rows inserted to check that its user may. */
export async function checkClickHouse(clickhouse: ClickHouse, isServer: boolean): Promise<Finding[]> {
  try {
    const { findings, isMigrated } = await inTime(() => findingsOf(clickhouse));
    if (!isServer) return findings;
    return [
      ...findings,
      ...(await checkPermissions(clickhouse, isMigrated)),
      ...(isMigrated ? [await repeats(clickhouse)] : []),
    ];
  } catch (error) {
    return [
      problem(
        'ClickHouse',
        `It is not usable: ${reasonOf(error)}.`,
        tlsRemedy(error) ?? remedyFor(clickhouse, error) ?? REMEDY,
      ),
    ];
  }
}

const REMEDY = 'Check that it is running, and that address, user and password in CLICKHOUSE_URL are correct.';

async function findingsOf(clickhouse: ClickHouse): Promise<{ findings: Finding[]; isMigrated: boolean }> {
  const askedAt = systemClock.now();
  const [row] = await clickhouse.rows(
    'SELECT version() AS version, toFloat64(toUnixTimestamp64Milli(now64(3))) AS now',
  );
  const middle = (askedAt + systemClock.now()) / 2;
  const fact = facts.parse(row);
  const known = loadMigrations().length;
  const done = (await migrationsDone(clickhouse)).size;
  const findings = [
    ok('ClickHouse', 'It responds.'),
    versionFinding('ClickHouse', fact.version),
    clockFinding('ClickHouse', fact.now - middle),
    migrationsFinding('ClickHouse', done, known),
    // The migrations set it.
    ...(done < known ? [] : [await durability(clickhouse)]),
    ...(await disks(clickhouse)),
  ];
  return { findings, isMigrated: done >= known };
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

async function repeats(clickhouse: ClickHouse): Promise<Finding> {
  try {
    return repeatsFinding(await inTime(() => dropsRepeats(clickhouse)));
  } catch (error) {
    return problem(
      'ClickHouse inserts',
      `It refuses them: ${reasonOf(error)}`,
      remedyFor(clickhouse, error) ??
        'Until it takes them, uploads wait in the queue and nothing is lost. Check the profile of its user, its memory and its disks.',
    );
  }
}
