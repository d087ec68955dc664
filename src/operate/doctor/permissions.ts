/**
 * Tries with the user in CLICKHOUSE_URL what the service does at a ClickHouse server: creates a table, writes a row, changes
 * the table, drops it; reads the parts of tables; ends its own statement.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../clickhouse/client.ts';
import { type Grant, grantsFor, serviceGrantsFor } from '../../clickhouse/grants.ts';
import { isReadOnly, READ_ONLY_ADVICE, refusalOf } from '../../clickhouse/trouble.ts';
import { type Finding, inTime, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'ClickHouse permissions';
const ACCESS_DENIED = '497';

/** @param isMigrated whether the service has nothing to create: then a user who may not is no problem yet */
export async function checkPermissions(clickhouse: ClickHouse, isMigrated: boolean): Promise<Finding[]> {
  const found = [
    // On a cluster, tables are created on every host, and a host that is down makes that take a minute.
    ...(clickhouse.isSharded ? [] : [await tables(clickhouse, isMigrated)]),
    await parts(clickhouse),
    await shards(clickhouse),
    await kills(clickhouse),
  ].filter((finding) => finding !== undefined);
  return found.length > 0 ? found : [ok(CHECK, 'Its user may do everything that the service does.')];
}

async function tables(clickhouse: ClickHouse, isMigrated: boolean): Promise<Finding | undefined> {
  const table = `ci.doctor_${crypto.randomUUID().replaceAll('-', '')}`;
  const definition = '(month UInt32) ENGINE = MergeTree PARTITION BY month ORDER BY month';
  const steps = [
    ...(isMigrated ? [] : ['CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic']),
    `CREATE TABLE ${table} ${definition}`,
    `INSERT INTO ${table} VALUES (202611)`,
    `ALTER TABLE ${table} DROP PARTITION 202611`,
    `DROP TABLE ${table} SYNC`,
  ];
  for (const step of steps)
    try {
      await inTime(() => clickhouse.command(step));
    } catch (error) {
      await clickhouse.command(`DROP TABLE IF EXISTS ${table} SYNC`).catch(() => {});
      if (isMigrated && mayNotCreate(clickhouse, error)) return rowsOnly(clickhouse);
      return refused(clickhouse, step.split(' ', 2).join(' '), error);
    }
  return undefined;
}

const mayNotCreate = (clickhouse: ClickHouse, error: unknown): boolean =>
  refusalOf(error)?.message.includes(`CREATE TABLE ON ${clickhouse.database}.`) ?? false;

/** Another user migrates, and this one only runs the service: it must be able to remove months and rows. */
async function rowsOnly(clickhouse: ClickHouse): Promise<Finding | undefined> {
  try {
    await inTime(() => clickhouse.command("ALTER TABLE ci.probes DROP PARTITION ID '190001'"));
    return undefined;
  } catch (error) {
    const missing = refusalOf(error)?.code === ACCESS_DENIED;
    const remedy = missing
      ? runAll(serviceGrantsFor(clickhouse.isSharded, clickhouse.database))
      : remedyFor(clickhouse, error);
    return problem(CHECK, `ALTER TABLE is refused: ${reasonOf(error)}`, remedy ?? 'Correct what ClickHouse names.');
  }
}

async function parts(clickhouse: ClickHouse): Promise<Finding | undefined> {
  try {
    await inTime(() => clickhouse.rows("SELECT count() FROM system.parts WHERE database = 'ci'"));
    return undefined;
  } catch (error) {
    return refused(clickhouse, 'SELECT from system.parts', error);
  }
}

async function shards(clickhouse: ClickHouse): Promise<Finding | undefined> {
  try {
    await inTime(() => clickhouse.shardOf(crypto.randomUUID()));
    return undefined;
  } catch (error) {
    return refused(clickhouse, 'SELECT from system.clusters', error);
  }
}

/** The longest that ClickHouse lets a statement sleep. */
const SLEEP_SECONDS = 3;
const KILL_PAUSE_MS = 100;

/** A statement that was just sent cannot be ended yet, so it is tried until it can. */
async function kills(clickhouse: ClickHouse): Promise<Finding | undefined> {
  const id = crypto.randomUUID();
  const sleeping = clickhouse.rows(`SELECT sleep(${SLEEP_SECONDS}) /* doctor sleeps ${id} */`).catch(() => {});
  let isAsleep = true;
  const woken = sleeping.finally(() => {
    isAsleep = false;
  });
  try {
    while (isAsleep) {
      // The text of this statement contains the id alone, so it does not end itself.
      const ended = await inTime(() =>
        clickhouse.rows(`KILL QUERY WHERE query LIKE concat('%doctor ', 'sleeps ', '${id}', '%') ASYNC`),
      );
      // Behind a balancer, it may have been sent to another host, and ends nothing there.
      if (ended.length > 0 || clickhouse.isSharded) return undefined;
      await sleep(KILL_PAUSE_MS);
    }
    return warning(CHECK, 'A statement could not be ended by KILL QUERY.', 'Run `ci-insights doctor` again.');
  } catch (error) {
    return refused(clickhouse, 'KILL QUERY', error);
  } finally {
    await woken;
  }
}

const refused = (clickhouse: ClickHouse, what: string, error: unknown): Finding =>
  problem(
    CHECK,
    `${what} is refused: ${reasonOf(error)}`,
    remedyFor(clickhouse, error) ?? 'Correct what ClickHouse names.',
  );

/** The remedy if its user may not do something; undefined if that is not the trouble. */
export function remedyFor(
  { isSharded, database }: Pick<ClickHouse, 'isSharded' | 'database'>,
  error: unknown,
): string | undefined {
  if (isReadOnly(error)) return READ_ONLY_ADVICE;
  if (refusalOf(error)?.code !== ACCESS_DENIED) return undefined;
  return runAll(grantsFor(isSharded, database));
}

const runAll = (grants: readonly Grant[]): string =>
  `Run ${grants.map(({ statement }) => `\`${statement}\``).join(', ')}.`;
