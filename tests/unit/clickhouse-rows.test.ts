/** An answer of ClickHouse that ends with an error is no answer, however many rows came before. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { rowsIn } from '../../src/clickhouse/rows.ts';
import { StoreUnavailable } from '../../src/errors.ts';

const TIMEOUT = 'Code: 159. DB::Exception: Timeout exceeded: elapsed 10 s. (TIMEOUT_EXCEEDED)';
const rows = fc.array(fc.record({ name: fc.string({ unit: 'grapheme' }), count: fc.nat() }));
const linesOf = (found: readonly object[]): string => found.map((row) => `${JSON.stringify(row)}\n`).join('');

test('a whole answer has the rows that were sent', () => {
  fc.assert(fc.property(rows, (found) => expect(rowsIn(linesOf(found))).toEqual(found)));
});

test('an error behind rows is thrown, whether it is a row or text', () => {
  for (const end of [`{"exception": "${TIMEOUT}"}\n`, `\r\n__exception__\r\n${TIMEOUT}\n`, TIMEOUT])
    fc.assert(fc.property(rows, (found) => expect(() => rowsIn(linesOf(found) + end)).toThrow('Code: 159. ')));
});

test('an answer that breaks off is no answer', () => {
  fc.assert(
    fc.property(rows, fc.record({ name: fc.string() }), fc.nat(), (found, last, at) => {
      const text = JSON.stringify(last);
      const cut = text.slice(0, 1 + (at % (text.length - 1)));
      expect(() => rowsIn(linesOf(found) + cut)).toThrow(StoreUnavailable);
    }),
  );
});
