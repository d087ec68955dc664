/** Globs as ClickHouse matches them, against a matcher that only knows the rule (design §4). */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { globToLike, isGlob } from '../../src/domain/glob.ts';
import { openTestStores } from '../support/stores.ts';

/** Whether a name matches, by trying every way to read each `*`; on code points. */
function matches(glob: readonly string[], name: readonly string[]): boolean {
  const [first, second] = glob;
  if (first === undefined) return name.length === 0;
  if (first === '*') return matches(glob.slice(1), name) || (name.length > 0 && matches(glob, name.slice(1)));
  if (name.length === 0) return false;
  if (first === '?') return matches(glob.slice(1), name.slice(1));
  const isEscape = first === '\\' && second !== undefined && '*?\\'.includes(second);
  if (isEscape) return second === name[0] && matches(glob.slice(2), name.slice(1));
  return first === name[0] && matches(glob.slice(1), name.slice(1));
}

const character = fc.constantFrom('a', 'A', '*', '?', '\\', '%', '_', '\n', '[', '.', '^', '$', 'é', '😀', '\u0301');
const texts = fc.array(fc.string({ unit: character, minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 12 });

test('a pattern matches in ClickHouse what the rule says, whatever it holds', async () => {
  const { clickhouse } = await openTestStores();
  const sql =
    'SELECT arrayMap(n -> arrayMap(p -> toBool(n LIKE p), {patterns: Array(String)}), {names: Array(String)}) AS found';
  await fc.assert(
    fc.asyncProperty(texts, texts, async (globs, others) => {
      const names = [...others, ...globs, ...globs.map((glob) => glob.replace(/[*?\\]/g, 'a'))];
      const [row] = (await clickhouse.rows(sql, { patterns: globs.map(globToLike), names })) as [
        { found: boolean[][] },
      ];
      expect(row.found).toEqual(names.map((name) => globs.map((glob) => matches([...glob], [...name]))));
    }),
    { numRuns: 150 },
  );
});

test('a value without wildcards and escapes is looked up by its id alone, which finds what the rule finds', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: character, maxLength: 7 }),
      fc.string({ unit: character, maxLength: 7 }),
      (value, name) => {
        if (!isGlob(value)) expect(matches([...value], [...name])).toBe(value === name);
      },
    ),
  );
});

test('a long pattern is matched within the limits of the engine', async () => {
  const { clickhouse } = await openTestStores();
  const glob = `*${'😀?'.repeat(4_999)}*`;
  const sql = 'SELECT toBool({name: String} LIKE {pattern: String}) AS found';
  const rows = await clickhouse.rows(sql, { pattern: globToLike(glob), name: '😀😀'.repeat(5_000) });
  expect(rows).toEqual([{ found: true }]);
});
