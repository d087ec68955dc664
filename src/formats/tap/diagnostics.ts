/** The YAML block of a test point, as runners write it: fields with a text of one line or of several. */
import { cutFailure } from '../report.ts';
import type { ParsedFailure } from '../upload.ts';

/** More than the longest texts that are kept. */
const KEPT_LENGTH_MAX = 1024 * 1024;
/** The fields of a block, by name. */
export type Fields = ReadonlyMap<string, string>;
export const NO_FIELDS: Fields = new Map();
const READ: ReadonlySet<string> = new Set(
  'message error stack stacktrace name operator expected actual diff duration_ms'.split(' '),
);
const FIELD = /^([A-Za-z_]{1,30}):(?: +(.*))?$/;
const BLOCK = /^[|>][-+\d]{0,2}$/;

export class Diagnostics {
  readonly #lines: string[] = [];
  #length = 0;

  add(line: string): void {
    this.#length += line.length + 1;
    if (this.#length <= KEPT_LENGTH_MAX) this.#lines.push(line);
  }

  /** Its lines, for comments that stand in the place of a block. */
  text(): string {
    return this.#lines.join('\n').trim();
  }

  /** The fields of the outermost level. Lists and objects are left out. */
  fields(): Fields {
    const fields = new Map<string, string>();
    const base = indentOf(this.#lines.find((line) => line.trim() !== '') ?? '');
    for (let at = 0; at < this.#lines.length; ) {
      const line = this.#lines[at++] ?? '';
      const [, name, value = ''] = indentOf(line) === base ? (FIELD.exec(line.slice(base)) ?? []) : [];
      if (name === undefined || !READ.has(name)) continue;
      const start = at;
      while (at < this.#lines.length && isWithin(this.#lines[at] ?? '', base)) at++;
      if (BLOCK.test(value)) fields.set(name, dedented(this.#lines.slice(start, at)));
      else if (value !== '') fields.set(name, unquoted(value));
    }
    return fields;
  }
}

export const indentOf = (line: string): number => line.length - line.trimStart().length;

const isWithin = (line: string, base: number): boolean => line.trim() === '' || indentOf(line) > base;

function dedented(lines: readonly string[]): string {
  const indent = indentOf(lines.find((line) => line.trim() !== '') ?? '');
  return lines
    .map((line) => line.slice(Math.min(indent, indentOf(line))))
    .join('\n')
    .trim();
}

function unquoted(value: string): string {
  const text = value.trim();
  if (text.length < 2) return text;
  if (text.startsWith("'") && text.endsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

const TYPED = /^(\w*(?:Error|Exception))\b/;

/** @param comments stand after a test point without a block */
export function failureOf(fields: Fields, comments: string): ParsedFailure {
  const stack = fields.get('stack') ?? fields.get('stacktrace') ?? '';
  const message = fields.get('message') ?? fields.get('error') ?? comparison(fields) ?? comments;
  const type = TYPED.exec(fields.get('name') ?? '')?.[1] ?? TYPED.exec(stack.slice(0, 300))?.[1] ?? null;
  return cutFailure({ attempt: 1, type, message: message.trim() || null, stacktrace: stack.trim() || null });
}

/** tape and node-tap say what they compared. */
function comparison(fields: Fields): string | undefined {
  const parts = ['operator', 'expected', 'actual', 'diff'].flatMap((name) => {
    const value = fields.get(name);
    return value === undefined ? [] : [`${name}: ${value}`];
  });
  return parts.length === 0 ? undefined : parts.join('\n');
}
