import { describe, expect, test } from 'bun:test';
import { ctrf } from '../../src/formats/ctrf/format.ts';
import { executionsOf } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

describe('a report of Jest', async () => {
  const upload = await parseFixture(ctrf, 'jest-30.json');
  test('has its tests, named with their files', () => {
    expect(executionsOf(upload).map(({ name, status, isFlaky }) => [name, isFlaky ? 'flaky' : status])).toEqual([
      ['cart.test.js › Cart totals adds', 'passed'],
      ['cart.test.js › Cart totals sums', 'failed'],
      ['cart.test.js › Cart pays the second time', 'flaky'],
      ['cart.test.js › Cart skips', 'skipped'],
      ['cart.test.js › Cart is to be done', 'skipped'],
      ['cart.test.js › Cart row 1', 'passed'],
      ['cart.test.js › Cart row 2', 'failed'],
      ['courier.test.js › works', 'passed'],
      ['courier.test.js › works', 'passed'],
    ]);
    expect(upload.warnings).toEqual([]);
    expect(upload.runs[0]?.run).toMatchObject({ framework: 'jest', framework_version: null });
    expect(new Set(keysOf(upload)).size).toBe(9);
  });
  test('a failure has its type, message and trace, and tests without a time stand one after the other', () => {
    expect(executionNamed(upload, 'cart.test.js › Cart totals sums')).toMatchObject({
      finishedAtMs: 1795818487921 + 17,
      durationSeconds: 0.004,
      filepath: '/home/me/shop/js/cart.test.js',
      function: 'Cart totals sums',
      isRetried: true,
      failures: [
        {
          attempt: 1,
          type: 'Error',
          message: 'expect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: 1',
        },
      ],
    });
  });
});

describe('a report of pytest', async () => {
  const upload = await parseFixture(ctrf, 'pytest-9.2.json');
  test('has its tests, named as they are', () => {
    expect(outcomesOf(upload)).toEqual({
      'test_cart.py::TestCart::test_adds': 'passed',
      'test_cart.py::TestCart::test_rows[1-a]': 'passed',
      'test_cart.py::TestCart::test_rows[2-b]': 'failed',
      'test_cart.py::TestCart::test_pays': 'flaky',
      'test_cart.py::TestCart::test_ships': 'failed',
      'test_cart.py::TestCart::test_skips': 'skipped',
      'test_cart.py::TestCart::test_known': 'skipped',
      'test_cart.py::TestCart::test_title': 'passed',
      'test_cart.py::test_depot': 'failed',
      'test_cart.py::test_courier': 'failed',
    });
  });
  test('a test keeps the failures of all its attempts', () => {
    expect(executionNamed(upload, 'test_cart.py::TestCart::test_pays')).toMatchObject({
      isRetried: true,
      finishedAtMs: 1795818483478,
      failures: [{ attempt: 1, type: 'RuntimeError', message: 'no courier' }],
    });
    expect(executionNamed(upload, 'test_cart.py::TestCart::test_ships').failures).toMatchObject([
      { attempt: 1, type: 'AssertionError', message: 'never ships\nassert False' },
      { attempt: 2, type: 'AssertionError', message: 'never ships\nassert False' },
    ]);
  });
});

const report = (tests: readonly object[], results: object = {}): string =>
  JSON.stringify({ results: { tool: { name: 'x' }, ...results, tests } });

test.each([
  [undefined, 'works', 'works'],
  ['Cart > totals', 'adds', 'Cart › totals › adds'],
  [['Cart', 'totals'], 'Cart totals adds', 'Cart totals adds'],
  [['a.js', 'Cart', 'totals'], 'Cart > totals > adds', 'a.js › Cart > totals > adds'],
  [['Cart'], 'Cart', 'Cart › Cart'],
  [7, 'works', 'works'],
])('a test in %j called %j has the name %j', async (suite, name, expected) => {
  const upload = await parse(ctrf, report([{ name, status: 'passed', suite }]));
  expect(executionsOf(upload).map((one) => one.name)).toEqual([expected]);
});

test.each([
  [{ status: 'pending' }, 'skipped'],
  [{ status: 'other', rawStatus: 'timedOut' }, 'failed'],
  [{ status: 'passed', retries: 1 }, 'flaky'],
  [{ status: 'passed', retries: 1, flaky: false }, 'passed'],
  [{ status: 'passed', retries: 1, retryAttempts: [{ status: 'failed' }, { status: 'passed' }] }, 'flaky'],
  [{ status: 'passed', retries: 0, message: null, duration: null, retryAttempts: 'none' }, 'passed'],
])('%j is %s', async (fields, outcome) => {
  expect(outcomesOf(await parse(ctrf, report([{ name: 't', ...fields }])))).toEqual({ t: outcome });
});

test('the last attempt, where a reporter lists it as well, counts once', async () => {
  const attempts = [1, 2].map((attempt) => ({ attempt, status: 'failed', message: `E${attempt}` }));
  const failed = { name: 't', status: 'failed', message: 'E2', retries: 1, retryAttempts: attempts };
  const { failures } = executionNamed(await parse(ctrf, report([failed])), 't');
  expect(failures.map(({ message }) => message)).toEqual(['E1', 'E2']);
});

test('tests of one name in two browsers are two tests', async () => {
  const tests = ['chromium', 'webkit'].map((browser, i) => ({ name: 't', status: i ? 'failed' : 'passed', browser }));
  expect(outcomesOf(await parse(ctrf, report(tests)))).toEqual({
    '[chromium] › t': 'passed',
    '[webkit] › t': 'failed',
  });
});

test('counts that the report does not hold are trouble', async () => {
  const tests = [{ name: 't', status: 'passed' }];
  expect((await parse(ctrf, report(tests, { summary: { tests: 2, failed: 1 } }))).warnings).toEqual([
    'The report counts 1 failed test, and holds 0.',
  ]);
  expect((await parse(ctrf, report(tests, { summary: { tests: 2, failed: 0 } }))).warnings).toEqual([
    'The report counts 2 tests, and holds 1.',
  ]);
});

test('times in seconds are times as well', async () => {
  const upload = await parse(ctrf, report([{ name: 't', status: 'passed', start: 1795818483, duration: 500 }]));
  expect(executionNamed(upload, 't').finishedAtMs).toBe(1795818483500);
});

test('tests that cannot be read are rejected, the others are kept', async () => {
  const upload = await parse(
    ctrf,
    report([{ name: 't', status: 'other' }, { status: 'passed' }, { name: 'u', status: 'passed' }]),
  );
  expect(outcomesOf(upload)).toEqual({ u: 'passed' });
  expect(upload.rejections.map(({ reason }) => reason)).toEqual([
    'the test has a status that is not known',
    'the test is not described as CTRF does it',
  ]);
});

test.each([
  ['{"suites":[]}', 'it has no list results.tests'],
  ['{"results":{"tests":{}}}', 'it has no list results.tests'],
  ['', 'it is cut short at line 1'],
])('%s is refused with a sentence', async (body, why) => {
  expect(String(await refusalOf(ctrf, body))).toContain(`The body is not a CTRF JSON report: ${why}.`);
});
