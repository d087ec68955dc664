/** Named queries: a file of `sql/queries` with the types of its parameters and its rows. */
import type { z } from 'zod';
import { type ParameterTypes, placeholdersOf } from './parameters.ts';
import { readSqlFile, type SqlFile, type Variant } from './sql-files.ts';

/** `P` are the ClickHouse types of the parameters by name, `R` is one row of the answer. */
export interface Query<P extends ParameterTypes, R> extends SqlFile {
  /** `feature/name`: also the statement's log comment and its label in the metrics. */
  readonly name: string;
  readonly params: P;
  readonly row: z.ZodType<R>;
}

/**
 * Reads the file of a query once, at start, and holds its placeholders against the declared parameters: a missing file or a parameter of
 * another type fails the start, not a request.
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

function assertDeclared(name: string, sql: string, params: ParameterTypes): void {
  const placeholders = placeholdersOf(sql);
  for (const [parameter, type] of placeholders)
    if (params[parameter] !== type)
      throw new TypeError(`${name}.sql has {${parameter}: ${type}}, declared is ${params[parameter] ?? 'nothing'}`);
  for (const parameter of Object.keys(params))
    if (!placeholders.some(([placeholder]) => placeholder === parameter))
      throw new TypeError(`${name}.sql has no parameter ${parameter}`);
}
