/**
 * The one place through which every ClickHouse statement goes, embedded or over HTTP.
 *
 * Reads and writes have connections of their own, so that a large insert does not hold up a read.
 */
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { StoreUnavailable } from '../errors.ts';
import { openEmbedded } from './embedded.ts';
import type { Parameters } from './literals.ts';
import type { Query } from './query.ts';

/** Two of each: one connection of the embedded engine runs one statement at a time, and there are two cores to a laptop. */
const READ_CONNECTIONS = 2;
const WRITE_CONNECTIONS = 2;
const READ_TIMEOUT_MS = 30_000;

/**
 * Errors that the same statement meets again however often it is sent: the block holds something that cannot be
 * inserted. All other errors are the store's trouble and are retried.
 */
const PERMANENT_INSERT_ERRORS = new Set([
  '6', // CANNOT_PARSE_TEXT
  '25', // CANNOT_PARSE_ESCAPE_SEQUENCE
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '130', // CANNOT_READ_ARRAY_FROM_TEXT
  '190', // SIZES_OF_ARRAYS_DONT_MATCH
  '376', // CANNOT_PARSE_UUID
  '467', // CANNOT_PARSE_BOOL
  '691', // UNKNOWN_ELEMENT_OF_ENUM
]);

/** Errors of a healthy statement on a store that is overloaded, read-only or without its keeper. */
const UNAVAILABLE_ERRORS = new Set([
  '159',
  '164',
  '202',
  '209',
  '210',
  '225',
  '236',
  '241',
  '242',
  '252',
  '279',
  '999',
]);

export const isPermanentInsertError = (error: unknown): error is StatementRefused =>
  error instanceof StatementRefused && PERMANENT_INSERT_ERRORS.has(error.code);

/**
 * ClickHouse answered, and the answer is an error. The message is shortened and the original left behind: the engine quotes
 * the data it could not read, which is no business of a log.
 */
export class StatementRefused extends Error {
  override name = 'StatementRefused';
  constructor(
    /** ClickHouse's number of the error. */
    readonly code: string,
    message: string,
  ) {
    super(message.replace(/\s+/g, ' ').slice(0, MESSAGE_LENGTH_MAX));
  }
}

const MESSAGE_LENGTH_MAX = 300;

export interface ClickHouse {
  /** Runs a named query and decodes its rows. */
  select<P extends Parameters, R>(query: Query<P, R>, params: P): Promise<R[]>;
  /** Runs a statement that is made at run time (migrations, verify, tests); rows undecoded. */
  rows(sql: string, params?: Parameters): Promise<unknown[]>;
  /** Runs a statement without an answer. */
  command(sql: string, params?: Parameters): Promise<void>;
  /**
   * Inserts lines of JSONEachRow. The token makes repeats harmless in the table and in all that its views fill; it must
   * name exactly these lines. Returns when ClickHouse has acknowledged.
   */
  insert(table: string, lines: string, token: string): Promise<void>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ClickHouseOptions {
  /** HTTP address with user and password, or undefined for the embedded engine. */
  url: string | undefined;
  /** Data folder of the embedded engine. */
  path: string;
}

export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const clients = options.url
    ? [overHttp(options.url)]
    : await openEmbedded(options.path, READ_CONNECTIONS + WRITE_CONNECTIONS);
  const split = Math.min(READ_CONNECTIONS, clients.length - 1);
  return new Client(split === 0 ? clients : clients.slice(0, split), clients.slice(split));
}

function overHttp(url: string): ClickHouseClient {
  return createClient({
    url,
    application: 'ci-insights',
    request_timeout: READ_TIMEOUT_MS,
    max_open_connections: 16,
    // Below the server's keep_alive_timeout of 10 s, or a request meets a socket that is being closed.
    keep_alive: { enabled: true, idle_socket_ttl: 5_000 },
    compression: { request: true, response: true },
    // What goes wrong is thrown; the client would print it beside, with its stack.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      cancel_http_readonly_queries_on_client_close: 1,
    },
  });
}

class Client implements ClickHouse {
  #next = 0;
  readonly #reads: readonly Lane[];
  readonly #writes: readonly Lane[];

  constructor(reads: readonly ClickHouseClient[], writes: readonly ClickHouseClient[]) {
    this.#reads = reads.map((client) => ({ client, busy: 0 }));
    this.#writes = writes.map((client) => ({ client, busy: 0 }));
  }

  async select<P extends Parameters, R>(query: Query<P, R>, params: P): Promise<R[]> {
    const rows = await this.rows(`/* ${query.name} */ ${query.sql}`, params);
    return rows.map((row) => query.row.parse(row));
  }

  rows(sql: string, params: Parameters = {}): Promise<unknown[]> {
    return this.#on(this.#reads, async (client) => {
      const answer = await client.query({ query: sql, query_params: { ...params }, format: 'JSONEachRow' });
      const text = await answer.text();
      return text.length === 0 ? [] : (Bun.JSONL.parse(text) as unknown[]);
    });
  }

  command(sql: string, params: Parameters = {}): Promise<void> {
    return this.#on(this.#writes, async (client) => {
      await client.command({ query: sql, query_params: { ...params } });
    });
  }

  insert(table: string, lines: string, token: string): Promise<void> {
    if (!/^[\w-]+$/.test(token)) throw new TypeError('a deduplication token is made of letters, digits, - and _');
    // Settings are written into the statement: given to a call they would stay on an embedded connection. Parallel parsing
    // would cut the block in pieces, and a replay might be cut otherwise.
    const query = `INSERT INTO ${table} SETTINGS insert_deduplication_token = '${token}', deduplicate_blocks_in_dependent_materialized_views = 1, async_insert = 0, input_format_parallel_parsing = 0, max_insert_block_size = 1000000 FORMAT JSONEachRow`;
    return this.#on(this.#writes, async (client) => {
      const answer = await client.exec({ query, values: Readable.from([lines], { objectMode: false }) });
      answer.stream.resume();
    });
  }

  async ping(): Promise<boolean> {
    const [lane] = this.#reads;
    return lane ? (await lane.client.ping()).success : false;
  }

  async close(): Promise<void> {
    const clients = new Set([...this.#reads, ...this.#writes].map((lane) => lane.client));
    await Promise.all([...clients].map((client) => client.close()));
  }

  /** Runs on the least busy connection; ties go around. */
  async #on<T>(lanes: readonly Lane[], run: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    this.#next++;
    const ordered = lanes.map((_, i) => lanes[(i + this.#next) % lanes.length] as Lane);
    const lane = ordered.reduce((least, other) => (other.busy < least.busy ? other : least));
    lane.busy++;
    try {
      return await run(lane.client);
    } catch (error) {
      throw classified(error);
    } finally {
      lane.busy--;
    }
  }
}

/**
 * By the number on it, not by its class: chdb and the client each come with a ClickHouseError of their own. Messages of
 * several lines reach us unparsed.
 */
function classified(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const stated = 'code' in error && typeof error.code === 'string' && /^\d+$/.test(error.code) ? error.code : undefined;
  const code = stated ?? /^Code: (\d+)\./.exec(error.message)?.[1];
  if (code === undefined) return isConnectionTrouble(error) ? new StoreUnavailable('clickhouse', error) : error;
  const refused = new StatementRefused(code, error.message);
  return UNAVAILABLE_ERRORS.has(code) ? new StoreUnavailable('clickhouse', refused) : refused;
}

interface Lane {
  client: ClickHouseClient;
  busy: number;
}

const CONNECTION_CODES =
  /^(ECONN|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT|ConnectionRefused|ConnectionClosed)/;

function isConnectionTrouble(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    CONNECTION_CODES.test(code) || /timeout error|socket hang up|socket connection was closed/i.test(error.message)
  );
}
