/** The statements of `sql/` as a console runs them: with parameters in place of their placeholders. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PLACEHOLDER } from '../../src/clickhouse/parameters.ts';
import { readSqlFile, type SqlFile, type Variant } from '../../src/clickhouse/sql-files.ts';

const SQL = fileURLToPath(new URL('../../sql/', import.meta.url));

/** The files below a folder of `sql/`, as `readSqlFile` names them. */
export const sqlFiles = (folder: string): string[] =>
  readdirSync(`${SQL}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => `${folder}/${file.slice(0, -'.sql'.length)}`)
    .sort();

/** The statement with its sample parameters, or with other SQL literals in their place. */
export function withSamples({ sql, samples }: SqlFile, literals: Readonly<Record<string, string>> = {}): string {
  return sql.replace(PLACEHOLDER, (_, name: string, type: string) => {
    const literal = literals[name] ?? samples[name];
    if (literal === undefined) throw new Error(`no sample for ${name}`);
    return `CAST(${literal}, '${type.trim()}')`;
  });
}

/** A query of `sql/queries` that EXPLAIN takes. */
export const explainable = (
  name: string,
  { variant = 'forward', literals = {} }: { variant?: Variant; literals?: Readonly<Record<string, string>> } = {},
): string => withSamples(readSqlFile(`queries/${name}`, variant), literals);
