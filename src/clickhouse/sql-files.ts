/**
 * Reads the files in `sql/`.
 *
 * A file begins with the reason for its shape, followed by `SET param_<name> = …;` lines: sample parameters, so that
 * the whole file can be pasted into a console. Neither is part of the statement; tests run it with the samples.
 * `/*include <path>*\/` stands for the statement of another file, so that a definition several statements need is
 * written once.
 */
import { readFileSync } from 'node:fs';

const SQL = new URL('../../sql/', import.meta.url);
const REASON = /^(?:--.*\n)+/;
const SAMPLE = /^SET param_(\w+) = (.+);\n/gm;
const INCLUDE = /\/\*include ([\w/]+)\*\//g;

/**
 * Pages are read forward or backward in the order of their list. The file is written for forward and marks the places
 * that depend on the direction, because neither a sort order nor a comparison can be a parameter.
 */
export type Variant = 'forward' | 'backward';

export interface SqlFile {
  readonly sql: string;
  /** The sample parameters: SQL literals, by name. */
  readonly samples: Readonly<Record<string, string>>;
}

/** @param path below `sql/`, without `.sql` */
export function readSqlFile(path: string, variant: Variant = 'forward'): SqlFile {
  const file = readFileSync(new URL(`${path}.sql`, SQL), 'utf8');
  const text = variant === 'forward' ? file : file.replaceAll('/*order*/ ASC', 'DESC').replaceAll('/*beyond*/ >', '<');
  const samples: Record<string, string> = {};
  for (const [, parameter, value] of text.matchAll(SAMPLE)) if (parameter && value) samples[parameter] = value;
  const statement = text.replace(REASON, '').replace(SAMPLE, '').trim();
  return { sql: statement.replace(INCLUDE, (_, included: string) => readSqlFile(included, variant).sql), samples };
}
