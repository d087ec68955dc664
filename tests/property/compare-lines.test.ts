/** Which lines of two stacks differ: every line is shown, and what is marked is what the other one lacks. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { compareLines } from '../../web/pages/compare-lines.ts';

const stack = fc
  .array(fc.constantFrom('at a', 'at b', 'at c', '', 'at b '), { maxLength: 30 })
  .map((lines) => lines.join('\n'));

test('both texts are shown whole, and without what is marked they are the same', () => {
  fc.assert(
    fc.property(stack, stack, (one, other) => {
      const compared = compareLines(one, other);
      const textOf = (lines: typeof compared.one): string => lines.map(({ text }) => text).join('\n');
      expect(textOf(compared.one)).toBe(one);
      expect(textOf(compared.other)).toBe(other);
      const common = (lines: typeof compared.one): string[] =>
        lines.filter(({ differs }) => !differs).map(({ text }) => text.trimEnd());
      expect(common(compared.one)).toEqual(common(compared.other));
      const marked = [compared.one, compared.other].map((lines) => lines.filter(({ differs }) => differs).length);
      expect(compared.differing).toBeGreaterThanOrEqual(Math.max(...marked));
      expect(compared.differing).toBeLessThanOrEqual((marked[0] ?? 0) + (marked[1] ?? 0));
    }),
  );
});

test('a text does not differ from itself', () => {
  fc.assert(fc.property(stack, (one) => expect(compareLines(one, one).differing).toBe(0)));
});
