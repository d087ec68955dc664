import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { BODY_LIMITS } from '../../src/ingest/body.ts';
import { InvalidUpload, UploadTooLarge } from '../../src/ingest/errors.ts';
import { reportFiles } from '../../src/ingest/junit/files.ts';
import { parseJunit } from '../../src/ingest/junit/parse.ts';
import { parseSeconds, parseTimestamp } from '../../src/ingest/junit/time.ts';
import type { ParsedExecution, ParsedUpload } from '../../src/ingest/upload.ts';
import type { Run } from '../../src/queue/test-runs.ts';

const RUN: Run = {
  pipeline_name: 'CI',
  job_name: 'unit',
  run_id: '1001',
  run_attempt: 1,
  commit: null,
  branch: 'main',
  base_ref: null,
  pull_request: null,
  default_branch: null,
  framework: null,
  framework_version: null,
  language: null,
  job_url: null,
};
const bytes = (text: string): Uint8Array => Buffer.from(text);
const parse = (
  xml: string | Uint8Array,
  options: { startedAtMs?: number; executionsMax?: number } = {},
): Promise<ParsedUpload> =>
  parseJunit(typeof xml === 'string' ? bytes(xml) : xml, { run: RUN, report: 'junit.xml', ...options });
const executionsOf = (upload: ParsedUpload): ParsedExecution[] => upload.runs.flatMap((run) => run.executions);
const executions = async (xml: string | Uint8Array): Promise<ParsedExecution[]> => executionsOf(await parse(xml));
const one = async (testcase: string): Promise<ParsedExecution> => {
  const [execution] = await executions(`<testsuite>${testcase}</testsuite>`);
  if (!execution) throw new Error('no execution');
  return execution;
};
const fixture = async (name: string): Promise<ParsedUpload> =>
  parse(await Bun.file(new URL(`../fixtures/junit/${name}.xml`, import.meta.url)).bytes());
const statuses = (upload: ParsedUpload) =>
  Object.fromEntries(executionsOf(upload).map(({ name, status }) => [name, status]));

describe('reports of real runners', () => {
  test('pytest', async () => {
    const upload = await fixture('pytest-9.2');
    expect(statuses(upload)).toEqual({
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
    expect(statuses(upload)).toEqual({
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
    expect(Object.values(statuses(upload))).toEqual(['passed', 'failed', 'skipped', 'skipped', 'passed']);
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
    expect((await one(`<testcase ${attributes}/>`)).name).toBe(name);
  });
  test('a testcase without name and classname is refused and counted', async () => {
    const upload = await parse(
      '<testsuite><testcase/><testcase name="a"/><testcase classname="" name=""/></testsuite>',
    );
    expect(executionsOf(upload)).toHaveLength(1);
    expect(upload.rejections).toEqual([
      { reason: 'the testcase has neither name nor classname', count: 2, examples: [] },
    ]);
  });
  test('10,000 characters are kept, a row with 10,001 is refused and counted, the others stay', async () => {
    const upload = await parse(
      `<testsuite><testcase name="${'🍎'.repeat(10_000)}"/><testcase name="${'x'.repeat(10_001)}"/><testcase name="b"/></testsuite>`,
    );
    expect(executionsOf(upload).map(({ name }) => [...name].length)).toEqual([10_000, 1]);
    expect(upload.rejections).toMatchObject([{ reason: 'the test name is longer than 10000 characters', count: 1 }]);
  });
  test.each(['a\0b', 'a&#0;b', 'a&#x00;b', 'a&#xD800;b'])('%j refuses the report', async (name) => {
    await expect(parse(`<testsuite><testcase name="${name}"/></testsuite>`)).rejects.toThrow(InvalidUpload);
  });
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
    expect((await one(`<testcase name="a">${content}</testcase>`)).status).toBe(status as 'passed');
  });
  test('a disabled GoogleTest is skipped', async () => {
    expect((await one('<testcase name="a" status="notrun" result="suppressed"/>')).status).toBe('skipped');
  });
  test('the message is the attribute, else the first line of the text; the stack is the text', async () => {
    const failures = async (failure: string) => (await one(`<testcase name="a">${failure}</testcase>`)).failures;
    expect(await failures('<failure type="T" message="m">one\ntwo</failure>')).toEqual([
      { attempt: 1, type: 'T', message: 'm', stacktrace: 'one\ntwo' },
    ]);
    expect(await failures('<failure><![CDATA[\n one <b>\ntwo]]> &amp; three</failure>')).toEqual([
      { attempt: 1, type: null, message: 'one <b>', stacktrace: 'one <b>\ntwo & three' },
    ]);
    expect(await failures('<failure/>')).toEqual([{ attempt: 1, type: null, message: null, stacktrace: null }]);
  });
  test('several failures of one test are all kept', async () => {
    const { failures } = await one('<testcase name="a"><failure message="1"/><error message="2"/></testcase>');
    expect(failures.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, '1'],
      [2, '2'],
    ]);
  });
  test('a message of 100 KiB in an attribute is cut, marked, and costs nothing else', async () => {
    const upload = await parse(
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
    const found = await executions(xml);
    expect(found.map(({ key }) => JSON.parse(key))).toEqual([
      [['s'], 'a', 0],
      [['s'], 'a', 1],
      [['s', 't'], 'a', 0],
    ]);
    expect(new Set(found.map(({ source }) => source))).toEqual(new Set(['["junit","CI","unit","1001",1,"junit.xml"]']));
  });
  test('the file is that of the test, else of the nearest suite around it', async () => {
    const found = await executions(
      '<testsuite file="outer"><testcase name="a" file="own"/><testcase name="b"/><testsuite file="inner"><testcase name="c"/></testsuite><testsuite><testcase name="d"/></testsuite></testsuite>',
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
    executionsOf(await parse(xml, startedAtMs === undefined ? {} : { startedAtMs })).map(
      ({ finishedAtMs }) => finishedAtMs,
    );
  const SUITE =
    '<testsuites><testsuite timestamp="2026-11-21T10:00:00"><testcase name="a" time="1"/><testcase name="b" time="2"/><testcase name="c" time="3" timestamp="2026-11-21T11:00:00Z"/></testsuite><testsuite><testcase name="d" time="4"/></testsuite></testsuites>';

  test("a test ends at its own time plus its duration, else after the suite's tests so far, else nobody knows", async () => {
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

describe('reports that break off keep their whole tests and say where', () => {
  const head = '<testsuites>\n<testsuite name="s">\n<testcase name="a"/>\n<testcase name="b"/>\n';
  test.each([
    [
      'cut within an element',
      `${head}<testcase name="c"><failure>x`,
      'is cut short at line 5 within <failure>. The 2 before it are kept',
    ],
    ['cut within a tag', `${head}<testcase na`, 'is cut short at line 5 within <testcase>. The 2 before it are kept'],
    ['cut between tests', head, 'is cut short at line 5 within <testsuite>. The 2 before it are kept'],
    ['cut before any test', '<testsuites>', 'is cut short at line 1 within <testsuites>. No test before it was whole'],
    [
      'ends that do not match',
      `${head}<testcase name="c"></testsuite>`,
      'is not well-formed XML at line 5 within <testcase> (Unexpected close tag). The 2',
    ],
    [
      'a bare ampersand',
      `${head}<testcase name="c&d"/>`,
      'is not well-formed XML at line 5 within <testcase> (Invalid character in entity name). The 2',
    ],
    [
      'an entity of HTML',
      `${head}<testcase name="&nbsp;"/>`,
      'is not well-formed XML at line 5 within <testcase> (Invalid character entity). The 2',
    ],
    [
      'text after the end',
      '<testsuite><testcase name="a"/></testsuite>oops',
      'is not well-formed XML at line 1 (Text data outside of root node.). The 1 before it is kept',
    ],
  ])('%s', async (_, xml, warning) => {
    const { warnings } = await parse(xml);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toStartWith(`The report ${warning}`);
  });
  test('control characters written as references are no reason to stop', async () => {
    const [a, b] = await executions(
      '<testsuite><testcase name="a"><failure>&#27;[31mred</failure></testcase><testcase name="b"/></testsuite>',
    );
    expect(a?.failures[0]?.stacktrace).toBe('&#27;[31mred');
    expect(b?.name).toBe('b');
  });
});

describe('what is no JUnit report is refused with a sentence', () => {
  test.each([
    ['empty', '', 'it holds no element'],
    ['text', 'hello', 'it is not well-formed XML at line 1 (Non-whitespace before first tag.)'],
    ['JSON', '{"a":1}', 'it is not well-formed XML'],
    ['another root', '<suites><suite/></suites>', 'its root is <suites>, not <testsuites> or <testsuite>'],
    ['HTML', '<html><body>502</body></html>', 'its root is <html>'],
    ['an XML declaration only', '<?xml version="1.0"?>', 'it holds no element'],
    ['a DTD', '<!DOCTYPE testsuite SYSTEM "http://x/y.dtd"><testsuite/>', 'it has a document type declaration (DTD)'],
    [
      'a billion laughs',
      '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>',
      'it has a document type declaration (DTD)',
    ],
    ['deep nesting', '<testsuite>'.repeat(1_000_000), 'it nests elements more than 100 deep'],
    [
      'many attributes',
      `<testsuite ${Array.from({ length: 1_000 }, (_, i) => `a${i}=""`).join(' ')}/>`,
      'an element has more than 200 attributes',
    ],
  ])('%s', async (_, xml, why) => {
    const error = await parse(xml).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(InvalidUpload);
    expect(String(error)).toContain(`The body is not a JUnit XML report: ${why}`);
  });
});

test('more tests than an upload may hold are refused whole', async () => {
  const xml = `<testsuite>${'<testcase name="a"/>'.repeat(11)}</testsuite>`;
  await expect(parse(xml, { executionsMax: 10 })).rejects.toThrow(UploadTooLarge);
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
      bytes('\ufeff<?xml version="1.0" encoding="UTF-8"?><testsuite><testcase name="spät"/></testsuite>'),
    ],
    [
      'one nobody knows',
      bytes('<?xml version="1.0" encoding="x-none"?><testsuite><testcase name="spät"/></testsuite>'),
    ],
  ])('%s', async (_, body) => {
    expect((await executions(body)).map(({ name }) => name)).toEqual(['spät']);
  });
});

describe('the files of a request', () => {
  const form = async (files: [name: string, body: string | Uint8Array<ArrayBuffer>][]) => {
    const data = new FormData();
    for (const [name, body] of files) data.append('report', new File([body], name));
    const response = new Response(data);
    // Bun forgets the boundary once the body is read.
    const type = response.headers.get('content-type');
    return { body: await response.bytes(), type };
  };
  test('a body of its own, packed or not', async () => {
    for (const body of [bytes('<a/>'), gzipSync('<a/>')])
      expect(await reportFiles(body, 'application/xml', BODY_LIMITS)).toEqual([
        { name: null, body: Buffer.from('<a/>') },
      ]);
  });
  test('each file of a form, packed or not, by its name', async () => {
    const { body, type } = await form([
      ['a/junit.xml', '<a/>'],
      ['b.xml.gz', new Uint8Array(gzipSync('<b/>'))],
    ]);
    const files = await reportFiles(body, type, BODY_LIMITS);
    expect(files.map((file) => [file.name, Buffer.from(file.body).toString()])).toEqual([
      ['a/junit.xml', '<a/>'],
      ['b.xml.gz', '<b/>'],
    ]);
  });
  test('two files of one name are refused: one would count as the other sent again', async () => {
    const { body, type } = await form([
      ['junit.xml', '<a/>'],
      ['junit.xml', '<b/>'],
    ]);
    await expect(reportFiles(body, type, BODY_LIMITS)).rejects.toThrow('Two files of the form are named junit.xml.');
  });
  test.each([
    [
      'a form without files',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
    ],
    ['a form cut short', 'multipart/form-data; boundary=x', '--x\r\ncontent-dis'],
    ['a form without a boundary', 'multipart/form-data', 'abc'],
    ['a form of a million parts', 'multipart/form-data; boundary=x', '--x\r\n\r\n'.repeat(1_000_000)],
    ['JSON', 'application/json', '{}'],
  ])('%s is refused', async (_, type, body) => {
    await expect(reportFiles(bytes(body), type, BODY_LIMITS)).rejects.toThrow(InvalidUpload);
  });
  test('packed files of a form are within the limit together', async () => {
    const packed = new Uint8Array(gzipSync(Buffer.alloc(600_000)));
    const { body, type } = await form([
      ['a', packed],
      ['b', packed],
    ]);
    await expect(reportFiles(body, type, { ...BODY_LIMITS, unpackedBytesMax: 1_000_000 })).rejects.toThrow(
      UploadTooLarge,
    );
  });
});
