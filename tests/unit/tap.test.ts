import { describe, expect, test } from 'bun:test';
import { InvalidUpload } from '../../src/formats/errors.ts';
import { tap } from '../../src/formats/tap/format.ts';
import { executionsOf } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

describe('reports of runners', () => {
  test('node:test: tests are named by their suites; what only sums up is no test', async () => {
    const reported = await parseFixture(tap, 'node-20.tap');
    expect(outcomesOf(reported)).toEqual({
      'adds an item': 'passed',
      'sums the total': 'failed',
      skipped: 'skipped',
      'is to be done': 'skipped',
      'throws # a hash \\ and a TypeError': 'failed',
      'Cart › pays': 'passed',
      'Cart › ships': 'failed',
      'Cart › totals › adds 10% tax': 'passed',
      'Cart › totals › has no code': 'skipped',
      'Courier › pays': 'failed',
      'parent › child': 'passed',
    });
    expect(executionNamed(reported, 'sums the total')).toMatchObject({
      durationSeconds: expect.closeTo(0.02528, 5),
      function: 'sums the total',
      failures: [
        {
          attempt: 1,
          type: 'AssertionError',
          message: 'Expected values to be strictly equal:\n\n1 !== 2',
          stacktrace: expect.stringMatching(/^TestContext\.<anonymous> \(.*\n/),
        },
      ],
    });
    expect(reported.warnings).toContain('The subtest parent reports an error outside of its tests: after the child');
    expect(new Set(keysOf(reported)).size).toBe(11);
  });
  test('node-tap: files are subtests, too', async () => {
    const reported = await parseFixture(tap, 'node-tap-21.tap');
    expect(outcomesOf(reported)).toEqual({
      'tp.test.mjs › cart › adds': 'passed',
      'tp.test.mjs › cart › sums': 'failed',
      'tp.test.mjs › todo': 'skipped',
      'tp.test.mjs › skip': 'skipped',
    });
    expect(reported.warnings).toEqual([]);
  });
  test('tape: assertions of one name are told apart by the test around them', async () => {
    expect(outcomesOf(await parseFixture(tap, 'tape-5.tap'))).toEqual({
      'adds.should be strictly equal': 'passed',
      'one is two': 'failed',
      'sums.should be strictly equal': 'passed',
      'is true': 'passed',
      'not now': 'skipped',
      'to be done': 'skipped',
    });
  });
  test('Mocha', async () => {
    const reported = await parseFixture(tap, 'mocha-12.tap');
    expect(outcomesOf(reported)).toEqual({
      'Cart adds': 'passed',
      'Cart sums': 'failed',
      'Cart waits': 'skipped',
      'Cart skips': 'skipped',
      'Cart totals throws': 'failed',
    });
    expect(executionNamed(reported, 'Cart sums').failures).toMatchObject([
      { type: 'AssertionError', message: 'no sum' },
    ]);
  });
  test('Test::More: the comments after a test point are its failure', async () => {
    const reported = await parseFixture(tap, 'test-more-5.36.tap');
    expect(outcomesOf(reported)).toEqual({
      'adds an item': 'passed',
      'sums the total': 'failed',
      'totals › adds tax': 'passed',
      'totals › rounds': 'failed',
      'is to be done': 'skipped',
      'nested › deep › fine': 'passed',
    });
    expect(executionNamed(reported, 'sums the total').failures[0]?.message).toBe(
      "Failed test 'sums the total'\nat pt/cart.t line 3.\n       got: '1'\n  expected: '2'",
    );
    expect(reported.warnings).toEqual(['2 test points without a description did not fail, and so do not count.']);
    expect(reported.rejections).toEqual([]);
  });
  test('a file that is skipped, and one that bails out', async () => {
    expect((await parseFixture(tap, 'skip-all.tap')).warnings).toEqual(['The report contains no test.']);
    const bailed = await parseFixture(tap, 'bail-out.tap');
    expect(outcomesOf(bailed)).toEqual({ starts: 'passed' });
    expect(bailed.warnings).toEqual([
      'The test run bailed out: no database',
      'The plan announces 3 tests, and the report holds 1.',
    ]);
  });
});

describe('lines', () => {
  const report = (...lines: string[]): string => `${lines.join('\n')}\n`;
  test('subtests in braces, as older versions of node-tap write them', async () => {
    const braces = report(
      'ok 1 - cart # time=5ms {',
      '    ok 1 - adds # time=2.5ms',
      '    1..1',
      '}',
      'ok 2 - b',
      '1..2',
    );
    const upload = await parse(tap, braces);
    expect(outcomesOf(upload)).toEqual({ 'cart › adds': 'passed', b: 'passed' });
    expect(executionNamed(upload, 'cart › adds').durationSeconds).toBe(0.0025);
  });
  test('a subtest whose hook fails, and one that is shorter than its plan, are warnings', async () => {
    const upload = await parse(
      tap,
      report(
        '# Subtest: a',
        '    ok 1 - t',
        '    1..2',
        'not ok 1 - a',
        '  ---',
        '  error: no database',
        '  ...',
        '1..1',
      ),
    );
    expect(upload.warnings).toEqual([
      'The plan of a announces 2 tests, and the report holds 1.',
      'The subtest a reports an error outside of its tests: no database',
    ]);
  });
  test.each([
    ['ok 1 - a # skip', 'skipped'],
    ['ok 1 - a #SKIP no', 'skipped'],
    ['not ok 1 - a # SKIPPED', 'skipped'],
    ['not ok - a # todo', 'skipped'],
    ['ok a', 'passed'],
    ['not ok a', 'failed'],
    ['ok 1 - a \\# skip', 'passed'],
  ])('%s is %s', async (line, status) => {
    expect(executionsOf(await parse(tap, report(line, '1..1')))).toMatchObject([{ status }]);
  });
  test('what failed without a description is rejected: it has no name', async () => {
    expect((await parse(tap, report('not ok 1', '1..1'))).rejections).toMatchObject([
      { reason: 'the test point has no description', count: 1 },
    ]);
  });
  test('a report without its plan is cut short, and so is one that ends within a block', async () => {
    const cut = await parse(tap, report('ok 1 - a', 'ok 2 - b'));
    expect(outcomesOf(cut)).toEqual({ a: 'passed' });
    expect(cut.warnings).toEqual([
      'The report is cut short: it has no plan at its end. The 1 before it is kept; what followed is lost.',
    ]);
    expect((await parse(tap, report('1..1', 'not ok 1 - a', '  ---', '  message: x'))).isCutShort).toBe(true);
  });
  test('a subtest that is cut short keeps its tests, as far as it was announced', async () => {
    const announced = ['# Subtest: a', '    # Subtest: b', '        ok 1 - t', '        ok 2 - u', '        ok 3 - v'];
    expect(outcomesOf(await parse(tap, report(...announced)))).toEqual({
      'a › b › t': 'passed',
      'a › b › u': 'passed',
    });
    const upload = await parse(tap, report('    ok 1 - t', '    ok 2 - u', '    ok 3 - v'));
    expect(executionsOf(upload)).toEqual([]);
    expect(upload.warnings).toContain('2 tests cannot be named: the report breaks off before it names their subtest.');
  });
  test('the last test needs no line break if the plan came first', async () => {
    expect(outcomesOf(await parse(tap, '1..1\nok 1 - a'))).toEqual({ a: 'passed' });
    expect((await parse(tap, 'ok 1 - a')).isCutShort).toBe(true);
  });
  test('other output is passed over', async () => {
    const upload = await parse(tap, report('> shop@1.0.0 test', '', 'TAP version 13', 'ok 1 - a', 'a log', '1..1'));
    expect(outcomesOf(upload)).toEqual({ a: 'passed' });
    expect(upload.warnings).toEqual([]);
  });
});

test.each(['', 'nonsense', '<testsuite/>', '{"a":1}', 'okay then'])('%s is no TAP', async (body) => {
  expect(await refusalOf(tap, body)).toBeInstanceOf(InvalidUpload);
  expect(await tap.isOther(Buffer.from(body))).toBe(body !== '');
});
