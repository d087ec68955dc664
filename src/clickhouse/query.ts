/**
 * Named queries: `sql/queries/<feature>/<name>.sql` → a typed function's description.
 *
 * A file begins with the reason for its shape and with `SET param_<name> = …;` lines: sample parameters, so that the whole
 * file can be pasted into a console. The loader leaves those lines out; a test runs EXPLAIN with them.
 */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { Parameters } from './literals.ts';

const QUERIES = new URL('../../sql/queries/', import.meta.url);
const SAMPLE = /^SET param_(\w+) = (.+);$/gm;

/**
 * A page is read forwards or backwards along the list's order. The file is written forwards, with marks where the direction
 * shows: order and comparison cannot be parameters.
 */
export type Variant = 'forward' | 'backward';

/** `P` are the parameters bound by name, `R` is one row of the answer. */
export interface Query<P extends Parameters, R> {
  /** `feature/name`: also the statement's log comment. */
  readonly name: string;
  readonly sql: string;
  /** The sample parameters as written in the file: SQL literals by name. */
  readonly samples: Readonly<Record<string, string>>;
  readonly row: z.ZodType<R>;
  /** Only the type is used. */
  readonly params?: P;
}

/**
 * Reads the file of a query once, at start: a missing file fails the start and not a request.
 *
 * @example
 * const countTests = defineQuery<{ repository_id: string }, { tests: number }>(
 *   'insights/count', z.object({ tests: z.number() }));
 * const [row] = await clickhouse.select(countTests, { repository_id });
 */
export function defineQuery<P extends Parameters, R>(
  name: string,
  row: z.ZodType<R>,
  variant: Variant = 'forward',
): Query<P, R> {
  const file = readFileSync(new URL(`${name}.sql`, QUERIES), 'utf8');
  const text = variant === 'forward' ? file : file.replaceAll('/*order*/ ASC', 'DESC').replaceAll('/*beyond*/ >', '<');
  const samples: Record<string, string> = {};
  for (const [, parameter, value] of text.matchAll(SAMPLE)) if (parameter && value) samples[parameter] = value;
  const sql = text.replace(SAMPLE, '').trim().replace(/;$/, '');
  return { name, sql, samples, row };
}
