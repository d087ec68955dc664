import { describe, expect, test } from 'bun:test';
import { parseSeconds, parseTimestamp } from '../../src/formats/time.ts';
import { executionOfCase, executionsOf, fixtureBytes, parseXml, statusesOf } from '../support/parsing.ts';

const fixture = async (name: string) => parseXml(await fixtureBytes(`junit/${name}.xml`));

describe('reports of real runners', () => {
  test('pytest', async () => {
    const upload = await fixture('pytest-9.2');
    expect(statusesOf(upload)).toEqual({
      'test_cart.TestCart.test_adds': 'passed',
      'test_cart.TestCart.test_names[a,b]': 'passed',
      'test_cart.TestCart.test_names[[c]]': 'passed',
      'test_cart.TestCart.test_names[100 %]': 'passed',
      'test_cart.TestCart.test_names[<&>"\']': 'passed',
      'test_cart.TestCart.test_names[sp\\xe4ti \\U0001f34e]': 'passed',
      'test_cart.TestCart.test_fails': 'failed',
      'test_cart.TestCart.test_setup': 'failed',
      'test_cart.test_skips': 'skipped',
      'test_cart.test_xfails': 'skipped',
    });
    expect(upload.runs[0]?.run).toMatchObject({ framework: 'pytest', language: 'python' });
    const failed = executionsOf(upload).find(({ name }) => name.endsWith('test_fails'));
    expect(failed?.failures[0]?.message).toStartWith(
      'AssertionError: lists #x1B[1mdiffer#x1B[0m\nassert [1, 2] == [1, 3]',
    );
    expect(failed?.failures[0]?.stacktrace).toContain('test_cart.py:13: AssertionError');
    expect(failed?.finishedAtMs).toBe(Date.parse('2026-11-21T05:21:22.954Z'));
  });

  test('node --test', async () => {
    const upload = await fixture('node-20');
    expect(statusesOf(upload)).toEqual({
      'test.adds an item': 'passed',
      'test.sums [a, b] with 10% tax': 'failed',
      'test.prints a receipt': 'skipped',
      'test.is to be done': 'skipped',
      "test.it's 🍎": 'passed',
    });
    expect(executionsOf(upload)[1]?.failures[0]).toMatchObject({ type: 'testCodeFailure' });
    expect(executionsOf(upload)[1]?.finishedAtMs).toBeNull();
  });

  test('bun test', async () => {
    const upload = await fixture('bun-1.4');
    expect(Object.values(statusesOf(upload))).toEqual(['passed', 'failed', 'skipped', 'skipped', 'passed']);
    expect(upload.runs[0]?.run.framework).toBe('bun');
    expect(executionsOf(upload)[0]).toMatchObject({
      name: 'Cart.adds an item',
      function: 'adds an item',
      filepath: 'cart.test.ts',
    });
  });

  test('Surefire: passed after failed attempts is flaky, failed after more of them is not; both keep every attempt', async () => {
    const [atOnce, atLast, never] = executionsOf(await fixture('surefire-reruns'));
    expect(atOnce).toMatchObject({ status: 'passed', isFlaky: false, isRetried: false, failures: [] });
    expect(atLast).toMatchObject({ status: 'passed', isFlaky: true, isRetried: true, durationSeconds: 1234.4 });
    expect(atLast?.failures.map(({ attempt, type, message }) => [attempt, type, message])).toEqual([
      [1, 'org.opentest4j.AssertionFailedError', 'expected: 1 but was: 2'],
      [2, 'java.net.ConnectException', 'refused'],
    ]);
    expect(atLast?.failures[0]?.stacktrace).toEndWith('CartTest.java:12)');
    expect(never).toMatchObject({ status: 'failed', isFlaky: false, isRetried: true });
    expect(never?.failures.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, 'expected: 3'],
      [2, 'expected: 3 again'],
    ]);
  });
});

describe('names', () => {
  test.each([
    ['classname="a.B" name="c"', 'a.B.c'],
    ['classname="" name="c"', 'c'],
    ['name="c"', 'c'],
    ['classname="a.B"', 'a.B'],
    ['name="&quot;&lt;&amp;&gt;&apos; &#x1F34E;"', '"<&>\' 🍎'],
  ])('<testcase %s> is %s', async (attributes, name) => {
    expect((await executionOfCase(`<testcase ${attributes}/>`)).name).toBe(name);
  });
  test('a testcase without name and classname is refused and counted', async () => {
    const upload = await parseXml(
      '<testsuite><testcase/><testcase name="a"/><testcase classname="" name=""/></testsuite>',
    );
    expect(executionsOf(upload)).toHaveLength(1);
    expect(upload.rejections).toEqual([
      { reason: 'the testcase has neither name nor classname', count: 2, examples: [] },
    ]);
  });
  test('10,000 characters are kept, a row with 10,001 is refused and counted, the others stay', async () => {
    const upload = await parseXml(
      `<testsuite><testcase name="${'🍎'.repeat(10_000)}"/><testcase name="${'x'.repeat(10_001)}"/><testcase name="b"/></testsuite>`,
    );
    expect(executionsOf(upload).map(({ name }) => [...name].length)).toEqual([10_000, 1]);
    expect(upload.rejections).toMatchObject([{ reason: 'the test name is longer than 10000 characters', count: 1 }]);
  });
  test.each(['a\0b', 'a&#0;b', 'a&#x00;b', 'a&#xD800;b'])(
    '%j refuses that test, and the others are kept',
    async (name) => {
      const fine = '<testcase name="fine"/>';
      const upload = await parseXml(`<testsuite>${fine}<testcase name="${name}"/>${fine}</testsuite>`);
      expect(executionsOf(upload).map((one) => one.name)).toEqual(['fine', 'fine']);
      expect(upload.rejections).toMatchObject([
        { reason: expect.stringMatching(/^the test name holds (?:a NUL|half)/), count: 1 },
      ]);
    },
  );
});

describe('outcomes', () => {
  test.each([
    ['', 'passed'],
    ['<failure/>', 'failed'],
    ['<error/>', 'failed'],
    ['<skipped/>', 'skipped'],
    ['<skipped/><failure/>', 'failed'],
    ['<flakyFailure/>', 'passed'],
    ['<flakyError/>', 'passed'],
    ['<rerunFailure/>', 'failed'],
    ['<rerunError/>', 'failed'],
    ['<system-out>failure</system-out><properties><property name="a" value="b"/></properties>', 'passed'],
  ])('%j is %s', async (content, status) => {
    expect((await executionOfCase(`<testcase name="a">${content}</testcase>`)).status).toBe(status as 'passed');
  });
  test('a disabled GoogleTest is skipped', async () => {
    expect((await executionOfCase('<testcase name="a" status="notrun" result="suppressed"/>')).status).toBe('skipped');
  });
  test('the message is the attribute, else the first line of the text; the stack is the text', async () => {
    const failures = async (failure: string) =>
      (await executionOfCase(`<testcase name="a">${failure}</testcase>`)).failures;
    expect(await failures('<failure type="T" message="m">one\ntwo</failure>')).toEqual([
      { attempt: 1, type: 'T', message: 'm', stacktrace: 'one\ntwo' },
    ]);
    expect(await failures('<failure><![CDATA[\n one <b>\ntwo]]> &amp; three</failure>')).toEqual([
      { attempt: 1, type: null, message: 'one <b>', stacktrace: 'one <b>\ntwo & three' },
    ]);
    expect(await failures('<failure/>')).toEqual([{ attempt: 1, type: null, message: null, stacktrace: null }]);
  });
  test('several failures of one test are all kept', async () => {
    const { failures } = await executionOfCase(
      '<testcase name="a"><failure message="1"/><error message="2"/></testcase>',
    );
    expect(failures.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, '1'],
      [2, '2'],
    ]);
  });
  test('a message of 100 KiB in an attribute is cut, marked, and costs nothing else', async () => {
    const upload = await parseXml(
      `<testsuite><testcase name="a"><failure message="${'x'.repeat(100_000)}"/></testcase><testcase name="b"/></testsuite>`,
    );
    const [a, b] = executionsOf(upload);
    expect(a?.failures[0]?.message).toEndWith('x… [cut, 100000 bytes in all]');
    expect(b?.name).toBe('b');
  });
});

describe('which execution is which', () => {
  const xml =
    '<testsuites name="all"><testsuite name="s"><testcase name="a"/><testcase name="a"/><testsuite name="t"><testcase name="a"/></testsuite></testsuite></testsuites>';
  test('key: suite path, name and ordinal; source: run, attempt, pipeline, job, report', async () => {
    const found = executionsOf(await parseXml(xml));
    expect(found.map(({ key }) => JSON.parse(key))).toEqual([
      [['s'], 'a', 0],
      [['s'], 'a', 1],
      [['s', 't'], 'a', 0],
    ]);
    expect(new Set(found.map(({ source }) => source))).toEqual(new Set(['["junit","CI","unit","1001",1,"junit.xml"]']));
  });
  test('the file is that of the test, else of the nearest suite around it', async () => {
    const found = executionsOf(
      await parseXml(
        '<testsuite file="outer"><testcase name="a" file="own"/><testcase name="b"/><testsuite file="inner"><testcase name="c"/></testsuite><testsuite><testcase name="d"/></testsuite></testsuite>',
      ),
    );
    expect(found.map(({ filepath }) => filepath)).toEqual(['own', 'outer', 'inner', 'outer']);
  });
});

describe('times', () => {
  test.each([
    ['2020-09-04T16:18:04.966371', '2020-09-04T16:18:04.966Z'],
    ['2020-09-10T13:34:55', '2020-09-10T13:34:55.000Z'],
    ['2020-09-10 13:34', '2020-09-10T13:34:00.000Z'],
    ['2024-09-30T19:12:51.159+00:00', '2024-09-30T19:12:51.159Z'],
    ['2024-09-30T19:12:51+0530', '2024-09-30T13:42:51.000Z'],
    ['2024-09-30T19:12:51-08', '2024-10-01T03:12:51.000Z'],
    ['2024-09-30T19:12:51Z', '2024-09-30T19:12:51.000Z'],
    ['2024-09-30T19:12:51 UTC', '2024-09-30T19:12:51.000Z'],
    ['Sat, 03 Dec 2022 23:10:07 GMT', '2022-12-03T23:10:07.000Z'],
  ])('timestamp %s is %s', (text, iso) => {
    expect(new Date(parseTimestamp(text) ?? Number.NaN).toISOString()).toBe(iso);
  });
  test.each([undefined, '', 'yesterday', '2020-13-45T00:00:00', '2020-09-10'])('timestamp %p says nothing', (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });
  test.each([
    ['1.5', 1.5],
    ['0.', 0],
    ['.5', 0.5],
    ['1,234.567', 1234.567],
    ['1,234,567', 1_234_567],
    ['0,25', 0.25],
    ['1e-05', 0.00001],
    ['-1', 0],
    ['NaN', 0],
    ['Infinity', 0],
    ['', 0],
    [undefined, 0],
  ])('time %p is %d s', (text, seconds) => {
    expect(parseSeconds(text)).toBe(seconds);
  });

  const at = (iso: string) => Date.parse(iso);
  const finished = async (xml: string, startedAtMs?: number) =>
    executionsOf(await parseXml(xml, startedAtMs === undefined ? {} : { startedAtMs })).map(
      ({ finishedAtMs }) => finishedAtMs,
    );
  const SUITE =
    '<testsuites><testsuite timestamp="2026-11-21T10:00:00"><testcase name="a" time="1"/><testcase name="b" time="2"/><testcase name="c" time="3" timestamp="2026-11-21T11:00:00Z"/></testsuite><testsuite><testcase name="d" time="4"/></testsuite></testsuites>';

  test("a test ends at its own time plus its duration, or after the suite's tests so far; otherwise the time is unknown", async () => {
    expect(await finished(SUITE)).toEqual([
      at('2026-11-21T10:00:01Z'),
      at('2026-11-21T10:00:03Z'),
      at('2026-11-21T11:00:03Z'),
      null,
    ]);
  });
  test('started_at shifts the earliest time there, keeps distances, and gives every test a time', async () => {
    expect(await finished(SUITE, at('2026-01-01T00:00:00Z'))).toEqual([
      at('2026-01-01T00:00:01Z'),
      at('2026-01-01T00:00:03Z'),
      at('2026-01-01T01:00:03Z'),
      at('2026-01-01T00:00:10Z'),
    ]);
  });
  test('started_at of a report without times', async () => {
    const xml = '<testsuite><testcase name="a" time="1"/><testcase name="b" time="2"/></testsuite>';
    expect(await finished(xml, at('2026-01-01T00:00:00Z'))).toEqual([
      at('2026-01-01T00:00:01Z'),
      at('2026-01-01T00:00:03Z'),
    ]);
  });
});

describe('encodings', () => {
  test.each([
    [
      'latin1',
      Buffer.from(
        '<?xml version="1.0" encoding="ISO-8859-1"?><testsuite><testcase name="sp\xe4t"/></testsuite>',
        'latin1',
      ),
    ],
    [
      'UTF-16',
      Buffer.from(
        '\ufeff<?xml version="1.0" encoding="UTF-16"?><testsuite><testcase name="spät"/></testsuite>',
        'utf16le',
      ),
    ],
    [
      'UTF-8 with a byte order mark',
      Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-8"?><testsuite><testcase name="spät"/></testsuite>'),
    ],
  ])('%s', async (_, body) => {
    expect(executionsOf(await parseXml(body)).map(({ name }) => name)).toEqual(['spät']);
  });
});
