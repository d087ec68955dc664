/** How near tests are to changed files. */
import { expect, test } from 'bun:test';
import { nearnessOf, nearnessTogether } from '../../src/domain/nearness.ts';

const CHANGED = ['src/shop/cart.ts', 'notes/index.txt', 'tests/unit/tax.test.ts'];

for (const [file, near] of [
  ['tests/unit/tax.test.ts', 'tests/unit/tax.test.ts'],
  ['/home/runner/work/shop/shop/tests/unit/tax.test.ts', 'tests/unit/tax.test.ts'],
  ['unit\\tax.test.ts', 'tests/unit/tax.test.ts'],
  ['e2e/cart.spec.ts', 'src/shop/cart.ts'],
  ['tests/test_cart.py', 'src/shop/cart.ts'],
  ['src/test/java/CartTest.java', 'src/shop/cart.ts'],
  ['src/shop/prices.test.ts', 'src/shop/cart.ts'],
  ['tests/unit/ships.test.ts', 'tests/unit/tax.test.ts'],
  ['other/index.test.ts', null],
  ['a.py', null],
] as const)
  test(`of ${file}, the nearest changed file is ${near}`, () => {
    const found = nearnessOf(file, CHANGED);
    expect(found.file).toBe(near);
    expect(found.factor > 1).toBe(near !== null);
  });

test('without its file, or without changed files, nothing is said', () => {
  expect(nearnessOf(null, CHANGED).factor).toBe(1);
  expect(nearnessOf('', CHANGED).factor).toBe(1);
  expect(nearnessOf('tests/a.test.ts', []).factor).toBe(1);
});

test('the test itself counts more than one of the same name, and that more than a neighbour', () => {
  const factors = ['tests/unit/tax.test.ts', 'e2e/cart.spec.ts', 'src/shop/prices.test.ts', 'other/x.test.ts'].map(
    (file) => nearnessOf(file, CHANGED).factor,
  );
  expect(factors).toEqual(factors.toSorted((one, other) => other - one));
  expect(new Set(factors).size).toBe(4);
});

test('a test that is far is no less likely a victim where another that failed with it is near', () => {
  expect(nearnessTogether(0.7, [0.7, 6])).toBe(1);
  expect(nearnessTogether(0.7, [0.7, 0.7])).toBe(0.7);
  expect(nearnessTogether(0.7, [])).toBe(0.7);
  expect(nearnessTogether(4, [6])).toBe(4);
});
