import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { parseSeconds } from '../../src/formats/time.ts';
import { executionsOf, fixtureBytes } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

describe('a report of dotnet test with MSTest', async () => {
  const reported = await parseFixture(trx, 'vstest-mstest.trx');
  test('every test, and every row of a data-driven one, is an execution', () => {
    expect(outcomesOf(reported)).toEqual({
      'Shop.CartTests.AddsAnItem': 'passed',
      'Shop.CartTests.SumsTheTotal': 'failed',
      'Shop.CartTests.IsEmptied': 'failed',
      'Shop.CartTests.SurvivesARestart': 'skipped',
      'Shop.PriceTests.Rounds (0.4,0)': 'passed',
      'Shop.PriceTests.Rounds (0.5,1)': 'failed',
    });
    expect(reported.runs[0]?.run).toMatchObject({ framework: 'mstest', language: null });
  });
  test('time, duration and function are those of the test', () => {
    expect(executionNamed(reported, 'Shop.CartTests.AddsAnItem')).toMatchObject({
      durationSeconds: 0.0123,
      finishedAtMs: Date.parse('2026-11-21T09:00:01.012Z'),
      function: 'AddsAnItem',
      failures: [],
    });
  });
  test('a failure has its message and stack trace, and its type where the message names it', () => {
    expect(executionNamed(reported, 'Shop.CartTests.SumsTheTotal').failures).toEqual([
      {
        attempt: 1,
        type: null,
        message: 'Assert.AreEqual failed. Expected:<3>. Actual:<2>.',
        stacktrace: 'at Shop.CartTests.SumsTheTotal() in /home/me/shop/CartTests.cs:line 21',
      },
    ]);
    expect(executionNamed(reported, 'Shop.CartTests.IsEmptied').failures).toMatchObject([
      { type: 'System.InvalidOperationException', message: 'The cart is locked' },
    ]);
  });
  test('an error of the run is a warning', () => {
    expect(reported.warnings).toEqual([
      'The test run reports an error: The active test run was aborted. Reason: Test host process crashed',
    ]);
  });
  test('as UTF-8 with a byte order mark or as UTF-16 it is the same', async () => {
    const text = Buffer.from(await fixtureBytes('trx/vstest-mstest.trx')).toString();
    const utf16 = `\ufeff${text.replace('encoding="utf-8"', 'encoding="utf-16"')}`;
    for (const body of [
      Buffer.from(`\ufeff${text}`),
      Buffer.from(utf16, 'utf16le'),
      Buffer.from(utf16, 'utf16le').swap16(),
    ])
      expect(await parse(trx, body)).toEqual(reported);
  });
  test('its times are shifted to where the tests began', async () => {
    const startedAtMs = Date.parse('2030-01-01T00:00:00Z');
    const upload = await parse(trx, await fixtureBytes('trx/vstest-mstest.trx'), { startedAtMs });
    expect(executionNamed(upload, 'Shop.CartTests.SumsTheTotal').finishedAtMs).toBe(startedAtMs + 2_500);
  });
});

describe('reports of others', () => {
  test('xUnit writes the class into the name; a display name gets it in front', async () => {
    const upload = await parseFixture(trx, 'testing-platform-xunit.trx');
    expect(outcomesOf(upload)).toEqual({
      'Shop.CartTests.Adds(quantity: 1)': 'passed',
      'Shop.CartTests.Adds(quantity: 2)': 'failed',
      'Shop.CartTests.an empty cart costs nothing': 'skipped',
    });
    expect(executionNamed(upload, 'Shop.CartTests.Adds(quantity: 2)').failures).toMatchObject([
      {
        type: 'System.ArgumentOutOfRangeException',
        message: "Specified argument was out of the range of valid values. (Parameter 'quantity')",
      },
    ]);
  });
  test('Visual Studio defines tests first, and knows more outcomes', async () => {
    const upload = await parseFixture(trx, 'visual-studio.trx');
    expect(executionsOf(upload).map(({ name, status, durationSeconds }) => [name, status, durationSeconds])).toEqual([
      ['Shop.Tests.OrderTests.Passes', 'passed', 93_784.5],
      ['Shop.Tests.OrderTests.Hangs', 'failed', 30],
      ['Shop.Tests.OrderTests.IsAborted', 'failed', 0],
      ['Shop.Tests.OrderTests.CannotTell', 'skipped', 0.01],
      ['Shop.Tests.OrderTests.CannotStart', 'failed', 0.02],
      ['Shop.Tests.OrderTests.CannotRun', 'skipped', 0],
      ['Shop.Tests.OrderTests.Passes', 'passed', 1],
      ['smoke.cmd', 'failed', 2],
    ]);
    expect(new Set(keysOf(upload)).size).toBe(8);
    expect(executionsOf(upload)[1]?.finishedAtMs).toBe(Date.parse('2026-11-21T09:00:40Z'));
    expect(executionsOf(upload)[2]?.finishedAtMs).toBeNull();
    expect(executionsOf(upload)[4]?.failures).toMatchObject([
      { type: 'System.TypeLoadException', message: "Could not load type 'Shop.Order'." },
    ]);
  });
  test('rows beside their data-driven test count, and the test does not', async () => {
    const upload = await parse(
      trx,
      '<TestRun><Results><UnitTestResult executionId="a" testName="T" outcome="Failed"/><UnitTestResult parentExecutionId="a" testName="T (1)" outcome="Passed"/></Results></TestRun>',
    );
    expect(outcomesOf(upload)).toEqual({ 'T (1)': 'passed' });
  });
  test.each([
    ['00:00:00.0123456', 0.0123456],
    ['1.02:03:04.5', 93_784.5],
    ['100:00:00', 360_000],
    ['00:00:01', 1],
    ['soon', 0],
    ['', 0],
    [undefined, 0],
  ])('a duration of %s is %d s', (text, seconds) => expect(parseSeconds(text)).toBeCloseTo(seconds, 9));
});

const resultOf = (attributes: string, inside = ''): string =>
  `<UnitTestResult ${attributes}>${inside}</UnitTestResult>`;
const runOf = (results: string, definitions = ''): string =>
  `<TestRun><Results>${results}</Results><TestDefinitions>${definitions}</TestDefinitions></TestRun>`;

describe('reports that break off', () => {
  const definitions =
    '<UnitTest id="1"><TestMethod className="C" name="a"/></UnitTest><UnitTest id="2"><TestMethod className="C" name="b"/></UnitTest>';
  const whole = runOf(
    resultOf('testId="1" testName="a" outcome="Passed"') + resultOf('testId="2" testName="b" outcome="Passed"'),
    definitions,
  );
  test('within the definitions keep the results whose tests are defined', async () => {
    const upload = await parse(trx, whole.slice(0, whole.indexOf('<UnitTest id="2">')));
    expect(outcomesOf(upload)).toEqual({ 'C.a': 'passed' });
    expect(upload.warnings).toEqual([
      'The report is cut short at line 1 within <TestDefinitions>. The 1 before it is kept; what followed is lost.',
      '1 more result cannot be kept: the report breaks off before it names the class.',
    ]);
  });
  test('within the results keep none, because their names would be wrong', async () => {
    const upload = await parse(trx, whole.slice(0, whole.indexOf('testName="b"')));
    expect(executionsOf(upload)).toEqual([]);
    expect(upload.warnings).toHaveLength(2);
  });
});

describe('hostile reports', () => {
  test.each([
    ['empty', '', 'it holds no element'],
    ['JSON', '{}', 'it is not well-formed XML'],
    ['a JUnit report', '<testsuites/>', 'its root is <testsuites>, not <TestRun>'],
    ['a DTD', '<!DOCTYPE TestRun [<!ENTITY a "a">]><TestRun/>', 'it has a document type declaration (DTD)'],
  ])('%s is refused with a sentence', async (_, body, why) => {
    const error = await refusalOf(trx, body);
    expect(error).toBeInstanceOf(InvalidUpload);
    expect(String(error)).toContain(`The body is not a TRX report: ${why}`);
  });
  test('more tests than an upload may hold are refused whole', async () => {
    const body = runOf(resultOf('testName="a" outcome="Passed"').repeat(11));
    await expect(parse(trx, body, { executionsMax: 10 })).rejects.toThrow(UploadTooLarge);
  });
  test('results without a name or with an unknown outcome are refused alone', async () => {
    const upload = await parse(
      trx,
      runOf(
        resultOf('outcome="Passed"') +
          resultOf('testName="a" outcome="Great"') +
          resultOf('testName="b" outcome="toString"') +
          resultOf('testName="c" outcome="Passed"'),
      ),
    );
    expect(outcomesOf(upload)).toEqual({ c: 'passed' });
    expect(upload.rejections).toEqual([
      { reason: 'the result has an unknown outcome', count: 2, examples: ['a', 'b'] },
      { reason: 'the result has no test name', count: 1, examples: [] },
    ]);
  });
  test('the same ids and names again are separate executions, and the first definition counts', async () => {
    const result = resultOf('executionId="e" testId="1" testName="a" outcome="Passed"');
    const definition = (name: string) => `<UnitTest id="1"><TestMethod className="${name}" name="a"/></UnitTest>`;
    const upload = await parse(trx, runOf(result.repeat(3), definition('First') + definition('Second')));
    expect(executionsOf(upload).map(({ name }) => name)).toEqual(['First.a', 'First.a', 'First.a']);
    expect(new Set(keysOf(upload)).size).toBe(3);
  });
  test('NUL and half a surrogate pair in a name refuse that test; in a message they are replaced', async () => {
    for (const name of ['a&#0;', 'a&#xD800;', 'a\0']) {
      const results = [resultOf(`testName="${name}" outcome="Passed"`), resultOf('testName="fine" outcome="Passed"')];
      const { runs, rejections } = await parse(trx, runOf(results.join('')));
      expect(runs[0]?.executions.map((one) => one.name)).toEqual(['fine']);
      expect(rejections).toMatchObject([
        { reason: expect.stringMatching(/^the test name holds (?:a NUL|half)/), count: 1 },
      ]);
    }
    const message = '<Output><ErrorInfo><Message>a\0b</Message></ErrorInfo></Output>';
    const upload = await parse(trx, runOf(resultOf('testName="a" outcome="Failed"', message)));
    expect(executionsOf(upload)[0]?.failures[0]?.message).toBe('a\uFFFDb');
  });
});
