/**
 * The embedded ClickHouse: chdb, the real engine inside this process, behind the same `@clickhouse/client`.
 *
 * chdb is an optional dependency and loads 500 MB of code, so it is imported only here, and only when it is used.
 */
import { mkdirSync } from 'node:fs';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { UserError } from '../errors.ts';
import { INSERT_FORMAT, type Insertion, insertSettings } from './inserts.ts';
import { bindLiterals } from './literals.ts';
import type { Parameters } from './parameters.ts';
import { ALL_NEWER } from './settings.ts';

export type Connection = NonNullable<NonNullable<Parameters_<typeof createClient>[0]>['connection']>;
type Parameters_<T> = T extends (...args: infer A) => unknown ? A : never;

export interface EmbeddedEngine {
  /** They share one data folder. Each runs one statement at a time, so parallel work needs several. */
  clients: ClickHouseClient[];
  /**
   * Inserts over the connection of a client. The engine takes the bytes as they are; as part of a statement, a block would
   * be copied into two texts first.
   */
  insert(client: ClickHouseClient, insertion: Insertion): Promise<void>;
  /**
   * Runs a short statement on this thread. Other statements wait for a thread of the runtime, of which there are as
   * many as cores: one that ends another must not wait behind it.
   */
  runNow(sql: string): void;
  close(): Promise<void>;
}

export async function openEmbedded(path: string, count: number): Promise<EmbeddedEngine> {
  const [chdb, { Session }] = await Promise.all([import('chdb/connection'), import('chdb')]).catch((cause) => {
    throw new UserError(
      'The embedded ClickHouse (optional dependency chdb) is not installed. Install it, or set CLICKHOUSE_URL.',
      { cause },
    );
  });
  // The engine's files are readable by everyone.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const connections = new Map(
    Array.from({ length: count }, () => {
      const connection = chdb.createChdbConnection({ path });
      return [createClient({ connection: withLiterals(connection as unknown as Connection) }), connection];
    }),
  );
  const clients = [...connections.keys()];
  for (const client of clients) await client.command({ query: `SET max_query_size = ${STATEMENT_BYTES_MAX}` });
  const session = new Session(path);
  return {
    clients,
    insert: async (client, { table, token, lines }) => {
      const connection = connections.get(client);
      if (!connection) throw new TypeError('a client of another engine');
      const insertion = {
        table,
        format: INSERT_FORMAT,
        settings: insertSettings(token, ALL_NEWER),
        values: lines,
      } as const;
      await connection.chdb.rawInsert(insertion).catch((error) => {
        throw withNumber(error);
      });
    },
    runNow: (sql) => void session.query(sql),
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      session.close();
    },
  };
}

/** An error of the engine with ClickHouse's number as its code, as statements have it. */
function withNumber(error: unknown): unknown {
  if (!(error instanceof Error && 'clickhouseCode' in error && typeof error.clickhouseCode === 'number')) return error;
  const message = error.message.replace(/^(Code: \d+\. DB::Exception: )+/, '');
  return Object.assign(new Error(message, { cause: error }), { code: String(error.clickhouseCode) });
}

/**
 * Parameters become part of the statement, and 255 names of 10,000 characters make a long one. The setting stays on its
 * connection.
 */
const STATEMENT_BYTES_MAX = 64 * 1024 * 1024;

interface Statement {
  query: string;
  query_params?: Record<string, unknown>;
}

/** The same connection, with parameters bound before the engine sees them. */
export function withLiterals(connection: Connection): Connection {
  const bound = <S extends Statement>(statement: S): S => {
    const { query_params: parameters, ...rest } = statement;
    if (!parameters || Object.keys(parameters).length === 0) return statement;
    return { ...rest, query: bindLiterals(statement.query, parameters as Parameters) } as S;
  };
  return new Proxy(connection, {
    get(target, property) {
      const member = Reflect.get(target, property, target) as unknown;
      if (typeof member !== 'function') return member;
      if (property === 'query' || property === 'command' || property === 'exec')
        return (statement: Statement) => member.call(target, bound(statement));
      return member.bind(target);
    },
  });
}
