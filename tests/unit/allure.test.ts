import { describe, expect, test } from 'bun:test';
import { allure } from '../../src/formats/allure/format.ts';
import { UploadTooLarge } from '../../src/formats/errors.ts';
import { executionsOf } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';
import { zipOf } from '../support/zip.ts';

describe.each(['allure-pytest-2.16.json', 'allure-pytest-2.16.zip'])('results of pytest: %s', async (file) => {
  const upload = await parseFixture(allure, file);
  test('are an execution for each test, with its attempts', () => {
    expect(outcomesOf(upload)).toEqual({
      'test_cart.TestCart#test_adds': 'passed',
      "test_cart.TestCart#test_rows[price=1, name='a']": 'passed',
      "test_cart.TestCart#test_rows[price=2, name='b']": 'failed',
      'test_cart.TestCart#test_pays': 'flaky',
      'test_cart.TestCart#test_ships': 'failed',
      'test_cart.TestCart#test_skips': 'skipped',
      'test_cart.TestCart#test_known': 'skipped',
      'test_cart.TestCart#test_title': 'passed',
      'test_cart#test_depot': 'failed',
      'test_cart#test_courier': 'failed',
    });
    expect(new Set(keysOf(upload)).size).toBe(10);
    expect(upload.warnings).toEqual([]);
    expect(upload.runs[0]?.run).toMatchObject({ framework: 'pytest', language: 'python' });
  });
  test('have the failures of all attempts, and the time of the last', () => {
    expect(executionNamed(upload, 'test_cart.TestCart#test_pays')).toMatchObject({
      isRetried: true,
      durationSeconds: 0.001,
      finishedAtMs: 1795818483392,
      filepath: 'test_cart.py',
      function: 'test_pays',
      failures: [{ attempt: 1, type: 'RuntimeError', message: 'no courier' }],
    });
    expect(executionNamed(upload, 'test_cart.TestCart#test_ships').failures).toHaveLength(2);
  });
});

const result = (fields: object): object => ({ name: 't', status: 'passed', start: 1e12, stop: 1e12 + 5, ...fields });
const parsed = (...files: object[]) => parse(allure, JSON.stringify(files));

test('attempts count in the order of their times, whatever their order in the report', async () => {
  const upload = await parsed(
    result({ historyId: 'h', start: 1e12 + 10 }),
    result({ historyId: 'h', status: 'broken', statusDetails: { message: 'E' } }),
  );
  expect(outcomesOf(upload)).toEqual({ t: 'flaky' });
});

test('results of several histories with one name are separate tests, and count as one if one failed', async () => {
  const upload = await parsed(
    result({ historyId: 'a', status: 'failed' }),
    result({ historyId: 'b', start: 1e12 + 10 }),
  );
  expect(outcomesOf(upload)).toEqual({ t: 'failed' });
});

test.each([
  [{ fullName: 'shop.Cart.adds' }, 'shop.Cart.adds'],
  [
    {
      fullName: 'cart.spec.ts:3:7',
      labels: [
        { name: 'suite', value: 'Cart' },
        { name: 'parentSuite', value: 'web' },
      ],
    },
    'web › Cart › t',
  ],
  [
    {
      parameters: [
        { name: 'user', value: '<User object at 0x7f2a>' },
        { name: 'token', value: 'secret', mode: 'masked' },
        { name: 'id', value: 'x', mode: 'hidden' },
        { name: 'now', value: '12:00', excluded: true },
        { name: 'n', value: 1 },
      ],
    },
    't[user=<User object>, token=***, n=1]',
  ],
])('a result with %j is called %s', async (fields, name) => {
  expect(executionsOf(await parsed(result(fields))).map((one) => one.name)).toEqual([name]);
});

test('a set-up that failed is trouble, unless a test of it failed, too', async () => {
  const container = {
    children: ['u'],
    befores: [{ name: 'opens', status: 'broken', statusDetails: { message: 'no' } }],
  };
  const skipped = await parsed(result({ uuid: 'u', status: 'skipped' }), container);
  expect(skipped.warnings).toEqual(['The set-up or teardown opens failed: no']);
  expect((await parsed(result({ uuid: 'u', status: 'failed' }), container)).warnings).toEqual([]);
});

test('results that cannot be read are rejected, the others are kept', async () => {
  const upload = await parsed(result({ status: 'unknown' }), { name: '', status: 'passed' }, result({ name: 'u' }));
  expect(outcomesOf(upload)).toEqual({ u: 'passed' });
  expect(upload.rejections.map(({ reason }) => reason)).toEqual([
    'the result has no status that is known',
    'the result is not described as Allure does it',
  ]);
});

test('one result is a report, too', async () => {
  expect(outcomesOf(await parse(allure, JSON.stringify(result({}))))).toEqual({ t: 'passed' });
});

describe('a zip', () => {
  const file = (name: string, value: object | string, statedSize?: number) => ({
    name,
    content: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    ...(statedSize !== undefined && { statedSize }),
  });
  test('may have folders, attachments and what macOS adds; a file that breaks off costs no other', async () => {
    const upload = await parse(
      allure,
      zipOf([
        file('a/b/1-result.json', result({})),
        file('2-result.json', result({ name: 'u' }), 3),
        file('__MACOSX/._1-result.json', 'x'),
        file('1-attachment.png', 'x'),
        file('3-result.json', '{"name":'),
      ]),
    );
    expect(outcomesOf(upload)).toEqual({ t: 'passed', u: 'passed' });
    expect(upload.warnings).toEqual(['The file 3-result.json is not well-formed JSON: its test is lost.']);
  });
  test('with a damaged file loses that one, and says so', async () => {
    const damaged = zipOf([file('1-result.json', result({}))]).fill(0xff, 45, 60);
    expect((await parse(allure, damaged)).warnings).toEqual([
      'The file 1-result.json is not well-formed JSON: its test is lost.',
    ]);
  });
  test('that unpacks to more than it may is refused, whatever sizes it states', async () => {
    const blanks = { name: 'x-result.json', content: Buffer.alloc(30 << 20, ' '), statedSize: 1 };
    expect(await refusalOf(allure, zipOf(Array(5).fill(blanks), true))).toBeInstanceOf(UploadTooLarge);
  });
  test.each([
    ['with a path that leads out of it', zipOf([file('../1-result.json', result({}))])],
    ['that is cut short', zipOf([file('1-result.json', result({}))]).subarray(0, 60)],
  ])('%s is refused with a sentence', async (_, body) => {
    expect(String(await refusalOf(allure, body))).toContain('InvalidUpload: The zip cannot be read: ');
  });
});

test.each([
  ['{"suites":[]}', 'nothing in it has a name and a status'],
  ['[1,2]', 'nothing in it has a name and a status'],
  ['<testsuite/>', 'it is neither JSON nor a zip of a folder of them'],
  ['[{"name":', 'it is cut short at line 1'],
])('%s is refused with a sentence', async (body, why) => {
  expect(String(await refusalOf(allure, body))).toContain(`The body holds no Allure results: ${why}.`);
});
