/** Legs in words, as pages show them. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import * as ofService from '../../src/domain/axes-in-words.ts';
import {
  axesWords,
  axisFilterInWords,
  axisInWords,
  axisScopeWords,
  legsWords,
  legWords,
} from '../../web/ui/leg-words.ts';

test('a leg is named by its axes, a job without axes by its name alone', () => {
  expect(legWords('unit', {})).toBe('unit');
  expect(legWords('unit', { os: 'windows', python: '3.13' })).toBe('unit (os=windows, python=3.13)');
});

test('of the legs in which a test failed, three are named', () => {
  const legs = ['linux', 'mac', 'windows', 'bsd'].map((os) => ({ axes: { os } }));
  expect(legsWords('unit', [{ axes: {} }])).toBe('unit');
  expect(legsWords('unit', [])).toBe('unit');
  expect(legsWords('unit', legs.slice(0, 2))).toBe('unit (os=linux) (os=mac)');
  expect(legsWords('unit', legs)).toBe('unit (os=linux) (os=mac) (os=windows) and 1 more');
  expect(legsWords('unit', [{ axes: { os: 'linux' } }, { axes: {} }])).toBe('unit (os=linux) (no axes)');
});

test('a filter by an axis is said as the axis of a leg', () => {
  expect(axisFilterInWords('os:windows')).toBe('os=windows');
  expect(axisFilterInWords('url:http://a')).toBe('url=http://a');
  expect(axisFilterInWords('unnamed_leg:2')).toBe('leg 2 (unnamed)');
  expect(axisFilterInWords('odd')).toBe('odd');
});

test('a value that could be read as more than one is in quotes', () => {
  expect(axisInWords('os', 'a, python=3.13')).toBe('os="a, python=3.13"');
  expect(legWords('unit', { os: 'a, b', python: '3.13' })).toBe('unit (os="a, b", python=3.13)');
  expect(axisScopeWords({ os: ['linux', 'a or b'], python: ['3.13'] })).toBe('os=linux or "a or b", python=3.13');
  expect(axisFilterInWords('os:a, b')).toBe('os="a, b"');
});

test('pages and the service use the same words', () => {
  const name = fc.oneof(fc.constantFrom('os', ofService.UNNAMED_LEG_AXIS), fc.string());
  const value = fc.oneof(fc.constantFrom('2', 'a, b', 'a=b', 'a or b', '"'), fc.string());
  fc.assert(
    fc.property(fc.dictionary(name, value), fc.dictionary(name, fc.array(value)), (axes, scope) => {
      expect(axesWords(axes)).toBe(ofService.axesWords(axes));
      expect(axisScopeWords(scope)).toBe(ofService.axisScopeWords(scope));
    }),
  );
});
