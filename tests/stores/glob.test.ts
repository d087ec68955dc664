/** ClickHouse matches globs as the rule says. */
import { beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { globToLike } from '../../src/domain/glob.ts';
import { globCharacter, matchesGlob } from '../support/globs.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const texts = fc.array(fc.string({ unit: globCharacter, minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 12 });

test('a pattern of any characters matches in ClickHouse what the rule says', async () => {
  const sql =
    'SELECT arrayMap(n -> arrayMap(p -> toBool(n LIKE p), {patterns: Array(String)}), {names: Array(String)}) AS found';
  await fc.assert(
    fc.asyncProperty(texts, texts, async (globs, others) => {
      const names = [...others, ...globs, ...globs.map((glob) => glob.replace(/[*?\\]/g, 'a'))];
      const rows = await stores.clickhouse.rows(sql, { patterns: globs.map(globToLike), names });
      const expected = names.map((name) => globs.map((glob) => matchesGlob([...glob], [...name])));
      expect(rows).toEqual([{ found: expected }]);
    }),
    { numRuns: 150 },
  );
});

test('a long pattern is matched within the limits of the engine', async () => {
  const glob = `*${'😀?'.repeat(4_999)}*`;
  const sql = 'SELECT toBool({name: String} LIKE {pattern: String}) AS found';
  const rows = await stores.clickhouse.rows(sql, { pattern: globToLike(glob), name: '😀😀'.repeat(5_000) });
  expect(rows).toEqual([{ found: true }]);
});
