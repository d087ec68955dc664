/** Connections to Redis or Valkey: a single server, a master watched by sentinels, or a cluster. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import pTimeout from 'p-timeout';
import { StoreUnavailable, UserError } from '../errors.ts';
import { parseRedisUrl, type RedisAddress } from './redis-url.ts';

/** How long a start waits for the first connection; the client retries sentinels and clusters within this time. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A connection on which nothing comes back for so long is given up. The one that replaces it is not ready before Redis
 * answers, so meanwhile uploads are refused at once, and nothing piles up in memory.
 */
const SILENCE_MS_MAX = 3_000;

export type RedisConnection = Redis | Cluster;

/**
 * A producer must know at once that Redis is down, so that the upload is refused with 503; a consumer waits until it is
 * back. Throws {@link StoreUnavailable} if no host can be reached, {@link UserError} if the address has another form.
 */
export async function connectRedis(
  url: string,
  role: 'producer' | 'consumer',
  onError: (error: Error) => void,
): Promise<RedisConnection> {
  const address = parseRedisUrl(url);
  if (!address) throw new UserError('REDIS_URL has none of the forms in docs/configuration.md.');
  const connection = open(address, role);
  connection.on('error', onError);
  try {
    await pTimeout(connection.connect(), {
      milliseconds: CONNECT_TIMEOUT_MS,
      message: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
    });
    // BullMQ duplicates it for each worker, and does not try again if a lazy connection is lost before it is ready.
    connection.options.lazyConnect = false;
    return connection;
  } catch (error) {
    // It would keep retrying, and keep the process alive.
    connection.disconnect();
    throw new StoreUnavailable('queue', error);
  }
}

function open(address: RedisAddress, role: 'producer' | 'consumer'): RedisConnection {
  const { hosts, username, password, database: db } = address;
  const tls = address.isTls ? { tls: {} } : {};
  const enableOfflineQueue = role === 'consumer';
  const shared = {
    ...(username && { username }),
    ...(password && { password }),
    ...tls,
    maxRetriesPerRequest: role === 'producer' ? 1 : null,
    // A consumer waits for jobs in silence, and for a frozen server as long as it takes.
    ...(role === 'producer' && { socketTimeout: SILENCE_MS_MAX }),
  };
  // With exactOptionalPropertyTypes, ioredis's own type of `replyMapping` fits none of its constructors.
  const options: Omit<RedisOptions, 'replyMapping'> = { ...shared, enableOfflineQueue, lazyConnect: true };
  if (address.kind === 'cluster')
    return new Cluster(hosts, {
      redisOptions: shared,
      enableOfflineQueue,
      lazyConnect: true,
      // Certificates are issued for host names, so names are not resolved to addresses here.
      ...(address.isTls && { dnsLookup: (host, callback) => callback(null, host) }),
    });
  if (address.kind === 'sentinel')
    return new Redis({
      ...options,
      db,
      sentinels: hosts,
      name: address.masterName,
      ...(address.isTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
      ...(address.sentinelPassword && { sentinelPassword: address.sentinelPassword }),
    });
  return new Redis({ ...options, ...hosts[0], db });
}

/**
 * Refuses servers that may evict keys when memory is full: they could evict uploads that were acknowledged. `INFO`
 * shows the policy even where `CONFIG` is forbidden.
 */
export async function refuseEviction(connection: RedisConnection): Promise<void> {
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection];
  for (const server of servers) {
    const memory = await server.info('memory');
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
    const limit = /^maxmemory:(\d+)/m.exec(memory)?.[1];
    if (policy !== undefined && policy !== 'noeviction' && limit !== '0')
      throw new UserError(
        `Redis may evict waiting uploads when its memory is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction.`,
      );
  }
}
