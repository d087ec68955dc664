import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isGlob } from '../../src/domain/glob.ts';
import { globCharacter, matchesGlob } from '../support/globs.ts';

test('a value without wildcards and escapes matches exactly itself, so it can be looked up by id', () => {
  const text = fc.string({ unit: globCharacter, maxLength: 7 });
  fc.assert(
    fc.property(text, text, (value, name) => {
      if (!isGlob(value)) expect(matchesGlob([...value], [...name])).toBe(value === name);
    }),
  );
});
