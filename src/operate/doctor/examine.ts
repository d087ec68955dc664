/**
 * Everything that `ci-insights doctor` checks, in order. It migrates nothing and works while the service runs. Embedded
 * stores belong to the running service: doctor shares its PostgreSQL and learns about its ClickHouse from its
 * readiness.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openClickHouse } from '../../clickhouse/client.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { inLog } from '../../domain/foreign-text.ts';
import { StoreUnavailable } from '../../errors.ts';
import { readBacklog, waitingForLog } from '../../postgres/backlog.ts';
import { openPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { lockDataDir, lockHolder } from '../../service-lock.ts';
import { checkClickHouse } from './clickhouse.ts';
import { type Finding, inTime, ok, problem, reasonOf, tlsRemedy, warning } from './finding.ts';
import { checkKept } from './kept.ts';
import { checkDataFolder, checkRuntime } from './machine.ts';
import { checkPostgres } from './postgres.ts';
import { checkQueue } from './queue.ts';
import { lagFinding, storingFinding } from './rules.ts';
import { checkTogether } from './together.ts';
import { checkCiIssuers, checkHost, checkIdentityProvider, checkPublicUrl, checkService, localAddress } from './web.ts';

export async function examine(config: Config): Promise<Finding[]> {
  const isEmbedded = !config.databaseUrl || !config.clickhouseUrl;
  const isServed = isEmbedded && lockHolder(config.dataDir) !== undefined;
  const findings = [ok('Configuration', 'All values are valid.'), checkRuntime()];
  if (isEmbedded) findings.push(...(await checkDataFolder(config)));
  if (findings.some(({ level }) => level === 'problem')) return findings;
  findings.push(...(await checkKept(config)));
  const unlock = isEmbedded && !isServed && existsSync(config.dataDir) ? await lockDataDir(config.dataDir) : () => {};
  try {
    findings.push(...(await checkStores(config, isServed)));
  } finally {
    unlock();
  }
  const address = localAddress(config);
  if (isServed && address !== undefined) findings.push(...(await checkService(address)));
  findings.push(
    ...(await checkPublicUrl(config)),
    ...(await checkHost(config)),
    ...(await checkIdentityProvider(config)),
    ...(await checkCiIssuers(config)),
  );
  return findings;
}

async function checkStores(config: Config, isServed: boolean): Promise<Finding[]> {
  const findings = [...(await checkPostgresStore(config, isServed)), ...(await checkClickHouseStore(config, isServed))];
  const isUsable = findings.every(
    ({ level, check }) => level !== 'problem' || !/^(?:PostgreSQL|ClickHouse)/.test(check),
  );
  return isUsable ? [...findings, ...(await checkBothStores(config, isServed))] : findings;
}

const engineFolder = ({ dataDir }: Config): string => join(dataDir, 'clickhouse');
const hasPostgresFolder = ({ dataDir }: Config): boolean => existsSync(join(dataDir, 'postgres', 'PG_VERSION'));

/** Whether they belong together, where both are there and ClickHouse belongs to no running service. */
async function checkBothStores(config: Config, isServed: boolean): Promise<Finding[]> {
  const { databaseUrl, clickhouseUrl: url, clickhouseCluster: cluster, clickhouseDatabase: database, dataDir } = config;
  const path = engineFolder(config);
  if (!(databaseUrl || hasPostgresFolder(config)) || !(url || (existsSync(path) && !isServed))) return [];
  const server = databaseUrl ? undefined : await startEmbeddedPostgres(dataDir, { attach: isServed });
  const postgres = openPostgres(databaseUrl ?? server?.url ?? '', () => {});
  try {
    const clickhouse = await openClickHouse({ url, path, cluster, database });
    try {
      return [await checkTogether(clickhouse, postgres.db)];
    } finally {
      await clickhouse.close();
    }
  } finally {
    await postgres.close();
    await server?.stop();
  }
}

/** Also the queue and the backlog, which need PostgreSQL. */
async function checkPostgresStore(config: Config, isServed: boolean): Promise<Finding[]> {
  if (config.databaseUrl) return checkPostgresAt(config, config.databaseUrl);
  if (!hasPostgresFolder(config) && existsSync(engineFolder(config)))
    return [
      problem(
        'PostgreSQL',
        'There is none in DATA_DIR/postgres, but DATA_DIR/clickhouse is there.',
        'Restore DATA_DIR as a whole. If PostgreSQL is lost for good: docs/operations.md, "If PostgreSQL is lost".',
      ),
    ];
  if (!hasPostgresFolder(config))
    return [ok('PostgreSQL', 'There is none yet. The first start creates the embedded one.')];
  try {
    const server = await startEmbeddedPostgres(config.dataDir, { attach: isServed });
    try {
      return await checkPostgresAt(config, server.url);
    } finally {
      await server.stop();
    }
  } catch (error) {
    const remedy = 'Check that its files in DATA_DIR/postgres are complete and who owns them.';
    return [problem('PostgreSQL', `The embedded PostgreSQL does not start: ${reasonOf(error)}.`, remedy)];
  }
}

async function checkPostgresAt(config: Config, url: string): Promise<Finding[]> {
  const { findings, isUsable } = await checkPostgres(url);
  if (!isUsable) return config.redisUrl ? [...findings, ...(await checkQueue(config, url))] : findings;
  return [...findings, ...(await checkQueue(config, url)), ...(await checkBacklog(url))];
}

async function checkBacklog(url: string): Promise<Finding[]> {
  const postgres = openPostgres(url, () => {});
  try {
    const backlog = await inTime(() => readBacklog(postgres.db, systemClock.now()));
    const remedy = 'Check that a worker is running, and read its log. It needs both PostgreSQL and ClickHouse.';
    return [
      storingFinding(backlog),
      lagFinding('Evaluation', 'block', backlog.blocksUnevaluated, backlog.evaluationLagSeconds, remedy),
      lagFinding('Event log', 'event', waitingForLog(backlog.eventsWaiting), backlog.relayLagSeconds, remedy),
      backlog.deadLettersWaiting === 0
        ? ok('Dead letters', 'There are none.')
        : warning(
            'Dead letters',
            `${backlog.deadLettersWaiting} jobs could not be stored.`,
            '`ci-insights dead-letters list` shows why. Fix the cause, then replay them.',
          ),
      ...(backlog.pullsFailing.count === 0
        ? []
        : [
            warning(
              'Comments at the host',
              `${backlog.pullsFailing.count} pull requests wait for their comment or check: ${inLog(backlog.pullsFailing.reason ?? 'unknown')}.`,
              'They are tried again, ever later. Check the token or the App, its rights and the network.',
            ),
          ]),
      ...(backlog.renamesFailed.count === 0
        ? []
        : [
            warning(
              'Renames of tests',
              `${backlog.renamesFailed.count} of the last 7 days could not be applied: ${inLog(backlog.renamesFailed.reason ?? 'unknown')}.`,
              'They are undone, so that results are stored again. The log says which. Fix the cause, then accept them again. `ci-insights verify` shows whether anything is left of them.',
            ),
          ]),
      ok(
        'Failure groups',
        backlog.groupsMoving === 0
          ? 'None waits to be regrouped.'
          : `${backlog.groupsMoving.toLocaleString('en-US')} are being regrouped after an upgrade.`,
      ),
    ];
  } catch (error) {
    return [problem('Backlog', `It is not readable: ${reasonOf(error)}.`, 'See the findings about PostgreSQL.')];
  } finally {
    await postgres.close();
  }
}

async function checkClickHouseStore(config: Config, isServed: boolean): Promise<Finding[]> {
  const { clickhouseUrl: url, clickhouseCluster: cluster, clickhouseDatabase: database } = config;
  const path = engineFolder(config);
  // It belongs to the running service, whose readiness is checked instead.
  if (!url && isServed) return [];
  if (!url && !existsSync(path))
    return [ok('ClickHouse', 'There is none yet. The first start creates the embedded one.')];
  try {
    const clickhouse = await openClickHouse({ url, path, cluster, database });
    try {
      return await checkClickHouse(clickhouse, url !== undefined);
    } finally {
      await clickhouse.close();
    }
  } catch (error) {
    const advice = tlsRemedy(error) ?? (error instanceof StoreUnavailable ? error.advice : undefined);
    const remedy = advice ?? (url ? 'Check CLICKHOUSE_URL.' : 'Check who owns its files in DATA_DIR/clickhouse.');
    return [problem('ClickHouse', `It does not open: ${reasonOf(error)}.`, remedy)];
  }
}
