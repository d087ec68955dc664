/** The migrations in `sql/clickhouse`: numbered, forward only. */
import { readdirSync, readFileSync } from 'node:fs';

const MIGRATIONS = new URL('../../sql/clickhouse/', import.meta.url);

export interface Migration {
  version: number;
  name: string;
  statements: string[];
}

/** All migrations in order. A semicolon at the end of a line ends a statement. */
export function loadMigrations(folder: URL = MIGRATIONS): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const match = /^(\d{4})_(\w+)\.sql$/.exec(file);
      if (!match?.[1] || !match[2]) throw new Error(`${file} must be named NNNN_name.sql`);
      const text = readFileSync(new URL(file, folder), 'utf8').replace(/^--.*$/gm, '');
      const statements = text.split(/;[ \t]*$/m).map((statement) => statement.trim());
      return { version: Number(match[1]), name: match[2], statements: statements.filter((s) => s !== '') };
    });
}

/** Every `CREATE TABLE` statement of the migrations. */
export const tableDefinitions = (): string[] =>
  loadMigrations()
    .flatMap((migration) => migration.statements)
    .filter((statement) => statement.startsWith('CREATE TABLE'));
