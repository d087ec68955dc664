/**
 * The largest upload of every kind that the limits allow: 100,000 tests, all of which failed, in just under 200 MiB. Half of
 * the texts have characters that take two bytes in memory, as reports of JavaScript have.
 */
import { UPLOAD_EXECUTIONS_MAX } from '../../src/domain/limits.ts';
import { BODY_LIMITS } from '../../src/ingest/body.ts';
import { randomFrom } from './random.ts';

/** @param text what the test failed with: several lines without quotes, brackets and ampersands */
type Part = (i: number, text: string) => string;

interface Shape {
  /** UPLOAD_EXECUTIONS_MAX unless given. */
  tests?: number;
  /** The end of the address. */
  path: string;
  contentType: string;
  before: string;
  each: Part;
  between?: string;
  after: string;
}

const MEBIBYTE = 1024 * 1024;
/** For what is around the tests. */
const ROOM_BYTES = MEBIBYTE;

const report = (format: string): string => `/${format}?pipeline_name=CI&job_name=unit&branch=main`;
const XML = 'application/xml';
const JSON_TYPE = 'application/json';
const NDJSON = 'application/x-ndjson';

const xml = (format: string, before: string, each: Part, after: string): Shape => ({
  path: report(format),
  contentType: XML,
  before,
  each,
  after,
});
const json = (path: string, before: string, each: (i: number, text: string) => object, after: string): Shape => ({
  path,
  contentType: JSON_TYPE,
  before,
  each: (i, text) => JSON.stringify(each(i, text)),
  between: ',',
  after,
});
const lines = (format: string, each: (i: number, text: string) => object[], last: object): Shape => ({
  path: report(format),
  contentType: NDJSON,
  before: '',
  each: (i, text) =>
    each(i, text)
      .map((line) => JSON.stringify(line))
      .join('\n'),
  between: '\n',
  after: `\n${JSON.stringify(last)}\n`,
});

const hex = (i: number, length: number): string => (i + 1).toString(16).padStart(length, '0');
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

export const LARGEST: Readonly<Record<string, Shape>> = {
  junit: xml(
    'junit',
    '<testsuites><testsuite name="cart">',
    (i, text) =>
      `<testcase classname="src/cart.test.ts" name="does thing ${i}" time="0.1"><failure type="AssertionError" message="no ${i}">${text}</failure></testcase>`,
    '</testsuite></testsuites>',
  ),
  playwright: json(
    report('playwright'),
    '{"config":{"version":"1.65.1"},"suites":[{"title":"a.spec.ts","file":"a.spec.ts","specs":[',
    (i, text) => ({
      title: `does thing ${i}`,
      tests: [
        {
          projectName: 'chromium',
          expectedStatus: 'passed',
          status: 'unexpected',
          results: [{ retry: 0, status: 'failed', duration: 5, error: { message: `Error: no ${i}`, stack: text } }],
        },
      ],
    }),
    ']}]}',
  ),
  'go-test': {
    ...lines(
      'go-test',
      (i, text) => [
        { Action: 'run', Package: 'shop/cart', Test: `Test${i}` },
        { Action: 'output', Package: 'shop/cart', Test: `Test${i}`, Output: `${text}\n` },
        { Action: 'fail', Package: 'shop/cart', Test: `Test${i}`, Elapsed: 0.1 },
      ],
      { Action: 'fail', Package: 'shop/cart', Elapsed: 100 },
    ),
    // A package counts as one, too.
    tests: UPLOAD_EXECUTIONS_MAX - 1,
  },
  trx: xml(
    'trx',
    '<TestRun><Results>',
    (i, text) =>
      `<UnitTestResult executionId="${hex(i, 32)}" testId="${hex(i, 32)}" testName="Shop.Tests.T${i}" duration="00:00:00.0050000" outcome="Failed"><Output><ErrorInfo><Message>no ${i}</Message><StackTrace>${text}</StackTrace></ErrorInfo></Output></UnitTestResult>`,
    '</Results></TestRun>',
  ),
  nunit: xml(
    'nunit',
    '<test-run><test-suite type="TestFixture" name="CartTests" fullname="Shop.CartTests">',
    (i, text) =>
      `<test-case id="${i}" name="T${i}" fullname="Shop.CartTests.T${i}" result="Failed" duration="0.1"><failure><message>no ${i}</message><stack-trace>${text}</stack-trace></failure></test-case>`,
    '</test-suite></test-run>',
  ),
  xunit: xml(
    'xunit',
    '<assemblies><assembly name="Shop.dll"><collection name="c">',
    (i, text) =>
      `<test name="Shop.CartTests.T${i}" type="Shop.CartTests" method="T${i}" time="0.1" result="Fail"><failure exception-type="E"><message>no ${i}</message><stack-trace>${text}</stack-trace></failure></test>`,
    '</collection></assembly></assemblies>',
  ),
  testng: xml(
    'testng',
    '<testng-results><suite name="s"><test name="t"><class name="shop.CartTest">',
    (i, text) =>
      `<test-method signature="t${i}()" name="t${i}" duration-ms="5" status="FAIL"><exception class="E"><message>no ${i}</message><full-stacktrace>${text}</full-stacktrace></exception></test-method>`,
    '</class></test></suite></testng-results>',
  ),
  robot: xml(
    'robot',
    '<robot generator="Robot 7.5"><suite name="s" id="s1">',
    (i, text) => `<test id="s1-t${i}" name="T ${i}"><status status="FAIL" elapsed="0.1">${text}</status></test>`,
    '</suite></robot>',
  ),
  cucumber: json(
    report('cucumber'),
    '[{"uri":"a.feature","keyword":"Feature","name":"Cart","elements":[',
    (i, text) => ({
      type: 'scenario',
      keyword: 'Scenario',
      name: `does thing ${i}`,
      line: i,
      steps: [{ keyword: 'Given', name: 'a cart', result: { status: 'failed', duration: 1, error_message: text } }],
    }),
    ']}]',
  ),
  ctrf: json(
    report('ctrf'),
    '{"reportFormat":"CTRF","results":{"tool":{"name":"jest"},"tests":[',
    (i, text) => ({ name: `does thing ${i}`, duration: 5, status: 'failed', message: `no ${i}`, trace: text }),
    ']}}',
  ),
  allure: json(
    report('allure'),
    '[',
    (i, text) => ({
      uuid: hex(i, 32),
      name: `does thing ${i}`,
      fullName: `cart.does thing ${i}`,
      status: 'failed',
      statusDetails: { message: `no ${i}`, trace: text },
      start: 1_795_861_110_896,
      stop: 1_795_861_110_902,
    }),
    ']',
  ),
  tap: {
    path: report('tap'),
    contentType: 'text/plain',
    before: `TAP version 13\n1..${UPLOAD_EXECUTIONS_MAX}\n`,
    each: (i, text) =>
      `not ok ${i + 1} - does thing ${i}\n  ---\n  stack: |-\n    ${text.replaceAll('\n', '\n    ')}\n  ...\n`,
    after: '',
  },
  // A target says nothing of why it failed, so the report is as large as its addresses are long.
  bazel: lines(
    'bazel',
    (i, text) => {
      const target = { label: `//cart:t${i}`, configuration: { id: 'a1' } };
      const uri = `https://cas.example.com/${i}/${text.replaceAll(/\s/g, '')}`;
      return [
        {
          id: { testResult: { ...target, run: 1, shard: 1, attempt: 1 } },
          testResult: {
            status: 'FAILED',
            testAttemptDurationMillis: '1500',
            testActionOutput: [{ name: 'test.log', uri }],
          },
        },
        { id: { testSummary: target }, testSummary: { totalRunCount: 1, overallStatus: 'FAILED', runCount: 1 } },
      ];
    },
    { id: { buildFinished: {} }, finished: { exitCode: { name: 'TESTS_FAILED', code: 3 } }, lastMessage: true },
  ),
  'otlp json': json(
    '/traces',
    '{"resourceSpans":[{"resource":{"attributes":[{"key":"cicd.pipeline.name","value":{"stringValue":"CI"}}]},"scopeSpans":[{"spans":[',
    (i, text) => ({
      name: `does thing ${i}`,
      traceId: hex(1, 32),
      spanId: hex(i, 16),
      status: { code: 2 },
      startTimeUnixNano: '1795253400000000000',
      endTimeUnixNano: '1795253400012000000',
      attributes: [
        attribute('test.scope', 'case'),
        attribute('exception.type', 'E'),
        attribute('exception.stacktrace', text),
      ],
    }),
    ']}]}]}',
  ),
};

/**
 * A body of so many tests, not packed, of so many bytes.
 *
 * @param nth each is another report
 */
export function largestUpload(
  shape: Shape,
  nth = 0,
  tests = shape.tests ?? UPLOAD_EXECUTIONS_MAX,
  bytes = BODY_LIMITS.unpackedBytesMax,
): Uint8Array<ArrayBuffer> {
  const textOf = textsOf(nth);
  const overhead = Buffer.byteLength(shape.each(tests, textOf(0, 0))) + (shape.between ?? '').length;
  // Escapes and what begins each line make texts longer: one tells by how much.
  const sample = 1_000;
  const stretch = (Buffer.byteLength(shape.each(tests, textOf(0, sample))) - overhead) / sample;
  const length = Math.floor(((bytes - ROOM_BYTES) / tests - overhead) / stretch / 1.02);
  const parts = Array.from({ length: tests }, (_, i) => shape.each(i, textOf(i, Math.max(length, 0))));
  return Buffer.from(shape.before + parts.join(shape.between ?? '') + shape.after);
}

/** Texts of a given length, which gzip packs about as well as real ones. */
function textsOf(seed: number): (i: number, length: number) => string {
  const random = randomFrom(seed + 1);
  const frames = Array.from({ length: 500 }, (_, i) => {
    const [file, line] = [Math.floor(random() * 1e9).toString(36), Math.floor(random() * 1_000)];
    return `    at ${i % 2 ? 'Cart' : 'Shop'}.do_${i} (/home/me/shop/src/features/${file}/${file}.ts:${line}:${i % 80})`;
  });
  return (i, length) => {
    const text = [i % 2 ? `expected ${i} → ${seed}` : `expected ${i} and ${seed}`];
    for (let made = 0; made < length; ) {
      const frame = frames[Math.floor(random() * frames.length)] ?? '';
      text.push(frame);
      made += frame.length + 1;
    }
    return text.join('\n').slice(0, length);
  };
}
