/**
 * The rights of users in `CLICKHOUSE_URL`: of one who migrates and does everything else, and of one for services on a
 * migrated database, who cannot change what it consists of. docs/operations.md has the same lists, and a test compares them.
 */

import { DATABASE, inDatabase } from './database.ts';

export interface Grant {
  statement: string;
  /** The purpose, as the end of a sentence that begins with "needed". */
  purpose: string;
}

const ON_TABLES = 'SELECT, INSERT, CREATE, ALTER, DROP';
const ON_ROWS = 'SELECT, INSERT, ALTER UPDATE, ALTER DELETE';
/** Tables that the service makes for a while, and drops: copies whose months are then swapped in, and a list. */
const COPY = 'by renames, regrouping and rebuild, to copy';
const PASSING_TABLES: Readonly<Record<string, string>> = {
  executions_rebuild: COPY,
  failures_rebuild: COPY,
  runs_rebuild: COPY,
  commit_runs_rebuild: COPY,
  regroup: 'by regrouping, for its list',
  leaving: 'by reconcile, for its list',
};

const ON_SERVER: readonly Grant[] = [
  { statement: 'GRANT SELECT ON system.parts TO <user>', purpose: 'by retention, migrate, verify and rebuild' },
  { statement: 'GRANT SELECT ON system.processes TO <user>', purpose: 'to end reads that are no longer waited for' },
  { statement: 'GRANT SELECT ON system.disks TO <user>', purpose: 'by doctor, to see how much of the disks is free' },
];

const ON_CLUSTER: readonly Grant[] = [
  { statement: 'GRANT CLUSTER, REMOTE ON *.* TO <user>', purpose: 'to create and read on every host' },
  { statement: 'GRANT SELECT ON system.clusters TO <user>', purpose: 'to know which shard stores a repository' },
  { statement: 'GRANT SYSTEM SYNC REPLICA ON ci.* TO <user>', purpose: 'to wait until a row is on every host' },
];

/**
 * @param isSharded whether `CLICKHOUSE_CLUSTER` is set
 * @param database `CLICKHOUSE_DATABASE`
 */
export const grantsFor = (isSharded: boolean, database = DATABASE): readonly Grant[] =>
  onDatabase(grantsOnDefault(isSharded), database);

const onDatabase = (grants: readonly Grant[], database: string): readonly Grant[] =>
  grants.map(({ statement, purpose }) => ({ statement: inDatabase(statement, database), purpose }));

const grantsOnDefault = (isSharded: boolean): readonly Grant[] => [
  { statement: `GRANT ${ON_TABLES} ON ci.* TO <user>`, purpose: 'for everything that the service stores' },
  { statement: 'GRANT TABLE ENGINE ON * TO <user>', purpose: 'to create the database and its tables' },
  ...ON_SERVER,
  ...(isSharded
    ? [
        { statement: `GRANT ${ON_TABLES} ON ci_shard.* TO <user>`, purpose: 'for the tables of the shards' },
        ...ON_CLUSTER,
      ]
    : []),
];

/** The rights of a service on a database that another user migrates. */
export const serviceGrantsFor = (isSharded: boolean, database = DATABASE): readonly Grant[] =>
  onDatabase(serviceGrantsOnDefault(isSharded), database);

function serviceGrantsOnDefault(isSharded: boolean): readonly Grant[] {
  const passing = (database: string): Grant[] =>
    Object.entries(PASSING_TABLES).map(([table, purpose]) => ({
      statement: `GRANT CREATE TABLE, DROP TABLE ON ${database}.${table} TO <user>`,
      purpose,
    }));
  return [
    { statement: `GRANT ${ON_ROWS} ON ci.* TO <user>`, purpose: 'for everything that the service stores' },
    ...passing('ci'),
    { statement: 'GRANT TABLE ENGINE ON * TO <user>', purpose: 'to create these tables' },
    ...ON_SERVER,
    ...(isSharded
      ? [
          { statement: `GRANT ${ON_ROWS} ON ci_shard.* TO <user>`, purpose: 'for the rows of the shards' },
          ...passing('ci_shard'),
          ...ON_CLUSTER,
        ]
      : []),
  ];
}
