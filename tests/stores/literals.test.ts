import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { bindLiterals } from '../../src/clickhouse/literals.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const nasty = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom("'", '\\', '"', '`', '\n', '{', '}', 'x', ';', '--', '/*', '🙂') }),
);

describe('parameters bound as literals', () => {
  test('any text comes back unchanged, alone and in arrays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(nasty, { maxLength: 5 }), async (texts) => {
        const values = texts.map((text) => text.toWellFormed());
        const [row] = await stores.clickhouse.rows('SELECT {one: String} AS one, {many: Array(String)} AS many', {
          one: values[0] ?? '',
          many: values,
        });
        expect(row).toEqual({ one: values[0] ?? '', many: values });
      }),
      { numRuns: 60 },
    );
  });

  test('numbers, flags and ids come back with their types', async () => {
    const [row] = await stores.clickhouse.rows(
      'SELECT {i: Int64} AS i, toTypeName({i: Int64}) AS it, toString({u: UInt64}) AS u, {f: Float64} AS f, {b: Bool} AS b, toTypeName({ids: Array(UUID)}) AS t, {ids: Array(UUID)} AS ids',
      { i: -5, u: 18446744073709551615n, f: 0.25, b: true, ids: ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'] },
    );
    expect(row).toEqual({
      i: -5,
      it: 'Int64',
      u: '18446744073709551615',
      f: 0.25,
      b: true,
      t: 'Array(UUID)',
      ids: ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'],
    });
  });

  test.each([
    ['UUID', "x' OR 1=1"],
    ['UInt8', 256],
    ['UInt64', '1; DROP'],
    // Over HTTP, texts in a list are quoted.
    ['Array(UInt64)', ['1']],
    ['Bool', 'true'],
    ['Float64', Number.NaN],
    ['Array(UUID)', ['x']],
    ['String', 5],
  ])('a value that is not a valid %s is refused', (type, value) => {
    expect(() => bindLiterals(`{p: ${type}}`, { p: value as never })).toThrow(TypeError);
  });

  test('a missing parameter is refused', () => expect(() => bindLiterals('{p: String}', {})).toThrow('p is missing'));
});
