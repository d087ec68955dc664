/** Tables as files of comma-separated values (RFC 4180), for spreadsheets. */

export type CsvValue = string | number | boolean | null;

/** Spreadsheets take text that begins so for a formula. Names and messages come from anyone who can send a report. */
const FORMULA = /^[\s\uFEFF]*[=+\-@\t\r＝＋－＠]/;
const NEEDS_QUOTES = /[",;\r\n\t]/;
/** Without it, Excel reads UTF-8 as something else. */
const BYTE_ORDER_MARK = '\uFEFF';

function fieldOf(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line of heads, then one for each row. Text that a spreadsheet would compute gets an apostrophe in front. */
export const csvOf = (heads: readonly string[], rows: readonly (readonly CsvValue[])[]): string =>
  BYTE_ORDER_MARK + [heads, ...rows].map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');

/** Such as `acme-shop-tests-2026-11-28.csv`, with the UTC day. */
export const csvName = (parts: readonly string[], now: number): string =>
  `${[...parts, new Date(now).toISOString().slice(0, 10)].map((part) => part.replace(/[^\p{L}\p{N}._-]+/gu, '-')).join('-')}.csv`;
