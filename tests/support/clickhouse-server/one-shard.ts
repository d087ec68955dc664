/**
 * A cluster of one shard with one replica inside one engine. `Distributed` tables work as they are; what needs Keeper and other
 * hosts is replaced: `ON CLUSTER` is this host, and a replicated table is one without replicas.
 */

/** Both shards of `two` are this host: a read that is not pruned to one shard sees every row twice. */
export const SHARD_CONFIG = `<clickhouse>
  <tcp_port>9000</tcp_port>
  <macros><shard>1</shard><replica>1</replica></macros>
  <remote_servers>
    <one><shard><internal_replication>true</internal_replication><replica><host>localhost</host><port>9000</port></replica></shard></one>
    <two>
      <shard><internal_replication>true</internal_replication><replica><host>localhost</host><port>9000</port></replica></shard>
      <shard><internal_replication>true</internal_replication><replica><host>localhost</host><port>9000</port></replica></shard>
    </two>
  </remote_servers>
</clickhouse>
`;

export function asOneShard(sql: string): string {
  if (/^\s*SYSTEM SYNC REPLICA/.test(sql)) return 'SELECT 1';
  return sql
    .replace(/ ON CLUSTER `?\w+`?/g, '')
    .replace(/\bReplicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/g, '$1(')
    .replace(/\breplicated_deduplication_window = /g, 'non_replicated_deduplication_window = ')
    .replace(/,?\s*replicated_deduplication_window_seconds = \d+/g, '');
}
