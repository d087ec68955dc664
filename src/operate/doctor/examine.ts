/**
 * Everything that `ci-insights doctor` looks at, in order. It migrates nothing and works beside a running service: embedded stores
 * belong to that one, so its PostgreSQL is shared and its ClickHouse is asked after through its readiness.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openClickHouse } from '../../clickhouse/client.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { readBacklog } from '../../postgres/backlog.ts';
import { openPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { lockDataDir, lockHolder } from '../../service-lock.ts';
import { lookAtClickHouse } from './clickhouse.ts';
import { type Finding, inTime, ok, problem, reasonOf, warning } from './finding.ts';
import { lookAtDataFolder, lookAtRuntime } from './machine.ts';
import { lookAtPostgres } from './postgres.ts';
import { lookAtQueue } from './queue.ts';
import { lagFinding } from './rules.ts';
import { localAddress, lookAtHost, lookAtPublicUrl, lookAtService } from './web.ts';

export async function examine(config: Config): Promise<Finding[]> {
  const isEmbedded = !config.databaseUrl || !config.clickhouseUrl;
  const isServed = isEmbedded && lockHolder(config.dataDir) !== undefined;
  const findings = [ok('Configuration', 'Every value can be read.'), lookAtRuntime()];
  if (isEmbedded) findings.push(...(await lookAtDataFolder(config)));
  if (findings.some(({ level }) => level === 'problem')) return findings;
  const unlock = isEmbedded && !isServed && existsSync(config.dataDir) ? lockDataDir(config.dataDir) : () => {};
  try {
    findings.push(...(await lookAtStores(config, isServed)));
  } finally {
    unlock();
  }
  const address = localAddress(config);
  if (isServed && address !== undefined) findings.push(...(await lookAtService(address)));
  findings.push(...(await lookAtPublicUrl(config)), ...(await lookAtHost(config)));
  return findings;
}

async function lookAtStores(config: Config, isServed: boolean): Promise<Finding[]> {
  return [...(await lookAtDatabase(config, isServed)), ...(await lookAtColumns(config, isServed))];
}

/** PostgreSQL, and with it the queue and what waits. */
async function lookAtDatabase(config: Config, isServed: boolean): Promise<Finding[]> {
  if (config.databaseUrl) return lookAtDatabaseAt(config, config.databaseUrl);
  if (!existsSync(join(config.dataDir, 'postgres', 'PG_VERSION')))
    return [ok('PostgreSQL', 'There is none yet: the first start makes the embedded one.')];
  try {
    const server = await startEmbeddedPostgres(config.dataDir, isServed);
    try {
      return await lookAtDatabaseAt(config, server.url);
    } finally {
      await server.stop();
    }
  } catch (error) {
    const remedy = 'Its files are in DATA_DIR/postgres: look whether they are whole and who owns them.';
    return [problem('PostgreSQL', `The embedded one does not start: ${reasonOf(error)}.`, remedy)];
  }
}

async function lookAtDatabaseAt(config: Config, url: string): Promise<Finding[]> {
  const { findings, isUsable } = await lookAtPostgres(url);
  if (!isUsable) return config.redisUrl ? [...findings, ...(await lookAtQueue(config, url))] : findings;
  return [...findings, ...(await lookAtQueue(config, url)), ...(await lookAtBacklog(url))];
}

async function lookAtBacklog(url: string): Promise<Finding[]> {
  const postgres = openPostgres(url, () => {});
  try {
    const backlog = await inTime(() => readBacklog(postgres.db, systemClock.now()));
    const remedy = 'Look whether a worker runs and what its log says: it needs both PostgreSQL and ClickHouse.';
    return [
      lagFinding('Evaluation', 'block', backlog.blocksUnevaluated, backlog.evaluationLagSeconds, remedy),
      lagFinding('Event log', 'event', backlog.eventsWaiting, backlog.relayLagSeconds, remedy),
      backlog.deadLettersWaiting === 0
        ? ok('Dead letters', 'There are none.')
        : warning(
            'Dead letters',
            `${backlog.deadLettersWaiting} jobs could not be stored.`,
            '`ci-insights dead-letters list` says why; replay them once it is mended.',
          ),
    ];
  } catch (error) {
    return [problem('Backlog', `It cannot be read: ${reasonOf(error)}.`, 'Look at the findings about PostgreSQL.')];
  } finally {
    await postgres.close();
  }
}

async function lookAtColumns(config: Config, isServed: boolean): Promise<Finding[]> {
  const { clickhouseUrl: url, clickhouseCluster: cluster, dataDir } = config;
  const path = join(dataDir, 'clickhouse');
  // A running service has it; its readiness is asked after.
  if (!url && isServed) return [];
  if (!url && !existsSync(path))
    return [ok('ClickHouse', 'There is none yet: the first start makes the embedded one.')];
  try {
    const clickhouse = await openClickHouse({ url, path, cluster });
    try {
      return await lookAtClickHouse(clickhouse, url !== undefined && cluster === undefined);
    } finally {
      await clickhouse.close();
    }
  } catch (error) {
    const remedy = url ? 'Look at CLICKHOUSE_URL.' : 'Its files are in DATA_DIR/clickhouse: look who owns them.';
    return [problem('ClickHouse', `It does not open: ${reasonOf(error)}.`, remedy)];
  }
}
