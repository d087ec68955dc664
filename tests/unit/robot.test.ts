import { describe, expect, test } from 'bun:test';
import { robot } from '../../src/formats/robot/format.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

const OUTCOMES = {
  'Robot.Cart.Adds An Item': 'passed',
  'Robot.Cart.Pays': 'failed',
  'Robot.Cart.Rounds': 'failed',
  'Robot.Cart.Is Skipped': 'skipped',
  'Robot.Cart.Is Not Critical': 'skipped',
  'Robot.Cart.Expects An Error': 'passed',
  'Robot.Cart.Passes The Second Time': 'failed',
  'Robot.Courier.Works': 'failed',
  'Robot.Courier.Is Late': 'failed',
  'Robot.Depot.Works': 'failed',
};

describe.each([
  ['robot-7.5.xml', '7.5', '2026-11-27T22:23:57.663Z', 0.172174],
  ['robot-4.1.xml', '4.1.3', '2026-11-27T22:27:40.847Z', 0.014],
])('%s', async (file, version, finishedAt, seconds) => {
  const upload = await parseFixture(robot, file);
  test('has the tests of all suites as Robot Framework counts them, whatever their keywords did', () => {
    // Version 4 does not know the tag `robot:skip-on-failure`.
    const notCritical = version === '4.1.3' ? 'failed' : 'skipped';
    expect(outcomesOf(upload)).toEqual({ ...OUTCOMES, 'Robot.Cart.Is Not Critical': notCritical });
    expect(upload.warnings).toEqual([]);
    expect(new Set(keysOf(upload)).size).toBe(10);
    expect(upload.runs[0]?.run).toMatchObject({ framework: 'robot', framework_version: version, language: null });
  });
  test('a failure has the message of the test', () => {
    expect(executionNamed(upload, 'Robot.Cart.Pays')).toMatchObject({
      filepath: '/home/me/shop/robot/cart.robot',
      function: 'Pays',
      isRetried: false,
      failures: [{ attempt: 1, type: null, message: 'no courier', stacktrace: null }],
    });
  });
  test('a set-up that fails fails the tests after it, a teardown those before it', () => {
    expect(executionNamed(upload, 'Robot.Depot.Works').failures).toMatchObject([
      { message: 'Parent suite setup failed:\nno depot' },
    ]);
    expect(executionNamed(upload, 'Robot.Courier.Works').failures).toMatchObject([
      { message: 'Parent suite teardown failed:\nthe courier does not go home' },
    ]);
    expect(executionNamed(upload, 'Robot.Courier.Is Late').failures).toMatchObject([{ message: 'an hour late' }]);
  });
  test('time and duration are those of the test', () => {
    const { finishedAtMs, durationSeconds } = executionNamed(upload, 'Robot.Cart.Adds An Item');
    expect([finishedAtMs, durationSeconds]).toEqual([Date.parse(finishedAt), seconds]);
  });
});

describe('what rebot --merge puts together', async () => {
  const upload = await parseFixture(robot, 'robot-7.5-merged.xml');
  test('is one execution for each test: the last run decides, and a pass after a failure is flaky', () => {
    expect(outcomesOf(upload)).toEqual({ ...OUTCOMES, 'Robot.Cart.Passes The Second Time': 'flaky' });
  });
  test('keeps the failures of all runs, from the first', () => {
    expect(executionNamed(upload, 'Robot.Cart.Passes The Second Time')).toMatchObject({
      isRetried: true,
      failures: [{ attempt: 1, message: 'first time' }],
    });
    expect(executionNamed(upload, 'Robot.Cart.Pays')).toMatchObject({
      isRetried: true,
      failures: [
        { attempt: 1, message: 'no courier' },
        { attempt: 2, message: 'no courier' },
      ],
    });
    expect(executionNamed(upload, 'Robot.Cart.Adds An Item').isRetried).toBe(false);
  });
  test('also of three runs, and with signs of HTML in the message', async () => {
    const run = (which: string, status: string, message: string) =>
      `<span class="${which.toLowerCase()}-status">${which} status:</span> <span class="${status.toLowerCase()}">${status}</span><br><span class="${which.toLowerCase()}-message">${which} message:</span> ${message}<br>`;
    const merged = `*HTML* <span class="merge">Test has been re-executed and results merged.</span><hr>${run('New', 'FAIL', 'c')}<hr>${run('Old', 'SKIP', 'b')}<hr>${run('Old', 'FAIL', 'KeyError: &lt;hr&gt; &amp; a')}`;
    const { failures, isFlaky } = executionNamed(await parse(robot, report(testOf('FAIL', escaped(merged)))), 'S.t');
    expect(isFlaky).toBe(false);
    expect(failures).toMatchObject([
      { attempt: 1, type: 'KeyError', message: '<hr> & a' },
      { attempt: 2, type: null, message: 'c' },
    ]);
  });
});

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const testOf = (status: string, message = ''): string =>
  `<test name="t"><status status="${status}">${message}</status></test>`;
const report = (suite: string, rest = ''): string => `<robot><suite name="S">${suite}</suite>${rest}</robot>`;
const teardown = (status: string): string => `<kw type="TEARDOWN"><status status="${status}">not now</status></kw>`;

test('a teardown that is skipped skips the tests of its suite, one that passed changes nothing', async () => {
  expect(outcomesOf(await parse(robot, report(testOf('PASS') + teardown('SKIP'))))).toEqual({ 'S.t': 'skipped' });
  expect(outcomesOf(await parse(robot, report(testOf('PASS') + teardown('PASS'))))).toEqual({ 'S.t': 'passed' });
  expect(outcomesOf(await parse(robot, report(testOf('SKIP') + teardown('FAIL'))))).toEqual({ 'S.t': 'skipped' });
});

test('a file that Robot Framework could not read is trouble, and its other errors are warnings', async () => {
  const errors =
    '<errors><msg level="WARN">w</msg><msg level="ERROR">Importing library failed</msg><msg level="ERROR">Parsing a.robot failed</msg></errors>';
  const upload = await parse(robot, report(testOf('PASS'), errors));
  expect(upload.warnings).toEqual([
    'Robot Framework reports an error: Importing library failed',
    'Robot Framework reports an error: Parsing a.robot failed',
  ]);
});

test('the type of an exception is taken from the message', async () => {
  const upload = await parse(robot, report(testOf('FAIL', 'ValueError: not a price: 1')));
  expect(executionNamed(upload, 'S.t').failures).toMatchObject([{ type: 'ValueError', message: 'not a price: 1' }]);
});

test('tests of two suites with the same names in two files are two tests', async () => {
  const suite = (file: string, status: string) =>
    `<suite name="Cart" source="/shop/${file}.robot">${testOf(status)}</suite>`;
  const upload = await parse(robot, report(suite('a', 'PASS') + suite('b', 'FAIL')));
  expect(outcomesOf(upload)).toEqual({ 'a.robot.S.Cart.t': 'passed', 'b.robot.S.Cart.t': 'failed' });
});

test('a test without a name or with an unknown status is rejected, the others are kept', async () => {
  const upload = await parse(robot, report(`${testOf('NOT RUN')}<test name=""/><test name="u"/>${testOf('PASS')}`));
  expect(outcomesOf(upload)).toEqual({ 'S.t': 'passed' });
  expect(upload.rejections.map(({ reason, count }) => [reason, count])).toEqual([
    ['the test has no status that is known', 2],
    ['the test has no name', 1],
  ]);
});

test('a report that breaks off keeps the tests that were whole', async () => {
  const upload = await parse(robot, report(testOf('PASS') + testOf('FAIL')).slice(0, 110));
  expect(outcomesOf(upload)).toEqual({ 'S.t': 'passed' });
  expect(upload.isCutShort).toBe(true);
});

test.each([
  ['<testsuite/>', 'It is in the format JUnit XML, which has its own address'],
  ['nonsense', 'The body is not a Robot Framework report'],
])('%s is refused with a sentence', async (body, why) => {
  expect(String(await refusalOf(robot, body))).toContain(why);
});
