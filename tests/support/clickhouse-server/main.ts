/**
 * A small server with ClickHouse's HTTP interface that passes statements to chdb. A separate process, because chdb has one
 * data folder per process. `bun main.ts '<options as JSON>'` prints its port once it listens.
 *
 * It has Basic authentication, statements in the body, in `query` and as multipart, raw `param_x` values that
 * the engine unescapes, settings, formats, gzip both ways, ClickHouse's error numbers with their HTTP status, the summary
 * header and keep-alive with its timeout. It has no sessions, external tables or progress headers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { Engine } from './engine.ts';
import { Faults, faultSchema } from './faults.ts';
import { Refused, readStatement, URI_BYTES_MAX } from './request.ts';

export const optionsSchema = z.object({
  folder: z.string(),
  port: z.int().default(0),
  user: z.string(),
  password: z.string(),
  isCluster: z.boolean().default(false),
});

const KEEP_ALIVE_MS = 10_000;
const VERSION = 'test-server';

/** Same as in ClickHouse's `exceptionCodeToHTTPStatus`, for the numbers that matter here. */
const STATUS_BY_CODE: Readonly<Record<number, number>> = {
  ...Object.fromEntries(
    [6, 25, 26, 27, 33, 38, 41, 47, 53, 62, 69, 72, 117, 130, 190, 376, 456, 457, 467, 691].map((code) => [code, 400]),
  ),
  ...Object.fromEntries([46, 60, 81].map((code) => [code, 404])),
  48: 501,
  159: 408,
  194: 401,
  516: 403,
};

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function main(): void {
  const options = optionsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
  const engine = new Engine(options.folder, options.isCluster);
  const faults = new Faults();
  const credentials = `Basic ${Buffer.from(`${options.user}:${options.password}`).toString('base64')}`;
  const seen = { requests: 0, connections: 0, statements: [] as string[] };

  const server = createServer((request, response) => {
    void answer(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('connection', () => seen.connections++);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://server');
    const body = await bodyOf(request);
    if (url.pathname === '/ping') return void response.end('Ok.\n');
    if (url.pathname === '/test/fault') {
      faults.plan(faultSchema.parse(JSON.parse(body.toString())));
      return void response.end();
    }
    if (url.pathname === '/test/seen') {
      const copy = JSON.stringify(seen);
      if (!url.searchParams.has('keep')) {
        Object.assign(seen, { requests: 0, connections: 0, statements: [] });
        faults.clear();
      }
      return void response.end(copy);
    }
    seen.requests++;
    response.setHeader('X-ClickHouse-Server-Display-Name', VERSION);
    response.setHeader('X-ClickHouse-Query-Id', url.searchParams.get('query_id') ?? '');
    response.setHeader('Keep-Alive', `timeout=${KEEP_ALIVE_MS / 1_000}`);
    try {
      if ((request.url ?? '').length > URI_BYTES_MAX) {
        response.statusCode = 414;
        return void response.end('URI too long');
      }
      if (request.headers.authorization !== credentials)
        throw new Refused(
          516,
          `${options.user}: Authentication failed: password is incorrect, or there is no user with such name.`,
        );
      const headers = {
        'content-encoding': request.headers['content-encoding'],
        'content-type': request.headers['content-type'],
      };
      const statement = await readStatement(url, headers, body);
      seen.statements.push(statement.sql.slice(0, 500));
      const fault = faults.take(statement.sql);
      if (fault?.kind === 'drop') return void request.socket.destroy();
      if (fault?.kind === 'stall') await new Promise((resolve) => setTimeout(resolve, fault.ms));
      if (fault?.kind === 'error') throw new Refused(fault.code, fault.message);
      const { bytes, rowsRead } = await engine.run(statement);
      if (fault?.kind === 'drop-after') return void request.socket.destroy();
      const isGzip =
        statement.settings.enable_http_compression === '1' && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      const sent = isGzip ? gzipSync(bytes) : Buffer.from(bytes);
      if (isGzip) response.setHeader('Content-Encoding', 'gzip');
      response.setHeader(
        'X-ClickHouse-Summary',
        JSON.stringify({ read_rows: String(rowsRead), result_bytes: String(bytes.byteLength) }),
      );
      response.setHeader('Content-Length', sent.byteLength);
      if (fault?.kind === 'cut') {
        response.write(sent.subarray(0, Math.floor(sent.byteLength / 2)), () => request.socket.destroy());
        return;
      }
      response.end(sent, () => {
        if (fault?.kind === 'idle') request.socket.destroy();
      });
    } catch (error) {
      refuse(response, error);
    }
  }

  function refuse(response: ServerResponse, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const stated = error instanceof Refused ? error.code : Number(/^Code: (\d+)\./.exec(message)?.[1] ?? 0);
    response.statusCode = STATUS_BY_CODE[stated] ?? 500;
    response.setHeader('X-ClickHouse-Exception-Code', String(stated));
    response.end(
      error instanceof Refused
        ? `Code: ${stated}. DB::Exception: ${message} (${NAMES[stated] ?? 'ERROR'}) (version ${VERSION})`
        : message,
    );
  }

  server.listen(options.port, '127.0.0.1', () => {
    const address = server.address();
    console.log(address && typeof address === 'object' ? address.port : '');
  });
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
    engine.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  // The process that started it is gone.
  process.stdin.on('end', stop);
  process.stdin.resume();
}

const NAMES: Readonly<Record<number, string>> = {
  62: 'SYNTAX_ERROR',
  210: 'NETWORK_ERROR',
  241: 'MEMORY_LIMIT_EXCEEDED',
  285: 'TOO_FEW_LIVE_REPLICAS',
  319: 'UNKNOWN_STATUS_OF_INSERT',
  456: 'UNKNOWN_QUERY_PARAMETER',
  516: 'AUTHENTICATION_FAILED',
};

main();
