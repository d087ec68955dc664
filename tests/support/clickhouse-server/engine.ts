/** The engine behind the test server: chdb, with settings and parameters per statement, as a server has them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import { asOneShard, SHARD_CONFIG } from './one-shard.ts';

export interface Statement {
  sql: string;
  /** Texts, as they arrived in the request. */
  settings: Readonly<Record<string, string>>;
  /** Raw `param_<name>` values: escaped as the interface requires, and unescaped by the engine. */
  parameters: Readonly<Record<string, string>>;
}

export interface Answer {
  bytes: Uint8Array;
  rowsRead: number;
}

/** Two at a time, like two cores. */
const CONNECTIONS_MAX = 4;
const STATEMENT_BYTES_MAX = 512 * 1024 * 1024;

interface Connection {
  session: Session;
  /** Settings stay on a chdb connection, so a statement runs on one with exactly its settings. */
  settings: string;
  isBusy: boolean;
}

export class Engine {
  readonly #connections: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #path: string;
  readonly #arguments: string[];

  constructor(
    folder: string,
    /** Acts as a cluster of one shard: `ON CLUSTER` and replicated tables work on this host. */
    private readonly isCluster: boolean,
  ) {
    mkdirSync(folder, { recursive: true });
    this.#path = join(folder, 'data');
    const config = join(folder, 'config.xml');
    writeFileSync(config, SHARD_CONFIG);
    this.#arguments = [`--config-file=${config}`];
  }

  async run(statement: Statement): Promise<Answer> {
    const connection = await this.#take(statement.settings);
    try {
      const parameters = Object.entries(statement.parameters).map(
        ([name, value]) => `SET param_${name} = ${quoted(value)};\n`,
      );
      const sql = this.isCluster ? asOneShard(statement.sql) : statement.sql;
      const format = statement.settings.default_format ?? 'TabSeparated';
      const result = await connection.session.queryAsync(`${parameters.join('')}${sql}`, { format });
      return { bytes: result.bytes(), rowsRead: result.rowsRead };
    } finally {
      connection.isBusy = false;
      this.#waiting.shift()?.();
    }
  }

  close(): void {
    for (const { session } of this.#connections) session.close();
  }

  async #take(settings: Readonly<Record<string, string>>): Promise<Connection> {
    const own = Object.entries(settings).filter(([name]) => !OF_THE_SERVER.has(name));
    const key = JSON.stringify(own.sort(([a], [b]) => (a < b ? -1 : 1)));
    for (;;) {
      const free = this.#connections.filter((connection) => !connection.isBusy);
      const fitting = free.find((connection) => connection.settings === key);
      if (fitting) {
        fitting.isBusy = true;
        return fitting;
      }
      if (this.#connections.filter((connection) => connection.isBusy).length < CONNECTIONS_MAX) {
        const session = new Session(this.#path, { connectionArgs: this.#arguments });
        const connection = { session, settings: key, isBusy: true };
        this.#connections.push(connection);
        await session.queryAsync(`SET max_query_size = ${STATEMENT_BYTES_MAX}`);
        for (const [name, value] of own) await session.queryAsync(`SET ${name} = ${quoted(value)}`);
        return connection;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** Settings of the HTTP interface itself, which the engine does not know. */
const OF_THE_SERVER = new Set([
  'default_format',
  'wait_end_of_query',
  'enable_http_compression',
  'http_zlib_compression_level',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'cancel_http_readonly_queries_on_client_close',
  // Every shard seems to have as many replicas as it takes, all of them here.
  'insert_quorum',
  'insert_quorum_timeout',
  'prefer_localhost_replica',
  'max_replica_delay_for_distributed_queries',
  'fallback_to_stale_replicas_for_distributed_queries',
]);

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
