/** How long names of a split take: from listings of runners to what reports say of tests, classes and files. */
import { describe, expect, test } from 'bun:test';
import { namesAround, reportedNames } from '../../src/domain/split-names.ts';
import { type TimedGroup, type Times, timedNames } from '../../src/domain/split-times.ts';

const group = (file: string, className: string, seconds: number, tests = 1): TimedGroup => ({
  ...{ file, className, seconds, tests },
});
const timesOf = (groups: TimedGroup[], tests: Record<string, number> = {}): Times => ({
  groups,
  tests: new Map(Object.entries(tests)),
});
const millisecondsOf = (names: string[], by: 'file' | 'class' | 'test', times: Times) =>
  timedNames(names, by, times).names.map(({ ms }) => ms);

test.each([
  ['tests/test_cart.py::TestCart::test_rows[x/y.py::z]', 'tests.test_cart.TestCart.test_rows[x/y.py::z]'],
  ['tests/test_cart.py::test_pays', 'tests.test_cart.test_pays'],
  [
    '  [chromium] › cart.spec.ts:2:31 › Cart › costs 10:30 › net',
    '[chromium] › cart.spec.ts › Cart › costs 10:30 › net',
  ],
  ['cart.spec.ts:3:1 › empty', 'cart.spec.ts › empty'],
  ['Cart > totals > sums [a, b] with 10% tax', 'Cart > totals > sums [a, b] with 10% tax'],
])('the line %p of a listing is the test %p of reports', (line, name) => {
  expect(reportedNames(line)[0]).toBe(name);
  expect(reportedNames(line)).toContain(line);
});

test('around a test are its class, its module and its folders, and no part of its row', () => {
  expect(namesAround('tests.test_cart.TestCart.test_rows[a.b]')).toEqual([
    'tests.test_cart.TestCart',
    'tests.test_cart',
    'tests',
  ]);
  expect(namesAround('[chromium] › cart.spec.ts › Cart › adds')[0]).toBe('[chromium] › cart.spec.ts › Cart');
});

describe('by file', () => {
  test('a file takes as long as all its tests, whose paths in reports may begin at another folder', () => {
    const times = timesOf([
      group('src/cart.test.js', 'Cart', 2),
      group('src/cart.test.js', 'Cart totals', 3),
      group('/work/shop/src/pay.test.js', '', 7),
      group('deep\\down.test.js', '', 11),
    ]);
    const files = ['src/cart.test.js', './src/pay.test.js', 'packages/shop/deep/down.test.js'];
    expect(millisecondsOf(files, 'file', times)).toEqual([5_000, 7_000, 11_000]);
  });

  test('a path that ends like those of two files is neither', () => {
    const times = timesOf([
      group('a/index.test.js', '', 2),
      group('b/index.test.js', '', 4),
      group('c.test.js', '', 8),
    ]);
    expect(timedNames(['index.test.js', 'c.test.js'], 'file', times)).toMatchObject({
      known: 1,
      names: [{ ms: 8_000 }, { ms: 8_000 }],
    });
  });

  test('without paths in reports, the class of a test stands for its file', () => {
    const times = timesOf([
      group('', 'tests.test_cart', 1),
      group('', 'tests.test_cart.TestCart', 2),
      group('', 'tests.test_cart_more', 50),
      group('', 'com.acme.CartTest', 4),
      group('', 'com.acme.CartTest$Inner', 8),
      group('', 'com.other.CartTest', 100),
    ]);
    expect(millisecondsOf(['tests/test_cart.py', 'src/test/java/com/acme/CartTest.java'], 'file', times)).toEqual([
      3_000, 12_000,
    ]);
  });

  test('a new file takes the median of the others, and 1 s if nothing is known', () => {
    const times = timesOf([group('a.js', '', 2), group('b.js', '', 4), group('c.js', '', 90)]);
    expect(millisecondsOf(['a.js', 'b.js', 'c.js', 'new.js'], 'file', times)).toEqual([2_000, 4_000, 90_000, 4_000]);
    expect(timedNames(['a.js'], 'file', timesOf([]))).toEqual({ names: [{ name: 'a.js', ms: 1_000 }], known: 0 });
  });
});

test('by class: a class takes as long as all its tests, and a package of Go is one', () => {
  const times = timesOf([
    group('', 'example.com/shop/cart', 3, 2),
    group('', 'tests.test_cart.TestCart', 5, 2),
    group('a.py', 'tests.test_cart.TestCart', 1),
  ]);
  const names = ['example.com/shop/cart', 'tests/test_cart.py::TestCart', 'example.com/shop/new'];
  expect(millisecondsOf(names, 'class', times)).toEqual([3_000, 6_000, 3_000]);
});

test('by test: a new test takes the mean of its class, else of its file, else the median of the others', () => {
  const times = timesOf([group('', 'tests.test_cart.TestCart', 6, 3), group('', 'tests.test_cart', 20, 1)], {
    'tests.test_cart.TestCart.test_a': 1,
    'shop.pays': 9,
  });
  const names = [
    'tests/test_cart.py::TestCart::test_a',
    'shop.pays',
    'tests/test_cart.py::TestCart::test_new[1.5]',
    'tests/test_cart.py::TestOther::test_new',
    'elsewhere',
  ];
  expect(millisecondsOf(names, 'test', times)).toEqual([1_000, 9_000, 2_000, 6_500, 9_000]);
});

test('a name that takes no time counts as a millisecond', () => {
  expect(millisecondsOf(['a'], 'test', timesOf([], { a: 0 }))).toEqual([1]);
});
