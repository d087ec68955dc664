/**
 * A statement that may take seconds: it ends when its answer is no longer waited for, and at a time limit.
 *
 * It runs in a transaction, which keeps its session until the cancellation is answered. So what is cancelled is this
 * statement or nothing, also behind a pooler that gives every transaction another session. The limit is set in the
 * transaction, because such a pooler ignores settings of a session.
 */
import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { z } from 'zod';
import { ReadRefused } from '../errors.ts';
import { type Database, type Executor, onPostgres, sqlState } from './client.ts';

/** Same limit as for a read in ClickHouse. */
const SECONDS_MAX = 10;
const QUERY_CANCELED = '57014';

/** The transaction's session, and when it began, which no other transaction of that session shares. */
const sessionSchema = z.object({ pid: z.int(), begun: z.string() });
type Session = z.infer<typeof sessionSchema>;

/** Time that a verification may take to read a repository of millions of identities. */
const WHOLE_SECONDS_MAX = 3_600;

interface Abandonable {
  /** Aborted when the answer is no longer waited for. */
  signal?: AbortSignal | undefined;
  secondsMax?: number;
}

/**
 * Throws the signal's reason when it is aborted, {@link ReadRefused} after the time limit, and StoreUnavailable.
 */
export function abandonable<T>(
  { $client: pool }: Pick<Database, '$client'>,
  run: (db: Executor) => Promise<T>,
  { signal, secondsMax = SECONDS_MAX }: Abandonable = {},
): Promise<T> {
  return onPostgres(async () => {
    signal?.throwIfAborted();
    const client = await pool.connect();
    let isSound = false;
    try {
      const session = await begin(client, secondsMax);
      try {
        return await cancellable(() => run(drizzle(client, { casing: 'snake_case' })), { pool, session, signal });
      } catch (error) {
        throw sqlState(error) === QUERY_CANCELED ? tooLong(secondsMax) : error;
      } finally {
        await client.query('rollback');
        isSound = true;
      }
    } finally {
      // With its connection, whatever is left of the transaction ends.
      client.release(!isSound);
    }
  });
}

/** Reads a whole repository, as of one moment, for longer than other statements may take. */
export const readWhole = <T>(db: Pick<Database, '$client'>, run: (db: Executor) => Promise<T>): Promise<T> =>
  abandonable(db, run, { secondsMax: WHOLE_SECONDS_MAX });

/** One round trip. All statements see the database as of one moment. */
async function begin(client: pg.PoolClient, secondsMax: number): Promise<Session> {
  const results: unknown = await client.query(
    `begin isolation level repeatable read read only; set local statement_timeout = ${secondsMax * 1_000};
     select pg_backend_pid() as pid, now()::text as begun`,
  );
  return z.tuple([z.unknown(), z.unknown(), z.object({ rows: z.tuple([sessionSchema]) })]).parse(results)[2].rows[0];
}

interface Cancelling {
  pool: pg.Pool;
  session: Session;
  signal: AbortSignal | undefined;
}

/** Cancels what runs in the session when the signal is aborted. Returns when the cancellation is answered. */
async function cancellable<T>(run: () => Promise<T>, { pool, session, signal }: Cancelling): Promise<T> {
  signal?.throwIfAborted();
  let cancelling: Promise<void> | undefined;
  const cancel = (): void => {
    cancelling = cancelTransaction(pool, session);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await run();
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await cancelling;
  }
}

/** If that fails, the statement ends at its time limit. */
async function cancelTransaction(pool: pg.Pool, { pid, begun }: Session): Promise<void> {
  await pool
    .query('select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and xact_start = $2::timestamptz', [
      pid,
      begun,
    ])
    .catch(() => {});
}

const tooLong = (seconds: number): ReadRefused =>
  new ReadRefused(
    'time',
    `The read took longer than ${seconds} s and was stopped. Ask for less (fewer or simpler names), or try again later.`,
  );
