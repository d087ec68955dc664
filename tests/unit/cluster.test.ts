import { describe, expect, test } from 'bun:test';
import { Cluster } from '../../src/clickhouse/cluster.ts';
import { loadMigrations, tableDefinitions } from '../../src/clickhouse/migrations.ts';

const cluster = new Cluster('main', tableDefinitions());
const migrations = loadMigrations().flatMap(({ statements }) => statements.map((statement) => ({ statement })));

describe('on a cluster', () => {
  test('every engine in a migration that stores rows is replicated, and deduplicates for as long as a block may be resent', () => {
    for (const { statement } of migrations.filter((one) => /ENGINE = \w*MergeTree/.test(one.statement))) {
      const [onShard] = cluster.commands(statement);
      expect(onShard).toMatch(/ENGINE = Replicated\w*MergeTree\('[^']+\{shard\}', '\{replica\}'/);
      expect(onShard).toContain(
        ' replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800',
      );
      expect(onShard).not.toContain('non_replicated');
    }
  });

  test('every table in a migration has a repository_id, by which its Distributed table shards', () => {
    for (const { statement } of migrations.filter((one) => one.statement.startsWith('CREATE TABLE'))) {
      const name = /ci\.(\w+)/.exec(statement)?.[1];
      expect(cluster.commands(statement)[1]).toBe(
        `CREATE TABLE IF NOT EXISTS ci.${name} ON CLUSTER main AS ci_shard.${name} ENGINE = Distributed(main, ci_shard, ${name}, cityHash64(repository_id))`,
      );
    }
  });

  test('views read and fill tables of the same shard', () => {
    for (const { statement } of migrations.filter((one) => one.statement.includes('MATERIALIZED VIEW'))) {
      const sent = cluster.commands(statement);
      expect(sent).toHaveLength(1);
      expect(sent[0]).not.toMatch(/\bci\.\w/);
    }
  });

  test('the arguments of an engine and what follows it are kept', () => {
    const definition = `CREATE TABLE IF NOT EXISTS ci.t (repository_id UUID, v UInt64) ENGINE = ReplacingMergeTree(v)
PARTITION BY v ORDER BY repository_id SETTINGS index_granularity = 1, non_replicated_deduplication_window = 5`;
    expect(new Cluster('c', []).commands(definition)[0]).toBe(
      `CREATE TABLE IF NOT EXISTS ci_shard.t ON CLUSTER c (repository_id UUID, v UInt64) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/c/t/{shard}', '{replica}', v)
PARTITION BY v ORDER BY repository_id SETTINGS index_granularity = 1, replicated_deduplication_window = 5, replicated_deduplication_window_seconds = 604800`,
    );
  });

  test('a column is added to the table and, without its codec, to the Distributed table', () => {
    expect(
      cluster.commands("ALTER TABLE ci.t ADD COLUMN IF NOT EXISTS at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))"),
    ).toEqual([
      "ALTER TABLE ci_shard.t ON CLUSTER main ADD COLUMN IF NOT EXISTS at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
      "ALTER TABLE ci.t ON CLUSTER main ADD COLUMN IF NOT EXISTS at DateTime64(3, 'UTC')",
    ]);
  });

  test('a table created like another gets a path that is used only once', () => {
    const [onShard] = cluster.commands('CREATE TABLE ci.events_rebuild AS ci.events');
    expect(onShard).toContain(
      "AS ci_shard.events ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')",
    );
  });

  test('parts are read from all hosts', () => {
    expect(cluster.read("SELECT partition_id FROM system.parts WHERE database = 'ci'")).toBe(
      "SELECT partition_id FROM clusterAllReplicas(main, system.parts) WHERE database = 'ci_shard'",
    );
  });

  test('a statement without a rule is refused, and so is a table that is neither sharded nor known to be small', () => {
    expect(() => cluster.commands('OPTIMIZE TABLE ci.executions')).toThrow('no cluster rule for this statement');
    expect(() => cluster.commands('CREATE TABLE ci.x (a UInt8) ENGINE = MergeTree ORDER BY a')).toThrow(
      'no repository_id',
    );
  });

  test('a name that could end an identifier is refused', () => {
    expect(() => new Cluster('a b', [])).toThrow(TypeError);
  });
});
