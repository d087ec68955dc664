/**
 * Cursors: opaque to clients. A cursor holds a complete position in a list: direction, full-precision key, the window
 * as first resolved, the page size, and a hash of the other filters, so that a cursor cannot be used with a different
 * list.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Window } from '../domain/window.ts';
import { unprocessable } from './problems.ts';

const VERSION = 1;

const cursorSchema = z.tuple([
  z.literal(VERSION),
  z.enum(['n', 'p']),
  z.unknown(),
  z.tuple([z.int(), z.int()]).nullable(),
  z.int().min(1).max(100).nullable(),
  z.string(),
]);

/** The values of one row that a list is ordered by. Each list has its own. */
export type CursorKey = readonly (string | number)[];

/** A position in a list whose rows are ordered by `K`. */
export interface Cursor<K extends CursorKey> {
  /** Which way the page lies from the key. */
  direction: 'next' | 'previous';
  /** The row next to the page; null: the beginning of the list (next) or its end (previous). */
  key: K | null;
  /** For lists over a window. */
  window: Window | null;
  /** The page size when the request gives none. */
  perPage: number | null;
}

export function encodeCursor<K extends CursorKey>(cursor: Cursor<K>, filtersHash: string): string {
  const { direction, key, window, perPage } = cursor;
  const bounds = window && [window.start, window.end];
  const fields = [VERSION, direction === 'next' ? 'n' : 'p', key, bounds, perPage, filtersHash];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * Decodes a cursor. A missing or empty one gives null: the first page. Throws 422 for one that cannot be read or that
 * belongs to other filters.
 */
export function decodeCursor<K extends CursorKey>(
  text: string | undefined,
  filtersHash: string,
  keySchema: z.ZodType<K>,
): Cursor<K> | null {
  if (text === undefined || text === '') return null;
  const parsed = cursorSchema.safeParse(parseJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (!parsed.success) throw unreadable();
  const [, direction, rawKey, bounds, perPage, hash] = parsed.data;
  if (hash !== filtersHash)
    throw badCursor('belongs to a list with other filters; take it from a Link header of this list');
  const key = keySchema.nullable().safeParse(rawKey);
  if (!key.success) throw unreadable();
  const window = bounds && { start: bounds[0], end: bounds[1] };
  return { direction: direction === 'n' ? 'next' : 'previous', key: key.data, window, perPage };
}

/** A short hash of everything that identifies a list, except the position and the page size. */
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

const unreadable = () => badCursor('was not issued by this service; take it from a Link header');
const badCursor = (msg: string) => unprocessable([{ loc: ['query', 'cursor'], msg, type: 'invalid_cursor' }]);
