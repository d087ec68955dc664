/** The line of a test's file that a stack names. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { failingLine } from '../../src/domain/failing-line.ts';

test.each([
  ['AssertionError: no\n    at src/cart.test.ts:12:5', 'src/cart.test.ts', 12],
  ['    at Object.<anonymous> (/home/runner/work/shop/src/cart.test.ts:12:5)', 'src/cart.test.ts', 12],
  ['  File "/app/tests/test_cart.py", line 12, in test_sums', 'tests/test_cart.py', 12],
  ['tests/test_cart.py:12: AssertionError', 'tests/test_cart.py', 12],
  ['\tat shop.CartTest.sums(CartTest.java:12)', 'src/test/java/shop/CartTest.java', 12],
  ['    cart_test.go:12: want 3', 'cart/cart_test.go', 12],
  ["spec/cart_spec.rb:12:in 'sums'", 'spec/cart_spec.rb', 12],
  ['   at Shop.CartTest.Sums() in C:\\shop\\CartTest.cs:line 12', 'CartTest.cs', 12],
  // Of another file with a longer name, and without a line.
  ['at old-cart.test.ts:7:1\nat cart.test.ts', 'src/cart.test.ts', null],
  ['at other.ts:7', 'src/cart.test.ts', null],
])('of %p in %s is %p', (stack, file, line) => {
  expect(failingLine(stack, file)).toBe(line);
});

test('is a line of a file or null, whatever the texts are', () => {
  fc.assert(
    fc.property(fc.option(fc.string({ unit: 'binary' })), fc.option(fc.string({ unit: 'binary' })), (stack, file) => {
      const line = failingLine(stack, file);
      expect(line === null || (Number.isInteger(line) && line > 0)).toBe(true);
    }),
  );
  expect(failingLine('a.ts:1\n'.repeat(1_000_000).replaceAll(':1', ''), 'a.ts')).toBeNull();
});
