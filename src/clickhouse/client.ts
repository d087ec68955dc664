/**
 * Every ClickHouse statement passes through here: embedded or over HTTP, on one server or a cluster.
 *
 * Reads and writes use separate connections, so that a large insert does not hold up a read.
 *
 * When a connection breaks, reads and inserts are repeated once, immediately; the token of an insert makes that
 * harmless. Commands are not repeated: only the caller knows whether one may run twice.
 */
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { StoreUnavailable, UserError } from '../errors.ts';
import { Cluster } from './cluster.ts';
import { openEmbedded } from './embedded.ts';
import { overHttp } from './http.ts';
import { bindLiterals } from './literals.ts';
import { tableDefinitions } from './migrations.ts';
import type { Parameters, ParameterTypes, ValuesOf } from './parameters.ts';
import type { Query } from './query.ts';
import { singleServer, type Topology } from './topology.ts';
import { classified, isAuthenticationFailure, isDropped } from './trouble.ts';

export { isPermanentInsertError, StatementRefused } from './trouble.ts';

/**
 * Two of each: a connection of the embedded engine runs one statement at a time, and a laptop has at least two cores.
 */
const READ_CONNECTIONS = 2;
const WRITE_CONNECTIONS = 2;

/** How long a statement may take. Verification, rebuilds and migrations read and write whole months at a time. */
const LIMITS_MS = { select: 30_000, insert: 120_000, long: 3_600_000, ping: 5_000 };

/**
 * A command sends its parameters in the URL, which may be 1 MiB long after escaping; longer ones become part of the
 * statement.
 */
const URL_PARAMETERS_LENGTH_MAX = 100_000;
const STATEMENT_BYTES_MAX = 64 * 1024 * 1024;

export interface ClickHouse {
  /**
   * Runs a named query and decodes its rows. Throws {@link StoreUnavailable} when there is no answer within 30 s (an
   * hour for long queries), and the signal's reason when it is aborted, which also stops the query on the server.
   */
  select<P extends ParameterTypes, R>(
    query: Query<P, R>,
    params: NoInfer<ValuesOf<P>>,
    signal?: AbortSignal,
  ): Promise<R[]>;
  /** Runs a statement composed at run time (migrations, partitions, tests); the rows are not decoded. */
  rows(sql: string, params?: Parameters): Promise<unknown[]>;
  /** Runs a statement that returns no rows. */
  command(sql: string, params?: Parameters): Promise<void>;
  /**
   * Inserts lines of JSONEachRow. The token makes repeats harmless, in the table and in every table its views fill; it
   * must identify exactly these lines. Returns once ClickHouse has acknowledged the insert.
   */
  insert(table: string, lines: string, token: string): Promise<void>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ClickHouseOptions {
  /** HTTP address with user and password; undefined for the embedded engine. */
  url: string | undefined;
  /** Data folder of the embedded engine. */
  path: string;
  /** Name of the cluster the server belongs to; undefined for a single server. */
  cluster?: string | undefined;
}

/** Throws a {@link UserError} when the server rejects the user or password in the address. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const topology = options.cluster ? new Cluster(options.cluster, tableDefinitions()) : singleServer;
  const clients = options.url
    ? [overHttp(options.url, topology)]
    : await openEmbedded(options.path, READ_CONNECTIONS + WRITE_CONNECTIONS);
  const split = Math.min(READ_CONNECTIONS, clients.length - 1);
  const client = new Client(split === 0 ? clients : clients.slice(0, split), clients.slice(split), topology);
  if (options.url) await checkCredentials(client);
  return client;
}

async function checkCredentials(client: ClickHouse): Promise<void> {
  try {
    await client.rows('SELECT 1');
  } catch (error) {
    await client.close();
    if (!isAuthenticationFailure(error)) throw error;
    throw new UserError('ClickHouse rejects the user or password in CLICKHOUSE_URL.', { cause: error });
  }
}

class Client implements ClickHouse {
  #next = 0;
  readonly #reads: readonly Lane[];
  readonly #writes: readonly Lane[];

  constructor(
    reads: readonly ClickHouseClient[],
    writes: readonly ClickHouseClient[],
    private readonly topology: Topology,
  ) {
    this.#reads = reads.map((client) => ({ client, busy: 0 }));
    this.#writes = writes.map((client) => ({ client, busy: 0 }));
  }

  async select<P extends ParameterTypes, R>(
    query: Query<P, R>,
    params: NoInfer<ValuesOf<P>>,
    signal?: AbortSignal,
  ): Promise<R[]> {
    const limitMs = query.isLong ? LIMITS_MS.long : LIMITS_MS.select;
    const rows = await this.#rows(`/* ${query.name} */ ${query.sql}`, params, limitMs, signal);
    return rows.map((row) => query.row.parse(row));
  }

  rows(sql: string, params: Parameters = {}): Promise<unknown[]> {
    return this.#rows(sql, params, LIMITS_MS.long);
  }

  #rows(sql: string, params: Parameters, limitMs: number, signal?: AbortSignal): Promise<unknown[]> {
    const query = this.topology.read(sql);
    return this.#repeatable(this.#reads, limitMs, signal, async (client, abort_signal) => {
      const answer = await client.query({ query, query_params: { ...params }, format: 'JSONEachRow', abort_signal });
      const text = await answer.text();
      return text.length === 0 ? [] : (Bun.JSONL.parse(text) as unknown[]);
    });
  }

  async command(sql: string, params: Parameters = {}): Promise<void> {
    for (const query of this.topology.commands(sql)) await this.#command(query, params);
  }

  #command(query: string, params: Parameters): Promise<void> {
    const isLong = JSON.stringify(params).length > URL_PARAMETERS_LENGTH_MAX;
    const statement = isLong
      ? { query: bindLiterals(query, params), clickhouse_settings: { max_query_size: String(STATEMENT_BYTES_MAX) } }
      : { query, query_params: { ...params } };
    return this.#on(this.#writes, LIMITS_MS.long, undefined, async (client, abort_signal) => {
      await client.command({ ...statement, abort_signal });
    });
  }

  async insert(table: string, lines: string, token: string): Promise<void> {
    if (!/^[\w-]+$/.test(token)) throw new TypeError('a deduplication token may contain letters, digits, - and _ only');
    // The settings are part of the statement: passed with the call, they would stay on an embedded connection. Parallel
    // parsing would split the block, and a replay might be split differently.
    const query = `INSERT INTO ${table} SETTINGS insert_deduplication_token = '${token}', deduplicate_blocks_in_dependent_materialized_views = 1, async_insert = 0, input_format_parallel_parsing = 0, max_insert_block_size = 1000000 FORMAT JSONEachRow`;
    await this.#repeatable(this.#writes, LIMITS_MS.insert, undefined, async (client, abort_signal) => {
      const values = Readable.from([lines], { objectMode: false });
      const answer = await client.exec({ query, values, abort_signal });
      answer.stream.resume();
    });
    const after = this.topology.afterInsert(table);
    if (after) await this.#command(after, {});
  }

  /** Whether the store answers statements; a server's own `/ping` does not check the password. */
  async ping(): Promise<boolean> {
    const [lane] = this.#reads;
    if (!lane) return false;
    const abort_signal = AbortSignal.timeout(LIMITS_MS.ping);
    return (await lane.client.ping({ select: true, abort_signal })).success;
  }

  async close(): Promise<void> {
    const clients = new Set([...this.#reads, ...this.#writes].map((lane) => lane.client));
    await Promise.all([...clients].map((client) => client.close()));
  }

  async #repeatable<T>(
    lanes: readonly Lane[],
    limitMs: number,
    signal: AbortSignal | undefined,
    run: Run<T>,
  ): Promise<T> {
    try {
      return await this.#on(lanes, limitMs, signal, run);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !isDropped(error.cause)) throw error;
      return await this.#on(lanes, limitMs, signal, run);
    }
  }

  /** Runs on the least busy connection; round-robin among equals. */
  async #on<T>(lanes: readonly Lane[], limitMs: number, signal: AbortSignal | undefined, run: Run<T>): Promise<T> {
    this.#next++;
    const ordered = lanes.map((_, i) => lanes[(i + this.#next) % lanes.length] as Lane);
    const lane = ordered.reduce((least, other) => (other.busy < least.busy ? other : least));
    lane.busy++;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    try {
      signal?.throwIfAborted();
      return await run(lane.client, signal ? AbortSignal.any([late.signal, signal]) : late.signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (late.signal.aborted)
        throw new StoreUnavailable('clickhouse', new Error(`no answer within ${limitMs} ms`, { cause: error }));
      throw classified(error);
    } finally {
      clearTimeout(timer);
      lane.busy--;
    }
  }
}

type Run<T> = (client: ClickHouseClient, signal: AbortSignal) => Promise<T>;

interface Lane {
  client: ClickHouseClient;
  busy: number;
}
