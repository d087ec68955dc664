import { describe, expect, test } from 'bun:test';
import { formatTable } from '../../src/client/output.ts';
import { parseExpiry, parsePath, parseTime } from '../../src/client/parse.ts';
import { shardOf } from '../../src/client/run-info.ts';

describe('values of flags', () => {
  const NOW = Date.parse('2026-11-21T12:00:00Z');
  test('an expiry is a time from now or a date to come', () => {
    expect(parseExpiry('90d', NOW).toISOString()).toBe('2027-02-19T12:00:00.000Z');
    expect(parseExpiry('12h', NOW).toISOString()).toBe('2026-11-22T00:00:00.000Z');
    expect(parseExpiry('2027-01-31', NOW).toISOString()).toBe('2027-01-31T00:00:00.000Z');
    for (const wrong of ['', '90', '0d', 'soon', '2026-11-20', '2027-13-01', '-1d'])
      expect(() => parseExpiry(wrong, NOW)).toThrow();
  });

  test('a repository is owner/name', () => {
    expect(parsePath('acme/shop.js')).toEqual({ owner: 'acme', name: 'shop.js' });
    for (const wrong of ['shop', 'a/b/c', '/shop', 'acme/', 'a b/c', 'a_b/c', `${'a'.repeat(41)}/c`])
      expect(() => parsePath(wrong)).toThrow();
  });

  test('a time has a zone', () => {
    for (const good of ['2026-11-21T10:00:00Z', '2026-11-21T10:00+01:00', '2026-11-21T10:00:00.5-0330'])
      expect(parseTime(good)).toBe(good);
    for (const wrong of ['2026-11-21', '2026-11-21T10:00:00', 'now', '2026-99-21T10:00:00Z'])
      expect(() => parseTime(wrong)).toThrow();
  });

  test('one part of one is no part', () => {
    expect([shardOf('0', '1'), shardOf('0', '2'), shardOf(undefined, '2'), shardOf('', '')]).toEqual([
      undefined,
      '0',
      undefined,
      undefined,
    ]);
  });
});

test('a table is aligned by width on screen, and text from elsewhere cannot steer the terminal', () => {
  expect(
    formatTable(
      ['A', 'B'],
      [
        ['日本', 'x'],
        ['a\u001b[31m', ''],
      ],
    ),
  ).toBe('A       B\n日本    x\na?[31m');
});
