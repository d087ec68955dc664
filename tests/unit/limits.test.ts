/** Every limit: its row in docs/api.md, and the sentence for what is beyond it, as its sender gets it. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { REQUEST_LIMITS, rowOf, UPLOAD_LIMITS } from '../../src/domain/limit-table.ts';
import * as limits from '../../src/domain/limits.ts';
import { metadataRejection } from '../../src/domain/metadata-limits.ts';
import { allure } from '../../src/formats/allure/format.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { goTest } from '../../src/formats/go-test/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { robot } from '../../src/formats/robot/format.ts';
import { trx } from '../../src/formats/trx/format.ts';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { withAbsoluteUrl } from '../../src/http/authority.ts';
import { readJsonBody } from '../../src/http/body.ts';
import { BodyRoom } from '../../src/http/body-room.ts';
import { cursorParameter, readQuery, textsParameter } from '../../src/http/parameters.ts';
import { HttpProblem } from '../../src/http/problems.ts';
import { BODY_LIMITS, gunzip } from '../../src/ingest/body.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { pullRequestsBody } from '../../src/ingest/pull-requests.ts';
import { reportFiles } from '../../src/ingest/reports/files.ts';
import { changedFilesBody } from '../../src/insights/changed-files.ts';
import { codeownersBody } from '../../src/insights/codeowners.ts';
import { checkCost } from '../../src/insights/search.ts';
import { checkBody, createBody, updateBody } from '../../src/quarantines/schemas.ts';
import { newView } from '../../src/views/routes.ts';
import { otlpJson, otlpProtobuf } from '../support/otlp.ts';
import { executionsOf, parseSpans, parseXml } from '../support/parsing.ts';
import { parse } from '../support/reports.ts';

const api = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const rowsUnder = (heading: string): string[] => {
  const section = api.slice(api.indexOf(`\n### ${heading}\n`)).split(/\n##/)[1] ?? '';
  return section.split('\n').filter((line) => /^\| `[A-Z_0-9]+` \|/.test(line));
};

test('docs/api.md has a row for each limit, as the table in the code has it', () => {
  for (const [heading, table] of [
    ['What an upload may hold', UPLOAD_LIMITS],
    ['What other requests may hold', REQUEST_LIMITS],
  ] as const)
    expect(rowsUnder(heading)).toEqual(Object.entries(table).map(([name, limit]) => rowOf(name, limit)));
});

/** Ranges of numbers, which schemas check, and lengths to which texts of the repository host are cut. */
const NO_LIMITS = /^(?:UINT32|PULL_REQUEST|COMMENT|PLACE)/;

test('the table has every limit of src/domain/limits.ts, with its value', () => {
  const table = Object.entries({ ...UPLOAD_LIMITS, ...REQUEST_LIMITS }).map(([name, { most }]) => [name, most]);
  const numbers = Object.entries(limits).filter(([name, value]) => typeof value === 'number' && !NO_LIMITS.test(name));
  expect<unknown>(Object.fromEntries(table)).toEqual(Object.fromEntries(numbers));
});

const refusal = (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => 'accepted',
    (error: Error) => error.message,
  );
const ofReport = (format: ReportFormat, report: string) => refusal(parse(format, report));
const reason = async (upload: Promise<ParsedUpload>) => (await upload).rejections.map((one) => one.reason).join();
const warning = async (upload: Promise<ParsedUpload>) => (await upload).warnings.join();
const failure = async (xml: string) =>
  executionsOf(await parseXml(`<testsuite><testcase name="t">${xml}</testcase></testsuite>`))[0]?.failures[0];

const testcases = (count: number) => '<testcase name="t"/>'.repeat(count);
const spans = (list: string) =>
  parseOtlp(Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${list}]}]}]}`), 'json');
const spec = (inner: string) => parse(playwright, `{"suites":[{"specs":[{"title":"a","tests":[${inner}]}]}]}`);
const robotReport = (keyword: string) =>
  `<robot><suite name="s"><test name="t"><kw>${keyword}</kw></test></suite></robot>`;
const trxReport = (definitions: string, results: string) =>
  `<TestRun><TestDefinitions>${definitions}</TestDefinitions><Results>${results}</Results></TestRun>`;
const trxResults = (count: number) =>
  Array.from({ length: count }, (_, i) => `<UnitTestResult executionId="${i}" testId="u" testName="t${i}"/>`).join('');
const definition = (id: string, className: string) =>
  `<UnitTest id="${id}"><TestMethod className="${className}" name="m"/></UnitTest>`;
const event = (line: string) => `{"Action":"pass","Package":"p","Test":"T"}\n${line}\n`;
/** A span of protobuf with so many empty links, of two bytes each. */
const protobufSpan = (links: number) => {
  const wrap = (field: number, inner: Uint8Array) => {
    const length: number[] = [];
    let left = inner.length;
    for (; left > 0x7f; left >>>= 7) length.push((left & 0x7f) | 0x80);
    return Buffer.concat([Buffer.from([(field << 3) | 2, ...length, left]), inner]);
  };
  return wrap(1, wrap(2, wrap(2, Buffer.alloc(2 * links, Buffer.from([0x72, 0])))));
};
const problemOf = (outcome: Request | HttpProblem) => (outcome instanceof HttpProblem ? outcome.message : 'accepted');

/** For each limit: what a sender is told beyond it, and the sentence that it should be. */
const told = (schema: z.ZodType, body: unknown) => schema.safeParse(body).error?.issues[0]?.message;

const readBody = (body: string, bytesMax: number) => {
  const headers = { 'content-type': 'application/json' };
  const request = new Request('http://ci', { method: 'POST', body, headers });
  return readJsonBody(request, { schema: z.unknown(), bytesMax, room: new BodyRoom(1 << 24) });
};

/** Stores hold to these; tests/http/quarantine-bounds.test.ts and tests/http/views.test.ts go beyond them. */
const ROOM = [
  'QUARANTINES_MAX',
  'QUARANTINES_BYTES_MAX',
  'QUARANTINES_COST_MAX',
  'QUARANTINES_ALL_MAX',
  'VIEWS_MAX',
  'VIEWS_ALL_MAX',
] as const;

type Told = Exclude<keyof typeof UPLOAD_LIMITS | keyof typeof REQUEST_LIMITS, (typeof ROOM)[number]>;

const codeowners = (more: Record<string, unknown>) =>
  told(codeownersBody, { host: 'github', path: 'CODEOWNERS', content: '', ...more });

const changed = (paths: readonly string[]) => told(changedFilesBody, { paths });

const PULL_REQUEST = { number: 7, id: 7, title: 'Pay by card', updated_at: '2026-11-21T09:30:00Z' };

const BEYOND: Record<Told, [() => unknown, string]> = {
  CODEOWNERS_BODY_BYTES_MAX: [
    () => refusal(readBody(`"${'x'.repeat(4 << 20)}"`, 4 << 20)),
    REQUEST_LIMITS.CODEOWNERS_BODY_BYTES_MAX.sentence(),
  ],
  CODEOWNERS_BYTES_MAX: [
    () => codeowners({ content: 'x'.repeat((1 << 19) + 1) }),
    REQUEST_LIMITS.CODEOWNERS_BYTES_MAX.sentence(),
  ],
  CODEOWNERS_FILES_BYTES_MAX: [
    () => codeowners({ files: 'x'.repeat((3 << 20) + 1) }),
    REQUEST_LIMITS.CODEOWNERS_FILES_BYTES_MAX.sentence(),
  ],
  CODEOWNERS_FILES_MAX: [
    () => codeowners({ files: 'x\n'.repeat(50_001) }),
    REQUEST_LIMITS.CODEOWNERS_FILES_MAX.sentence(),
  ],
  UPLOAD_EXECUTIONS_MAX: [
    () => refusal(parseXml(`<testsuite>${testcases(11)}</testsuite>`, { executionsMax: 10 })),
    UPLOAD_LIMITS.UPLOAD_EXECUTIONS_MAX.sentence(10),
  ],
  UNPACK_RATIO_MAX: [
    () => refusal(gunzip([gzipSync(Buffer.alloc(110 << 20))])),
    UPLOAD_LIMITS.UNPACK_RATIO_MAX.sentence(),
  ],
  UNPACKED_BYTES_ALWAYS: [
    () => refusal(gunzip([gzipSync(Buffer.alloc((100 << 20) + 1))])),
    UPLOAD_LIMITS.UNPACKED_BYTES_ALWAYS.sentence(),
  ],
  FORM_PARTS_MAX: [
    () => {
      const form = Buffer.from(`${'--b\r\n\r\n'.repeat(1_001)}--b--`);
      return refusal(reportFiles(form, 'multipart/form-data; boundary=b', BODY_LIMITS, junit));
    },
    UPLOAD_LIMITS.FORM_PARTS_MAX.sentence(),
  ],
  UPLOAD_NAMES_LENGTH_MAX: [
    () => ofReport(trx, trxReport(definition('u', 'C'.repeat(9_000)), trxResults(5_000))),
    UPLOAD_LIMITS.UPLOAD_NAMES_LENGTH_MAX.sentence(),
  ],
  DEPTH_MAX: [
    () => refusal(parseXml('<testsuite>'.repeat(101))),
    UPLOAD_LIMITS.DEPTH_MAX.sentence('report', 'elements'),
  ],
  XML_PARTS_MAX: [
    () => refusal(parseXml(`<testsuite>${'<a/>'.repeat(400_000)}</testsuite>`)),
    UPLOAD_LIMITS.XML_PARTS_MAX.sentence(),
  ],
  XML_PARTS_PER_TEST: [
    () => refusal(parseXml(`<testsuite>${testcases(1)}${'<a/>'.repeat(400_200)}</testsuite>`)),
    UPLOAD_LIMITS.XML_PARTS_PER_TEST.sentence(),
  ],
  XML_MARKUP_LENGTH_MAX: [
    () => refusal(parseXml(`<testsuite>${`<a${' '.repeat(100)}/>`.repeat(170_000)}</testsuite>`)),
    UPLOAD_LIMITS.XML_MARKUP_LENGTH_MAX.sentence(),
  ],
  XML_MARKUP_LENGTH_PER_TEST: [
    () => refusal(parseXml(`<testsuite>${testcases(1)}<a${' '.repeat(17_000_000)}/></testsuite>`)),
    UPLOAD_LIMITS.XML_MARKUP_LENGTH_PER_TEST.sentence(),
  ],
  ROBOT_PARTS_PER_TEST: [
    () => ofReport(robot, robotReport('<a/>'.repeat(401_000))),
    UPLOAD_LIMITS.ROBOT_PARTS_PER_TEST.sentence(),
  ],
  ROBOT_MARKUP_LENGTH_PER_TEST: [
    () => ofReport(robot, robotReport(`<a${' '.repeat(17_000_000)}/>`)),
    UPLOAD_LIMITS.ROBOT_MARKUP_LENGTH_PER_TEST.sentence(),
  ],
  ZIP_FILES_MAX: [
    () => {
      const end = Buffer.alloc(22);
      end.writeUInt32LE(0x06054b50, 0);
      const zip64 = Buffer.alloc(76);
      zip64.writeUInt32LE(0x06064b50, 0);
      zip64.writeBigUInt64LE(44n, 4);
      zip64.writeBigUInt64LE(200_001n, 24);
      zip64.writeBigUInt64LE(200_001n, 32);
      zip64.writeUInt32LE(0x07064b50, 56);
      zip64.writeBigUInt64LE(4n, 64);
      end.writeUInt16LE(0xffff, 8);
      end.writeUInt16LE(0xffff, 10);
      return refusal(parse(allure, Buffer.concat([Buffer.from('PK\x03\x04'), zip64, end])));
    },
    UPLOAD_LIMITS.ZIP_FILES_MAX.sentence(),
  ],
  XML_ATTRIBUTES_MAX: [
    () => refusal(parseXml(`<testsuite ${Array.from({ length: 201 }, (_, i) => `a${i}=""`).join(' ')}/>`)),
    UPLOAD_LIMITS.XML_ATTRIBUTES_MAX.sentence(),
  ],
  XML_TOKEN_LENGTH_MAX: [
    () => warning(parseXml(`<testsuite>${testcases(1)}<testcase name="${'x'.repeat(5 << 20)}"/></testsuite>`)),
    UPLOAD_LIMITS.XML_TOKEN_LENGTH_MAX.sentence(),
  ],
  TRX_DEFINITIONS_MAX: [
    () =>
      ofReport(
        trx,
        `<TestRun><Results>${trxResults(1_100)}</Results><TestDefinitions>${Array.from({ length: 200_001 }, (_, i) => `<UnitTest id="${i}"><TestMethod/></UnitTest>`).join('')}</TestDefinitions></TestRun>`,
      ),
    UPLOAD_LIMITS.TRX_DEFINITIONS_MAX.sentence(),
  ],
  EVENTS_MAX: [() => ofReport(goTest, '{"Action":"output"}\n'.repeat(503_000)), UPLOAD_LIMITS.EVENTS_MAX.sentence()],
  EVENTS_PER_TEST: [
    () => ofReport(goTest, event('{"Action":"output"}\n'.repeat(600_000))),
    UPLOAD_LIMITS.EVENTS_PER_TEST.sentence(),
  ],
  LINE_BYTES_MAX: [
    () => warning(parse(goTest, event(`{"Action":"output","Output":"${'x'.repeat(4 << 20)}"}`))),
    UPLOAD_LIMITS.LINE_BYTES_MAX.sentence('1 line'),
  ],
  JSON_PARTS_MAX: [
    () => ofReport(playwright, `{"suites":[${'1,'.repeat(1_500_000)}1]}`),
    UPLOAD_LIMITS.JSON_PARTS_MAX.sentence('report'),
  ],
  JSON_VALUE_BYTES_MAX: [
    () => reason(spec(`{"x":"${'x'.repeat(17 << 20)}"}`)),
    UPLOAD_LIMITS.JSON_VALUE_BYTES_MAX.sentence(),
  ],
  JSON_VALUE_PARTS_MAX: [
    () => reason(spec('{},'.repeat(200_000).concat('{}'))),
    UPLOAD_LIMITS.JSON_VALUE_PARTS_MAX.sentence(),
  ],
  SPANS_MAX: [() => refusal(spans(`${'{},'.repeat(200_000)}{}`)), UPLOAD_LIMITS.SPANS_MAX.sentence()],
  SPAN_BYTES_MAX: [
    () => reason(parseSpans({ spans: [{ name: 'x'.repeat(3 << 20) }] })),
    UPLOAD_LIMITS.SPAN_BYTES_MAX.sentence(),
  ],
  SPAN_ATTRIBUTES_MAX: [
    () => reason(spans(`{"attributes":[${'{},'.repeat(1_000)}{}]}`)),
    UPLOAD_LIMITS.SPAN_ATTRIBUTES_MAX.sentence(),
  ],
  SPAN_JSON_VALUES_MAX: [
    () => reason(spans(`{"x":[${'1,'.repeat(10_000)}1]}`)),
    UPLOAD_LIMITS.SPAN_JSON_VALUES_MAX.sentence(),
  ],
  RESOURCE_BYTES_MAX: [
    () => refusal(parseSpans({ resource: { text: 'x'.repeat(1 << 20) }, spans: [{}] })),
    UPLOAD_LIMITS.RESOURCE_BYTES_MAX.sentence(),
  ],
  EXPORT_FIELDS_MAX: [
    () => refusal(parseOtlp(Buffer.concat(Array<Buffer>(13).fill(protobufSpan(1_000_000))), 'protobuf')),
    UPLOAD_LIMITS.EXPORT_FIELDS_MAX.sentence(),
  ],
  EXPORT_JSON_VALUES_MAX: [
    () => refusal(spans(`${`{"x":[${'1,'.repeat(8_000)}1]},`.repeat(1_001)}{}`)),
    UPLOAD_LIMITS.EXPORT_JSON_VALUES_MAX.sentence(),
  ],
  TEST_NAME_LENGTH_MAX: [
    () => reason(parseSpans({ spans: [{ name: 'x'.repeat(10_001) }] })),
    UPLOAD_LIMITS.TEST_NAME_LENGTH_MAX.sentence(),
  ],
  NAME_LENGTH_MAX: [
    () => reason(parseSpans({ resource: { 'cicd.pipeline.name': 'x'.repeat(256) }, spans: [{}] })),
    UPLOAD_LIMITS.NAME_LENGTH_MAX.sentence('pipeline name'),
  ],
  FAILURES_MAX: [
    () => warning(parseXml(`<testsuite><testcase name="t">${'<failure/>'.repeat(101)}</testcase></testsuite>`)),
    UPLOAD_LIMITS.FAILURES_MAX.sentence(),
  ],
  ATTACHMENTS_MAX: [
    () => {
      const marks = Array.from({ length: 9 }, (_, i) => `[[ATTACHMENT|https://files.example/${i}.png]]`).join('\n');
      const test = `<testcase name="t"><failure/><system-out>${marks}</system-out></testcase>`;
      return warning(parseXml(`<testsuite>${test}</testsuite>`));
    },
    UPLOAD_LIMITS.ATTACHMENTS_MAX.sentence(),
  ],
  MESSAGE_BYTES_MAX: [
    async () => (await failure(`<failure message="${'x'.repeat(65_537)}"/>`))?.message,
    UPLOAD_LIMITS.MESSAGE_BYTES_MAX.sentence(65_537),
  ],
  STACKTRACE_BYTES_MAX: [
    async () => (await failure(`<failure>${'x'.repeat(262_145)}</failure>`))?.stacktrace,
    UPLOAD_LIMITS.STACKTRACE_BYTES_MAX.sentence(262_145),
  ],
  DETAIL_BYTES_MAX: [
    async () => (await failure(`<failure type="${'x'.repeat(2_049)}"/>`))?.type,
    UPLOAD_LIMITS.DETAIL_BYTES_MAX.sentence(2_049),
  ],
  ADDRESS_LENGTH_MAX: [
    () => problemOf(withAbsoluteUrl(new Request(`http://ci/?${'x'.repeat(256 << 10)}`), 'http://ci')),
    REQUEST_LIMITS.ADDRESS_LENGTH_MAX.sentence(),
  ],
  CURSOR_LENGTH_MAX: [
    () => readQuery({ cursor: cursorParameter() }, `cursor=${'x'.repeat(4_097)}`).errors?.[0]?.msg,
    REQUEST_LIMITS.CURSOR_LENGTH_MAX.sentence(),
  ],
  ARRAY_LENGTH_MAX: [
    () => readQuery({ a: textsParameter(5, { description: '' }) }, 'a=1&'.repeat(256)).errors?.[0]?.msg,
    REQUEST_LIMITS.ARRAY_LENGTH_MAX.sentence(),
  ],
  SEARCH_COST_MAX: [
    () => refusal((async () => checkCost(['*a'.repeat(10_001)]))()),
    REQUEST_LIMITS.SEARCH_COST_MAX.sentence(),
  ],
  JSON_BODY_BYTES_MAX: [
    () => refusal(readBody(`"${'x'.repeat(256 << 10)}"`, 256 << 10)),
    REQUEST_LIMITS.JSON_BODY_BYTES_MAX.sentence(),
  ],
  SIGN_IN_BODY_BYTES_MAX: [
    () => refusal(readBody(`"${'x'.repeat(4 << 10)}"`, 4 << 10)),
    REQUEST_LIMITS.SIGN_IN_BODY_BYTES_MAX.sentence(),
  ],
  CHECK_BODY_BYTES_MAX: [
    () => refusal(readBody(`"${'x'.repeat(4 << 20)}"`, 4 << 20)),
    REQUEST_LIMITS.CHECK_BODY_BYTES_MAX.sentence(),
  ],
  CHANGED_FILES_BODY_BYTES_MAX: [
    () => refusal(readBody(`"${'x'.repeat(2 << 20)}"`, 2 << 20)),
    REQUEST_LIMITS.CHANGED_FILES_BODY_BYTES_MAX.sentence(),
  ],
  CHANGED_FILES_BYTES_MAX: [
    () => changed(Array.from({ length: 300 }, () => 'x'.repeat(1_000))),
    REQUEST_LIMITS.CHANGED_FILES_BYTES_MAX.sentence(),
  ],
  CHANGED_FILES_MAX: [
    () => changed(Array.from({ length: 3_001 }, () => 'x')),
    REQUEST_LIMITS.CHANGED_FILES_MAX.sentence(),
  ],
  CHANGED_PATH_LENGTH_MAX: [() => changed(['x'.repeat(1_001)]), REQUEST_LIMITS.CHANGED_PATH_LENGTH_MAX.sentence()],
  SENT_PULL_REQUESTS_MAX: [
    () => told(pullRequestsBody, { pull_requests: Array.from({ length: 101 }, () => PULL_REQUEST) }),
    REQUEST_LIMITS.SENT_PULL_REQUESTS_MAX.sentence(),
  ],
  CHECKED_NAMES_MAX: [
    () => told(checkBody, { tests_names: Array.from({ length: 10_001 }, () => 'a') }),
    REQUEST_LIMITS.CHECKED_NAMES_MAX.sentence(),
  ],
  JSON_BODY_VALUES_MAX: [
    async () => (await readBody(`[${'1,'.repeat(20_000)}1]`, 1 << 20)).errors?.[0]?.msg,
    REQUEST_LIMITS.JSON_BODY_VALUES_MAX.sentence(),
  ],
  REASON_LENGTH_MAX: [
    () => told(createBody, { test_name: 'a', reason: '😀'.repeat(10_001) }),
    REQUEST_LIMITS.REASON_LENGTH_MAX.sentence(),
  ],
  QUARANTINE_OWNER_LENGTH_MAX: [
    () => told(updateBody, { owner: 'x'.repeat(256) }),
    REQUEST_LIMITS.QUARANTINE_OWNER_LENGTH_MAX.sentence(),
  ],
  WEB_ADDRESS_BYTES_MAX: [
    () => told(updateBody, { ticket_url: `https://${'x'.repeat(2_041)}` }),
    REQUEST_LIMITS.WEB_ADDRESS_BYTES_MAX.sentence(),
  ],
  VIEW_NAME_LENGTH_MAX: [
    () => told(newView, { name: 'x'.repeat(101), page: 'tests' }),
    REQUEST_LIMITS.VIEW_NAME_LENGTH_MAX.sentence(),
  ],
  VIEW_QUERY_LENGTH_MAX: [
    () => told(newView, { name: 'x', page: 'tests', query: 'x'.repeat(2_049) }),
    REQUEST_LIMITS.VIEW_QUERY_LENGTH_MAX.sentence(),
  ],
  QUARANTINE_FAILURES_MAX: [
    () => told(updateBody, { failure_ids: Array.from({ length: 101 }, () => crypto.randomUUID()) }),
    REQUEST_LIMITS.QUARANTINE_FAILURES_MAX.sentence(),
  ],
  METADATA_BYTES_MAX: [
    () => metadataRejection({ x: 'x'.repeat(512 << 10) }),
    REQUEST_LIMITS.METADATA_BYTES_MAX.sentence((512 << 10) + 8),
  ],
  METADATA_DEPTH_MAX: [
    () => metadataRejection(JSON.parse(`${'['.repeat(33)}${']'.repeat(33)}`)),
    REQUEST_LIMITS.METADATA_DEPTH_MAX.sentence(),
  ],
};

test.each(Object.entries(BEYOND))('%s: its sentence is what the sender gets', async (_, [tell, sentence]) => {
  const length = sentence.startsWith('…') ? sentence.length : undefined;
  const found = String(await tell());
  expect(length === undefined ? found : found.slice(-length)).toContain(sentence);
});

test('an export within the limits is taken, in both encodings', async () => {
  expect((await parseOtlp(Buffer.from(otlpJson({ spans: [{}] })), 'json')).rejections).toEqual([]);
  expect((await parseOtlp(otlpProtobuf({ spans: [{}] }), 'protobuf')).rejections).toEqual([]);
});
