/** Reports that are small as sent: what all tests of a suite share must not be kept, or copied, for each of them. */
import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { UploadTooLarge } from '../../src/formats/errors.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { goTest } from '../../src/formats/go-test/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { gunzip } from '../../src/ingest/body.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { executionsOf, parseXml, RUN } from '../support/parsing.ts';

const parse = (format: ReportFormat, text: string) =>
  parseReport(format, Buffer.from(text), { run: RUN, reportName: 'r' });
const keysOf = async (xml: string): Promise<string[]> => executionsOf(await parseXml(xml)).map(({ key }) => key);
const suites = (names: readonly string[], inner: string): string =>
  names.reduceRight((xml, name) => `<testsuite name="${name}">${xml}</testsuite>`, inner);
const T = '<testcase name="t"/>';
const LONG = Array.from({ length: 90 }, (_, i) => `${'s'.repeat(1_000)}${i}`);

describe('the key of a test', () => {
  test('is made of its suites, its name and an ordinal, as it always was', async () => {
    expect(await keysOf(suites(['a', '', 'b&quot;c'], `${T}${T}<testcase classname="k" name="é\\"/>`))).toEqual([
      '[["a","b\\"c"],"t",0]',
      '[["a","b\\"c"],"t",1]',
      '[["a","b\\"c"],"k.é\\\\",0]',
    ]);
  });
  test('holds up to 1,024 characters of suites as they are', async () => {
    const names = ['x'.repeat(1_000), 'y'.repeat(24)];
    expect(await keysOf(suites(names, T))).toEqual([JSON.stringify([names, 't', 0])]);
  });
  test('is short under long suites, differs between them, and is the same each time', async () => {
    const other = LONG.with(40, 'other');
    const keys = await keysOf(`<testsuites>${suites(LONG, T + T)}${suites(other, T)}</testsuites>`);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key.length).toBeLessThan(1_200);
    expect(await keysOf(suites(LONG, T + T))).toEqual(keys.slice(0, 2));
    expect(await keysOf(suites(other, T))).toEqual(keys.slice(2));
  });
  test('of Playwright, too, with its describe blocks', async () => {
    const describes = (titles: readonly string[]) =>
      titles.reduceRight(
        (suite, title) => `{"title":"${title}","suites":[${suite}]}`,
        '{"title":"d","specs":[{"title":"t","tests":[{"status":"expected","results":[]}]}]}',
      );
    const [short] = executionsOf(await parse(playwright, `{"suites":[${describes(['a.ts', 'b'])}]}`));
    expect([short?.key, short?.name]).toEqual(['["","","a.ts",["b","d"],"t",0]', 'a.ts › b › d › t']);
    const long = await parse(playwright, `{"suites":[${describes(['a.ts', ...LONG.slice(0, 9)])}]}`);
    expect(executionsOf(long)[0]?.key).toMatch(/^\["","","a.ts",\["sha256:[0-9a-f]{64}","d"\],"t",0\]$/);
  });
});

describe('what tests share', () => {
  test('names that are too long because of their class or describe block are refused one by one', async () => {
    const definition = `<UnitTest id="u"><TestMethod className="${'C'.repeat(3_000_000)}" name="m"/></UnitTest>`;
    const result = '<UnitTestResult executionId="1" testId="u" testName="t" outcome="Passed"/>';
    const reports: [ReportFormat, string][] = [
      [trx, `<TestRun><TestDefinitions>${definition}</TestDefinitions><Results>${result}</Results></TestRun>`],
      [
        playwright,
        `{"suites":[{"title":"a.ts","suites":[{"title":"${'d'.repeat(3_000_000)}","specs":[{"title":"t","tests":[{"status":"expected","results":[]}]}]}]}]}`,
      ],
    ];
    for (const [format, text] of reports)
      expect((await parse(format, text)).rejections).toMatchObject([
        { reason: 'the test name is longer than 10000 characters', count: 1 },
      ]);
  });
  test('names that take more than 64 Mi characters together are refused', async () => {
    const definition = `<UnitTest id="u"><TestMethod className="${'C'.repeat(9_000)}" name="m"/></UnitTest>`;
    const results = Array.from(
      { length: 5_000 },
      (_, i) => `<UnitTestResult executionId="${i}" testId="u" testName="t${i}" outcome="Passed"/>`,
    ).join('');
    const report = `<TestRun><TestDefinitions>${definition}</TestDefinitions><Results>${results}</Results></TestRun>`;
    await expect(parse(trx, report)).rejects.toThrow(UploadTooLarge);
  });
  test('a file of megabytes is cut once for all tests of its suite', async () => {
    const upload = await parseXml(`<testsuite file="${'f'.repeat(3_000_000)}">${T.repeat(2)}</testsuite>`);
    for (const { filepath } of executionsOf(upload)) expect(filepath).toEndWith('… [cut, 3000000 bytes in all]');
  });
  test('the goroutines of a timeout are kept for 20 of the tests that it stopped', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `T${i}`);
    const line = (event: object) => `${JSON.stringify({ Package: 'p', ...event })}\n`;
    const crash = [
      'panic: test timed out after 1s\n',
      'running tests:\n',
      ...names.map((one) => `\t\t${one} (1s)\n`),
      'goroutine 7\n',
    ];
    const report = [
      ...names.map((Test) => line({ Action: 'run', Test })),
      ...crash.map((Output) => line({ Action: 'output', Output })),
      line({ Action: 'fail' }),
    ].join('');
    const failures = executionsOf(await parse(goTest, report)).flatMap((one) => one.failures);
    const timeouts = failures.filter(
      ({ type, message }) => type === 'timeout' && message === 'test timed out after 1s',
    );
    expect(timeouts.length).toBeGreaterThanOrEqual(30);
    const traces = timeouts.filter(({ stacktrace }) => stacktrace?.includes('goroutine 7'));
    expect(traces.length).toBeGreaterThanOrEqual(20);
    expect(traces.length).toBeLessThanOrEqual(21);
  });
});

describe('what a report is made of', () => {
  test.each([
    ['elements', '<a/>'.repeat(400_001)],
    ['attributes', '<a b="" c="" d="" e=""/>'.repeat(100_000)],
    ['character references', `<system-out>${'&lt;'.repeat(400_001)}</system-out>`],
  ])('%s beyond what its tests need are refused', async (_, inner) => {
    await expect(parseXml(`<testsuite>${inner}</testsuite>`)).rejects.toThrow(UploadTooLarge);
  });
  test('each test may have 200 of them', async () => {
    const testcase = `<testcase name="t"><system-out>${'&lt;'.repeat(190)}</system-out></testcase>`;
    expect(executionsOf(await parseXml(`<testsuite>${testcase.repeat(2_500)}</testsuite>`))).toHaveLength(2_500);
  });
  test('thousands of failures of one test are a hundred, with a warning', async () => {
    const upload = await parseXml(
      `<testsuite><testcase name="t">${'<failure/>'.repeat(50_000)}</testcase></testsuite>`,
    );
    expect(executionsOf(upload)[0]?.failures).toHaveLength(100);
    expect(upload.warnings).toEqual([expect.stringContaining('more than 100 failed attempts')]);
  });
  test('a failure of megabytes is cut, and its whole length named', async () => {
    const [execution] = executionsOf(
      await parseXml(
        `<testsuite><testcase name="t"><failure>${'x'.repeat(3_000_000)}</failure></testcase></testsuite>`,
      ),
    );
    expect(execution?.failures[0]?.stacktrace).toEndWith('… [cut, 3000000 bytes in all]');
  });
  test('events of go test beyond what its tests need are refused', async () => {
    await expect(parse(goTest, '{"Action":"output"}\n'.repeat(510_000))).rejects.toThrow(UploadTooLarge);
  });
  test('millions of numbers in place of suites are refused', async () => {
    await expect(parse(playwright, `{"suites":[${'1,'.repeat(2_000_000)}1]}`)).rejects.toThrow(UploadTooLarge);
  });
  test('a time of megabytes is no time, and takes none', async () => {
    const before = process.cpuUsage().user;
    await parseXml(`<testsuite timestamp="Sat, ${'1'.repeat(300_000)}">${T}</testsuite>`);
    expect(process.cpuUsage().user - before).toBeLessThan(1_000_000);
  });
});

describe('gzip', () => {
  test('that unpacks to more than 100 MiB and 64 times its size is refused', async () => {
    await expect(gunzip([gzipSync(Buffer.alloc(101 << 20))])).rejects.toThrow('more than 64 times as large');
    expect((await gunzip([gzipSync(Buffer.alloc(99 << 20))])).length).toBe(99 << 20);
  });
  test('that unpacks to less than 64 times its size is taken', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(65_536));
    const parts = Array.from({ length: 30 }, () => gzipSync(Buffer.concat([noise, Buffer.alloc(4 << 20)])));
    expect((await gunzip([Buffer.concat(parts)])).length).toBe(30 * (65_536 + (4 << 20)));
  });
});
