/** `CLICKHOUSE_DATABASE`: every statement names the other database, and nothing else changes. */
import { expect, test } from 'bun:test';
import { inDatabase, topologyAt } from '../../src/clickhouse/database.ts';
import { loadMigrations } from '../../src/clickhouse/migrations.ts';
import { readSqlFile } from '../../src/clickhouse/sql-files.ts';
import { sqlFiles } from '../support/queries.ts';

const NAMES = /\bci(?:_shard)?\b/g;
const withoutComments = (sql: string): string => sql.replace(/--.*$/gm, '');

const statements = [
  'CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic',
  ...loadMigrations().flatMap((migration) => migration.statements),
  ...['queries', 'derived', 'maintenance', 'repair'].flatMap(sqlFiles).map((file) => readSqlFile(file, 'forward').sql),
].map(withoutComments);

test('no statement names the database in another way than is replaced', () => {
  expect(statements.length).toBeGreaterThan(100);
  for (const sql of statements) {
    const named = inDatabase(sql, 'staging');
    expect(named.match(NAMES) ?? []).toEqual([]);
    expect(named.replaceAll('staging', 'ci')).toBe(sql);
  }
});

test('on a cluster, tables have another database and another place in Keeper', () => {
  const cluster = topologyAt({ cluster: 'ci', database: 'staging' });
  for (const sql of statements.filter((one) => /^\s*(?:CREATE|ALTER)/.test(one)))
    for (const sent of cluster.commands(sql)) {
      // The name of the cluster is another thing.
      expect(
        sent.replaceAll('ON CLUSTER ci', '').replaceAll('Distributed(ci,', '').replaceAll('/staging/ci/', ''),
      ).not.toMatch(NAMES);
      if (sent.includes('/clickhouse/tables/')) expect(sent).toMatch(/'\/clickhouse\/tables\/(?:staging\/|\{uuid\})/);
    }
  expect(cluster.weights).toContain("cluster = 'ci'");
});

test('without another name, statements are sent as they are', () => {
  const server = topologyAt({});
  for (const sql of statements) expect(server.read(sql)).toBe(sql);
});
