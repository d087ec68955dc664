/**
 * Where tables stand: all on one server, or spread over a cluster. The rest of the code and the files of `sql/clickhouse` speak of
 * `ci.<table>` only; a topology says what is sent instead.
 */
export interface Topology {
  /** A definition or a change (CREATE, ALTER, DROP) as the statements that carry it out; an INSERT stays as it is. */
  commands(sql: string): string[];
  read(sql: string): string;
  /** What must be run when an insert into that table has been acknowledged; undefined: nothing. */
  afterInsert(table: string): string | undefined;
  /** Settings that go with every statement. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export const singleServer: Topology = {
  commands: (sql) => [sql],
  read: (sql) => sql,
  afterInsert: () => undefined,
  settings: {},
};
