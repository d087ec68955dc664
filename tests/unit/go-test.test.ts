import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { goTest } from '../../src/formats/go-test/format.ts';
import { executionsOf, fixtureBytes } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

const reported = await parseFixture(goTest, 'every-outcome.json');
const shop = (name: string) => executionNamed(reported, `example.com/shop/${name}`);
const failureOf = (name: string) => shop(name).failures[0];

describe('a report that Go wrote about twelve packages', () => {
  test('every test, sub-test, example and seed of a fuzz test is an execution', () => {
    const cart = Object.entries(outcomesOf(reported))
      .filter(([name]) => name.startsWith('example.com/shop/cart.'))
      .map(([name, outcome]) => [name.slice('example.com/shop/cart.'.length), outcome]);
    expect(Object.fromEntries(cart)).toEqual({
      TestSum: 'passed',
      TestFails: 'failed',
      TestSkipped: 'skipped',
      TestTable: 'failed',
      'TestTable/empty_cart': 'passed',
      'TestTable/with/slash': 'failed',
      'TestTable/same': 'passed',
      'TestTable/same#01': 'passed',
      'TestTable/nested': 'passed',
      'TestTable/nested/deeper': 'skipped',
      TestParallel: 'failed',
      'TestParallel/a': 'passed',
      'TestParallel/b': 'failed',
      'TestParallel/c': 'passed',
      TestUnfinishedLine: 'passed',
      FuzzSum: 'failed',
      'FuzzSum/seed#0': 'passed',
      'FuzzSum/seed#1': 'failed',
      ExampleLabel: 'passed',
      ExampleLabel_wrong: 'failed',
      TestMain: 'passed',
    });
  });
  test('function, time and duration are those of the test', () => {
    expect(shop('cart.TestParallel/c')).toMatchObject({
      function: 'TestParallel',
      durationSeconds: 0.02,
      finishedAtMs: Date.parse('2026-11-21T19:10:00.328Z'),
      isFlaky: false,
      isRetried: false,
    });
    expect(reported.runs[0]?.run).toMatchObject({ framework: 'go test', language: 'go' });
  });
  test('the message of a failure is what the test printed', () => {
    expect(failureOf('cart.TestFails')).toEqual({
      attempt: 1,
      type: null,
      message:
        'printed by the test\n    cart_test.go:18: a note\n    cart_test.go:19: got 4, want 5\n    cart_test.go:20: several\n        lines',
      stacktrace: null,
    });
    expect(failureOf('cart.TestTable/with/slash')?.message).toBe('cart_test.go:34: got 0, want 1');
    expect(failureOf('cart.ExampleLabel_wrong')?.message).toBe('got:\ntotal: 3\nwant:\ntotal: 4');
  });
  test('a test that fails by its sub-tests alone says so', () => {
    expect(failureOf('cart.TestTable')).toMatchObject({
      message: 'A sub-test failed.',
      stacktrace: 'TestTable/with/slash',
    });
  });
  test('a panic is the failure of the test that panicked, and not of those that it stopped', () => {
    expect(failureOf('crash.TestPanics')).toMatchObject({
      type: 'panic',
      message: 'panic: assignment to entry in nil map',
      stacktrace: expect.stringContaining('/home/me/shop/crash/crash_test.go:15'),
    });
    expect(shop('crash.TestBefore').status).toBe('passed');
    expect(shop('parallelcrash.TestPanics').failures[0]?.message).toBe('panic: out of stock');
    expect(reported.warnings).toEqual([
      expect.stringMatching(/^9 packages stopped before all tests had run: /),
      '3 tests did not end because the package stopped first, and so do not count: example.com/shop/crash.TestParallelBystander, example.com/shop/parallelcrash.TestBystander, example.com/shop/slow.TestWaiting.',
    ]);
  });
  test('a timeout is a failure of the tests that were running', () => {
    const timeout = { type: 'timeout', message: 'test timed out after 1s' };
    for (const name of ['slow.TestSlow', 'stuck.TestParallelA', 'stuck.TestParallelB', 'stuck.TestParallelB/inner']) {
      expect(failureOf(name)).toMatchObject(timeout);
      expect(shop(name).durationSeconds).toBeWithin(1, 1.1);
    }
    expect(shop('slow.TestFast').status).toBe('passed');
  });
  test('a test that ends the process is a failure', () => {
    expect(failureOf('exits.TestExits')?.message).toBe('The package ended before this test did.\n\nleaving');
    expect(failureOf('fatal.TestUnlocks')).toMatchObject({
      type: 'panic',
      message: 'fatal error: sync: unlock of unlocked mutex',
    });
  });
  test.each([
    [
      'broken',
      {
        type: 'build failed',
        message:
          'broken/broken_test.go:6:2: undefined: undefined\nbroken/broken_test.go:7:6: declared and not used: unused',
      },
    ],
    ['initpanic', { type: 'panic', message: 'panic: assignment to entry in nil map' }],
    ['testmain', { type: null, message: 'no database' }],
  ])('a package that fails outside of its tests is a failure of TestMain: %s', (name, failure) => {
    expect(failureOf(`${name}.TestMain`)).toMatchObject(failure);
  });
  test('TestMain passes where tests ran, so that a package recovers from a failed build', () => {
    for (const name of ['cart', 'crash', 'prices', 'slow']) expect(shop(`${name}.TestMain`).status).toBe('passed');
    expect(executionsOf(reported).filter(({ name }) => name.includes('/empty'))).toHaveLength(1);
  });
});

describe('reports of other runs', () => {
  test('tests run twice are two executions each', async () => {
    const upload = await parseFixture(goTest, 'count-2.json');
    expect(executionsOf(upload).map(({ name }) => name.split('.').at(-1))).toEqual([
      'TestRounds',
      'TestRoundsAlways/up',
      'TestRoundsAlways',
      'TestRounds',
      'TestRoundsAlways/up',
      'TestRoundsAlways',
      'TestMain',
    ]);
    expect(new Set(keysOf(upload)).size).toBe(7);
  });
  test('the same report again has the same keys', async () => {
    expect(keysOf(await parseFixture(goTest, 'every-outcome.json'))).toEqual(keysOf(reported));
  });
  test('results from the cache are no executions', async () => {
    const upload = await parseFixture(goTest, 'cached.json');
    expect(executionsOf(upload)).toEqual([]);
    expect(upload.warnings).toEqual([
      'Go took the results of 1 package from its cache. The tests did not run and are not counted; -count=1 runs them.',
    ]);
  });
  test('a benchmark has passed when it has a result', async () => {
    const upload = await parseFixture(goTest, 'benchmarks.json');
    expect(outcomesOf(upload)).toEqual({
      'example.com/shop/cart.BenchmarkSum': 'passed',
      'example.com/shop/cart.BenchmarkFails': 'failed',
      'example.com/shop/cart.TestMain': 'passed',
    });
  });
});

const event = (fields: object): string => `${JSON.stringify({ Package: 'p', ...fields })}\n`;
const run = (Test: string): string => event({ Action: 'run', Test });
const end = (Action: string, Test?: string): string => event({ Action, Test });
const output = (Output: string, Test?: string): string => event({ Action: 'output', Test, Output });

describe('however the report came into its file', () => {
  test('as UTF-16, with a byte order mark, with Windows line ends, or mixed with other output, it is the same', async () => {
    const text = Buffer.from(await fixtureBytes('go-test/every-outcome.json')).toString();
    const bodies = [
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from(`\ufeff${text}`),
      Buffer.from(text.replaceAll('\n', '\r\n')),
      Buffer.from(
        `go: downloading example.com/x v1.0.0\n${text.replace('\n', '\n# example.com/shop/broken\n')}exit 1\n`,
      ),
    ];
    for (const body of bodies) expect(await parse(goTest, body)).toEqual(reported);
  });
  test('packages whose events alternate are kept apart', async () => {
    const text = Buffer.from(await fixtureBytes('go-test/every-outcome.json')).toString();
    const lines = text.trimEnd().split('\n');
    const packageOf = (line: string): string => (JSON.parse(line) as { Package?: string }).Package ?? '';
    const byPackage = Map.groupBy(lines, packageOf);
    const alternating: string[] = byPackage.get('') ?? [];
    byPackage.delete('');
    for (let i = 0; i < lines.length; i++)
      for (const own of byPackage.values()) if (own[i]) alternating.push(own[i] ?? '');
    expect(outcomesOf(await parse(goTest, `${alternating.join('\n')}\n`))).toEqual(outcomesOf(reported));
  });
  test('a build that failed before Go wrote build events is known by its summary', async () => {
    const upload = await parse(goTest, output('FAIL\tp [build failed]\n') + end('fail'));
    expect(executionNamed(upload, 'p.TestMain').failures[0]).toMatchObject({ type: 'build failed', message: null });
  });
  test('output that comes after the end of its test starts nothing', async () => {
    const upload = await parse(goTest, run('T') + end('pass', 'T') + output('late\n', 'T') + end('pass'));
    expect(outcomesOf(upload)).toEqual({ 'p.T': 'passed', 'p.TestMain': 'passed' });
  });
  test('its times are shifted to where the tests began', async () => {
    const startedAtMs = Date.parse('2030-01-01T00:00:00Z');
    const body =
      event({ Time: '2026-11-21T10:00:00Z', Action: 'start' }) +
      event({ Time: '2026-11-21T10:00:02.5Z', Action: 'fail' });
    expect(executionsOf(await parse(goTest, body, { startedAtMs }))[0]?.finishedAtMs).toBe(startedAtMs + 2_500);
  });
});

describe('reports that break off keep their whole tests and say where', () => {
  test.each([
    [
      'within an event',
      `${run('T')}${end('pass', 'T')}{"Action":"ru`,
      'is cut short at line 3. The 1 before it is kept',
    ],
    [
      'between two events',
      run('T') + end('pass', 'T') + run('U'),
      'is cut short: p does not end. The 1 before it is kept',
    ],
    ['before any end', run('T'), 'is cut short: p does not end. No test before it was whole'],
  ])('%s', async (_, body, warning) => {
    const { warnings } = await parse(goTest, body);
    expect(warnings).toEqual([`The report ${warning}; what followed is lost.`]);
  });
  test('a line that is not an event is counted, and the others stay', async () => {
    const upload = await parse(goTest, `${run('T')}{"Action":7}\n{broken}\n${end('pass', 'T')}${end('pass')}`);
    expect(outcomesOf(upload)).toEqual({ 'p.T': 'passed', 'p.TestMain': 'passed' });
    expect(upload.warnings).toEqual(['2 lines of the report cannot be read as events, and so do not count.']);
  });
});

describe('hostile reports', () => {
  test.each([
    ['empty', ''],
    ['the output of go test without -json', '=== RUN   TestSum\n--- PASS: TestSum (0.00s)\nPASS\n'],
    ['a Playwright report', '{\n  "suites": []\n}'],
    ['JSON lines of something else', '{"level":"info","msg":"started"}\n'],
    ['braces', '{'.repeat(1_000_000)],
    ['brackets in braces', `{"Action":${'['.repeat(1_000_000)}\n`],
    ['an event of 5 MiB', `{"Action":"run","Test":"${'x'.repeat(5 << 20)}"}\n`],
  ])('%s is refused with a sentence', async (_, body) => {
    const error = await refusalOf(goTest, body);
    expect(error).toBeInstanceOf(InvalidUpload);
    expect(String(error)).toContain('The body is not a `go test -json` report: it holds no event. Was -json left out?');
  });
  test('more tests than an upload may hold are refused whole, whether they end or not', async () => {
    const tests = Array.from({ length: 11 }, (_, i) => run(`T${i}`));
    const packages = Array.from({ length: 11 }, (_, i) => event({ Package: `p${i}`, Action: 'start' }));
    const builds = Array.from({ length: 11 }, (_, i) =>
      event({ ImportPath: `p${i}`, Action: 'build-output', Output: 'x' }),
    );
    for (const body of [tests, packages, builds])
      await expect(parse(goTest, body.join(''), { executionsMax: 10 })).rejects.toThrow(UploadTooLarge);
  });
  test('of much output the end is kept, and of a panic the beginning', async () => {
    const lines = (mark: string) => output(`${mark}${'x'.repeat(1_000)}\n`, 'T').repeat(1_000);
    const printed = await parse(
      goTest,
      run('T') + output('first\n', 'T') + lines('') + output('last\n', 'T') + end('fail', 'T') + end('fail'),
    );
    const [{ message } = { message: null }] = executionNamed(printed, 'p.T').failures;
    expect(Buffer.byteLength(message ?? '')).toBeLessThanOrEqual(65_536);
    expect(message).not.toContain('first');
    const panicked = await parse(
      goTest,
      run('T') + output('panic: why\n', 'T') + lines('goroutine ') + end('fail', 'T') + end('fail'),
    );
    expect(executionNamed(panicked, 'p.T').failures[0]).toMatchObject({ type: 'panic', message: 'panic: why' });
  });
  test('the list of running tests may be as long as its output', async () => {
    const list = output('panic: test timed out after 1s\n', 'T') + output('\trunning tests:\n', 'T');
    const long = output(`\t\t${' ('.repeat(500_000)}\n`, 'T');
    const upload = await parse(goTest, run('T') + list + long + end('fail'));
    expect(outcomesOf(upload)).toEqual({ 'p.TestMain': 'failed' });
  });
  test('names with thousands of parts, empty names and the same name again are read', async () => {
    const deep = `T${'/'.repeat(5_000)}`;
    const upload = await parse(
      goTest,
      [deep, deep, 'T'].map((name) => run(name) + end('fail', name)).join('') + end('fail'),
    );
    expect(executionsOf(upload)).toHaveLength(4);
    expect(new Set(keysOf(upload)).size).toBe(4);
  });
  test('NUL and half a surrogate pair in a name refuse that test; in output they are replaced', async () => {
    for (const name of ['T\\u0000', 'T\\udc00']) {
      const { rejections } = await parse(goTest, `{"Action":"pass","Package":"p","Test":"${name}"}\n${end('pass')}`);
      expect(rejections).toMatchObject([
        { reason: expect.stringMatching(/^the test name holds (?:a NUL|half)/), count: 1 },
      ]);
    }
    const upload = await parse(goTest, run('T') + output('a\0b\ud800\n', 'T') + end('fail', 'T') + end('fail'));
    expect(executionNamed(upload, 'p.T').failures[0]?.message).toBe('a\uFFFDb\uFFFD');
  });
});
