import type { Parameters } from './parameters.ts';

/**
 * Where tables live: on one server, or spread over a cluster. Everywhere else, code and SQL name `ci.<table>` only; the
 * topology says which statements are sent instead.
 */
export interface Topology {
  /** The statements that carry out a definition or change (CREATE, ALTER, DROP). An INSERT is sent unchanged. */
  commands(sql: string): string[];
  read(sql: string): string;
  /** The statement to run after an insert into that table was acknowledged, if any. */
  afterInsert(table: string): string | undefined;
  /** Which shards a read asks, by its parameters. */
  neededBy(sql: string, params: Parameters): { repositoryIds: readonly string[] } | 'every shard' | 'none';
  /** Whether repositories are on several servers. */
  readonly isSharded: boolean;
  /** The statement that lists the `weight` of each shard in order; undefined: there is one server. */
  readonly weights: string | undefined;
  /** Settings sent with every statement. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export const singleServer: Topology = {
  commands: (sql) => [sql],
  read: (sql) => sql,
  afterInsert: () => undefined,
  neededBy: () => 'none',
  isSharded: false,
  weights: undefined,
  settings: {},
};
