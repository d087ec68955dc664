/**
 * Uploads that are small as sent and large once they are read: each tries to make a parser spend memory or time that the
 * tests in it do not need.
 */
import { gzipSync } from 'node:zlib';
import { randomFrom } from './random.ts';
import { zipOf } from './zip.ts';

export interface HostileBody {
  name: string;
  /** The parser: a report format, or OTLP in one of its encodings, `protobuf` and `json`. */
  parser: string;
  make(): Uint8Array;
  /** How many tests must be read before it can be refused. */
  tests?: number;
}

const MEBI = 1024 * 1024;
const text = (...parts: string[]): Uint8Array => Buffer.from(parts.join(''));
const numbered = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

/** A length-delimited field of protobuf. */
function field(number: number, value: Uint8Array): Uint8Array {
  const head = [(number << 3) | 2];
  let length = value.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), value]);
}
const attribute = (key: string, value: string): Uint8Array =>
  Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(value)))]);
const repeated = (count: number, one: Uint8Array): Uint8Array => Buffer.alloc(count * one.length, one);

const scoped = field(9, attribute('test.scope', 'case'));
const span = (id: number, ...fields: Uint8Array[]): Uint8Array => {
  const spanId = Buffer.alloc(8, 1);
  spanId.writeUInt32BE(id);
  return field(
    2,
    Buffer.concat([field(1, Buffer.alloc(16, 7)), field(2, spanId), field(5, Buffer.from(`t${id}`)), ...fields]),
  );
};
const exported = (resource: Uint8Array, spans: Uint8Array): Uint8Array =>
  field(1, Buffer.concat([field(1, resource), field(2, spans)]));
const spansOf = (count: number, ...fields: Uint8Array[]): Uint8Array =>
  Buffer.concat(Array.from({ length: count }, (_, i) => span(i, ...fields)));
const jsonSpans = (spans: string): Uint8Array => text('{"resourceSpans":[{"scopeSpans":[{"spans":[', spans, ']}]}]}');

/** Lines of a log that gzip packs almost as well as it may. */
function packable(length: number): string {
  const random = randomFrom(1);
  const line = 'a line of a log that says what happens, again and again\n'.repeat(6);
  const parts: string[] = [];
  for (let made = 0; made < length; made += line.length + 4)
    parts.push(
      line,
      Math.floor(random() * 65_536)
        .toString(16)
        .padStart(4, '0'),
    );
  return parts.join('');
}
/** Unpacked size that 1 MiB may have. */
const UNPACKED = 60 * MEBI;

export const HOSTILE_BODIES: readonly HostileBody[] = [
  {
    name: 'a target with 300,000 shards',
    parser: 'bazel',
    make: () =>
      text(
        numbered(
          300_000,
          (i) => `{"id":{"testResult":{"label":"//a","shard":${i}}},"testResult":{"status":"FAILED"}}\n`,
        ),
      ),
  },
  {
    name: 'suites that report errors',
    parser: 'nunit',
    make: () =>
      text(
        '<test-run>',
        numbered(
          130_000,
          (i) =>
            `<test-suite fullname="s${i}" result="Failed"><failure><message>${'m'.repeat(100)}</message></failure></test-suite>`,
        ),
        '</test-run>',
      ),
  },
  {
    name: 'errors of an assembly',
    parser: 'xunit',
    make: () =>
      text(
        '<assembly><errors>',
        numbered(130_000, (i) => `<error name="e${i}"><failure><message>m</message></failure></error>`),
        '</errors></assembly>',
      ),
  },
  {
    name: 'subtests in subtests with long names',
    parser: 'tap',
    make: () =>
      text(
        numbered(90, (i) => `${' '.repeat(4 * i)}# Subtest: ${'s'.repeat(1_000)}\n`),
        numbered(20_000, (i) => `${' '.repeat(360)}ok ${i} - t${i}\n`),
      ),
  },
  {
    name: 'marks that begin no directive',
    parser: 'tap',
    make: () =>
      text(
        numbered(400, (i) => `ok ${i} - ${' #'.repeat(MEBI / 10)}\n`),
        '1..400\n',
      ),
  },
  {
    name: 'features with rows that are no rows',
    parser: 'cucumber',
    make: () =>
      text(
        numbered(
          400,
          () =>
            `{"gherkinDocument":{"feature":{"name":"f","children":[{"scenario":{"id":"s","examples":[{"tableBody":[${'1,'.repeat(60_000)}1]}]}}]}}}\n`,
        ),
      ),
  },
  {
    name: 'scenarios with one long name in one feature',
    parser: 'cucumber',
    make: () =>
      text(
        `{"gherkinDocument":{"feature":{"name":"${'f'.repeat(MEBI)}","children":[{"scenario":{"id":"s"}}]}}}\n`,
        numbered(
          40_000,
          (i) =>
            `{"pickle":{"id":"${i}","name":"n${i}","astNodeIds":["s"]}}\n{"testCase":{"id":"${i}","pickleId":"${i}"}}\n{"testCaseStarted":{"id":"${i}","testCaseId":"${i}"}}\n{"testCaseFinished":{"testCaseStartedId":"${i}"}}\n`,
        ),
      ),
  },
  {
    name: 'namesakes in files with long names',
    parser: 'junit',
    make: () =>
      text(
        '<testsuite>',
        numbered(20_000, (i) => `<testcase name="t" file="${'f'.repeat(1_000)}${i}"><failure/></testcase>`),
        '</testsuite>',
      ),
  },
  {
    name: 'brackets that open nothing',
    parser: 'junit',
    make: () =>
      text('<testsuite><testcase name="t"><failure>', '< '.repeat(40 * MEBI), '</failure></testcase></testsuite>'),
  },
  {
    name: 'a log of 99 MiB',
    parser: 'junit',
    make: () =>
      text(
        '<testsuite><testcase name="t"><system-out>',
        'again\n'.repeat(16.5 * MEBI),
        '</system-out></testcase></testsuite>',
      ),
  },
  {
    name: 'errors of a run that name tests',
    parser: 'trx',
    make: () =>
      text(
        '<TestRun><Results>',
        numbered(10_000, (i) => `<UnitTestResult testName="t${i}" outcome="Failed"/>`),
        '</Results><ResultSummary><RunInfos>',
        numbered(60_000, (i) => `<RunInfo outcome="Error"><Text>t${i} [FAIL]</Text></RunInfo>`),
        '</RunInfos></ResultSummary></TestRun>',
      ),
  },
  {
    name: '5,000,000 empty elements in a keyword',
    parser: 'robot',
    make: () =>
      text('<robot><suite name="s"><test name="t"><kw>', '<a/>'.repeat(4_999_980), '</kw></test></suite></robot>'),
  },
  {
    name: '90 nested suites with names of 1,000 characters, each with a teardown that fails, around 15,000 tests',
    parser: 'robot',
    make: () =>
      text(
        '<robot>',
        `<suite name="${'s'.repeat(1_000)}">`.repeat(90),
        '<test name="t"><status status="PASS"/></test>'.repeat(15_000),
        '<kw type="TEARDOWN"><status status="FAIL">no</status></kw></suite>'.repeat(90),
        '</robot>',
      ),
  },
  {
    name: 'a class name of 9,000 characters shared by 90,000 calls',
    parser: 'testng',
    tests: 90_000,
    make: () =>
      text(
        `<testng-results><suite name="s"><test name="t"><class name="${'C'.repeat(9_000)}">`,
        `<test-method name="m" status="PASS"><params><param><value>1</value></param></params></test-method>`.repeat(
          90_000,
        ),
        '</class></test></suite></testng-results>',
      ),
  },
  {
    name: 'a test with 5,000,000 empty attempts',
    parser: 'ctrf',
    make: () =>
      text('{"results":{"tests":[{"name":"t","status":"failed","retryAttempts":[', '{},'.repeat(5_000_000), '{}]}]}}'),
  },
  {
    name: '40,000 tests in 200 suites each, whose names begin with half of them',
    parser: 'ctrf',
    tests: 40_000,
    make: () => {
      const suites = Array(200).fill('"s"').join(',');
      const one = `{"name":"${'s '.repeat(100)}","status":"failed","suite":[${suites}]}`;
      return text('{"results":{"tests":[', Array(40_000).fill(one).join(','), ']}}');
    },
  },
  {
    name: 'a zip of 60,000 files that share 1 MiB of blanks',
    parser: 'allure',
    make: () => {
      const content = Buffer.alloc(MEBI, ' ');
      return zipOf(
        Array.from({ length: 60_000 }, (_, i) => ({ name: `${i}-result.json`, content })),
        true,
      );
    },
  },
  {
    name: '5,000,000 empty objects in place of labels',
    parser: 'allure',
    make: () => text('[{"name":"t","status":"passed","labels":[', '{},'.repeat(5_000_000), '{}]}]'),
  },
  {
    name: 'objects before a report',
    parser: 'playwright',
    make: () => text('{"a":[\n'.repeat(40), '{"level":30}\n{\n'.repeat(500_000), '{"suites":[]}'),
  },
  {
    name: 'tests that begin within the output of another',
    parser: 'go-test',
    make: () =>
      text(
        '{"Action":"run","Package":"p","Test":"T"}\n',
        numbered(40_000, (i) => `{"Action":"output","Package":"p","Test":"T","Output":"x=== RUN   T/${i}\\n"}\n`),
        '{"Action":"fail","Package":"p"}\n',
      ),
  },
  {
    name: '90 nested suites with names of 1,000 characters around 15,000 tests',
    parser: 'junit',
    make: () =>
      text(
        `<testsuite name="${'s'.repeat(1_000)}">`.repeat(90),
        '<testcase name="t"/>'.repeat(15_000),
        '</testsuite>'.repeat(90),
      ),
  },
  {
    name: '90 nested suites with names of 1,000 characters around 50,000 suites with a test each',
    parser: 'junit',
    make: () =>
      text(
        `<testsuite name="${'s'.repeat(1_000)}">`.repeat(90),
        numbered(50_000, (i) => `<testsuite name="${i}"><testcase name="t"/></testsuite>`),
        '</testsuite>'.repeat(90),
      ),
  },
  {
    name: 'a suite with a file of 1 MiB around 20,000 tests',
    parser: 'junit',
    make: () =>
      text(
        `<testsuite file="${'f'.repeat(MEBI)}">`,
        numbered(20_000, (i) => `<testcase name="${i}"/>`),
        '</testsuite>',
      ),
  },
  {
    name: 'one test with 5,000,000 failures',
    parser: 'junit',
    make: () => text('<testsuite><testcase name="t">', '<failure/>'.repeat(4_999_990), '</testcase></testsuite>'),
  },
  {
    name: '190 MiB of blanks',
    parser: 'junit',
    make: () => text('<testsuite>', ' '.repeat(190 * MEBI), '</testsuite>'),
  },
  {
    name: 'an attribute of 4 MiB of entities, 25 times',
    parser: 'junit',
    make: () =>
      text(
        '<testsuite>',
        `<testcase name="t"><failure message="${'&amp;'.repeat(800_000)}"/></testcase>`.repeat(25),
        '</testsuite>',
      ),
  },
  {
    name: '60 MiB of output of a test',
    parser: 'junit',
    make: () =>
      text('<testsuite><testcase name="t"><system-out>', packable(UNPACKED), '</system-out></testcase></testsuite>'),
  },
  {
    name: '60 MiB of CDATA',
    parser: 'junit',
    make: () =>
      text(
        '<testsuite><testcase name="t"><failure><![CDATA[',
        packable(UNPACKED),
        ']]></failure></testcase></testsuite>',
      ),
  },
  {
    name: '60 MiB of comments',
    parser: 'junit',
    make: () => text('<testsuite>', packable(UNPACKED).replaceAll(/[\s\S]{20000}/g, '<!--$&-->'), '</testsuite>'),
  },
  {
    name: '60 MiB of attributes',
    parser: 'junit',
    make: () =>
      text('<testsuite>', `<testcase name="t" message="${packable(UNPACKED / 25)}"/>`.repeat(25), '</testsuite>'),
  },
  {
    name: '16 MiB of blanks in tags',
    parser: 'junit',
    make: () => text('<testsuite>', `<a${' '.repeat(200)}/>`.repeat(150_000), '</testsuite>'),
  },
  {
    name: '60 MiB of lines that are no events',
    parser: 'go-test',
    make: () => text(packable(UNPACKED), '\n{"Action":"pass","Package":"p","Test":"T"}\n'),
  },
  {
    name: '60 MiB of text that is not read',
    parser: 'playwright',
    make: () => text('{"x":"', packable(UNPACKED).replaceAll('\n', ' '), '","suites":[]}'),
  },
  {
    name: '60 MiB of text in spans',
    parser: 'json',
    make: () =>
      jsonSpans(
        Array(60)
          .fill(`{"name":"${packable(UNPACKED / 60).replaceAll('\n', ' ')}"}`)
          .join(','),
      ),
  },
  {
    name: '5,000,000 empty elements',
    parser: 'junit',
    make: () => text('<testsuite>', '<a/>'.repeat(4_999_990), '</testsuite>'),
  },
  {
    name: 'a class name of 1 MiB shared by 20,000 results',
    parser: 'trx',
    make: () =>
      text(
        `<TestRun><TestDefinitions><UnitTest id="u"><TestMethod className="${'C'.repeat(MEBI)}" name="m"/></UnitTest></TestDefinitions><Results>`,
        numbered(20_000, (i) => `<UnitTestResult executionId="${i}" testId="u" testName="t${i}" outcome="Passed"/>`),
        '</Results></TestRun>',
      ),
  },
  {
    name: 'a class name of 9,000 characters shared by 90,000 results',
    parser: 'trx',
    tests: 90_000,
    make: () =>
      text(
        `<TestRun><TestDefinitions><UnitTest id="u"><TestMethod className="${'C'.repeat(9_000)}" name="m"/></UnitTest></TestDefinitions><Results>`,
        numbered(90_000, (i) => `<UnitTestResult executionId="${i}" testId="u" testName="t${i}" outcome="Passed"/>`),
        '</Results></TestRun>',
      ),
  },
  {
    name: 'a describe block with a title of 1 MiB around 20,000 tests',
    parser: 'playwright',
    make: () =>
      text(
        `{"suites":[{"title":"a.spec.ts","suites":[{"title":"${'d'.repeat(MEBI)}","specs":[`,
        numbered(20_000, (i) => `${i ? ',' : ''}{"title":"t${i}","tests":[{"status":"expected","results":[]}]}`),
        ']}]}]}',
      ),
  },
  {
    name: '50,000,000 numbers in place of suites',
    parser: 'playwright',
    make: () => text('{"suites":[', '1,'.repeat(50_000_000), '1]}'),
  },
  {
    name: '20,000 tests that share a crash of 256 KiB',
    parser: 'go-test',
    make: () =>
      text(
        numbered(20_000, (i) => `{"Action":"run","Package":"p","Test":"T${i}"}\n`),
        '{"Action":"output","Package":"p","Output":"panic: test timed out after 1s\\n"}\n{"Action":"output","Package":"p","Output":"running tests:\\n"}\n',
        numbered(20_000, (i) => `{"Action":"output","Package":"p","Output":"\\t\\tT${i} (1s)\\n"}\n`),
        '{"Action":"fail","Package":"p"}\n',
      ),
  },
  {
    name: '40 spans with 1,000,000 empty attributes each',
    parser: 'protobuf',
    make: () => exported(new Uint8Array(), repeated(40, span(1, repeated(1_000_000, field(9, new Uint8Array()))))),
  },
  {
    name: '40 tests with an attribute of 1,000,000 empty values each',
    parser: 'protobuf',
    make: () => {
      const values = field(5, repeated(1_000_000, field(1, new Uint8Array())));
      const key = field(1, Buffer.from('test.framework'));
      return exported(
        new Uint8Array(),
        repeated(40, span(1, scoped, field(9, Buffer.concat([key, field(2, values)])))),
      );
    },
  },
  {
    name: '50,000 spans with 900 empty attributes each',
    parser: 'protobuf',
    make: () => exported(new Uint8Array(), spansOf(50_000, repeated(900, field(9, new Uint8Array())))),
  },
  {
    name: 'a resource with 100,000 attributes over 20,000 tests',
    parser: 'protobuf',
    make: () =>
      exported(
        Buffer.concat(Array.from({ length: 100_000 }, (_, i) => field(1, field(1, Buffer.from(i.toString(36)))))),
        spansOf(20_000, scoped),
      ),
  },
  {
    name: 'a resource with a file path of 1 MB over 20,000 tests',
    parser: 'protobuf',
    make: () => exported(field(1, attribute('code.filepath', 'f'.repeat(1_000_000))), spansOf(20_000, scoped)),
  },
  {
    name: '7,000,000 values and half a surrogate pair',
    parser: 'json',
    make: () => jsonSpans(`{"name":"\\ud83d","x":[${'[],'.repeat(3_490_000)}1]}`),
  },
  {
    name: '1,000 spans with 3,900 empty attributes each',
    parser: 'json',
    make: () =>
      jsonSpans(
        Array(1_000)
          .fill(`{"attributes":[${'{},'.repeat(3_900)}{}]}`)
          .join(','),
      ),
  },
  {
    name: '50,000,000 numbers in place of spans',
    parser: 'json',
    make: () => jsonSpans(`${'1,'.repeat(50_000_000)}1`),
  },
];

export const packed = (body: Uint8Array): Uint8Array => gzipSync(body, { level: 9 });
