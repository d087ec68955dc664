/** The statements sent to a cluster, checked by the parser and settings of ClickHouse. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { Cluster } from '../../src/clickhouse/cluster.ts';
import { loadMigrations, tableDefinitions } from '../../src/clickhouse/migrations.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const cluster = new Cluster('main', tableDefinitions());
const migrations = loadMigrations().flatMap(({ version, statements }) =>
  statements.map((statement) => ({ version, statement, title: statement.replace(/\s+/g, ' ').slice(0, 70) })),
);

/**
 * Statements that maintenance and migration send besides the files. One without a rule throws, and rebuild runs all of
 * these on a cluster.
 */
const MADE_AT_RUN_TIME = [
  'CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic',
  'CREATE TABLE IF NOT EXISTS ci.migrations (version UInt32, name String) ENGINE = MergeTree ORDER BY version',
  'DROP TABLE IF EXISTS ci.executions_rebuild SYNC',
  'CREATE TABLE ci.executions_rebuild AS ci.executions',
  'CREATE TABLE ci.commit_runs_rebuild AS ci.commit_runs',
  "ALTER TABLE ci.executions REPLACE PARTITION ID '202611' FROM ci.executions_rebuild",
  "ALTER TABLE ci.executions DROP PARTITION ID '202611'",
  'CREATE TABLE ci.regroup (test_id UUID, from_id UUID, type String) ENGINE = MergeTree ORDER BY (test_id, from_id)',
  'TRUNCATE TABLE ci.runs',
  'DELETE FROM ci.executions WHERE repository_id = {repository_id: UUID}',
  'ALTER TABLE ci.commit_runs UPDATE failed_tests = [] WHERE repository_id = {repository_id: UUID} SETTINGS mutations_sync = 2',
  'ALTER TABLE ci.events UPDATE\n  trigger = {text: String} WHERE true SETTINGS mutations_sync = 2',
  'ALTER TABLE ci.events DELETE WHERE repository_id = {repository_id: UUID} SETTINGS mutations_sync = 2',
  'INSERT INTO ci.runs_rebuild SETTINGS insert_deduplicate = 0 SELECT * FROM ci.runs',
];

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

/** ClickHouse's parser, without the hosts of a cluster. */
async function parse(statement: string): Promise<string> {
  // A parameter stands for a value there.
  const [row] = await stores.clickhouse.rows('SELECT formatQuery({statement: String}) AS formatted', {
    statement: statement.replace(/\{(\w+): [^}]+\}/g, '$1'),
  });
  return z.object({ formatted: z.string() }).parse(row).formatted;
}

describe('on a cluster', () => {
  test.each(migrations)('migration $version is understood by ClickHouse: $title', async ({ statement }) => {
    for (const sent of cluster.commands(statement)) {
      expect(sent).toContain(' ON CLUSTER main');
      expect(await parse(sent)).toMatch(/^(?:CREATE|ALTER|DROP) /);
    }
  });

  test.each(MADE_AT_RUN_TIME)('what is made at run time is understood by ClickHouse: %s', async (statement) => {
    for (const sent of cluster.commands(statement))
      expect(await parse(sent)).toMatch(/^(?:CREATE|ALTER|DELETE|DROP|TRUNCATE|INSERT) /);
  });

  test('every settings name is one that ClickHouse knows', async () => {
    const names = Object.keys(cluster.settings);
    const rows = await stores.clickhouse.rows('SELECT name FROM system.settings WHERE name IN {names: Array(String)}', {
      names,
    });
    expect(rows).toHaveLength(names.length);
  });
});
