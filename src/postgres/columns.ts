/**
 * The columns of many rows as parameters of one statement, for `unnest`. The client would quote and escape each value of
 * an array, which takes longer than all else that it does for a row.
 */
import { type SQL, sql } from 'drizzle-orm';

/** Values without quotes, commas, braces, spaces or backslashes, none of them empty: ids, numbers, words of ours. */
export const plainColumn = (values: readonly (string | number)[]): SQL => sql`${`{${values.join(',')}}`}`;

/** Any texts. */
export const textColumn = (texts: readonly string[]): SQL =>
  sql`${`{${texts.map((text) => `"${isPlain(text) ? text : text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`}::text[]`;

/** Twice as fast as to replace nothing. */
const isPlain = (text: string): boolean => !text.includes('"') && !text.includes('\\');

/** Texts without a line break, such as JSON. */
export const lineColumn = (lines: readonly string[]): SQL =>
  // One empty line alone would be no line.
  lines.length === 1 ? textColumn(lines) : sql`string_to_array(${lines.join('\n')}, E'\n')`;
