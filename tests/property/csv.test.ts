/** Files of tables: what a spreadsheet reads of them, and that it computes nothing. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type CsvValue, csvName, csvOf } from '../../web/ui/csv.ts';

/** A reader of RFC 4180, apart from the writer. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let isQuoted = false;
  const characters = [...text.replace(/^\uFEFF/, '')];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i];
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (characters[i + 1] === '"') {
        field += '"';
        i++;
      } else isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === ',') {
      row.push(field);
      field = '';
    } else if (character === '\r' && characters[i + 1] === '\n') {
      rows.push([...row, field]);
      row = [];
      field = '';
      i++;
    } else field += character;
  }
  return rows;
}

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(fc.constantFrom('=', '+', '-', '@', '\t=', ' =', '\r+', '＝', '\uFEFF='), fc.string())
    .map((both) => both.join('')),
  fc.constantFrom('a,b', 'say "yes"', 'two\r\nlines', ';', '=cmd|" /C calc"!A0', ''),
);

describe('a file of a table', () => {
  test('has every text as it was, but for an apostrophe before what would be computed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(hostile, hostile), { minLength: 1 }), (rows) => {
        const read = readCsv(csvOf(['one', 'other'], rows));
        expect(read).toEqual([
          ['one', 'other'],
          ...rows.map((row) => row.map((text) => (/^[\s\uFEFF]*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text))),
        ]);
        for (const field of read.flat()) expect(field.trim()).not.toMatch(/^[=+\-@＝＋－＠]/);
      }),
    );
  });

  test('has numbers as numbers, also negative ones, and nothing for nothing', () => {
    const row: CsvValue[] = [-1.5, 0, null, true];
    expect(csvOf(['a', 'b', 'c', 'd'], [row])).toBe('\uFEFFa,b,c,d\r\n-1.5,0,,true\r\n');
  });

  test('has a name that says what it holds, and no path', () => {
    expect(csvName(['acme', '../shop', 'cost by test'], Date.UTC(2026, 10, 28))).toBe(
      'acme-..-shop-cost-by-test-2026-11-28.csv',
    );
  });
});
