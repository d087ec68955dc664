/** Legs in words, as pages show them. */
import { expect, test } from 'bun:test';
import { legsWords, legWords } from '../../web/ui/leg-words.ts';

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
