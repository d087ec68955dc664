/** Opens queues on PostgreSQL or on Redis: the same BullMQ classes on two stores. */
import type { EventEmitter } from 'node:events';
import {
  createPostgresBackend,
  DEFAULT_SCHEMA,
  isPgPool,
  type Job,
  Queue,
  runMigrations,
  Worker,
  withBackend,
} from 'bullmq';
import pg from 'pg';
import { backoffMs } from './job-kind.ts';
import { connectRedis, type RedisConnection, refuseEviction } from './redis.ts';

/** Opens the queues of one process and closes the connections behind them. */
export interface QueueBackend {
  readonly kind: 'postgres' | 'redis';
  queue(name: string): Queue;
  /** `concurrency` is how many jobs one worker holds at a time. */
  worker(name: string, run: (job: Job) => Promise<unknown>, concurrency: number): Worker;
  ping(): Promise<boolean>;
  /** Closes the connections. Close the queues and workers that you opened first. */
  close(): Promise<void>;
}

export type QueueErrorListener = (error: Error) => void;

const CONNECTIONS_MAX = 10;
/** Puts all keys of our queues into one slot of a Redis Cluster. */
const KEY_PREFIX = '{ci-insights}';
/** After this long, a job whose worker died is given to another. */
const LOCK_MS = 30_000;

const workerOptions = (concurrency: number) => ({
  concurrency,
  lockDuration: LOCK_MS,
  stalledInterval: LOCK_MS / 2,
  // Workers that keep dying must not turn good jobs into failed ones: thanks to claims, repeating a job is harmless.
  maxStalledCount: 1_000,
  settings: { backoffStrategy: backoffMs },
});

export async function openPostgresQueues(url: string, onError: QueueErrorListener): Promise<QueueBackend> {
  // BullMQ calls its functions by unqualified names, so the connections search its schema.
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  });
  pool.on('error', onError);
  // Every queue and worker adds its listener.
  pool.setMaxListeners(0);
  // BullMQ declares a pool's notifications slightly differently from pg; at run time it makes this check itself.
  if (!isPgPool(pool)) throw new TypeError('BullMQ does not accept pg.Pool as a pool');
  const classes = withBackend(createPostgresBackend);
  return {
    kind: 'postgres',
    queue: (name) => listening(new classes.Queue(name, { connection: pool }) as unknown as Queue, onError),
    worker: (name, run, concurrency) =>
      listening(
        new classes.Worker(name, run, { connection: pool, ...workerOptions(concurrency) }) as unknown as Worker,
        onError,
      ),
    ping: async () => {
      try {
        await pool.query('select 1');
        return true;
      } catch {
        return false;
      }
    },
    close: () => pool.end(),
  };
}

/** Creates or upgrades BullMQ's schema; safe to repeat and to run concurrently. */
export async function migratePostgresQueues(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await runMigrations(client as unknown as Parameters<typeof runMigrations>[0]);
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
    queue: (name) => listening(new Queue(name, { connection: producer, prefix: KEY_PREFIX }), onError),
    worker: (name, run, concurrency) =>
      listening(
        new Worker(name, run, { connection: consumer, prefix: KEY_PREFIX, ...workerOptions(concurrency) }),
        onError,
      ),
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
