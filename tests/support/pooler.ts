/**
 * A pooler in front of PostgreSQL, as a client meets PgBouncer: startup parameters that belong to a session are refused, everything
 * else is passed on.
 */
import { createServer, connect as dial, type Socket } from 'node:net';

/** `ignore_startup_parameters` of docs/operations.md is among them. */
const ACCEPTED = new Set(['user', 'database', 'client_encoding', 'application_name', 'statement_timeout']);

export interface Pooler {
  /** The same database through the pooler. */
  url: string;
  /** Connections that were refused, by the parameter they brought. */
  refused: string[];
  stop(): Promise<void>;
}

/** @param databaseUrl of a server that listens on a unix socket */
export async function startPooler(databaseUrl: string): Promise<Pooler> {
  const direct = new URL(databaseUrl);
  const socket = `${direct.searchParams.get('host')}/.s.PGSQL.5432`;
  const refused: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy()).on('close', () => open.delete(client));
    client.once('data', (startup) => {
      const parameter = parametersOf(Buffer.from(startup)).find((name) => !ACCEPTED.has(name));
      if (parameter !== undefined) {
        refused.push(parameter);
        client.end(fatal(`unsupported startup parameter: ${parameter}`));
        return;
      }
      const upstream = dial(socket);
      upstream.on('error', () => client.destroy());
      // As PgBouncer does: the transaction of a client that died is rolled back, and its locks are free.
      client.on('close', () => upstream.destroy());
      upstream.write(startup);
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the pooler has no port');
  const url = new URL(databaseUrl);
  url.search = '';
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    refused,
    stop: () => {
      for (const client of open) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The names in a startup message: a length, a version, then names and values, each ended by a zero. */
function parametersOf(startup: Buffer): string[] {
  const texts = startup.subarray(8).toString('utf8').split('\0');
  return texts.filter((name, i) => i % 2 === 0 && name !== '');
}

/** An ErrorResponse: what it is, the SQLSTATE of a protocol violation, and a sentence. */
function fatal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
