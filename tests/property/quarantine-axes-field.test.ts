/** The field for the legs of a quarantine gives back what it was filled in with, or is not filled in. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { axisScopeRejection } from '../../src/domain/axis-scope.ts';
import { readAxes, writeAxes } from '../../web/pages/quarantine-axes.ts';

const value = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12, unit: 'binary' }),
  fc.stringMatching(/^[ ,="\\a\n]{1,8}$/),
);
const scope = (name: fc.Arbitrary<string>) =>
  fc
    .dictionary(name, fc.uniqueArray(value, { minLength: 1, maxLength: 4 }), { minKeys: 1, maxKeys: 4 })
    .filter((axes) => axisScopeRejection(axes) === null);
/** A browser takes line ends out of what a field is given. */
const inField = (text: string): string => text.replaceAll(/[\r\n]/g, '');

describe('the field for axes', () => {
  test('gives back any values, also those that hold commas, equals signs, quotes and spaces', () => {
    fc.assert(
      fc.property(scope(fc.stringMatching(/^[a-z][a-z0-9_.-]{0,8}$/)), (axes) => {
        const text = writeAxes(axes);
        expect(text).toBeDefined();
        const read = readAxes(inField(text ?? '').trim());
        expect(read?.isWhole).toBe(true);
        expect({ ...read?.axes }).toEqual({ ...axes });
      }),
    );
  });

  test('is not filled in with what it cannot say', () => {
    expect(writeAxes({ 'a,b': ['x'] })).toBeUndefined();
    fc.assert(
      fc.property(scope(fc.string({ minLength: 1, maxLength: 6, unit: 'binary' })), (axes) => {
        const text = writeAxes(axes);
        if (text !== undefined) expect({ ...readAxes(inField(text).trim())?.axes }).toEqual({ ...axes });
      }),
    );
  });

  test.each([
    ['os=windows', { os: ['windows'] }, true],
    ['os=windows, python=3.13,os=linux', { os: ['windows', 'linux'], python: ['3.13'] }, true],
    ['flags=-a=b c , os="a, \\"b\\""', { flags: ['-a=b c'], os: ['a, "b"'] }, true],
    ['windows', {}, false],
    ['os=', {}, false],
    ['os=""', {}, false],
    ['os=windows,', { os: ['windows'] }, false],
    ['windows, os=linux', { os: ['linux'] }, false],
    ['os=windows, linux', { os: ['windows'] }, false],
    ['os="a, b', {}, false],
    ['os="a\\x", a=b', { a: ['b'] }, false],
    ['a:b=c', {}, false],
  ])('reads %s', (text, axes, isWhole) => expect(readAxes(text)).toEqual({ axes, isWhole }));
});
