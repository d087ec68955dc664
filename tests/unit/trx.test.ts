import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { parseSeconds } from '../../src/formats/time.ts';
import { trx } from '../../src/formats/trx/format.ts';
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

const failed = (name: string, id = '1') => `<UnitTestResult testId="${id}" testName="${name}" outcome="Failed"/>`;
const summaryOf = (inside: string, more = '') => `<ResultSummary outcome="Failed" ${more}>${inside}</ResultSummary>`;
const errorsOf = (...texts: string[]) =>
  `<RunInfos>${texts.map((text) => `<RunInfo outcome="Error"><Text>${text}</Text></RunInfo>`).join('')}</RunInfos>`;
const warningsOf = async (results: string, summary: string, definitions = '') =>
  (
    await parse(
      trx,
      `<TestRun><Results>${results}</Results><TestDefinitions>${definitions}</TestDefinitions>${summary}</TestRun>`,
    )
  ).warnings;

describe('errors of a run', () => {
  const pays = failed('Shop.CartTests.Pays');
  test.each([
    ['of xUnit, about a failed test', '[xUnit.net 00:00:00.41]     Shop.CartTests.Pays [FAIL]'],
    [
      'of xUnit, with its message',
      '[xUnit.net 00:00:00.41]     Shop.CartTests.Pays [FAIL]\n[xUnit.net 00:00:00.41]       Assert.Equal() Failure\n[xUnit.net 00:00:00.41]       Expected: 3',
    ],
    ['of xUnit v3', '[xUnit.net 00:00:00.41]   Shop.CartTests.Pays [FAIL]'],
    ['of another adapter', 'Shop.CartTests.Pays [FAIL]'],
    [
      'by the test platform',
      "Exit code indicates failure: '2'. Please refer to https://aka.ms/testingplatform/exitcodes",
    ],
  ])('%s, say nothing that the results do not say', async (_, text) => {
    expect(await warningsOf(pays, summaryOf(errorsOf(text)))).toEqual([]);
  });
  test('of xUnit, about a row whose name has a line break, neither', async () => {
    const row = failed('Shop.CartTests.Splits(text: &quot;a&#10;b&quot;)');
    const error = errorsOf('[xUnit.net 00:00:00.41]     Shop.CartTests.Splits(text: &quot;a\\nb&quot;) [FAIL]');
    expect(await warningsOf(row, summaryOf(error))).toEqual([]);
  });
  test('of NUnit, about a fixture whose set-up fails its tests, neither', async () => {
    const definitions = '<UnitTest id="1"><TestMethod className="Shop.CartTests" name="Pays"/></UnitTest>';
    const setUp = errorsOf('SetUp failed for test fixture Shop.CartTests');
    expect(await warningsOf(failed('Pays'), summaryOf(setUp), definitions)).toEqual([]);
  });
  test.each([
    ['a test that has no failed result', '[xUnit.net 00:00:00.41]     Shop.CartTests.Ships [FAIL]'],
    ['a crash', 'The active test run was aborted. Reason: Test host process crashed'],
    ['a catastrophe', '[xUnit.net 00:00:01.02]     Catastrophic failure: System.InvalidOperationException'],
    ['a failure and a crash', '[xUnit.net 00:00:00.41]     Shop.CartTests.Pays [FAIL]\nTest host process crashed'],
    ['a teardown', 'TearDown failed for test fixture Shop.CartTests'],
    ['another exit code', "Exit code indicates failure: '7'."],
  ])('%s stays trouble', async (_, text) => {
    expect(await warningsOf(pays, summaryOf(errorsOf(text)))).toEqual([
      expect.stringContaining('The test run reports an error: '),
    ]);
  });
});

describe('a summary', () => {
  const passed = '<UnitTestResult testName="Adds" outcome="Passed"/>';
  test.each([
    ['total="3" failed="2"', 'The report counts 2 failed results and holds 0.'],
    ['total="1" failed="0" timeout="1"', 'The report counts 1 failed results and holds 0.'],
    ['total="3" failed="0"', 'The report counts 3 results and holds 1.'],
  ])('that counts what the report does not hold is trouble: %s', async (counters, warning) => {
    expect(await warningsOf(passed, summaryOf(`<Counters ${counters}/>`))).toEqual([warning]);
  });
  test('that agrees is none', async () => {
    const results = passed + failed('Pays');
    expect(await warningsOf(results, summaryOf('<Counters total="2" failed="1"/>'))).toEqual([]);
  });
  test('of a run that did not end is trouble', async () => {
    expect(await warningsOf(passed, '<ResultSummary outcome="Aborted"/>')).toEqual([
      'The test run did not come to its end: its outcome is Aborted.',
    ]);
  });
});

test.each([
  ['Shop.CartTests, Shop.Tests, Version=1.0.0.0', 'Shop.CartTests'],
  ['Shop.CartTests("EUR",2)', 'Shop.CartTests("EUR",2)'],
  ['Shop.CartTests("EUR",2), Shop.Tests, Version=1.0.0.0', 'Shop.CartTests("EUR",2)'],
  ['Shop.CartTests("a)b, \\"c",\',\')', 'Shop.CartTests("a)b, \\"c",\',\')'],
  ['Shop.Box`2[[System.Int32, mscorlib],[A, b]], Shop.Tests', 'Shop.Box`2[[System.Int32, mscorlib],[A, b]]'],
  ['Shop.CartTests&lt;Int32,String&gt;', 'Shop.CartTests<Int32,String>'],
  ["Shop.O'Brien, Shop.Tests", "Shop.O'Brien"],
])('the class %s is %s', async (written, className) => {
  const definitions = `<UnitTest id="1"><TestMethod className="${written.replaceAll('"', '&quot;')}" name="Pays"/></UnitTest>`;
  const upload = await parse(trx, runOf(resultOf('testId="1" testName="Pays" outcome="Passed"'), definitions));
  expect(executionsOf(upload)[0]?.name).toBe(`${className}.Pays`);
});

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
