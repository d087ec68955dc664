/** What a file is, by its content: the format of a report, or how to get one from the tool that wrote it. */
import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { InvalidUpload } from '../../src/formats/errors.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { formatOf, whatIs } from '../../src/formats/recognise.ts';
import { fixtureBytes } from '../support/parsing.ts';
import { refusalOf } from '../support/reports.ts';

const nameOf = async (body: string | Uint8Array): Promise<string | null> =>
  (await formatOf(typeof body === 'string' ? Buffer.from(body) : body))?.name ?? null;
const FIXTURES = new URL('../fixtures/', import.meta.url).pathname;

describe.each(FORMATS)('$name', ({ name, example }) => {
  test('is told by the example of the API document, and by every report of its tools', async () => {
    expect(await nameOf(example.text)).toBe(name);
    const files = readdirSync(FIXTURES).includes(name) ? readdirSync(FIXTURES + name) : [];
    for (const file of files) expect([file, await nameOf(await fixtureBytes(`${name}/${file}`))]).toEqual([file, name]);
  });
});

test.each([
  ['XML that is cut short', '<?xml version="1.0"?><testsuite name="a"><testcase na', 'junit'],
  ['lines of which the last is cut short', '{"Action":"run","Package":"p","Test":"T"}\n{"Action":"pa', 'go-test'],
  ['lines after other output', 'go: downloading x\n{"Action":"run","Package":"p","Test":"T"}\n', 'go-test'],
  ['JSON over several lines', JSON.stringify(JSON.parse(playwright.example.text), null, 2), 'playwright'],
  ['UTF-16', '\ufeff<TestRun/>', 'trx'],
  ['TAP after other output', '> shop@1.0.0 test\n\nTAP version 13\nok 1 - a\n1..1\n', 'tap'],
  ['JSON that is cut short', '{"suites":[{"tit', null],
  ['a package', '{"name":"shop","scripts":{"test":"bun test"}}', null],
  ['coverage', '<coverage line-rate="1"/>', null],
  ['nothing', '', null],
  ['text', 'nonsense', null],
])('%s', async (what, text, name) => {
  expect(await nameOf(what === 'UTF-16' ? Buffer.from(text, 'utf16le') : text)).toBe(name);
});

describe('reports that are not read', () => {
  test.each([
    ['mochawesome', '{"stats":{"suites":1,"passPercent":100},"results":[]}', 'mocha-junit-reporter'],
    ['pytest-json-report', '{"created":1,"exitcode":0,"root":"/a","summary":{"passed":1},"tests":[]}', '--junitxml'],
    ['Xcode', '{"devices":[],"testNodes":[],"testPlanConfigurations":[]}', 'xcbeautify --report junit'],
    [
      'Dart',
      '{"protocolVersion":"0.1.1","runnerVersion":"1.25.8","pid":1,"type":"start","time":0}\n{"type":"done"}\n',
      'tojunit',
    ],
    ['GoogleTest', '{"tests":1,"name":"AllTests","testsuites":[{"name":"Cart","testsuite":[]}]}', '--gtest_output=xml'],
    [
      'Newman',
      '{"collection":{"info":{"schema":"https://schema.getpostman.com/json"}},"run":{"executions":[]}}',
      '--reporters junit',
    ],
    ['Jest', '{"numFailedTests":0,"numTotalTestSuites":1,"testResults":[]}', 'jest-junit'],
    ['RSpec', '{"version":"3.13.0","examples":[],"summary_line":"1 example"}', 'RspecJunitFormatter'],
    ['Mocha', '{"stats":{"suites":1},"tests":[],"pending":[],"failures":[],"passes":[]}', '--reporter tap'],
    ['Catch2', '<?xml version="1.0"?><Catch2TestRun name="a"/>', '--reporter junit'],
    [
      'Open Test Reporting',
      '<e:events xmlns:e="https://schemas.opentest4j.org/reporting/events/0.1.0"/>',
      'Gradle or Maven',
    ],
    ['Boost.Test', '<TestLog/>', '--logger=JUNIT'],
    ['NUnit 2', '<test-results/>', '--logger trx'],
  ])('%s', async (_, text, advice) => {
    expect(await whatIs(Buffer.from(text))).toContain(advice);
    for (const format of [junit, playwright]) {
      const refusal = await refusalOf(format, text);
      expect(refusal).toBeInstanceOf(InvalidUpload);
      expect(String(refusal)).toContain(advice);
    }
  });
  test.each([
    ['mochawesome-8.1.json', 'a mochawesome report; write JUnit XML with the reporter mocha-junit-reporter'],
    ['mocha-12.json', 'a report of Mocha; write TAP with --reporter tap'],
    ['newman-6.2.json', 'a report of Newman; write JUnit XML with newman run --reporters junit'],
    [
      'pytest-json-report-1.5.json',
      'a report of pytest-json-report; write JUnit XML with pytest --junitxml=report.xml',
    ],
  ])('%s, which the tool wrote', async (file, advice) => {
    const report = await fixtureBytes(`foreign/${file}`);
    expect(await nameOf(report)).toBeNull();
    expect(await whatIs(report)).toStartWith(advice);
    for (const format of FORMATS.filter(({ mediaTypes }) => mediaTypes.some((type) => type.includes('json'))))
      expect(String(await refusalOf(format, report))).toContain(advice);
  });
  test('Newman of a collection that is longer than what is looked at: it comes before the results', async () => {
    const report = JSON.parse(Buffer.from(await fixtureBytes('foreign/newman-6.2.json')).toString());
    report.collection.item = Array.from({ length: 200 }, () => report.collection.item).flat();
    expect(await whatIs(Buffer.from(JSON.stringify(report)))).toStartWith('a report of Newman');
  });
  test.each(FORMATS)('a $name report that is sent as another is told its address', async ({ name, title, example }) => {
    for (const other of FORMATS.filter((format) => format.name !== name))
      expect(`${other.name}: ${await refusalOf(other, example.text)}`).toEndWith(
        ` It is in the format ${title}, which has its own address, …/${name}.`,
      );
  });
  test('what is not known is refused as ever', async () => {
    expect(String(await refusalOf(junit, '<suites/>'))).toEndWith(
      'its root is <suites>, not <testsuites> or <testsuite>.',
    );
    expect(await whatIs(Buffer.from('{"name":"shop"}'))).toBeNull();
  });
});
