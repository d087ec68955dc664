/**
 * The topology behind `CLICKHOUSE_CLUSTER`. Every table of `ci` becomes a replicated table in `ci_shard` on each shard,
 * plus a `Distributed` table of the original name in `ci`, so that reads and inserts are sent as written.
 *
 * Rows are sharded by repository. Every read that serves a request names one repository, so one shard can answer it,
 * subqueries and joins included (requests for several repositories share a statement only without a cluster). A block is split by repository, and each piece is deduplicated on its shard under the
 * block's token, however often and from wherever the block is sent. docs/operations.md explains why, and what happens
 * when a host is lost.
 *
 * Tables without a `repository_id` (migrations, the list used by regrouping) are small and stored in full on every
 * host.
 */
import { z } from 'zod';
import type { Parameters } from './parameters.ts';
import { NIL_ID } from './scope.ts';
import type { Topology } from './topology.ts';

const SHARD_DATABASE = 'ci_shard';
const SHARDING_KEY = 'cityHash64(repository_id)';
/**
 * A week, longer than any block waits for a replay. ClickHouse's default was an hour in some versions and a week in
 * others.
 */
const DEDUPLICATION_SECONDS = 604_800;

/**
 * An insert is acknowledged once a quorum of replicas of every shard involved has it. Reads and inserts go to the first
 * working replica of a shard, so that a read sees earlier inserts; replicas that lag behind are not read.
 */
const SETTINGS = {
  distributed_foreground_insert: 1,
  insert_quorum: 'auto',
  insert_quorum_timeout: 60_000,
  load_balancing: 'in_order',
  prefer_localhost_replica: 0,
  max_replica_delay_for_distributed_queries: 5,
  fallback_to_stale_replicas_for_distributed_queries: 0,
  optimize_skip_unused_shards: 1,
  // A shard that is down makes an answer an error, and never one without its rows.
  skip_unavailable_shards: 0,
  // All rows of a repository are on one shard, so a subquery finds its rows where the query runs.
  distributed_product_mode: 'local',
  // A host that is down catches up when it returns; the others need not wait for it.
  distributed_ddl_task_timeout: 60,
  distributed_ddl_output_mode: 'null_status_on_timeout',
} as const;

const CREATE_DATABASE = /^CREATE DATABASE IF NOT EXISTS ci\b/;
const CREATE_TABLE = /^CREATE TABLE (IF NOT EXISTS )?ci\.(\w+)\s*(\([\s\S]*)$/;
const CREATE_LIKE = /^CREATE TABLE ci\.(\w+) AS ci\.(\w+)$/;
const CREATE_VIEW = /^CREATE MATERIALIZED VIEW (IF NOT EXISTS )?ci\.(\w+)/;
const ALTER = /^ALTER TABLE ci\.(\w+)\s+([A-Z]+(?: [A-Z]+)?)\b/;
const DELETE = /^DELETE FROM ci\.(\w+)/;
const DROP = /^DROP TABLE (?:IF EXISTS )?ci\.(\w+)( SYNC)?$/;
const TRUNCATE = /^TRUNCATE TABLE ci\.(\w+)$/;
const ENGINE = /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/;

/** Changes of columns, which apply to the `Distributed` table, too. */
const COLUMN_CHANGES = new Set(['ADD COLUMN', 'DROP COLUMN', 'MODIFY COLUMN', 'RENAME COLUMN']);

export class Cluster implements Topology {
  readonly isSharded = true;
  readonly settings = SETTINGS;
  readonly weights: string;

  /**
   * @param name the cluster in `remote_servers`; letters, digits and `_`
   * @param definitions the `CREATE TABLE` statements of the migrations, which give the engine for `CREATE TABLE … AS …`
   */
  constructor(
    private readonly name: string,
    private readonly definitions: readonly string[],
  ) {
    if (!/^\w+$/.test(name)) throw new TypeError('the name of a cluster may contain letters, digits and _ only');
    this.weights = `SELECT any(shard_weight) AS weight FROM system.clusters WHERE cluster = '${name}' GROUP BY shard_num ORDER BY shard_num`;
  }

  commands(sql: string): string[] {
    const statement = sql.trim();
    const onCluster = `ON CLUSTER ${this.name}`;
    if (/^INSERT INTO ci\./.test(statement)) return [statement];
    if (CREATE_DATABASE.test(statement))
      return ['ci', SHARD_DATABASE].map((database) =>
        statement.replace(CREATE_DATABASE, `CREATE DATABASE IF NOT EXISTS ${database} ${onCluster}`),
      );
    const like = CREATE_LIKE.exec(statement);
    if (like?.[1] && like[2]) return this.#tableLike(like[1], like[2]);
    const table = CREATE_TABLE.exec(statement);
    if (table?.[2] && table[3]) return this.#table(table[2], table[3], table[1] ?? '');
    if (CREATE_VIEW.test(statement))
      return [onShard(statement).replace(/^(CREATE MATERIALIZED VIEW (?:IF NOT EXISTS )?[\w.]+)/, `$1 ${onCluster}`)];
    const drop = DROP.exec(statement);
    if (drop?.[1])
      return ['ci', SHARD_DATABASE].map(
        (database) => `DROP TABLE IF EXISTS ${database}.${drop[1]} ${onCluster}${drop[2] ?? ''}`,
      );
    const truncated = TRUNCATE.exec(statement);
    if (truncated?.[1]) return [`TRUNCATE TABLE ${SHARD_DATABASE}.${truncated[1]} ${onCluster}`];
    if (DELETE.test(statement)) return [onShard(statement).replace(/^DELETE FROM [\w.]+/, `$& ${onCluster}`)];
    const alter = ALTER.exec(statement);
    if (alter?.[1] && alter[2]) return this.#alter(statement, alter[2]);
    throw new TypeError(`no cluster rule for this statement: ${statement.slice(0, 80)}`);
  }

  read(sql: string): string {
    return sql
      .replace(/\bFROM system\.parts\b/g, `FROM clusterAllReplicas(${this.name}, system.parts)`)
      .replace(/\bdatabase = 'ci'/g, `database = '${SHARD_DATABASE}'`);
  }

  neededBy(sql: string, { repository_id: id, repository_ids: ids }: Parameters): ReturnType<Topology['neededBy']> {
    if (!ON_SHARDS.test(sql)) return 'none';
    const named = repositoryIds.safeParse(ids ?? [id]);
    return named.success ? { repositoryIds: named.data } : 'every shard';
  }

  /** A table that is stored on every host is read wherever the statement runs, so every host must have the rows. */
  afterInsert(table: string): string | undefined {
    return this.#isOnAllHosts(table) ? `SYSTEM SYNC REPLICA ON CLUSTER ${this.name} ${table}` : undefined;
  }

  #isOnAllHosts(table: string): boolean {
    return ALL_HOSTS.has(table);
  }

  #table(name: string, rest: string, ifNotExists: string): string[] {
    const isSharded = /\brepository_id\b/.test(rest.slice(0, rest.search(/\bENGINE =/)));
    // A permanent table is found under its name in Keeper, so that replicas added later join it. A temporary one gets a
    // path that is used once, so that leftovers on a lost host are not taken for the new table.
    const place = ifNotExists === '' ? '{uuid}' : `${this.name}/${name}`;
    if (!isSharded) {
      if (!ALL_HOSTS.has(`ci.${name}`))
        throw new TypeError(`ci.${name} has no repository_id and is not listed as a small table`);
      const engine = replicated(rest, `/clickhouse/tables/${place}/all`, '{shard}-{replica}');
      return [`CREATE TABLE ${ifNotExists}ci.${name} ON CLUSTER ${this.name} ${engine}`];
    }
    const engine = replicated(rest, `/clickhouse/tables/${place}/{shard}`, '{replica}');
    return [
      `CREATE TABLE ${ifNotExists}${SHARD_DATABASE}.${name} ON CLUSTER ${this.name} ${engine}`,
      this.#distributed(name, ifNotExists),
    ];
  }

  /** Columns and indexes as they are now, the engine as in the migration, at a path that is used once. */
  #tableLike(name: string, model: string): string[] {
    const definition = this.definitions.find((one) => CREATE_TABLE.exec(one)?.[2] === model);
    const rest = definition?.slice(definition.search(/\bENGINE =/));
    if (!rest) throw new TypeError(`no migration creates ci.${model}`);
    const engine = replicated(rest, '/clickhouse/tables/{uuid}/{shard}', '{replica}');
    return [
      `CREATE TABLE ${SHARD_DATABASE}.${name} ON CLUSTER ${this.name} AS ${SHARD_DATABASE}.${model} ${engine}`,
      this.#distributed(name, ''),
    ];
  }

  #distributed(name: string, ifNotExists: string): string {
    const engine = `Distributed(${this.name}, ${SHARD_DATABASE}, ${name}, ${SHARDING_KEY})`;
    return `CREATE TABLE ${ifNotExists}ci.${name} ON CLUSTER ${this.name} AS ${SHARD_DATABASE}.${name} ENGINE = ${engine}`;
  }

  #alter(statement: string, change: string): string[] {
    const everywhere = statement.replace(/^(ALTER TABLE [\w.]+)/, `$1 ON CLUSTER ${this.name}`);
    if (COLUMN_CHANGES.has(change)) return [onShard(everywhere), withoutCodecs(everywhere)];
    // The next read may go to another replica.
    const waiting = change === 'REPLACE PARTITION' ? ' SETTINGS alter_sync = 2' : '';
    return [`${onShard(everywhere)}${waiting}`];
  }
}

/** With more of them, as a rebuild names them all, every shard is asked. */
export const REPOSITORIES_MAX = 100;
const repositoryIds = z
  .array(z.string().refine((id) => id !== NIL_ID))
  .min(1)
  .max(REPOSITORIES_MAX);

/** Names a table whose rows are spread over the shards, or the parts of all hosts. */
const ON_SHARDS = /\bci\.(?!migrations\b|regroup\b|leaving\b)\w|\bFROM system\.parts\b/;

/** Small tables without a repository_id. */
const ALL_HOSTS: ReadonlySet<string> = new Set(['ci.migrations', 'ci.regroup', 'ci.leaving']);

const onShard = (sql: string): string => sql.replace(/\bci\.(?=\w)/g, `${SHARD_DATABASE}.`);

/** A `Distributed` table stores nothing and accepts no codecs. */
const withoutCodecs = (sql: string): string => sql.replace(/ CODEC\((?:[^()]|\([^()]*\))*\)/g, '');

function replicated(definition: string, path: string, replica: string): string {
  return definition
    .replace(ENGINE, (_, engine: string, own: string | undefined) => {
      const others = own ? `, ${own}` : '';
      return `ENGINE = Replicated${engine}('${path}', '${replica}'${others})`;
    })
    .replace(
      /\bnon_replicated_deduplication_window = (\d+)/,
      `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${DEDUPLICATION_SECONDS}`,
    );
}
