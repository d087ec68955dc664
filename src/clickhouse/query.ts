/** Statements from files in `sql/`, with the types of their parameters and, for queries, of their rows. */
import type { z } from 'zod';
import { type Parameters, type ParameterTypes, placeholdersOf, type ValuesOf } from './parameters.ts';
import { readSqlFile, type SqlFile, type Variant } from './sql-files.ts';

/** `P`: the ClickHouse types of the parameters by name. `R`: one row of the result. */
export interface Query<P extends ParameterTypes, R> extends SqlFile {
  /** `feature/name`; also the comment sent with the statement, and its label in the metrics. */
  readonly name: string;
  readonly params: P;
  readonly row: z.ZodType<R>;
  /** May take an hour, where other queries have 30 s. */
  readonly isLong?: boolean;
  /** For a long one: takes one thread, and waits for other statements. */
  readonly isPatient?: boolean;
  /** Reads so little that a second thread costs more than it saves. */
  readonly isLookUp?: boolean;
}

/**
 * Reads `sql/queries/<name>.sql` once, at start, and compares its placeholders with the declared parameters. So a
 * missing file or a wrong type fails the start, not a request.
 *
 * @example
 * const countTests = defineQuery('insights/count', { repository_id: 'UUID' }, z.object({ tests: z.number() }));
 * const [row] = await clickhouse.select(countTests, { repository_id: repository.id });
 */
export function defineQuery<const P extends ParameterTypes, R>(
  name: string,
  params: P,
  row: z.ZodType<R>,
  variant: Variant = 'forward',
): Query<P, R> {
  const file = readSqlFile(`queries/${name}`, variant);
  assertDeclared(name, file.sql, params);
  return { name, params, row, ...file };
}

/** A query that reads whole months or tables, and may take as long as a rebuild. */
export const defineLongQuery = <const P extends ParameterTypes, R>(
  name: string,
  params: P,
  row: z.ZodType<R>,
): Query<P, R> => ({ ...defineQuery(name, params, row), isLong: true });

/** The same, of a query that reads so little that a second thread costs more than it saves. */
export const asLookUp = <P extends ParameterTypes, R>(query: Query<P, R>): Query<P, R> => ({
  ...query,
  isLookUp: true,
});

/** A statement with its parameters: a command, or the SELECT of an insert. */
export interface Statement {
  readonly sql: string;
  readonly params: Parameters;
}

/**
 * Reads a file outside `sql/queries` and checks it like a query. Returns a function from its parameters to the
 * statement.
 *
 * @example
 * const forgetHealth = defineStatement('maintenance/forget_health', { repository_ids: 'Array(UUID)' });
 * const { sql, params } = forgetHealth({ repository_ids: [repository.id] });
 * await clickhouse.command(sql, params);
 */
export function defineStatement<const P extends ParameterTypes>(
  path: string,
  declared: P,
): (params: ValuesOf<P>) => Statement {
  const { sql } = readSqlFile(path);
  assertDeclared(path, sql, declared);
  return (params) => ({ sql, params });
}

function assertDeclared(name: string, sql: string, params: ParameterTypes): void {
  const placeholders = placeholdersOf(sql);
  for (const [parameter, type] of placeholders)
    if (params[parameter] !== type)
      throw new TypeError(`${name}.sql has {${parameter}: ${type}}, but ${params[parameter] ?? 'nothing'} is declared`);
  for (const parameter of Object.keys(params))
    if (!placeholders.some(([placeholder]) => placeholder === parameter))
      throw new TypeError(`${name}.sql has no parameter ${parameter}`);
}
