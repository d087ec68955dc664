/** The rules of reads that need no store: windows and buckets, dates, cursors, query strings. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NIL } from 'uuid';
import { z } from 'zod';
import { formatMoment, MOMENT_MAX, MOMENT_MIN, parseMoment } from '../../src/domain/moment.ts';
import { BUCKET_WIDTHS_MS, bucketCount, bucketStarts, bucketWidth, resolveWindow } from '../../src/domain/window.ts';
import {
  type Cursor,
  type CursorKey,
  decodeCursor,
  encodeCursor,
  hashFilters,
  shortText,
  wholeKey,
} from '../../src/http/cursor.ts';
import { type Page, pageOf } from '../../src/http/pages.ts';
import { readQuery, textsParameter } from '../../src/http/parameters.ts';

const DAY = 86_400_000;
const moment = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2090, 0, 1) });
const window = fc
  .tuple(moment, fc.integer({ min: 1, max: 1_900 * DAY }))
  .map(([start, length]) => ({ start, end: start + length }));

describe('windows', () => {
  test('buckets are aligned and without gaps, and cover the window with none to spare', () => {
    fc.assert(
      fc.property(window, (w) => {
        const width = bucketWidth(w);
        const starts = bucketStarts(w, width);
        expect(starts).toHaveLength(bucketCount(w, width));
        for (const [i, start] of starts.entries()) {
          expect(start % width).toBe(0);
          if (i > 0) expect(start - (starts[i - 1] as number)).toBe(width);
        }
        const last = starts.at(-1) as number;
        expect((starts[0] as number) <= w.start && w.start < (starts[0] as number) + width).toBe(true);
        expect(last < w.end && w.end <= last + width).toBe(true);
      }),
    );
  });

  test('the width is the narrowest of which 48 cover the length, or else the widest', () => {
    fc.assert(
      fc.property(window, (w) => {
        const width = bucketWidth(w);
        const narrower = BUCKET_WIDTHS_MS.filter((other) => other < width);
        for (const other of narrower) expect((w.end - w.start) / other).toBeGreaterThan(48);
        if (width !== BUCKET_WIDTHS_MS.at(-1)) expect((w.end - w.start) / width).toBeLessThanOrEqual(48);
      }),
    );
    const widths = [2, 2.01, 8, 8.01, 48, 48.01].map((days) => bucketWidth({ start: 0, end: days * DAY }) / 3_600_000);
    expect(widths).toEqual([1, 4, 4, 24, 24, 48]);
  });

  test('a missing bound is a day from the other one, or from now', () => {
    fc.assert(
      fc.property(moment, moment, (a, now) => {
        expect(resolveWindow(undefined, undefined, now)).toEqual({ start: now - DAY, end: now });
        expect(resolveWindow(a, undefined, now)).toEqual({ start: a, end: a + DAY });
        expect(resolveWindow(undefined, a, now)).toEqual({ start: a - DAY, end: a });
        expect(resolveWindow(a, now, 0)).toEqual({ start: a, end: now });
      }),
    );
  });
});

describe('dates', () => {
  test('a formatted moment parses back to the same moment', () => {
    fc.assert(fc.property(moment, (at) => expect(parseMoment(formatMoment(at))).toBe(at)));
  });

  test('a zone shifts the moment, with or without a colon, and with a space for its +', () => {
    const zones = fc.tuple(fc.constantFrom('+', '-', ' '), fc.integer({ min: 0, max: 14 }), fc.constantFrom('', ':'));
    fc.assert(
      fc.property(moment, zones, (at, [sign, hours, colon]) => {
        const local = new Date(at + (sign === '-' ? -1 : 1) * hours * 3_600_000).toISOString().slice(0, -1);
        expect(parseMoment(`${local}${sign}${String(hours).padStart(2, '0')}${colon}00`)).toBe(at);
      }),
    );
  });

  test('seconds and fractions are optional, and fractions of a millisecond are rounded up', () => {
    const base = Date.UTC(2026, 10, 21, 10, 0);
    expect(parseMoment('2026-11-21T10:00Z')).toBe(base);
    expect(parseMoment('2026-11-21t10:00:01z')).toBe(base + 1_000);
    expect(parseMoment('2026-11-21T10:00:00.5Z')).toBe(base + 500);
    expect(parseMoment('2026-11-21T10:00:00,123000Z')).toBe(base + 123);
    expect(parseMoment('2026-11-21T10:00:00.123001Z')).toBe(base + 124);
    expect(parseMoment('2024-02-29T00:00Z')).toBe(Date.UTC(2024, 1, 29));
  });

  test('everything else is refused', () => {
    for (const text of [
      '2026-11-21',
      '2026-11-21T10:00',
      '2026-11-21 10:00:00Z',
      '20261121T100000Z',
      '2026-11-21T24:00Z',
      '2026-11-21T10:60Z',
      '2026-11-21T10:00:60Z',
      '2026-02-29T10:00Z',
      '2026-13-01T10:00Z',
      '2026-00-01T10:00Z',
      '2026-11-21T10Z',
      '2026-11-21T10:00+1',
      '2026-11-21T10:00+25:00',
      '0000-01-01T00:00Z',
      '+02026-11-21T10:00Z',
      '2026-11-21T10:00ZZ',
      '9999-12-31T23:59:59.9999Z',
      '9999-12-31T23:59:59-00:01',
      '0001-01-01T00:00:00+00:01',
      ' 2026-11-21T10:00Z',
      '1795251600',
      '',
    ])
      expect([text, parseMoment(text)]).toEqual([text, undefined]);
  });
});

describe('cursors', () => {
  const names = fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => !text.includes('\0'));
  const key = fc.array(fc.oneof(fc.maxSafeInteger(), names), { maxLength: 4 });
  const cursor: fc.Arbitrary<Cursor<CursorKey>> = fc.record({
    direction: fc.constantFrom('next', 'previous'),
    key: fc.option(key),
    window: fc.option(
      fc.uniqueArray(fc.integer({ min: MOMENT_MIN, max: MOMENT_MAX }), { minLength: 2, maxLength: 2 }).map((bounds) => {
        const [start = 0, end = 0] = bounds.toSorted((one, other) => one - other);
        return { start, end };
      }),
    ),
    perPage: fc.option(fc.integer({ min: 1, max: 100 })),
  });
  const anyKey: z.ZodType<CursorKey> = z.array(z.union([z.string(), z.number()]));

  test('decode to what was encoded, and need no encoding in a URL', () => {
    fc.assert(
      fc.property(cursor, fc.object(), (given, filters) => {
        const hash = hashFilters(filters);
        const text = encodeCursor(given, hash);
        expect(text).toMatch(/^[\w-]+$/);
        const read = decodeCursor(text, hash, anyKey);
        const texts = (given.key ?? []).filter((part) => typeof part === 'string');
        expect(read && { ...read, key: read.key && wholeKey(read.key, texts) }).toEqual(given);
      }),
    );
  });

  test('are short, and name a row for certain, however long its names are and however alike', () => {
    const alike = Array.from({ length: 1_000 }, (_, i) => `${'😀'.repeat(9_000)}${i}`);
    expect(new Set(alike.map(shortText)).size).toBe(alike.length);
    // The part of a longer name that a cursor holds is never that of another one.
    for (const name of alike.slice(0, 10)) expect(shortText(shortText(name))).not.toBe(shortText(name));
    const key = [Number.MAX_SAFE_INTEGER, ...['\u0001', '😀', '"'].map((part) => part.repeat(5_000)), NIL];
    const window = { start: MOMENT_MIN, end: MOMENT_MAX };
    const text = encodeCursor({ direction: 'previous', key, window, perPage: 100 }, 'h'.repeat(16));
    expect(text.length).toBeLessThan(1_500);
  });

  test('any text is either a place in this list or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        (text) => {
          try {
            expect(decodeCursor(text, 'hash', anyKey)).toBeNull();
            expect(text).toBe('');
          } catch (error) {
            expect(error).toMatchObject({ status: 422 });
          }
        },
      ),
    );
  });
});

test('pages of any list, in either direction, repeat nothing and skip nothing', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      (length, perPage, isForward) => {
        const list = Array.from({ length }, (_, i) => i);
        const direction = isForward ? ('next' as const) : ('previous' as const);
        const seen: number[] = [];
        let key: CursorKey | null = null;
        for (;;) {
          const from: number | undefined = key?.[0] as number | undefined;
          const nearest = isForward ? list : [...list].reverse();
          const beyond = nearest.filter((item) => from === undefined || (isForward ? item > from : item < from));
          const page: Page<number> = pageOf({ perPage, direction, key }, beyond.slice(0, perPage + 1));
          expect(page.items).toEqual([...page.items].sort((a, b) => a - b));
          if (isForward) seen.push(...page.items);
          else seen.unshift(...page.items);
          if (!(isForward ? page.hasNext : page.hasPrevious)) break;
          key = [(isForward ? page.items.at(-1) : page.items[0]) as number];
        }
        expect(seen).toEqual(list);
      },
    ),
  );
});

test('query values arrive exactly as sent, whatever they contain', () => {
  const shape = { name: textsParameter(10_000, { description: 'Names.' }) };
  const sent = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(fc.array(sent, { minLength: 1, maxLength: 5 }), fc.boolean(), (names, isForm) => {
      const encode = (name: string) =>
        isForm ? new URLSearchParams({ name }).toString() : `name=${encodeURIComponent(name)}`;
      const query = names.map(encode).join('&');
      expect(readQuery(shape, query).value).toEqual({ name: [...new Set(names)].sort() });
    }),
  );
});
