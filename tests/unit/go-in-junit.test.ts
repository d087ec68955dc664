/** JUnit XML of Go's tests, as gotestsum and go-junit-report write it. */
import { expect, test } from 'bun:test';
import { parseXml, statusesOf } from '../support/parsing.ts';

const failing = (text: string, name = 'TestPays'): string =>
  `<testcase classname="shop/cart" name="${name}"><failure message="Failed">${text}</failure></testcase>`;
const suite = (inside: string, name = 'shop/cart'): string => `<testsuite name="${name}">${inside}</testsuite>`;
const warningsOf = async (text: string) => (await parseXml(suite(failing(text)))).warnings;

const STOPPED = ['The test shop/cart.TestPays ended its process: others may not have run.'];

test.each([
  [
    'a panic',
    '=== RUN   TestPays\n--- FAIL: TestPays (0.00s)\npanic: why [recovered]\n\npanic: why\n\ngoroutine 7 [running]:\n',
  ],
  ['a panic without other output', 'panic: why\n\ngoroutine 7 [running]:\n'],
  [
    'a fatal error',
    '=== RUN   TestPays\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n',
  ],
  ['an exit', '=== RUN   TestPays\nno database\n'],
])('%s keeps the other tests of a package from running, which is trouble', async (_, text) => {
  expect(await warningsOf(text)).toEqual(STOPPED);
});

test.each([
  ['a test that fails', '=== RUN   TestPays\n    cart_test.go:3: no\n--- FAIL: TestPays (0.00s)\n'],
  ['one that prints without a line break', '=== RUN   TestPays\n50% --- FAIL: TestPays (0.00s)\n'],
  ['one that says panic', 'cart_test.go:3: panic: not really\n'],
  ['one that prints its goroutine', '--- FAIL: TestPays (0.00s)\n    goroutine 7 [running]:\n'],
  ['one that prints so much that its end is cut', `=== RUN   TestPays\n${'x'.repeat(100_000)}\n--- FAIL: TestPays\n`],
])('%s is not', async (_, text) => {
  expect(await warningsOf(text)).toEqual([]);
});

test('a package that was not built is named, as in the output of go test', async () => {
  const broken = '<testcase classname="" name="TestMain"><failure>FAIL shop/cart [build failed]</failure></testcase>';
  expect(statusesOf(await parseXml(suite(broken)))).toEqual({ 'shop/cart.TestMain': 'failed' });
  expect(statusesOf(await parseXml(suite('<testcase classname="" name="works"/>')))).toEqual({ works: 'passed' });
});
