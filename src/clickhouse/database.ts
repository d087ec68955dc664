/**
 * The database in which the tables are. Code and SQL name `ci`; a server that holds several installations has another name for
 * it, which is put in its place in every statement that is sent. Values of parameters travel apart, so only names change.
 */
import { Cluster } from './cluster.ts';
import { tableDefinitions } from './migrations.ts';
import { singleServer, type Topology } from './topology.ts';

export const DATABASE = 'ci';

/** Where a server keeps the tables. */
export interface Place {
  /** Name of the cluster the server belongs to; undefined for a single server. */
  cluster?: string | undefined;
  /** `ci` unless given; letters, digits and `_`. */
  database?: string | undefined;
}

export function topologyAt({ cluster, database = DATABASE }: Place): Topology {
  const topology = cluster ? new Cluster(cluster, tableDefinitions()) : singleServer;
  if (database === DATABASE) return topology;
  if (!/^\w+$/.test(database)) throw new TypeError('the name of a database may contain letters, digits and _ only');
  const named = (sql: string): string => inDatabase(sql, database);
  return {
    commands: (sql) => topology.commands(sql).map(named),
    read: (sql) => named(topology.read(sql)),
    afterInsert: (table) => {
      const after = topology.afterInsert(table);
      return after === undefined ? undefined : named(after);
    },
    neededBy: topology.neededBy.bind(topology),
    isSharded: topology.isSharded,
    weights: topology.weights,
    settings: topology.settings,
  };
}

/** The same statement on the tables of another database; on a cluster, those of shards are in `<database>_shard`. */
export const inDatabase = (sql: string, database: string): string =>
  sql
    .replace(/\bci(_shard)?(?=\.[\w*])/g, `${database}$1`)
    .replace(/\bdatabase = 'ci(_shard)?'/g, `database = '${database}$1'`)
    .replace(/(\bDATABASE (?:IF NOT EXISTS )?)ci(_shard)?\b/g, `$1${database}$2`)
    // The second argument of `Distributed`.
    .replace(/, ci_shard, /g, `, ${database}_shard, `)
    // In Keeper, tables of two databases have two places.
    .replace(/'\/clickhouse\/tables\/(?!\{uuid\})/g, `'/clickhouse/tables/${database}/`);
