/** Retries, reruns, double reports and namesakes in files that the tools themselves wrote, and in those of their kind. */
import { describe, expect, test } from 'bun:test';
import { goTest } from '../../src/formats/go-test/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { executionsOf, parseXml, statusesOf } from '../support/parsing.ts';
import { executionNamed, outcomesOf, parse, parseFixture } from '../support/reports.ts';

describe.each(['pytest-9.2-reruns.xml', 'pytest-9.2-xdist.xml'])('pytest with reruns: %s', async (file) => {
  const upload = await parseFixture(junit, file);
  const inCart = (name: string) => executionNamed(upload, `test_cart.${name}`);
  test('a test is one execution, however often it was run again', () => {
    expect(inCart('test_pays')).toMatchObject({ status: 'passed', isFlaky: true, isRetried: true });
    expect(inCart('test_ships')).toMatchObject({ status: 'failed', isFlaky: false, isRetried: true });
    expect(inCart('test_ships').failures).toMatchObject([{ message: 'assert False' }]);
  });
  test('a failure and the error of its teardown are one execution with two failures', () => {
    for (const name of ['test_both', 'test_both_again', 'TestTear.test_b']) {
      const { status, failures } = inCart(name);
      expect({ name, status, failures: failures.length }).toEqual({ name, status: 'failed', failures: 2 });
    }
    expect(inCart('test_both').isRetried).toBe(false);
  });
  test('an error of a teardown fails a test that passed or was skipped', () => {
    expect(inCart('test_teardown').status).toBe('failed');
    expect(inCart('test_skips_then').status).toBe('failed');
  });
  test('set-up of a class that fails, sub-tests and an unexpected pass are failures of their tests', () => {
    for (const name of ['TestClass.test_a', 'TestClass.test_b', 'test_subtests', 'TestSub.test_rows', 'test_xpass'])
      expect(inCart(name).status).toBe('failed');
  });
  test('nothing of it is trouble', () => {
    expect(upload.warnings).toEqual([]);
    expect(executionsOf(upload)).toHaveLength(20);
  });
});

describe('node --test with suites', async () => {
  const upload = await parseFixture(junit, 'node-20-suites.xml');
  test('names in several suites are several tests, named by their suites', () => {
    expect(statusesOf(upload)).toEqual({
      'cart.totals.works': 'passed',
      'test.splits the bill': 'skipped',
      'test.adds': 'passed',
      'courier.totals.works': 'failed',
      'test.is to be done': 'failed',
      'test.works': 'failed',
    });
  });
  test('the receipt says so, and what has one name in one suite', () => {
    expect(upload.warnings).toEqual([
      '1 name (test.works) stands in several suites. Each is a separate test, named by its suite.',
      '1 name (test.works) stands for several tests of one suite. They count as one, which fails if one of them does: give each its own name.',
    ]);
  });
});

test('CTest: a test that passed when it was repeated is listed once; namesakes in two folders are one test', async () => {
  const upload = await parseFixture(junit, 'ctest-3.25.xml');
  expect(statusesOf(upload)).toEqual({
    'flaky.flaky': 'passed',
    'off.off': 'skipped',
    'missing.missing': 'failed',
    'slow.slow': 'failed',
    'works.works': 'failed',
  });
});

test('Surefire with rerunFailingTestsCount: the attempts of a test are within it', async () => {
  const upload = await parseFixture(junit, 'surefire-3.5-junit5.xml');
  const cart = (name: string) => executionNamed(upload, `shop.CartTest.${name}`);
  expect(cart('pays')).toMatchObject({ status: 'passed', isFlaky: true, isRetried: true });
  expect(cart('ships')).toMatchObject({ status: 'failed', isRetried: true });
  expect(cart('ships').failures).toHaveLength(3);
  expect(cart('assumes').status).toBe('skipped');
  expect(cart('rounds(int)[2]').status).toBe('failed');
});

test('Surefire with TestNG: attempts are listed as skipped, with the message of their failure', async () => {
  const upload = await parseFixture(junit, 'surefire-3.5-testng.xml');
  const cart = (name: string) => executionNamed(upload, `shop.CartTest.${name}`);
  expect(cart('pays')).toMatchObject({
    status: 'passed',
    isFlaky: true,
    failures: [{ attempt: 1, message: 'expected [2] but found [1]' }],
  });
  expect(cart('ships')).toMatchObject({ status: 'failed', isRetried: true });
  expect(cart('ships').failures.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(executionsOf(upload)).toHaveLength(8);
});

test('TestNG alone: rows of one test have one name, which fails if one of them does', async () => {
  const upload = await parseFixture(junit, 'testng-7.10.xml');
  expect(
    executionsOf(upload)
      .map(({ name, status }) => `${name} ${status}`)
      .sort(),
  ).toEqual([
    'shop.CartTest.adds passed',
    'shop.CartTest.later skipped',
    'shop.CartTest.needsShips skipped',
    'shop.CartTest.off skipped',
    'shop.CartTest.pays passed',
    'shop.CartTest.pays skipped',
    'shop.CartTest.rows failed',
    'shop.CartTest.ships failed',
  ]);
});

const F = (name: string, inside = '<failure message="no"/>', more = 'classname="shop.Cart"'): string =>
  `<testcase ${more} name="${name}">${inside}</testcase>`;
const P = (name: string, more?: string): string => F(name, '', more);
const suite = (inside: string, name = 'shop.Cart', more = ''): string =>
  `<testsuite name="${name}" ${more}>${inside}</testsuite>`;
const outcomes = async (xml: string) => outcomesOf(await parseXml(xml));

describe('runners that list each attempt', () => {
  test.each([
    ['Gradle, xcodebuild: passed in the end', suite(F('pays') + P('pays')), 'flaky'],
    ['the last attempt failed', suite(F('pays') + F('pays')), 'failed'],
    ['with others in between', suite(F('pays') + P('adds') + P('pays')), 'flaky'],
    ['gotestsum: failures first', suite(F('pays') + F('pays') + P('adds') + P('pays')), 'flaky'],
    [
      'TestNG: failed attempts are skipped',
      suite(F('pays', '<skipped type="java.lang.AssertionError" message="no"/>') + P('pays')),
      'flaky',
    ],
    ['Maven: attempts within the test', suite(F('pays', '<flakyFailure message="no"/>')), 'flaky'],
    ['nextest: the same', suite(F('pays', '<rerunFailure/><flakyFailure/>')), 'failed'],
    [
      'an assumption that does not hold',
      suite(F('pays', '<skipped type="org.opentest4j.TestAbortedException"/>')),
      'skipped',
    ],
    ['another test with the name passed before it failed', suite(P('pays') + F('pays')), 'failed'],
  ])('%s', async (_, xml, outcome) => {
    expect((await outcomes(xml))['shop.Cart.pays']).toBe(outcome as 'flaky');
  });
});

describe('runners that never list a test twice', () => {
  test.each([
    ['Jest', `<testsuites name="jest tests">${suite(F('pays') + P('pays'))}</testsuites>`],
    ['Vitest', `<testsuites name="vitest tests">${suite(F('pays') + P('pays'))}</testsuites>`],
    ['Mocha', `<testsuites name="Mocha Tests">${suite(F('pays') + P('pays'))}</testsuites>`],
    ['Bun', `<testsuites name="bun test">${suite(F('pays') + P('pays'))}</testsuites>`],
    ['RSpec', suite(F('pays') + P('pays'), 'rspec')],
  ])('%s: the same name is another test, and a failure of it is never a flaky pass', async (_, xml) => {
    expect(await outcomes(xml)).toEqual({ 'shop.Cart.pays': 'failed' });
  });
});

describe('namesakes', () => {
  test('in two files with equal suites', async () => {
    const root = (inside: string) => `<testsuites name="bun test">${inside}</testsuites>`;
    const inFile = (file: string, one: string) => suite(suite(one, 'Cart', `file="${file}"`), file, `file="${file}"`);
    expect(
      await outcomes(
        root(
          inFile('a.test.ts', P('pays', 'classname="Cart"')) +
            inFile('b.test.ts', F('pays', '<failure/>', 'classname="Cart"')),
        ),
      ),
    ).toEqual({ 'a.test.ts.Cart.pays': 'passed', 'b.test.ts.Cart.pays': 'failed' });
  });
  test('of Playwright in two projects are named as in its own report', async () => {
    const project = (name: string, inside: string) => suite(inside, 'cart.spec.ts', `hostname="${name}"`);
    const test = 'classname="cart.spec.ts"';
    expect(
      await outcomes(
        `<testsuites>${project('chromium', P('Cart › pays', test))}${project('webkit', F('Cart › pays', '<failure/>', test))}</testsuites>`,
      ),
    ).toEqual({
      '[chromium] › cart.spec.ts › Cart › pays': 'passed',
      '[webkit] › cart.spec.ts › Cart › pays': 'failed',
    });
  });
  test('in suites of two machines are one test: hosts change with each run', async () => {
    const host = (name: string, inside: string) => suite(inside, 'shop.Cart', `hostname="${name}"`);
    expect(await outcomes(`<testsuites>${host('a', P('pays'))}${host('b', F('pays'))}</testsuites>`)).toEqual({
      'shop.Cart.pays': 'failed',
    });
  });
  test('rows of one test with one name in TRX are one test, which fails if one of them does', async () => {
    const result = (outcome: string) => `<UnitTestResult testId="1" testName="Rounds" outcome="${outcome}"/>`;
    const report = `<TestRun><Results>${result('Failed')}${result('Passed')}</Results></TestRun>`;
    expect(outcomesOf(await parse(trx, report))).toEqual({ Rounds: 'failed' });
  });
});

describe('go test', () => {
  test('a test that prints without a line break has the result that it states', async () => {
    const upload = await parseFixture(goTest, 'unterminated.json');
    const cart = (name: string) => executionNamed(upload, `example.com/shop/cart.${name}`);
    expect(outcomesOf(upload)).toEqual({
      'example.com/shop/cart.TestProgress': 'passed',
      'example.com/shop/cart.TestSub': 'failed',
      'example.com/shop/cart.TestSub/a': 'passed',
      'example.com/shop/cart.TestSub/b': 'failed',
      'example.com/shop/cart.TestSub/c': 'skipped',
      'example.com/shop/cart.TestSkips': 'skipped',
      'example.com/shop/cart.TestFails': 'failed',
      'example.com/shop/cart.TestAdds': 'passed',
      'example.com/shop/cart.TestMain': 'passed',
    });
    expect(cart('TestSub/b').failures[0]?.message).toBe('b 100%    cart_test.go:11: wrong');
    expect(cart('TestFails').failures[0]?.message).toBe('fail 100%    cart_test.go:15: bad');
    expect(upload.warnings).toEqual([]);
  });
  test('a panic within a line is the failure of its test, and the report says that the package stopped', async () => {
    const upload = await parseFixture(goTest, 'crash-verbose.json');
    expect(outcomesOf(upload)).toEqual({
      'example.com/shop/crash.TestBefore': 'passed',
      'example.com/shop/crash.TestPanics': 'failed',
      'example.com/shop/crash.TestMain': 'passed',
      'example.com/shop/late.TestPasses': 'passed',
      'example.com/shop/late.TestNext': 'failed',
      'example.com/shop/late.TestMain': 'passed',
    });
    expect(executionNamed(upload, 'example.com/shop/crash.TestPanics').failures[0]).toMatchObject({
      type: 'panic',
      message: 'panic: assignment to entry in nil map',
    });
    expect(upload.warnings).toEqual([
      '2 packages stopped before all tests had run: example.com/shop/crash (TestPanics ended its process), example.com/shop/late (TestNext ended its process).',
    ]);
  });
  test('a race fails its test, and the package continues', async () => {
    const upload = await parseFixture(goTest, 'race.json');
    expect(executionNamed(upload, 'example.com/shop/race.TestRaces').failures[0]?.message).toContain('race detected');
    expect(upload.warnings).toEqual([]);
  });

  const event = (fields: object): string =>
    `${JSON.stringify({ Time: '2026-11-27T09:10:01Z', Package: 'p', ...fields })}\n`;
  const ran = (Test: string, Action: string, ...lines: string[]): string =>
    event({ Action: 'run', Test }) +
    lines.map((Output) => event({ Action: 'output', Test, Output })).join('') +
    event({ Action, Test });
  const failed = event({ Action: 'fail' });
  const passed = event({ Action: 'pass' });
  const about = async (text: string) => parse(goTest, text);

  test('gotestsum runs what failed in another run of the package: that is one execution', async () => {
    const first = ran('TestPays', 'fail', 'no courier\n') + ran('TestShips', 'fail') + ran('TestAdds', 'pass') + failed;
    const upload = await about(
      first + ran('TestPays', 'pass') + ran('TestShips', 'fail') + failed + ran('TestShips', 'fail') + failed,
    );
    expect(outcomesOf(upload)).toMatchObject({
      'p.TestPays': 'flaky',
      'p.TestShips': 'failed',
      'p.TestAdds': 'passed',
    });
    expect(executionNamed(upload, 'p.TestPays').failures).toHaveLength(1);
    expect(executionNamed(upload, 'p.TestMain').status).toBe('passed');
    expect(upload.warnings).toEqual([]);
  });
  test.each([
    ['a panic', ran('T', 'fail', 'panic: why\n', 'goroutine 8 [running]:\n')],
    ['a fatal error', ran('T', 'fail', 'fatal error: all goroutines are asleep - deadlock!\n')],
    ['a panic after other output', ran('T', 'fail', 'loading 100%panic: why\n', '\n', 'goroutine 8 [running]:\n')],
    ['an exit', event({ Action: 'run', Test: 'T' })],
    ['a timeout', ran('T', 'pass', 'panic: test timed out after 2s\n', 'running tests:\n')],
    ['a crash outside of its tests', ran('T', 'pass') + event({ Action: 'output', Output: 'panic: why\n' })],
    ['a build that failed', event({ Action: 'output', Output: 'FAIL\tp [build failed]\n' })],
    ['an exit before its tests', event({ Action: 'output', Output: 'no database\n' })],
  ])('%s keeps the other tests of a package from running, which is trouble', async (_, events) => {
    expect((await about(events + failed)).warnings).toEqual([
      expect.stringMatching(/^1 package stopped before all tests had run: p \(/),
    ]);
  });
  test.each([
    ['a test that fails', ran('T', 'fail', 'no\n')],
    ['a test that prints a panic and lives on', ran('T', 'fail', 'panic: not really\n') + ran('U', 'pass')],
    ['an exit with an error after the tests', ran('T', 'pass') + event({ Action: 'output', Output: 'leak\n' })],
  ])('%s is not', async (_, events) => {
    expect((await about(events + failed)).warnings).toEqual([]);
  });
  test('why a package failed is found where Go adds it to a test that passed, before its end or after it', async () => {
    const stray = [
      'panic: test timed out after 2s\n',
      'running tests:\n',
      '\tT (2s)\n',
      '\n',
      'goroutine 33 [running]:\n',
    ];
    const after = stray.map((Output) => event({ Action: 'output', Test: 'T', Output })).join('');
    for (const events of [ran('T', 'pass', ...stray), ran('T', 'pass') + after]) {
      const upload = await about(events + failed);
      expect(outcomesOf(upload)).toEqual({ 'p.T': 'passed', 'p.TestMain': 'failed' });
      expect(executionNamed(upload, 'p.TestMain').failures[0]).toMatchObject({
        type: 'timeout',
        message: 'test timed out after 2s',
        stacktrace: expect.stringContaining('goroutine 33'),
      });
    }
    const race = await about(ran('T', 'pass', 'WARNING: DATA RACE\n', 'Read at 0x00c0\n') + failed);
    expect(executionNamed(race, 'p.TestMain').failures[0]?.message).toContain('DATA RACE');
  });
  test('lines of a program that logs in JSON are no events, and what stands before an event does not hide it', async () => {
    const logs = '{"level":30,"msg":"up"}\n{"Action":"login","user":7}\n';
    const upload = await about(
      `${logs}${event({ Action: 'run', Test: 'T' })}loading 100%${event({ Action: 'pass', Test: 'T' })}${passed}`,
    );
    expect(outcomesOf(upload)).toEqual({ 'p.T': 'passed', 'p.TestMain': 'passed' });
    expect(upload.warnings).toEqual([]);
  });
});
