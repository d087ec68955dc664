/**
 * Cursors: opaque to clients, and a list's place in full: direction, key in full precision, the window as it was first
 * resolved, the page's size, and a hash of the other filters, so that a cursor is not used with a list it is not of.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { unprocessable } from './problems.ts';

const VERSION = 1;

const keySchema = z.array(z.union([z.string(), z.int()]));
const cursorSchema = z.tuple([
  z.literal(VERSION),
  z.enum(['n', 'p']),
  keySchema.nullable(),
  z.tuple([z.int(), z.int()]).nullable(),
  z.int().min(1).max(100).nullable(),
  z.string(),
]);

export type CursorKey = z.infer<typeof keySchema>;

/** A place in a list. */
export interface Cursor {
  /** Which way the page lies from the key. */
  direction: 'next' | 'previous';
  /** The row beside which the page begins; null: the list's beginning (next) or end (previous). */
  key: CursorKey | null;
  /** Milliseconds since the epoch, for lists over a window. */
  window: [from: number, to: number] | null;
  /** The page's size when none is given. */
  perPage: number | null;
}

export function encodeCursor(cursor: Cursor, filters: string): string {
  const fields = [VERSION, cursor.direction === 'next' ? 'n' : 'p', cursor.key, cursor.window, cursor.perPage, filters];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * The place that a cursor names; null for none or an empty one: the first page. Throws 422 for one that does not parse or
 * that belongs to other filters.
 *
 * @param keyShape checks the key of this list
 */
export function decodeCursor(text: string | undefined, filters: string, keyShape: z.ZodType<CursorKey>): Cursor | null {
  if (text === undefined || text === '') return null;
  const parsed = cursorSchema.safeParse(parseJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (!parsed.success) throw badCursor('is not one that this service gave out; take it from a Link header');
  const [, direction, key, window, perPage, hash] = parsed.data;
  if (hash !== filters)
    throw badCursor('belongs to a list with other filters; take it from a Link header of this list');
  if (key !== null && !keyShape.safeParse(key).success)
    throw badCursor('is not one that this service gave out; take it from a Link header');
  return { direction: direction === 'n' ? 'next' : 'previous', key, window, perPage };
}

/** A short hash of everything about a list but its place and its page's size. */
export function hashFilters(filters: Readonly<Record<string, unknown>>): string {
  return createHash('sha256').update(JSON.stringify(filters)).digest('base64url').slice(0, 16);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const badCursor = (msg: string) => unprocessable([{ loc: ['query', 'cursor'], msg, type: 'invalid_cursor' }]);
