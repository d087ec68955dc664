/**
 * The embedded engine, used from another process of the service: the process that has it serves the statements of the
 * others.
 */
import { Readable } from 'node:stream';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import type { Handlers, Message } from '../channel.ts';
import { CONNECTIONS } from './client.ts';
import { type Connection, type EmbeddedEngine, openEmbedded, withLiterals } from './embedded.ts';
import type { Insertion } from './inserts.ts';

type Call = (name: string, message: Message) => Promise<Required<Message>>;

interface Statement {
  connection: number;
  sql: string;
}

/** Its lines are the body. */
interface SentInsertion extends Omit<Insertion, 'lines'> {
  connection: number;
}

export interface ServedEngine {
  handlers: Handlers;
  close(): Promise<void>;
}

/** The engine as a part of the service sees it. */
export interface RemoteEngines {
  main: EmbeddedEngine;
  /** Over other connections: what runs here holds up nothing there. */
  background: EmbeddedEngine;
}

/** @param path data folder of the engine, which this process has opened already */
export async function serveEngine(path: string): Promise<ServedEngine> {
  const engine = await openEmbedded(path, 2 * CONNECTIONS);
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
      'engine.insert': async ({ connection, table, token }: SentInsertion, lines: Uint8Array) => {
        await engine.insert(clientOf(connection), { table, token, lines });
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

/** The engine that another process serves with {@link serveEngine}. */
export const remoteEngines = (call: Call): RemoteEngines => ({
  main: remoteEngine(call, 0),
  background: remoteEngine(call, CONNECTIONS),
});

function remoteEngine(call: Call, first: number): EmbeddedEngine {
  const clients = Array.from({ length: CONNECTIONS }, (_, i) =>
    createClient({ connection: withLiterals(connectionOver(call, first + i)) }),
  );
  return {
    clients,
    insert: async (client, { lines, ...insertion }) => {
      const connection = first + clients.indexOf(client);
      await call('engine.insert', { value: { connection, ...insertion } satisfies SentInsertion, body: lines });
    },
    runNow: (sql) => void call('engine.now', { value: { sql } }).catch(() => {}),
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

const refused = async (): Promise<never> => {
  throw new Error('lines are inserted by the engine, not by its clients');
};

/** The methods of a connection that the service needs. */
function connectionOver(call: Call, connection: number): Connection {
  const run = async (name: string, sql: string) => {
    const { body } = await call(name, { value: { connection, sql } });
    return { stream: Readable.from([body]), query_id: '', response_headers: {}, http_status_code: 200 };
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
    insert: refused,
    exec: refused,
    close: async () => {},
  };
}
