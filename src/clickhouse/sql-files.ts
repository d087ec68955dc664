/**
 * Reads the statements of `sql/`.
 *
 * A file begins with the reason for its shape and with `SET param_<name> = …;` lines: sample parameters, so that the whole file can be
 * pasted into a console. They are not part of the statement; tests run EXPLAIN with them.
 */
import { readFileSync } from 'node:fs';

const SQL = new URL('../../sql/', import.meta.url);
const SAMPLE = /^SET param_(\w+) = (.+);$/gm;

/**
 * A page is read forward or backward along the order of its list. The file is written for forward and marks the places that depend on the
 * direction, because neither an order nor a comparison can be a parameter.
 */
export type Variant = 'forward' | 'backward';

export interface SqlFile {
  readonly sql: string;
  /** The sample parameters as the file has them: SQL literals by name. */
  readonly samples: Readonly<Record<string, string>>;
}

/** @param path below `sql/`, without `.sql` */
export function readSqlFile(path: string, variant: Variant = 'forward'): SqlFile {
  const file = readFileSync(new URL(`${path}.sql`, SQL), 'utf8');
  const text = variant === 'forward' ? file : file.replaceAll('/*order*/ ASC', 'DESC').replaceAll('/*beyond*/ >', '<');
  const samples: Record<string, string> = {};
  for (const [, parameter, value] of text.matchAll(SAMPLE)) if (parameter && value) samples[parameter] = value;
  return { sql: text.replace(SAMPLE, '').trim().replace(/;$/, ''), samples };
}
