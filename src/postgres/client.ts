/** The pool of connections to PostgreSQL, and Drizzle on top of it. */
import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { StoreUnavailable } from '../errors.ts';
import { inChildSpan } from '../observability/tracing.ts';
import * as tables from './schema.ts';

/**
 * Lists of numbers and of ids, none of them null: the driver's parser looks at each character of them. Numbers of 8 bytes are
 * read as float8.
 */
const { INT4_LIST, FLOAT8_LIST, UUID_LIST } = { INT4_LIST: 1007, FLOAT8_LIST: 1022, UUID_LIST: 2951 };
for (const oid of [INT4_LIST, FLOAT8_LIST])
  pg.types.setTypeParser(oid, (text): unknown => JSON.parse(`[${text.slice(1, -1)}]`));
pg.types.setTypeParser(UUID_LIST, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',')));

const POOL_CONNECTIONS = 16;
const CONNECT_TIMEOUT_MS = 5_000;
/** No statement takes long, and waiting for a lock must not hold a connection forever. */
const STATEMENT_TIMEOUT_MS = 30_000;

export type Database = NodePgDatabase<typeof tables> & {
  $client: pg.Pool;
  /** Whether statements may be named: a pooler in transaction mode gives the next one another session. */
  keepsPlans: boolean;
};
/** Runs statements: the database, or one of its transactions. */
export type Executor = Pick<Database, 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'execute'>;
/** The same, which can also take some statements back together: in a transaction, or at a savepoint of one. */
export type Transactor = Executor & Pick<Database, 'transaction'>;

/**
 * The address of connections whose session outlasts a transaction. LISTEN and a search path need that, and a pooler in
 * transaction mode gives every transaction another session.
 */
export const sessionUrlOf = (config: { databaseDirectUrl: string | undefined }, databaseUrl: string): string =>
  config.databaseDirectUrl ?? databaseUrl;

export interface Postgres {
  readonly db: Database;
  readonly pool: pg.Pool;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Does not connect yet: the first statement does. `onError` is called when an idle connection breaks.
 *
 * @param options `isEmbedded`: no pooler is in between
 */
export function openPostgres(
  url: string,
  onError: (error: Error) => void,
  { isEmbedded = false }: { isEmbedded?: boolean } = {},
): Postgres {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'ci-insights',
    pipeline: true,
  });
  pool.on('error', onError);
  // The pool listens to idle connections only. Of one in use, the statement that fails tells; without a listener, the
  // process would end.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = Object.assign(drizzle(pool, { schema: tables, casing: 'snake_case' }), { keepsPlans: isEmbedded });
  return {
    db,
    pool,
    ping: async () => {
      try {
        await db.execute(sql`select 1`);
        return true;
      } catch {
        return false;
      }
    },
    close: () => pool.end(),
  };
}

/**
 * Runs statements, and throws {@link StoreUnavailable} if PostgreSQL does not respond. SQLSTATE classes: 08 connection,
 * 53 resources, 57 operator intervention (shutdown, cancelled), 58 system error, 40 rollback: the transaction can be
 * repeated.
 */
export async function onPostgres<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await inChildSpan('postgresql', POSTGRES_SPAN, run);
  } catch (error) {
    if (error instanceof StoreUnavailable || !isUnavailable(error)) throw error;
    throw new StoreUnavailable('postgres', error);
  }
}

const POSTGRES_SPAN = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } } as const;

/** Drizzle wraps the driver's error: the SQLSTATE is on the innermost cause. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return undefined;
}

/**
 * Whether PostgreSQL refuses the values of a statement, as it always will. SQLSTATE classes: 22 data (such as NUL in a
 * text), 54 program limits (such as a value too long for its index).
 */
export const isRefusedData = (error: unknown): boolean => /^(22|54)...$/.test(sqlState(error) ?? '');

function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state) return /^(08|53|57|58|40)...$|^(ECONN|ENOTFOUND|ENOENT|EAI_|EHOST|ENET|EPIPE|ETIMEDOUT)/.test(state);
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (
      /timeout exceeded when trying to connect|Connection terminated|connection error|Cannot use a pool after/i.test(
        cause.message,
      )
    )
      return true;
  return false;
}
