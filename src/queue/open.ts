/** Opens the queues where the configuration puts them: on Redis if it has an address, else in PostgreSQL. */
import { sessionUrlOf } from '../postgres/client.ts';
import {
  migratePostgresQueues,
  openPostgresQueues,
  openRedisQueues,
  type QueueBackend,
  type QueueErrorListener,
} from './backend.ts';

/** The part of the configuration that decides it. */
export interface QueueConfig {
  redisUrl: string | undefined;
  databaseDirectUrl: string | undefined;
}

/** @param databaseUrl Of PostgreSQL, embedded or configured. */
export const openQueues = (
  config: QueueConfig,
  databaseUrl: string,
  onError: QueueErrorListener,
): Promise<QueueBackend> =>
  config.redisUrl
    ? openRedisQueues(config.redisUrl, onError)
    : openPostgresQueues(sessionUrlOf(config, databaseUrl), onError);

/** Makes or upgrades what the queues need in PostgreSQL. Redis needs nothing. */
export async function migrateQueues(config: QueueConfig, databaseUrl: string): Promise<void> {
  if (!config.redisUrl) await migratePostgresQueues(sessionUrlOf(config, databaseUrl));
}
