/** Connections to Redis or Valkey: one server, one that sentinels watch, or a cluster. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import pTimeout from 'p-timeout';
import { StoreUnavailable, UserError } from '../errors.ts';
import { parseRedisUrl, type RedisAddress } from './redis-url.ts';

/** How long a start waits for the first connection: sentinels and clusters are asked again and again by themselves. */
const CONNECT_TIMEOUT_MS = 10_000;

export type RedisConnection = Redis | Cluster;

/**
 * A producer must hear at once that Redis is away (the upload is refused, 503); a consumer waits until it is back. Throws
 * {@link StoreUnavailable} when none of the hosts can be reached, {@link UserError} for an address of another form.
 */
export async function connectRedis(
  url: string,
  role: 'producer' | 'consumer',
  onError: (error: Error) => void,
): Promise<RedisConnection> {
  const address = parseRedisUrl(url);
  if (!address) throw new UserError('REDIS_URL has none of the forms that the README names.');
  const connection = open(address, role);
  connection.on('error', onError);
  try {
    await pTimeout(connection.connect(), {
      milliseconds: CONNECT_TIMEOUT_MS,
      message: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
    });
    return connection;
  } catch (error) {
    // Otherwise it would go on trying for ever, and keep the process alive.
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
  };
  // Its type of `replyMapping` fits no constructor when an optional property may not be undefined.
  const options: Omit<RedisOptions, 'replyMapping'> = { ...shared, enableOfflineQueue, lazyConnect: true };
  if (address.kind === 'cluster')
    return new Cluster(hosts, {
      redisOptions: shared,
      enableOfflineQueue,
      lazyConnect: true,
      // A certificate is for the name of a host.
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
 * Refuses servers that may throw keys away when their memory is full: among them would be uploads that were acknowledged. `INFO`
 * tells it also where `CONFIG` is forbidden.
 */
export async function refuseEviction(connection: RedisConnection): Promise<void> {
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection];
  for (const server of servers) {
    const memory = await server.info('memory');
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
    const limit = /^maxmemory:(\d+)/m.exec(memory)?.[1];
    if (policy !== undefined && policy !== 'noeviction' && limit !== '0')
      throw new UserError(
        `Redis throws keys away when its memory is full (maxmemory-policy ${policy}), uploads that wait among them: set maxmemory-policy noeviction.`,
      );
  }
}
