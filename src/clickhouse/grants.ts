/** The rights that the user in `CLICKHOUSE_URL` needs. docs/operations.md has the same list, and a test compares them. */

export interface Grant {
  statement: string;
  /** The purpose, as the end of a sentence that begins with "needed". */
  purpose: string;
}

const ON_TABLES = 'SELECT, INSERT, CREATE, ALTER, DROP';

const ON_SERVER: readonly Grant[] = [
  { statement: `GRANT ${ON_TABLES} ON ci.* TO <user>`, purpose: 'for everything that the service stores' },
  { statement: 'GRANT TABLE ENGINE ON * TO <user>', purpose: 'to create the database and its tables' },
  { statement: 'GRANT SELECT ON system.parts TO <user>', purpose: 'by retention, migrate, verify and rebuild' },
  { statement: 'GRANT SELECT ON system.processes TO <user>', purpose: 'to end reads that are no longer waited for' },
  { statement: 'GRANT SELECT ON system.disks TO <user>', purpose: 'by doctor, to see how much of the disks is free' },
];

const ON_CLUSTER: readonly Grant[] = [
  { statement: `GRANT ${ON_TABLES} ON ci_shard.* TO <user>`, purpose: 'for the tables of the shards' },
  { statement: 'GRANT CLUSTER, REMOTE ON *.* TO <user>', purpose: 'to create and read on every host' },
  { statement: 'GRANT SELECT ON system.clusters TO <user>', purpose: 'to know which shard stores a repository' },
  { statement: 'GRANT SYSTEM SYNC REPLICA ON ci.* TO <user>', purpose: 'to wait until a row is on every host' },
];

/** @param isSharded whether `CLICKHOUSE_CLUSTER` is set */
export const grantsFor = (isSharded: boolean): readonly Grant[] =>
  isSharded ? [...ON_SERVER, ...ON_CLUSTER] : ON_SERVER;
