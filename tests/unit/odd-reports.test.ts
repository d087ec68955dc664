/** Reports that say less, or something else, than they seem to: what of it counts, and what the receipt says. */
import { describe, expect, test } from 'bun:test';
import { goTest } from '../../src/formats/go-test/format.ts';
import { parseSeconds } from '../../src/formats/time.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { executionOfCase, executionsOf, parseXml, RUN, statusesOf } from '../support/parsing.ts';

const warningsOf = async (xml: string): Promise<string[]> => (await parseXml(xml)).warnings;
const named = (name: string): string => `<testsuite><testcase name="${name}"/></testsuite>`;

describe('a status without a child element', () => {
  test.each([
    ['status="failed"', 'failed'],
    ['status="FAILED"', 'failed'],
    ['status="error"', 'failed'],
    ['result="failure"', 'failed'],
    ['status="skipped"', 'skipped'],
    ['status="ignored"', 'skipped'],
    ['status="run" result="suppressed"', 'skipped'],
    ['status="notrun"', 'skipped'],
    ['status="run" result="completed"', 'passed'],
    ['status="passed"', 'passed'],
    ['status="timedout"', 'failed'],
    ['status="timed out"', 'failed'],
    ['status="Timed-Out"', 'failed'],
    ['status="TIMED_OUT"', 'failed'],
    ['status="crashed"', 'failed'],
    ['status="aborted"', 'failed'],
    ['status="broken"', 'failed'],
    ['status="Failed:Error"', 'failed'],
    ['result="Cancelled"', 'failed'],
    ['outcome="unexpected"', 'failed'],
    ['status="passed" result="failed"', 'failed'],
    ['status="run" result="skipped"', 'skipped'],
    ['status="inconclusive"', 'skipped'],
    ['status="pending"', 'skipped'],
    ['status="skip"', 'skipped'],
    ['status="Not Executed"', 'skipped'],
    ['status="blocked"', 'skipped'],
    ['status="todo"', 'skipped'],
    ['status="ok"', 'passed'],
    ['status="Succeeded"', 'passed'],
    ['status=""', 'passed'],
  ] as const)('%s: %s', async (attributes, status) => {
    expect((await executionOfCase(`<testcase name="t" ${attributes}/>`)).status).toBe(status);
  });
  test('in a word that is not known is a warning, once for each word', async () => {
    const cases = ['gloomy', 'gloomy', 'odd', 'passed'].map((word, i) => `<testcase name="t${i}" status="${word}"/>`);
    const upload = await parseXml(`<testsuite>${cases.join('')}</testsuite>`);
    expect(upload.warnings).toEqual([
      'The status gloomy is not known. Tests that have it count as passed.',
      'The status odd is not known. Tests that have it count as passed.',
    ]);
    expect(executionsOf(upload)).toHaveLength(4);
  });
  test('what is to be done is skipped, whether it fails or not, and its suite is in order', async () => {
    const todo = '<skipped type="todo" message="true"/><failure message="not yet"/>';
    const upload = await parseXml(`<testsuite failures="1"><testcase name="t">${todo}</testcase></testsuite>`);
    expect(executionsOf(upload)).toMatchObject([{ status: 'skipped', failures: [] }]);
    expect(upload.warnings).toEqual([]);
    const skipped = '<skipped type="pytest.skip" message="no"/><error message="failed on teardown"/>';
    expect((await executionOfCase(`<testcase name="t">${skipped}</testcase>`)).status).toBe('failed');
  });
  test('a child element says it better', async () => {
    expect((await executionOfCase('<testcase name="t" status="failed"><skipped/></testcase>')).status).toBe('skipped');
    const flaky = await executionOfCase('<testcase name="t" status="failed"><flakyFailure/></testcase>');
    expect(flaky).toMatchObject({ status: 'passed', isFlaky: true });
  });
});

describe('a report with trouble and without tests that have it', () => {
  test('an error or failure of a suite is a warning with its message', async () => {
    const upload = await parseXml(
      '<testsuites><testsuite name="a" errors="1"><error message="cannot import b"/><testcase name="t"/></testsuite><testsuite name="c" failures="1"><failure>line one\nline two</failure></testsuite></testsuites>',
    );
    expect(statusesOf(upload)).toEqual({ t: 'passed' });
    expect(upload.warnings).toEqual([
      'The suite a reports an error outside of its tests: cannot import b',
      'The suite c reports an error outside of its tests: line one',
    ]);
  });
  test('a suite that counts failures and contains none is a warning, once and not for each suite around it', async () => {
    const inner = '<testsuite name="a" failures="2" errors="1"><testcase name="t"/></testsuite>';
    expect(await warningsOf(`<testsuites failures="2" errors="1">${inner}</testsuites>`)).toEqual([
      'The suite a counts 3 failures, but no test in it failed.',
    ]);
    expect(
      await warningsOf(
        '<testsuites failures="1"><testsuite failures="1"><testcase name="t"><failure/></testcase></testsuite></testsuites>',
      ),
    ).toEqual([]);
  });
  describe('that announces more than it has', () => {
    const one = '<testcase name="t"/>';
    const failed = '<testcase name="f"><failure/></testcase>';
    test.each([
      ['tests of a suite', `<testsuite name="a" tests="200">${one}</testsuite>`, 'announces 200 tests, but has only 1'],
      ['tests of the root', `<testsuites tests="9"><testsuite name="a" tests="1">${one}</testsuite></testsuites>`, '9'],
      ['failures beside one that is there', `<testsuite name="a" failures="3">${failed}</testsuite>`, 'but has only 1'],
      [
        'tests of a suite that says nothing of skipped ones, beside a skipped one that is there',
        `<testsuites tests="3" skipped="1"><testsuite name="a" tests="2">${one}</testsuite><testsuite name="b" tests="1"><testcase name="s"><skipped/></testcase></testsuite></testsuites>`,
        'announces 2 tests, but has only 1',
      ],
      ['failures and errors', `<testsuite name="a" failures="1" errors="1">${failed}</testsuite>`, 'counts 2 failures'],
    ])('has a warning: %s', async (_, xml, said) => {
      expect(await warningsOf(xml)).toEqual([expect.stringContaining(said)]);
    });
    test('has one, not one for each suite around it', async () => {
      const inner = `<testsuite name="a" tests="5" failures="2">${failed}</testsuite>`;
      const around = `<testsuite name="b" tests="5" failures="2">${inner}</testsuite>`;
      expect(await warningsOf(`<testsuites tests="5" failures="2">${around}</testsuites>`)).toEqual([
        'The suite a counts 2 failures, but has only 1.',
        'The suite a announces 5 tests, but has only 1: the others may not have run.',
      ]);
    });
    const caseOf = (body: string): string => `<testcase name="t">${body}</testcase>`;
    test.each([
      ['skipped tests that are not written', `<testsuite tests="9" skipped="5" disabled="3">${one}</testsuite>`],
      [
        'skipped tests that are not written in the root only, as mocha-junit-reporter and Cypress do',
        `<testsuites tests="3" skipped="2"><testsuite tests="2">${one}</testsuite><testsuite tests="1"/></testsuites>`,
      ],
      ['attempts as tests', `<testsuite tests="3">${caseOf('<flakyFailure/><flakyError/>')}</testsuite>`],
      ['attempts as failures', `<testsuite failures="2">${caseOf('<failure/><rerunFailure/>')}</testsuite>`],
      ['two failures of one test', `<testsuite failures="1" errors="1">${caseOf('<failure/><error/>')}</testsuite>`],
      ['an error outside of tests', `<testsuite errors="1"><error message="x"/>${one}</testsuite>`],
      ['a suite in it as a test', `<testsuite name="a" tests="2"><testsuite tests="0"/>${one}</testsuite>`],
      ['assertions, as Catch2 does', `<testsuite tests="40" hostname="tbd">${one}</testsuite>`],
      ['assertions, as doctest does', `<testsuite tests="40"><testcase name="t" status="run"/></testsuite>`],
    ])('is not one that counts %s', async (_, xml) => {
      expect((await warningsOf(xml)).filter((warning) => /announces|counts/.test(warning))).toEqual([]);
    });
    test('GoogleTest counts tests, although it says "run" of them as doctest does', async () => {
      const xml = '<testsuite tests="40" disabled="0" time="1"><testcase name="t" status="run"/></testsuite>';
      expect(await warningsOf(xml)).toEqual([expect.stringContaining('announces 40 tests')]);
    });
  });
  test('a report without tests is a warning, in any format', async () => {
    const message = ['The report contains no test.'];
    expect(await warningsOf('<testsuites/>')).toEqual(message);
    expect((await parseReport(trx, Buffer.from('<TestRun/>'), { run: RUN, reportName: 'r' })).warnings).toEqual(
      message,
    );
  });
  test('many of them are a few warnings', async () => {
    const suites = '<testsuite name="a" errors="1"><error/></testsuite><testsuite name="b" errors="1"/>'.repeat(50);
    expect((await warningsOf(`<testsuites>${suites}</testsuites>`)).length).toBeLessThanOrEqual(11);
  });
});

describe('bytes that are not of the encoding', () => {
  const bytesOf = (name: Buffer, rest = ''): Buffer =>
    Buffer.concat([Buffer.from('<testsuite><testcase name="'), name, Buffer.from(`"/>${rest}</testsuite>`)]);
  test('never make one test of two: those tests are refused, and the others are kept', async () => {
    const upload = await parseXml(
      Buffer.concat([
        bytesOf(Buffer.from([0x61, 0xe4])).subarray(0, -12),
        bytesOf(Buffer.from([0x61, 0xf6]), '<testcase name="ok"/>').subarray(11),
      ]),
    );
    expect(statusesOf(upload)).toEqual({ ok: 'passed' });
    expect(upload.rejections).toMatchObject([{ reason: 'the test name holds bytes that are not utf-8', count: 2 }]);
    expect(upload.warnings).toEqual(['The report holds bytes that are not utf-8. They are replaced by U+FFFD.']);
  });
  test('in a message are replaced, with a warning', async () => {
    const failure = Buffer.concat([
      Buffer.from('<testsuite><testcase name="t"><failure>sp'),
      Buffer.from([0xe4]),
      Buffer.from('t</failure></testcase></testsuite>'),
    ]);
    const upload = await parseXml(failure);
    expect(executionsOf(upload)[0]?.failures[0]?.stacktrace).toBe('sp\uFFFDt');
    expect(upload.warnings).toHaveLength(1);
  });
  test('are noticed in lines of JSON, too', async () => {
    const line = Buffer.from('{"Action":"pass","Package":"p","Test":"TX"}\n{"Action":"pass","Package":"p"}\n');
    line[line.indexOf('X')] = 0xe4;
    const upload = await parseReport(goTest, line, { run: RUN, reportName: 'r' });
    expect(upload.rejections).toMatchObject([{ reason: 'the test name holds bytes that are not utf-8', count: 1 }]);
  });
  test('U+FFFD that the report itself contains is a character like any other', async () => {
    expect(statusesOf(await parseXml(named('a\uFFFDb')))).toEqual({ 'a\uFFFDb': 'passed' });
  });
  test('a declared encoding is read as such, and an unknown one is refused with a sentence', async () => {
    const latin = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>'),
      bytesOf(Buffer.from([0x61, 0xe4])),
    ]);
    expect(statusesOf(await parseXml(latin))).toEqual({ aä: 'passed' });
    await expect(parseXml(`<?xml version="1.0" encoding="klingon"?>${named('t')}`)).rejects.toThrow(
      'declares the encoding "klingon", which is not known',
    );
  });
  test('UTF-16 is recognised without a byte order mark, in both orders', async () => {
    const little = Buffer.from(named('spät'), 'utf16le');
    expect(statusesOf(await parseXml(little))).toEqual({ spät: 'passed' });
    expect(statusesOf(await parseXml(Buffer.from(little).swap16()))).toEqual({ spät: 'passed' });
  });
});

describe('entities', () => {
  test('of HTML are read, unknown ones stay as they are, and nothing after them is lost', async () => {
    const [execution] = executionsOf(
      await parseXml(
        '<testsuite><testcase name="t"><failure>a&nbsp;b &hellip; &unknown; &lt;c&gt;</failure></testcase></testsuite>',
      ),
    );
    expect(execution?.failures[0]?.stacktrace).toBe('a\u00a0b … &unknown; <c>');
  });
  test('in names make different tests', async () => {
    const upload = await parseXml(
      '<testsuite><testcase name="&foo;"/><testcase name="&bar;"/><testcase name="&eacute;"/></testsuite>',
    );
    expect(statusesOf(upload)).toEqual({ '&foo;': 'passed', '&bar;': 'passed', é: 'passed' });
  });
});

test.each([
  ['1.234,5', 1234.5],
  ['1,234.5', 1234.5],
  ['1,234', 1234],
  ['1.234', 1.234],
  ['1.234.567,8', 1234567.8],
  ['1.234.567', 1234567],
  ["1'234.5", 1234.5],
  ['1 234,5', 1234.5],
  ['0,25', 0.25],
  ['PT1.5S', 1.5],
  ['PT1M1.5S', 61.5],
  ['PT2H', 7200],
  ['00:00:01.5', 1.5],
  ['01:02:03,5', 3723.5],
  ['01:30', 90],
  ['15ms', 0.015],
  ['15 ms', 0.015],
  ['1.5s', 1.5],
  ['1e-05', 1e-5],
  ['', 0],
  ['PT', 0],
  ['-1', 0],
  ['later', 0],
  [`1${'0'.repeat(1_000)}`, 0],
  ['1m 3s', 63],
  ['1m3.5s', 63.5],
  ['1h2m3s', 3723],
  ['1 min 3 sec', 63],
  ['1 minute, 3 seconds', 63],
  ['1 Min. 3 Sek.', 63],
  ['2 hours and 5 minutes', 7500],
  ['1d 2h', 93_600],
  ['350\u00b5s', 0.00035],
  ['350\u03bcs', 0.00035],
  ['350us', 0.00035],
  ['1.5 \u00b5s', 0.0000015],
  ['900ns', 9e-7],
  ['1,234.5 ms', 1.2345],
  ['1.234,5 ms', 1.2345],
  ['0,25 s', 0.25],
  ['1:02:03', 3723],
  ['1.02:03:04.5', 93_784.5],
  ['P1DT2H', 93_600],
  ['P', 0],
  ['5 parsecs', 0],
  ['5 parsecs 3 s', 0],
  ['1m 3', 0],
  ['3s later', 0],
  ['ms', 0],
])('a time of %j is %d seconds', (text, seconds) => {
  expect(parseSeconds(text)).toBeCloseTo(seconds, 9);
});

test.each([
  ['<testrun name="x" tests="7"><testsuite/></testrun>', 'an export of Eclipse or IntelliJ'],
  ['<test-run/>', 'in the format NUnit XML, which has its own address, …/nunit'],
  ['<assemblies/>', 'in the format xUnit.net XML, which has its own address, …/xunit'],
  ['<TestRun/>', 'TRX, which has its own address, …/trx'],
  ['<html/>', 'a web page'],
])('%s is refused with a hint what it is', async (xml, hint) => {
  await expect(parseXml(xml)).rejects.toThrow(hint);
});
