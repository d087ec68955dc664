/** Axes name a leg, whatever their order; what cannot be stored is refused with a reason. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AXES_MAX, axesOf, axesRejection, axesSchema, axesText, axisOf } from '../../src/domain/axes.ts';

/** Names of what every object has are names like others, except for one. */
const name = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_.-]{0,20}$/) },
  { weight: 1, arbitrary: fc.constantFrom('constructor', 'toString', 'hasOwnProperty', '__defineGetter__', '__proto') },
);
const value = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }).filter((text) => !text.includes('\0'));
const axes = fc.dictionary(name, value, { maxKeys: AXES_MAX });

describe('axes', () => {
  test('of a leg are the same text in any order, and the text gives them back', () => {
    fc.assert(
      fc.property(axes, fc.array(fc.nat(100)), (one, places) => {
        const entries = Object.entries(one);
        const shuffled = entries.toSorted(([a], [b]) => (places[a.length] ?? 0) - (places[b.length] ?? 0));
        expect(axesText(Object.fromEntries(shuffled.reverse()))).toBe(axesText(one));
        expect({ ...axesOf(axesText(one)) }).toEqual({ ...one });
      }),
    );
  });

  test('named `__proto__` are refused with a reason, whatever is beside them, and never lost', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 5 }), value, fc.nat(5), (entries, refused, at) => {
        const sent: unknown = JSON.parse(
          JSON.stringify(Object.fromEntries(entries.toSpliced(at, 0, ['__proto__', refused]))),
        );
        expect(axesSchema.safeParse(sent).error?.issues[0]?.message).toContain('"__proto__"');
        expect(axesRejection(Object.fromEntries([...entries, ['__proto__', refused]]))).toContain('"__proto__"');
        expect(axesSchema.parse(Object.fromEntries(entries))).toEqual(Object.fromEntries(entries));
      }),
    );
  });

  test('are told apart by each name and value', () => {
    fc.assert(
      fc.property(axes, axes, (one, other) => {
        const isSame =
          Object.keys(one).length === Object.keys(other).length &&
          Object.entries(one).every(([key, text]) => Object.hasOwn(other, key) && other[key] === text);
        expect(axesText(one) === axesText(other)).toBe(isSame);
      }),
    );
  });

  test('are read from name:value, where a value may hold colons', () => {
    fc.assert(fc.property(name, value, (key, text) => expect(axisOf(`${key}:${text}`)).toEqual([key, text])));
    expect(axisOf('linux')).toBeUndefined();
  });

  test.each([
    [{ os: 'linux', 'node-version': '22' }, null],
    [Object.fromEntries(Array.from({ length: AXES_MAX + 1 }, (_, i) => [`a${i}`, 'x'])), 'there are more than 16 axes'],
    [{ '': 'x' }, 'the axis "" is empty'],
    [{ os: '' }, 'the axis "os" is empty'],
    [{ os: 'x'.repeat(256) }, 'the axis "os" is longer than 255 characters'],
    [{ ['o'.repeat(65)]: 'x' }, `the axis "${'o'.repeat(64)}" is longer than 64 characters`],
    [{ os: 'a\0b' }, 'the axis "os" holds a NUL character'],
    [{ 'a:b': 'x' }, 'the axis "a:b" holds a colon, an equals sign or a space in its name'],
  ])('%j: %s', (given, reason) => expect(axesRejection(given)).toBe(reason));
});
