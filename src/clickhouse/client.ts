/**
 * Every ClickHouse statement passes through here: embedded or over HTTP, on one server or a cluster.
 *
 * Reads and writes use separate connections, so that a large insert does not hold up a read.
 *
 * When a connection breaks, reads and inserts are repeated once, immediately; the token of an insert makes that
 * harmless. Commands are not repeated: only the caller knows whether one may run twice.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import pTimeout from 'p-timeout';
import { z } from 'zod';
import { StoreUnavailable, UserError } from '../errors.ts';
import { FairQueue, type Turn } from '../fair-queue.ts';
import { asRefusal, boundsOf, EMBEDDED_SHARES, SERVER_SHARES } from './bounds.ts';
import { type Connections, connectionsOf, type Limits } from './connections.ts';
import { DATABASE, type Place, topologyAt } from './database.ts';
import { type EmbeddedEngine, openEmbedded } from './embedded.ts';
import { withoutTrueGuards } from './guards.ts';
import { overHttp } from './http.ts';
import { type Insertion, insertStatement } from './inserts.ts';
import { bindLiterals } from './literals.ts';
import type { Parameters, ParameterTypes, ValuesOf } from './parameters.ts';
import type { Query, Statement } from './query.ts';
import { rowsIn } from './rows.ts';
import {
  ALL_NEWER,
  NEWER_SETTINGS_SQL,
  NewerSettings,
  notDeduplicating,
  replacing,
  type Settings,
  settingsClause,
} from './settings.ts';
import { LOOK_MS_MAX, type Needed, ShardWatch } from './shard-watch.ts';
import { shardAmong } from './shards.ts';
import type { Topology } from './topology.ts';
import { assertFromClickHouse, isAuthenticationFailure, isDropped, isLate, isUnknownSetting } from './trouble.ts';

export { isPermanentInsertError, StatementRefused } from './trouble.ts';

const READ_CONNECTIONS = EMBEDDED_SHARES.atOnce;
const WRITE_CONNECTIONS = 2;
/** Connections of the embedded engine: each runs one statement at a time. One more is for pings, which wait for none. */
export const CONNECTIONS = READ_CONNECTIONS + WRITE_CONNECTIONS + 1;

/** How long a statement may take. Verification, rebuilds and migrations read and write whole months at a time. */
const LIMITS_MS = { insert: 120_000, long: 3_600_000, ping: 5_000, kill: 500 };

/**
 * A command sends its parameters in the URL, which may be 1 MiB long after escaping; longer ones become part of the
 * statement.
 */
const URL_PARAMETERS_LENGTH_MAX = 100_000;
const STATEMENT_BYTES_MAX = 64 * 1024 * 1024;
/** A statement that takes longer than an answer may take is sent so often: the second time, most of it is done. */
const SENT_MAX = 3;
const POLL_MS = 500;

/** About as long as they are in an address. */
const lengthOf = (params: Parameters): number =>
  JSON.stringify(params, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).length;

const REPLACING = /^\s*ALTER TABLE \S+ REPLACE PARTITION/;

/** Values, or what gives them when the turn has come and the statement is about to be sent. */
type LateValues<V> = V | (() => V);

export interface ClickHouse {
  /**
   * Runs a named query and decodes its rows. On behalf of a request it takes its turn among those of other owners, and
   * throws {@link ReadRefused} if it would take too long or too much. When the signal of the turn is aborted, throws
   * its reason and ends the query in the engine. Throws {@link StoreUnavailable} when there is no answer in time
   * (bounds.ts).
   */
  select<P extends ParameterTypes, R>(
    query: Query<P, R>,
    params: LateValues<NoInfer<ValuesOf<P>>>,
    turn?: Turn,
  ): Promise<R[]>;
  /** Runs a statement composed at run time (migrations, partitions, tests); the rows are not decoded. */
  rows(sql: string, params?: Parameters): Promise<unknown[]>;
  /**
   * Runs a statement that returns no rows.
   *
   * @param options `mayRunTwice`: at a server, one that takes longer than an answer may take is waited for until it has ended, and
   * sent again to learn how: for what does nothing the second time
   */
  command(sql: string, params?: Parameters, options?: { mayRunTwice?: boolean }): Promise<void>;
  /**
   * Inserts lines of JSONEachRow. The token makes repeats harmless, in the table and in every table its views fill; it
   * must identify exactly these lines. Returns once ClickHouse has acknowledged the insert.
   *
   * @param shard that stores all of them, if it is one: then another that does not answer is no reason to fail
   */
  insert(table: string, lines: string, token: string, shard?: number): Promise<void>;
  /**
   * Inserts the rows of a SELECT, all of them: rows equal to those of an earlier insert are not taken for a repeat.
   *
   * @param target the table, with a list of columns unless the SELECT gives all in order
   */
  fill(target: string, select: Statement): Promise<void>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
  /** Whether repositories are on several servers. */
  readonly isSharded: boolean;
  /** How many shards there are; 1 where there is one server. */
  shardCount(): Promise<number>;
  /** The number of the shard that stores a repository, from 0; 0 where there is one server. */
  shardOf(repositoryId: string): Promise<number>;
  /** The name of the database that statements call `ci`. */
  readonly database: string;
}

export interface ClickHouseOptions extends Place {
  /** HTTP address with user and password; undefined for the embedded engine. */
  url: string | undefined;
  /** Data folder of the embedded engine. */
  path: string;
  /** How long a statement over whole months may take; by default an hour. Tests want less. */
  longMs?: number | undefined;
  /** The embedded engine of another process; undefined: it is opened here. */
  engine?: EmbeddedEngine | undefined;
}

/** Throws a {@link UserError} when the server rejects the user or password in the address. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const topology = topologyAt(options);
  const stores = options.url
    ? overServer(overHttp(options.url, topology))
    : overEngine(options.engine ?? (await openEmbedded(options.path, CONNECTIONS)));
  const client = new Client(stores, topology, options);
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

/** Where statements go. */
interface Stores {
  reads: Connections;
  writes: Connections;
  turns: FairQueue;
  pings: ClickHouseClient;
  newer: Pick<NewerSettings, 'known' | 'forget'>;
  insert(client: ClickHouseClient, insertion: Insertion, abort: { abort_signal?: AbortSignal }): Promise<void>;
  /** Ends the statements that begin with this text. */
  kill(beginning: string): Promise<void>;
  close(): Promise<unknown>;
}

function overServer(client: ClickHouseClient): Stores {
  const connections = connectionsOf([client], true);
  const newer = new NewerSettings(() =>
    connections.repeatable({ limitMs: LIMITS_MS.ping }, async (_, abort) => {
      const answer = await client.query({ query: NEWER_SETTINGS_SQL, format: 'JSONEachRow', ...abort });
      assertFromClickHouse(answer.response_headers);
      return namesOf(rowsIn(await answer.text()));
    }),
  );
  return {
    newer,
    reads: connections,
    writes: connections,
    turns: new FairQueue(SERVER_SHARES),
    pings: client,
    insert: async (_, insertion, abort) => {
      const values = Readable.from([insertion.lines], { objectMode: false });
      const query = insertStatement(insertion, await newer.known());
      const answer = await client.exec({ query, values, ...abort });
      answer.stream.resume();
      assertFromClickHouse(answer.response_headers);
    },
    kill: async (beginning) => {
      await client.command({ query: killing(beginning), abort_signal: AbortSignal.timeout(LIMITS_MS.ping) });
    },
    close: () => client.close(),
  };
}

function overEngine({ clients, insert, runNow, close }: EmbeddedEngine): Stores {
  const [pings, ...others] = clients;
  if (!pings) throw new TypeError('no connection');
  return {
    reads: connectionsOf(others.slice(0, READ_CONNECTIONS), false),
    writes: connectionsOf(others.slice(READ_CONNECTIONS), false),
    turns: new FairQueue(EMBEDDED_SHARES),
    pings,
    newer: { known: async () => ALL_NEWER, forget: () => {} },
    insert,
    kill: async (beginning) => {
      const query = killing(beginning);
      const sent = pings.command({ query }).then(
        () => true,
        () => true,
      );
      // Without a free thread it would wait for those that it is meant to end.
      const hasRun = await pTimeout(sent, { milliseconds: LIMITS_MS.kill, fallback: () => false });
      if (!hasRun) runNow(query);
    },
    close,
  };
}

const weightSchema = z.object({ weight: z.number() });
const nameSchema = z.object({ name: z.string() });
const namesOf = (rows: readonly unknown[]): string[] => rows.map((row) => nameSchema.parse(row).name);

/** The limit of the server is beyond that of the look, so that an unanswered one is not taken for one that was refused. */
const LOOK_SQL = `SELECT 1 FROM ci.executions WHERE repository_id = {repository_id: UUID} LIMIT 1
  SETTINGS max_execution_time = ${(2 * LOOK_MS_MAX) / 1_000}`;

const killing = (beginning: string): string =>
  bindLiterals('KILL QUERY WHERE startsWith(query, {beginning: String}) ASYNC', { beginning });

class Client implements ClickHouse {
  #weights: Promise<number[]> | undefined;
  /** Undefined where there is one server: what it does not answer fails by its own limit. */
  readonly #watch: ShardWatch | undefined;

  constructor(
    private readonly stores: Stores,
    private readonly topology: Topology,
    private readonly options: Pick<ClickHouseOptions, 'url' | 'database' | 'longMs'>,
  ) {
    if (!topology.isSharded) return;
    this.#watch = new ShardWatch({
      count: () => this.shardCount(),
      look: (shard) => this.#look(shard),
    });
    this.#watch.start();
  }

  /** Something else may answer at its address. */
  get isServer(): boolean {
    return this.options.url !== undefined;
  }

  get database(): string {
    return this.options.database ?? DATABASE;
  }

  get isSharded(): boolean {
    return this.topology.isSharded;
  }

  async shardOf(repositoryId: string): Promise<number> {
    const weights = await this.#shardWeights();
    return weights === undefined ? 0 : shardAmong(weights, repositoryId);
  }

  async shardCount(): Promise<number> {
    return (await this.#shardWeights())?.length ?? 1;
  }

  /** By shard; undefined where there is one server. */
  #shardWeights(): Promise<number[]> | undefined {
    const { weights } = this.topology;
    if (weights === undefined) return undefined;
    // Asked once. They change only with the cluster, and that needs a stop of the service (docs/operations.md).
    this.#weights ??= this.rows(weights).then(
      (rows) => rows.map((row) => weightSchema.parse(row).weight),
      (error) => {
        this.#weights = undefined;
        throw error;
      },
    );
    return this.#weights;
  }

  /** Asks a shard for a repository that it would store. */
  async #look(shard: number): Promise<void> {
    const weights = (await this.#shardWeights()) ?? [];
    // Nothing is stored on one without a weight.
    if (!weights[shard]) return;
    let repositoryId = crypto.randomUUID();
    while (shardAmong(weights, repositoryId) !== shard) repositoryId = crypto.randomUUID();
    await this.#sent('look', LOOK_SQL, { repository_id: repositoryId }, { limitMs: LOOK_MS_MAX });
  }

  /** The shards that a statement asks. */
  async #neededBy(sql: string, params: Parameters): Promise<Needed> {
    const needed = this.topology.neededBy(sql, params);
    if (typeof needed === 'string') return needed;
    return new Set(await Promise.all(needed.repositoryIds.map((id) => this.shardOf(id))));
  }

  /** Runs what asks these shards; it fails as soon as one of them does not answer. */
  #needing<T>(needed: Needed, limits: Limits, work: (limits: Limits) => Promise<T>): Promise<T> {
    if (needed === 'none' || this.#watch === undefined) return work(limits);
    return this.#watch.during(needed, limits.signal, (signal) => work({ ...limits, signal }));
  }

  async select<P extends ParameterTypes, R>(
    query: Query<P, R>,
    params: LateValues<NoInfer<ValuesOf<P>>>,
    turn?: Turn,
  ): Promise<R[]> {
    const bounds = boundsOf(turn, query);
    const read = (limits: Limits): Promise<unknown[]> => {
      const values: Parameters = typeof params === 'function' ? params() : params;
      return this.#rows(query.name, `${withoutTrueGuards(query.sql, values)}\n${bounds.settings}`, values, limits);
    };
    if (!turn) return this.#decoded(query, await read(bounds));
    const onEnded = await this.stores.turns.take(turn);
    const rows = await read({ ...bounds, signal: turn.signal, onEnded }).catch((error) => {
      throw asRefusal(error);
    });
    return this.#decoded(query, rows);
  }

  #decoded<R>(query: { row: z.ZodType<R> }, rows: readonly unknown[]): R[] {
    return rows.map((row) => query.row.parse(row));
  }

  rows(sql: string, params: Parameters = {}): Promise<unknown[]> {
    return this.#rows('rows', sql, params, { limitMs: LIMITS_MS.long });
  }

  async #rows(name: string, sql: string, params: Parameters, limits: Limits): Promise<unknown[]> {
    const needed = await this.#neededBy(sql, params).catch((error) => {
      limits.onEnded?.();
      throw error;
    });
    return this.#needing(needed, limits, (within) => this.#sent(name, sql, params, within));
  }

  #sent(name: string, sql: string, params: Parameters, limits: Limits): Promise<unknown[]> {
    // By this text the statement is found again to be ended.
    const beginning = `/* ${name} ${crypto.randomUUID()} */`;
    const query = `${beginning} ${this.topology.read(sql)}`;
    const kill = (): Promise<void> => this.stores.kill(beginning);
    return this.stores.reads.repeatable({ ...limits, kill }, async (client, abort) => {
      const answer = await client.query({ query, query_params: { ...params }, format: 'JSONEachRow', ...abort });
      if (this.isServer) assertFromClickHouse(answer.response_headers);
      const text = await answer.text();
      return rowsIn(text);
    });
  }

  async command(sql: string, params: Parameters = {}, { mayRunTwice = false } = {}): Promise<void> {
    const isReplacing = this.isSharded && REPLACING.test(sql);
    const settings = isReplacing ? replacing(await this.stores.newer.known()) : {};
    for (const query of this.topology.commands(sql))
      if (mayRunTwice && this.isServer) await this.#untilDone(query, params, settings);
      else await this.#command(query, params, settings);
  }

  /** A server continues with a statement whose connection is closed. How it ends, it says only to who sends it again. */
  async #untilDone(query: string, params: Parameters, settings: Settings): Promise<void> {
    for (let left = SENT_MAX; ; left--) {
      const queryId = crypto.randomUUID();
      try {
        return await this.#command(query, params, settings, { limitMs: this.#longMs, queryId });
      } catch (error) {
        const isUnanswered = isLate(error) || (error instanceof StoreUnavailable && isDropped(error.cause));
        if (left === 1 || !isUnanswered) throw error;
      }
      while (await this.#isRunning(queryId)) await sleep(POLL_MS);
    }
  }

  async #isRunning(queryId: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM system.processes WHERE query_id = {query_id: String}';
    return (await this.rows(sql, { query_id: queryId })).length > 0;
  }

  get #longMs(): number {
    return this.options.longMs ?? LIMITS_MS.long;
  }

  #command(
    query: string,
    params: Parameters,
    settings: Settings = {},
    { queryId, ...limits }: Limits & { queryId?: string } = { limitMs: this.#longMs },
  ): Promise<void> {
    const isLong = lengthOf(params) > URL_PARAMETERS_LENGTH_MAX;
    const statement = isLong
      ? {
          query: bindLiterals(query, params),
          clickhouse_settings: { ...settings, max_query_size: String(STATEMENT_BYTES_MAX) },
        }
      : { query, query_params: { ...params }, clickhouse_settings: { ...settings } };
    return this.stores.writes.run(limits, async (client, abort) => {
      const answer = await client.command({ ...statement, ...(queryId && { query_id: queryId }), ...abort });
      if (this.isServer) assertFromClickHouse(answer.response_headers);
    });
  }

  async insert(table: string, lines: string, token: string, shard?: number): Promise<void> {
    if (!/^[\w-]+$/.test(token)) throw new TypeError('a deduplication token may contain letters, digits, - and _ only');
    const insertion = { table: this.topology.read(table), token, lines: Buffer.from(lines) };
    await this.#knowingSettings(() =>
      this.#needing(shard === undefined ? 'every shard' : new Set([shard]), { limitMs: LIMITS_MS.insert }, (limits) =>
        this.stores.writes.repeatable(limits, (client, abort) => this.stores.insert(client, insertion, abort)),
      ),
    );
    const after = this.topology.afterInsert(table);
    if (after) await this.#command(after, {});
  }

  async fill(target: string, { sql, params }: Statement): Promise<void> {
    await this.#knowingSettings(async () => {
      const settings = settingsClause(notDeduplicating(await this.stores.newer.known()));
      const [query = ''] = this.topology.commands(`INSERT INTO ${target} ${settings} ${sql}`);
      // Each execution of a repository is on one shard, and so is all that follows from it.
      const needed = await this.#neededBy(sql, params);
      await this.#needing(needed, { limitMs: LIMITS_MS.long }, (limits) => this.#command(query, params, {}, limits));
    });
  }

  /** Once more if the server refuses a setting that it had a minute ago: another answers there now. */
  async #knowingSettings(send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if (!isUnknownSetting(error)) throw error;
      this.stores.newer.forget();
      await send();
    }
  }

  /** Whether the store answers statements; a server's own `/ping` does not check the password. */
  async ping(): Promise<boolean> {
    const abort_signal = AbortSignal.timeout(LIMITS_MS.ping);
    return (await this.stores.pings.ping({ select: true, abort_signal })).success;
  }

  async close(): Promise<void> {
    this.#watch?.stop();
    await this.stores.close();
  }
}
