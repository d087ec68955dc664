/** Names are replaced wherever they are a whole text, in any case, and nothing else changes. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { comparedName, patternInJson, patternOfText, pseudonymOf, replaceNames } from '../../src/domain/pseudonym.ts';

const name = fc
  .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 })
  .filter((one) => comparedName(one) !== '');
const json = fc.jsonValue({ maxDepth: 3 });

test('the pseudonym of a name is the same in any case and with @, of others and elsewhere another', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const pseudonym = pseudonymOf('a', one);
      expect(pseudonym).toMatch(/^person-[0-9a-f]{12}$/);
      expect(pseudonymOf('a', `@${comparedName(one)}`)).toBe(pseudonym);
      expect(pseudonymOf('b', one)).not.toBe(pseudonym);
      if (comparedName(one) !== comparedName(other)) expect(pseudonymOf('a', other)).not.toBe(pseudonym);
    }),
  );
});

test('every text that is the name is replaced, and the rest stays', () => {
  fc.assert(
    fc.property(json, name, (rest, person) => {
      const login = person.replace(/^@/, '');
      const replaced = replaceNames({ by: `@${login}`, deep: [{ login }], within: `x ${login} x`, rest }, (one) =>
        one === login ? 'person-1' : undefined,
      );
      expect(replaced).toMatchObject({ by: '@person-1', deep: [{ login: 'person-1' }], within: `x ${login} x` });
      expect(replaceNames(rest, () => undefined)).toEqual(rest);
    }),
  );
});

test('the patterns match the name alone, whatever characters it has', () => {
  fc.assert(
    fc.property(name, (person) => {
      const login = comparedName(person);
      expect(new RegExp(patternOfText(person), 'i').test(`@${login}`)).toBe(true);
      expect(new RegExp(patternOfText(person), 'i').test(`${login}x`)).toBe(false);
      expect(JSON.stringify({ login }).replace(new RegExp(patternInJson(person), 'gi'), '"$1p"')).toContain('"p"');
    }),
  );
});
