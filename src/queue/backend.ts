/** Opens queues on PostgreSQL or on Redis: the same BullMQ classes, two stores. */
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

/** What opens the queues of one process, and closes the connections behind them. */
export interface QueueBackend {
  readonly kind: 'postgres' | 'redis';
  queue(name: string): Queue;
  /** `concurrency` is how many jobs one worker holds at a time. */
  worker(name: string, run: (job: Job) => Promise<unknown>, concurrency: number): Worker;
  ping(): Promise<boolean>;
  /** Closes connections; queues and workers are closed by whoever opened them, before. */
  close(): Promise<void>;
}

export type QueueErrorListener = (error: Error) => void;

const CONNECTIONS_MAX = 10;
/** One slot of a Redis Cluster for all keys of our queues. */
const KEY_PREFIX = '{ci-insights}';
/** A job whose worker died is taken up by another after this long. */
const LOCK_MS = 30_000;

const workerOptions = (concurrency: number) => ({
  concurrency,
  lockDuration: LOCK_MS,
  stalledInterval: LOCK_MS / 2,
  // A worker that dies again and again must not turn good jobs into failed ones: blocks and claims make repeats harmless.
  maxStalledCount: 1_000,
  settings: { backoffStrategy: backoffMs },
});

export async function openPostgresQueues(url: string, onError: QueueErrorListener): Promise<QueueBackend> {
  // BullMQ's functions are called by unqualified names, so the pool's connections look into its schema.
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  });
  pool.on('error', onError);
  // BullMQ declares a pool's notifications a little differently than pg does; at run time it makes this check itself.
  if (!isPgPool(pool)) throw new TypeError('pg.Pool is not what BullMQ takes for a pool');
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

/** Makes or upgrades BullMQ's own schema; safe to repeat and to race. */
export async function migratePostgresQueues(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await runMigrations(client as unknown as Parameters<typeof runMigrations>[0]);
  } finally {
    await client.end();
  }
}

/** `url` has one of the forms of redis-url.ts. Throws where Redis cannot be reached, or may throw away what waits in it. */
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

/** Without a listener an error of a connection would end the process. */
function listening<T extends Queue | Worker>(emitter: T, onError: QueueErrorListener): T {
  (emitter as EventEmitter).on('error', onError);
  return emitter;
}
