import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { lineColumn, plainColumn, textColumn } from '../../src/postgres/columns.ts';
import { openOverHttp } from '../support/clickhouse-http.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
let overHttp: Awaited<ReturnType<typeof openOverHttp>>;
beforeAll(async () => {
  stores = await openTestStores();
  overHttp = await openOverHttp();
});
afterAll(() => overHttp.stop());

const text = fc
  .oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom(
        "'",
        '\\',
        '"',
        '\t',
        '\n',
        '\r',
        '\b',
        '\f',
        '\\N',
        'N',
        '[',
        ']',
        ',',
        '&',
        '=',
        '%',
        '+',
        ' ',
        '🙂',
      ),
    }),
  )
  .map((value) => value.toWellFormed().replaceAll('\0', ''));

const large = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const parameters = fc.record({
  one: text,
  many: fc.array(text, { maxLength: 5 }),
  id: fc.uuid(),
  ids: fc.array(fc.uuid(), { maxLength: 3 }),
  flag: fc.boolean(),
  integer: fc.maxSafeInteger(),
  large,
  larges: fc.array(large, { maxLength: 3 }),
  real: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
});

const STATEMENT = `SELECT {one: String} AS one, {many: Array(String)} AS many, {id: UUID} AS id, {ids: Array(UUID)} AS ids,
  {flag: Bool} AS flag, {integer: Int64} AS integer, toString({large: UInt64}) AS large,
  arrayMap(one -> toString(one), {larges: Array(UInt64)}) AS larges, {real: Float64} AS real,
  if({flag: Bool}, {one: String}, NULL) AS text_or_null, if({flag: Bool}, {integer: Int64}, NULL) AS integer_or_null`;

test('parameters and answers are the same over HTTP and embedded, and equal to what was given', async () => {
  await fc.assert(
    fc.asyncProperty(parameters, async (given) => {
      const [http] = await overHttp.clickhouse.rows(STATEMENT, given);
      const [embedded] = await stores.clickhouse.rows(STATEMENT, given);
      expect(http).toEqual(embedded);
      const { flag, one, integer } = given;
      expect(http).toEqual({
        ...given,
        large: String(given.large),
        larges: given.larges.map(String),
        text_or_null: flag ? one : null,
        integer_or_null: flag ? integer : null,
      });
    }),
    { numRuns: 100 },
  );
});

test('columns of rows reach PostgreSQL as they are, whatever their texts hold', async () => {
  const line = fc.oneof(fc.json(), fc.constant(''));
  const rows = fc.array(fc.record({ id: fc.uuid(), count: fc.nat(), text, line }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const found = await stores.postgres.db.execute(sql`
        select * from unnest(
          ${plainColumn(given.map(({ id }) => id))}::uuid[], ${plainColumn(given.map(({ count }) => count))}::int[],
          ${textColumn(given.map((one) => one.text))}, ${lineColumn(given.map(({ line }) => line))}
        ) as given (id, count, text, line)`);
      expect(found.rows).toEqual(given);
    }),
    { numRuns: 100 },
  );
});
