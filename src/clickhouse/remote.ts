/**
 * The embedded engine, used from another process of the service: the process that has it serves the reads of the one
 * that answers requests. Nothing is inserted this way.
 */
import { Readable } from 'node:stream';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import type { Handlers, Message } from '../channel.ts';
import { READ_CONNECTIONS } from './client.ts';
import { type Connection, type EmbeddedEngine, openEmbedded, withLiterals } from './embedded.ts';

type Call = (name: string, message: Message) => Promise<Required<Message>>;

/** A connection runs one statement at a time: each read has its own, and so do pings. */
const CONNECTIONS = READ_CONNECTIONS + 1;

interface Statement {
  connection: number;
  sql: string;
}

export interface ServedEngine {
  handlers: Handlers;
  close(): Promise<void>;
}

/** @param path data folder of the engine, which this process has opened already */
export async function serveEngine(path: string): Promise<ServedEngine> {
  const engine = await openEmbedded(path, CONNECTIONS);
  const clientOf = (connection: number): ClickHouseClient => {
    const client = engine.clients[connection];
    if (!client) throw new RangeError(`the engine has no connection ${connection}`);
    return client;
  };
  return {
    handlers: {
      'engine.query': async ({ connection, sql }: Statement) => {
        const { stream } = await clientOf(connection).exec({ query: sql });
        return { body: Buffer.concat(await stream.toArray()) };
      },
      'engine.command': async ({ connection, sql }: Statement) => {
        await clientOf(connection).command({ query: sql });
        return {};
      },
      'engine.now': async ({ sql }: Statement) => {
        engine.runNow(sql);
        return {};
      },
    },
    close: () => engine.close(),
  };
}

/** The engine as the other process sees it. */
export function remoteEngine(call: Call): EmbeddedEngine {
  const clients = Array.from({ length: CONNECTIONS }, (_, connection) =>
    createClient({ connection: withLiterals(connectionOver(call, connection)) }),
  );
  return {
    clients,
    runNow: (sql) => void call('engine.now', { value: { sql } }).catch(() => {}),
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** What the client asks of a connection, as far as reads need it. */
function connectionOver(call: Call, connection: number): Connection {
  const run = async (name: string, sql: string) => {
    const { body } = await call(name, { value: { connection, sql } });
    return { stream: Readable.from([body]), query_id: '', response_headers: {}, http_status_code: 200 };
  };
  const readsOnly = async (): Promise<never> => {
    throw new Error('this process only reads');
  };
  return {
    query: ({ query }) => run('engine.query', query),
    command: ({ query }) => run('engine.command', query),
    ping: async () => {
      try {
        await run('engine.query', 'SELECT 1');
        return { success: true };
      } catch (error) {
        return { success: false, error: error instanceof Error ? error : new Error(String(error)) };
      }
    },
    insert: readsOnly,
    exec: readsOnly,
    close: async () => {},
  };
}
