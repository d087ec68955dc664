/**
 * Derives from a declaration of columns (columns.ts): the shape of the job, its arrays, and the line that is
 * inserted.
 */
import type { z } from 'zod';

interface Column {
  /** Its name in the job. */
  job: string;
  /** Schema of the job's value under that name. */
  schema: z.ZodType;
  /** Its column in `ci.ingest`; none if something else is made of it before it is stored. */
  line?: string;
  /** Keeps what is to be kept of a text; null drops it. */
  clean?: (text: string) => string | null;
  /** Stored in place of a missing value or an empty text. */
  empty?: string | number | boolean;
}
type Columns = Readonly<Record<string, Column>>;

type Shape<C extends Columns> = { [P in keyof C as C[P]['job']]: C[P]['schema'] };
type Arrays<C extends Columns> = z.infer<z.ZodObject<Shape<C>>>;
type Item<Values> = NonNullable<Values> extends readonly (infer I)[] ? I : never;
type OptionalIn<C extends Columns> = {
  [P in keyof C]: undefined extends z.infer<C[P]['schema']> ? P : never;
}[keyof C];

/** One row of columns that are arrays in the job; a column that the job may leave out may be left out here, too. */
export type RowOf<C extends Columns> = {
  [P in Exclude<keyof C, OptionalIn<C>>]: Item<z.infer<C[P]['schema']>>;
} & { [P in OptionalIn<C>]?: Item<z.infer<C[P]['schema']>> };

/** Looks everything up once, at start, so that no row pays for it. */
export class ColumnSet<const C extends Columns> {
  /** The columns as they appear in the job, for a zod object. */
  readonly shape: Shape<C>;
  readonly #all: readonly { property: string; job: string; isOptional: boolean }[];
  readonly #texts: readonly string[];
  readonly #cleaned: readonly { property: string; clean: (text: string) => string | null }[];
  readonly #stored: readonly { property: string; job: string; line: string; stored: Storing | undefined }[];

  constructor(readonly columns: C) {
    const entries = Object.entries<Column>(columns);
    // TypeScript does not track names through fromEntries.
    this.shape = Object.fromEntries(entries.map(([, { job, schema }]) => [job, schema])) as Shape<C>;
    this.#all = entries.map(([property, { job, schema }]) => ({
      property,
      job,
      isOptional: schema.safeParse(undefined).success,
    }));
    this.#texts = entries.flatMap(([property, { schema }]) =>
      schema.safeParse(['any text']).success ? [property] : [],
    );
    this.#cleaned = entries.flatMap(([property, { clean }]) => (clean ? [{ property, clean }] : []));
    this.#stored = entries.flatMap(([property, column]) =>
      column.line === undefined ? [] : [{ property, job: column.job, line: column.line, stored: storing(column) }],
    );
  }

  /** The row with its texts cut; almost always the row itself, because none is too long. */
  cleaned<R extends { readonly [P in keyof C]?: unknown }>(row: R): R {
    let texts: Record<string, string | null> | undefined;
    for (const { property, clean } of this.#cleaned) {
      const text = row[property];
      if (typeof text !== 'string') continue;
      const kept = clean(text);
      if (kept === text) continue;
      texts ??= {};
      texts[property] = kept;
    }
    return texts ? { ...row, ...texts } : row;
  }

  /** UTF-16 units of all texts of a row. */
  textLength(row: RowOf<C>): number {
    const values: Readonly<Record<string, unknown>> = row;
    let length = 0;
    for (const property of this.#texts) {
      const text = values[property];
      if (typeof text === 'string') length += text.length;
    }
    return length;
  }

  /**
   * Rows as the arrays of the job, without optional ones that no row has a value for. In plain loops, because closures
   * take twice as long.
   */
  arrays(rows: readonly RowOf<C>[]): Arrays<C> {
    const arrays: Record<string, unknown[]> = {};
    for (const { property, job, isOptional } of this.#all) {
      const values: unknown[] = [];
      let isEmpty = true;
      for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
        const value = row[property] ?? null;
        if (value !== null) isEmpty = false;
        values.push(value);
      }
      if (!isOptional || !isEmpty) arrays[job] = values;
    }
    // Safe for the same reason as the shape.
    return arrays as Arrays<C>;
  }

  /** A text of the job as it is stored. */
  text(property: keyof C, value: string | null | undefined): string {
    const { stored } = this.#stored.find((column) => column.property === property) ?? {};
    return String(stored ? stored(value) : value);
  }

  /** The values of one row of the job by their columns in `ci.ingest`. */
  line(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const line: Record<string, unknown> = {};
    for (const { job, line: column, stored } of this.#stored) line[column] = stored ? stored(values[job]) : values[job];
    return line;
  }

  /**
   * The values of some rows of the job by their columns in `ci.ingest`. A row of null is one that nothing was reported
   * about.
   */
  lines(
    arrays: Readonly<Record<string, readonly unknown[] | undefined>>,
    rows: readonly (number | null)[],
  ): Record<string, unknown[]> {
    const lines: Record<string, unknown[]> = {};
    for (const { job, line, stored } of this.#stored) {
      const values = arrays[job] ?? [];
      const kept = new Array<unknown>(rows.length);
      for (let i = 0; i < rows.length; i++) {
        const value = values[rows[i] ?? -1];
        kept[i] = stored ? stored(value) : value;
      }
      lines[line] = kept;
    }
    return lines;
  }
}

type Storing = (value: unknown) => unknown;

/** How a value of the job is stored; undefined: as it is. */
function storing({ clean, empty }: Column): Storing | undefined {
  if (clean) return (value) => (typeof value === 'string' && value !== '' ? (clean(value) ?? empty) : empty);
  return empty === undefined ? undefined : (value) => value ?? empty;
}
