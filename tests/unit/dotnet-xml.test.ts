/** The XML of NUnit and of xUnit.net, whose tests have the names that TRX gives them. */
import { describe, expect, test } from 'bun:test';
import { InvalidUpload } from '../../src/formats/errors.ts';
import { nunit } from '../../src/formats/nunit/format.ts';
import { xunit } from '../../src/formats/xunit/format.ts';
import { fixtureBytes } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

describe('NUnit 3', async () => {
  const reported = await parseFixture(nunit, 'nunit3-console.xml');
  test('every test, and every row of a parameterised one, is an execution', () => {
    expect(outcomesOf(reported)).toEqual({
      'Shop.CartTests.AddsAnItem': 'passed',
      'Shop.CartTests.SumsTheTotal': 'failed',
      'Shop.CartTests.IsEmptied': 'failed',
      'Shop.CartTests.SurvivesARestart': 'skipped',
      'Shop.CartTests.Rounds(0.5,1)': 'passed',
      'Shop.CourierTests.Ships': 'failed',
      'Shop.PriceTests.IsRounded': 'passed',
      'Shop.PriceTests.IsOdd': 'passed',
      'Shop.PriceTests.CannotTell': 'skipped',
    });
    expect(new Set(keysOf(reported)).size).toBe(9);
    expect(reported.runs[0]?.run).toMatchObject({ framework: 'nunit' });
  });
  test('time, function, message and stack trace are those of the test, and not of its assertions', () => {
    expect(executionNamed(reported, 'Shop.CartTests.SumsTheTotal')).toMatchObject({
      durationSeconds: 0.02,
      finishedAtMs: Date.parse('2026-11-21T09:30:00.240Z'),
      function: 'SumsTheTotal',
      failures: [
        {
          type: null,
          message: 'The total is wrong\n  Expected: 3\n  But was:  2',
          stacktrace: 'at Shop.CartTests.SumsTheTotal() in /home/me/shop/CartTests.cs:line 21',
        },
      ],
    });
    expect(executionNamed(reported, 'Shop.CartTests.IsEmptied').failures).toMatchObject([
      { type: 'System.InvalidOperationException', message: 'The cart is locked' },
    ]);
    expect(executionNamed(reported, 'Shop.CartTests.SurvivesARestart').finishedAtMs).toBeNull();
  });
  test('a tear-down that fails is a warning; a set-up that fails is told by the tests that it failed', () => {
    expect(reported.warnings).toEqual([
      'The suite Shop.PriceTests reports an error outside of its tests: TearDown : System.Exception : the file is in use',
    ]);
  });
  test('an assembly that cannot be loaded is a warning, and so are results that are counted and missing', async () => {
    const invalid =
      '<test-run total="0" failed="0"><test-suite type="Assembly" fullname="Shop.dll" runstate="NotRunnable" result="Failed" label="Invalid"><reason><message>Could not load Shop.dll</message></reason></test-suite></test-run>';
    expect((await parse(nunit, invalid)).warnings).toEqual([
      'The suite Shop.dll reports an error outside of its tests: Could not load Shop.dll',
    ]);
    const one = '<test-case fullname="a" result="Passed"/>';
    expect((await parse(nunit, `<test-run total="2" failed="1">${one}</test-run>`)).warnings).toEqual([
      'The report counts 1 failed tests and holds 0.',
    ]);
    expect((await parse(nunit, `<test-run total="2">${one}</test-run>`)).warnings).toEqual([
      'The report counts 2 tests and holds 1.',
    ]);
  });
  test('a test without a name or with an unknown result is rejected', async () => {
    const cases = '<test-case result="Passed"/><test-case fullname="a" result="Odd"/>';
    expect((await parse(nunit, `<test-run>${cases}</test-run>`)).rejections).toMatchObject([
      { reason: 'the test case has no name', count: 1 },
      { reason: 'the test case has an unknown result', count: 1 },
    ]);
  });
});

describe('xUnit.net', () => {
  test('version 2', async () => {
    const reported = await parseFixture(xunit, 'xunit-2.xml');
    expect(outcomesOf(reported)).toEqual({
      'Shop.CartTests.AddsAnItem': 'passed',
      'Shop.CartTests.Adds(quantity: 1)': 'passed',
      'Shop.CartTests.Adds(quantity: 2)': 'failed',
      'Shop.CartTests.an empty cart costs nothing': 'skipped',
    });
    expect(reported.runs[0]?.run).toMatchObject({ framework: 'xunit', framework_version: '2.9.2.0' });
    expect(reported.warnings).toEqual([
      'The test run reports an error: Shop.CourierTests: System.ObjectDisposedException : the courier is gone',
    ]);
    expect(executionNamed(reported, 'Shop.CartTests.Adds(quantity: 2)')).toMatchObject({
      durationSeconds: 0.1,
      finishedAtMs: Date.parse('2026-11-21T09:30:00.113Z'),
      function: 'Adds',
      failures: [{ type: 'Xunit.Sdk.EqualException', message: expect.stringMatching(/^Assert\.Equal\(\) Failure/) }],
    });
  });
  test('version 3 says when and where, and which tests did not run', async () => {
    const reported = await parseFixture(xunit, 'xunit-3.xml');
    expect(outcomesOf(reported)).toEqual({
      'Shop.CartTests.AddsAnItem': 'passed',
      'Shop.CartTests.SumsTheTotal': 'failed',
      'Shop.CartTests.IsSkipped': 'skipped',
      'Shop.CartTests.IsExplicit': 'skipped',
    });
    expect(reported.warnings).toEqual([]);
    expect(executionNamed(reported, 'Shop.CartTests.SumsTheTotal')).toMatchObject({
      filepath: '/home/me/shop/CartTests.cs',
      finishedAtMs: Date.parse('2026-11-21T09:30:01.200Z'),
      failures: [{ type: 'System.InvalidOperationException', message: 'The cart is locked' }],
    });
  });
  test('failures that are counted and missing are a warning', async () => {
    const upload = await parse(xunit, '<assembly total="1" failed="1"><test name="a" result="Pass"/></assembly>');
    expect(upload.warnings).toEqual(['The report counts 1 failed tests and holds 0.']);
  });
});

test.each([nunit, xunit])('$name: other XML is refused by its root, and left out of a folder', async (format) => {
  const refusal = await refusalOf(format, '<coverage/>');
  expect(refusal).toBeInstanceOf(InvalidUpload);
  expect(String(refusal)).toContain('a coverage report, which has no tests');
  expect(await format.isOther(Buffer.from('<coverage/>'))).toBe(true);
  const fixture = format === nunit ? 'nunit/nunit3-console.xml' : 'xunit/xunit-2.xml';
  expect(await format.isOther(await fixtureBytes(fixture))).toBe(false);
});
