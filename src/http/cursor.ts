/**
 * Cursors: opaque to clients. A cursor holds a complete position in a list: direction, key, the window as first resolved,
 * the page size, and a hash of the other filters, so that a cursor cannot be used with a different list.
 *
 * It is short whatever the names are, because it travels in headers: of a longer text in its key it holds the beginning and
 * a digest. The list finds the row again by them ({@link wholeKey}).
 */
import { createHash, hash } from 'node:crypto';
import { z } from 'zod';
import { jsonOf } from '../domain/json.ts';
import { isMoment } from '../domain/moment.ts';
import { malformedReason } from '../domain/text.ts';
import type { Window } from '../domain/window.ts';
import { unprocessable } from './problems.ts';

const VERSION = 1;

/** Texts up to this length are held whole. */
const WHOLE_LENGTH_MAX = 80;
/** The kept beginning of a longer one: with its digest more than {@link WHOLE_LENGTH_MAX}, so never taken for a whole text. */
const START_LENGTH = 56;
const SHORTENED_LENGTH_MAX = 100;

const moment = z.int().refine(isMoment);
const keyText = z
  .string()
  .max(SHORTENED_LENGTH_MAX)
  .refine((text) => malformedReason(text) === null);

const cursorSchema = z.tuple([
  z.literal(VERSION),
  z.enum(['n', 'p']),
  z.array(z.union([z.int(), keyText])).nullable(),
  z
    .tuple([moment, moment])
    .refine(([start, end]) => start < end)
    .nullable(),
  z.int().min(1).max(100).nullable(),
  z.string(),
]);

/** A moment in a key that a store compares with. */
export const keyMoment = moment;

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

/** A text as cursors hold it. */
export function shortText(text: string): string {
  if (text.length <= WHOLE_LENGTH_MAX) return text;
  const start = text.slice(0, START_LENGTH);
  const whole = start.isWellFormed() ? start : start.slice(0, -1);
  return `${whole}…${hash('sha256', text, 'base64url')}`;
}

/** Whether a text of a cursor stands for a longer one. */
export const isShortened = (text: string | number): boolean =>
  typeof text === 'string' && text.length > WHOLE_LENGTH_MAX;

const shortKey = (key: CursorKey): CursorKey => key.map((part) => (typeof part === 'string' ? shortText(part) : part));

/**
 * The key of a cursor with its texts whole again, from those of the row that it names. Of a row that is gone, what the
 * cursor holds is the place, give or take the rows whose names begin alike.
 *
 * @param texts among which those of the row are
 */
export function wholeKey<K extends CursorKey>(key: K, texts: Iterable<string>): K {
  if (!key.some(isShortened)) return key;
  const whole = new Map([...texts].filter(isShortened).map((text) => [shortText(text), text]));
  // One text for another: the parts stay what they are.
  return key.map((part) => (typeof part === 'string' ? (whole.get(part) ?? part) : part)) as readonly (
    | string
    | number
  )[] as K;
}

export function encodeCursor<K extends CursorKey>(cursor: Cursor<K>, filtersHash: string): string {
  const { direction, key, window, perPage } = cursor;
  const bounds = window && [window.start, window.end];
  const fields = [VERSION, direction === 'next' ? 'n' : 'p', key && shortKey(key), bounds, perPage, filtersHash];
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
  const parsed = cursorSchema.safeParse(jsonOf(Buffer.from(text, 'base64url').toString('utf8')));
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

const unreadable = () => badCursor('was not issued by this service; take it from a Link header');
const badCursor = (msg: string) => unprocessable([{ loc: ['query', 'cursor'], msg, type: 'invalid_cursor' }]);
