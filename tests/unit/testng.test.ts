import { describe, expect, test } from 'bun:test';
import { testng } from '../../src/formats/testng/format.ts';
import { executionsOf } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

describe('a report of TestNG 7.10', async () => {
  const upload = await parseFixture(testng, 'testng-7.10.xml');
  test('has an execution for each call of a test, and none for set-ups and attempts', () => {
    expect(executionsOf(upload)).toHaveLength(18);
    expect(outcomesOf(upload)).toEqual({
      'shop.CartTest.adds': 'passed',
      'shop.CartTest.pays': 'flaky',
      'shop.CartTest.rows(1, a)': 'passed',
      'shop.CartTest.rows(2, b,c)': 'failed',
      'shop.CartTest.rows(3, null)': 'passed',
      'shop.CartTest.ships': 'failed',
      'shop.CartTest.takes(java.lang.Object)': 'passed',
      'shop.CartTest.takes([I)': 'passed',
      'shop.CartTest.skips': 'skipped',
      'shop.CartTest.throwsIt': 'passed',
      'shop.CartTest.twice': 'passed',
      'shop.CartTest.isTold': 'skipped',
      'shop.DepotTest.works': 'skipped',
      'Shop.linux.shop.FactoryTest[Oslo].delivers': 'passed',
      'Shop.linux.shop.FactoryTest[Rome].delivers': 'failed',
      'Shop.windows.shop.FactoryTest[Oslo].delivers': 'passed',
      'Shop.windows.shop.FactoryTest[Rome].delivers': 'failed',
    });
    expect(new Set(keysOf(upload)).size).toBe(18);
    expect(upload.runs[0]?.run).toMatchObject({ framework: 'testng', language: 'java' });
  });
  test('a test that was run again keeps the failures of its attempts', () => {
    expect(executionNamed(upload, 'shop.CartTest.pays')).toMatchObject({
      isRetried: true,
      failures: [{ attempt: 1, type: 'java.lang.IllegalStateException', message: 'no courier' }],
    });
    expect(executionNamed(upload, 'shop.CartTest.ships').failures.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });
  test('a failure has its type, message and stack trace, and the test its time', () => {
    expect(executionNamed(upload, 'shop.CartTest.rows(2, b,c)')).toMatchObject({
      durationSeconds: 0.16,
      finishedAtMs: Date.parse('2026-11-27T22:27:55.160Z'),
      function: 'rows',
      failures: [
        {
          type: 'java.lang.AssertionError',
          message: 'did not expect [2] but found [2]',
          stacktrace:
            'java.lang.AssertionError: did not expect [2] but found [2]\nat shop.CartTest.rows(CartTest.java:15)',
        },
      ],
    });
  });
  test('a set-up that failed is trouble, and disabled methods are not missed', () => {
    expect(upload.warnings.filter((sentence) => !sentence.includes('in several suites'))).toEqual([
      'The configuration method open failed: no depot',
    ]);
  });
});

const method = (status: string, attributes = '', inside = ''): string =>
  `<test-method name="m" signature="m()[instance:C@1]" status="${status}" ${attributes}>${inside}</test-method>`;
const report = (methods: string, counts = ''): string =>
  `<testng-results ${counts}><suite name="s"><test name="t"><class name="C">${methods}</class></test></suite></testng-results>`;
const row = (status: string, value: string): string =>
  method(status, '', `<params><param index="0"><value><![CDATA[${value}]]></value></param></params>`);

test('calls of one method without parameters are repeats, each with its own attempts', async () => {
  const upload = await parse(testng, report(method('PASS') + method('SKIP', 'retried="true"') + method('PASS')));
  expect(executionsOf(upload).map(({ status, isFlaky }) => [status, isFlaky])).toEqual([
    ['passed', false],
    ['passed', true],
  ]);
});

test('rows that look alike, and methods of two objects, are one test, which fails if one of them does', async () => {
  const rows = row('PASS', 'shop.Cart@1f') + row('FAIL', 'shop.Cart@2e');
  expect(outcomesOf(await parse(testng, report(rows)))).toEqual({ 'C.m(shop.Cart)': 'failed' });
  const objects = method('FAIL') + method('PASS').replace('C@1', 'C@2');
  const upload = await parse(testng, report(objects));
  expect(executionsOf(upload)).toHaveLength(1);
  expect(outcomesOf(upload)).toEqual({ 'C.m': 'failed' });
});

test('attempts that are listed after the last call, which TestNG sorted by time alone, belong to it', async () => {
  const upload = await parse(testng, report(method('FAIL') + method('SKIP', 'retried="true"')));
  const [execution, ...others] = executionsOf(upload);
  expect(others).toEqual([]);
  expect(execution).toMatchObject({ status: 'failed', isFlaky: false });
  const passed = await parse(testng, report(method('PASS') + method('SKIP', 'retried="true"')));
  expect(executionsOf(passed).map(({ status, isFlaky }) => [status, isFlaky])).toEqual([['passed', true]]);
});

test('an attempt after which nothing came has failed', async () => {
  expect(outcomesOf(await parse(testng, report(method('SKIP', 'retried="true"'))))).toEqual({ 'C.m': 'failed' });
});

test('counts that the report does not hold are trouble', async () => {
  expect((await parse(testng, report(method('PASS'), 'total="2" failed="1"'))).warnings).toEqual([
    'The report counts 1 failed method, and holds 0.',
  ]);
  expect((await parse(testng, report(method('PASS'), 'total="3" ignored="1" failed="0"'))).warnings).toEqual([
    'The report counts 2 methods, and holds 1.',
  ]);
});

test('a call with an unknown status is rejected, the others are kept', async () => {
  const upload = await parse(testng, report(method('MAYBE') + method('PASS')));
  expect(outcomesOf(upload)).toEqual({ 'C.m': 'passed' });
  expect(upload.rejections).toMatchObject([{ reason: 'the test-method has no status that is known', count: 1 }]);
});

test('a report that breaks off keeps the calls that were whole', async () => {
  const upload = await parse(testng, report(method('PASS') + row('FAIL', 'a')).slice(0, 200));
  expect(outcomesOf(upload)).toEqual({ 'C.m': 'passed' });
  expect(upload.isCutShort).toBe(true);
});

test('a name that is too long because of its parameters is refused alone', async () => {
  const long = row('PASS', 'x'.repeat(50_000)).repeat(2) + method('PASS');
  const { runs, rejections } = await parse(testng, report(long));
  expect(runs[0]?.executions.map(({ name }) => name)).toEqual(['C.m']);
  expect(rejections).toMatchObject([{ reason: 'the test name is longer than 10000 characters' }]);
});

test.each([
  ['<testsuite/>', 'It is in the format JUnit XML, which has its own address'],
  ['nonsense', 'The body is not a TestNG XML report'],
])('%s is refused with a sentence', async (body, why) => {
  expect(String(await refusalOf(testng, body))).toContain(why);
});
