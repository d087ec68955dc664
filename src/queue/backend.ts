/** Opens queues on PostgreSQL or on Redis: the same BullMQ classes on two stores. */
import type { EventEmitter } from 'node:events';
import {
  assertSchemaCompatibility,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  isPgPool,
  type Job,
  LATEST_SCHEMA_VERSION,
  Queue,
  runMigrations,
  Worker,
  withBackend,
} from 'bullmq';
import pg from 'pg';
import { isNotPermitted, notPermitted } from '../postgres/migrate.ts';
import { backoffMs } from './job-kind.ts';
import { jobKinds } from './kinds.ts';
import { connectRedis, type RedisConnection, refuseEviction } from './redis.ts';

/** Opens the queues of one process and closes the connections behind them. */
export interface QueueBackend {
  readonly kind: 'postgres' | 'redis';
  /** The connection of producers, for what replicas share besides jobs; undefined: the queue is in PostgreSQL. */
  readonly redis: RedisConnection | undefined;
  queue(name: string): Queue;
  worker(name: string, run: (job: Job) => Promise<unknown>, pace: Pace): Worker;
  ping(): Promise<boolean>;
  /** Closes the connections. Close the queues and workers that you opened first. */
  close(): Promise<void>;
}

interface Pace {
  /** How many jobs one worker holds at a time. */
  concurrency: number;
  /** One job at a time over all workers, in the order in which they were queued: see {@link limitOrdered}. */
  isOrdered: boolean;
}

export type QueueErrorListener = (error: Error) => void;

/** Each of the five workers of a process keeps one, on which it listens. */
const CONNECTIONS_MAX = 15;
/** Puts all keys of our queues into one slot of a Redis Cluster. */
const KEY_PREFIX = '{ci-insights}';
/** After this long, a job whose worker died is given to another. */
const LOCK_MS = 30_000;
/** The same where all others wait for that job. */
const ORDERED_LOCK_MS = 10_000;

const RETRY_MS = 1_000;

const workerOptions = ({ concurrency, isOrdered }: Pace) => ({
  concurrency: isOrdered ? 1 : concurrency,
  lockDuration: isOrdered ? ORDERED_LOCK_MS : LOCK_MS,
  stalledInterval: (isOrdered ? ORDERED_LOCK_MS : LOCK_MS) / 2,
  // Workers that keep dying must not turn good jobs into failed ones: thanks to claims, repeating a job is harmless.
  maxStalledCount: 1_000,
  // After trouble with the connection. BullMQ's own 15 s would hold up every job in hand.
  runRetryDelay: RETRY_MS,
  settings: { backoffStrategy: backoffMs },
});

export async function openPostgresQueues(url: string, onError: QueueErrorListener): Promise<QueueBackend> {
  const producer = openPool(url, onError);
  // A worker's writes need not survive a power loss: a job whose end is forgotten is repeated, which is harmless.
  const consumer = openPool(url, onError, '-c synchronous_commit=off');
  const classes = withBackend(createPostgresBackend);
  return {
    kind: 'postgres',
    redis: undefined,
    queue: (name) => listening(new classes.Queue(name, { connection: producer }) as unknown as Queue, onError),
    worker: (name, run, pace) =>
      listening(
        new classes.Worker(name, run, { connection: consumer, ...workerOptions(pace) }) as unknown as Worker,
        onError,
      ),
    ping: async () => {
      try {
        await producer.query('select 1');
        return true;
      } catch {
        return false;
      }
    },
    close: async () => {
      await Promise.all([producer.end(), consumer.end()]);
    },
  };
}

/** Opens connections as they are needed. BullMQ calls its functions by unqualified names, so they search its schema. */
function openPool(url: string, onError: QueueErrorListener, settings = '') {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    options: `-c search_path=${DEFAULT_SCHEMA} ${settings}`,
  });
  pool.on('error', onError);
  // Every queue and worker adds its listener.
  pool.setMaxListeners(0);
  // BullMQ declares a pool's notifications slightly differently from pg; at run time it makes this check itself.
  if (!isPgPool(pool)) throw new TypeError('BullMQ does not accept pg.Pool as a pool');
  return pool;
}

/**
 * Creates or upgrades BullMQ's schema; safe to repeat and to run concurrently. With nothing to upgrade it only reads, so a
 * service needs no right to create.
 */
export async function migratePostgresQueues(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('select 1 from pg_tables where schemaname = $1 and tablename = $2', [
      DEFAULT_SCHEMA,
      'migration',
    ]);
    // Throws if it needs a newer version than this.
    const version = rows.length > 0 ? await assertSchemaCompatibility(client) : 0;
    if (version >= LATEST_SCHEMA_VERSION) return;
    await runMigrations(client as unknown as Parameters<typeof runMigrations>[0]);
  } catch (error) {
    throw isNotPermitted(error) ? notPermitted(error) : error;
  } finally {
    await client.end();
  }
}

/** @param url in one of the forms of redis-url.ts. Throws if Redis cannot be reached, or may evict waiting jobs. */
export async function openRedisQueues(url: string, onError: QueueErrorListener): Promise<QueueBackend> {
  const producer = await connectRedis(url, 'producer', onError);
  let consumer: RedisConnection | undefined;
  try {
    await refuseEviction(producer);
    consumer = await connectRedis(url, 'consumer', onError);
  } catch (error) {
    producer.disconnect();
    throw error;
  }
  const connections = [producer, consumer];
  return {
    kind: 'redis',
    redis: producer,
    queue: (name) => listening(new Queue(name, { connection: producer, prefix: KEY_PREFIX }), onError),
    worker: (name, run, pace) =>
      listening(new Worker(name, run, { connection: consumer, prefix: KEY_PREFIX, ...workerOptions(pace) }), onError),
    ping: async () => (await producer.ping().catch(() => '')) === 'PONG',
    close: async () => {
      await Promise.all(connections.map((connection) => connection.quit()));
    },
  };
}

/** Without a listener, a connection error would end the process. */
function listening<T extends Queue | Worker>(emitter: T, onError: QueueErrorListener): T {
  (emitter as EventEmitter).on('error', onError);
  return emitter;
}

/**
 * Makes the queues of ordered jobs hand out one at a time. The limit belongs to the queue and holds for the workers of
 * every process. Needs the schema of {@link migratePostgresQueues}.
 */
export async function limitOrdered(backend: QueueBackend): Promise<void> {
  for (const { name, isOrdered } of jobKinds) {
    if (!isOrdered) continue;
    const queue = backend.queue(name);
    await queue.setGlobalConcurrency(1);
    await queue.close();
  }
}
