/** Exports that are wrong, as a whole or in a row, and malicious ones. */
import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { type ExportInput, otlpJson, otlpProtobuf, START_NS } from '../support/otlp.ts';
import { executionOfSpan, executionsOf, parseSpans } from '../support/parsing.ts';

describe('rows that cannot be stored are counted with a reason, and the others are kept', () => {
  const fine = { name: 'fine' };
  test.each([
    ['an empty name', { name: '' }, 'the span has no name, so the test has none'],
    ['no trace id', { traceId: '' }, 'the span has no valid trace id and span id'],
    ['a trace id of zeros', { traceId: '0'.repeat(32) }, 'the span has no valid trace id and span id'],
    ['a short span id', { spanId: 'ab' }, 'the span has no valid trace id and span id'],
    ['a name of 10,001 characters', { name: '🍎'.repeat(10_001) }, 'the test name is longer than 10000 characters'],
    ['a span of 3 MiB', { name: 'x'.repeat(3 << 20) }, 'a span is larger than 2 MiB'],
  ])('%s', async (_, span, reason) => {
    const upload = await parseSpans({ spans: [fine, span, fine] });
    expect(executionsOf(upload)).toHaveLength(2);
    expect(upload.rejections).toMatchObject([{ reason, count: 1 }]);
  });
  test('a name of 10,000 characters is kept whole', async () => {
    expect((await executionOfSpan({ name: '🍎'.repeat(10_000) })).name).toBe('🍎'.repeat(10_000));
  });
  test('a commit that is too long', async () => {
    const upload = await parseSpans({ resource: { 'vcs.ref.head.revision': 'c'.repeat(256) }, spans: [{}] });
    expect(upload.rejections).toMatchObject([{ reason: 'the commit is longer than 255 characters', count: 1 }]);
  });
});

describe('JSON', () => {
  const group: ExportInput = {
    resource: { 'cicd.pipeline.name': 'CI', 'cicd.pipeline.run.id': 1001, 'test.framework': 'pytest' },
    scope: { name: 'mergify-cli', version: '2026.1.1' },
    spans: [
      { name: 'a', attributes: { 'test.case.result.status': 'passed', 'cicd.test.quarantined': true } },
      { name: 'b', status: 'error', attributes: { 'exception.message': 'späti 🍎' } },
      { name: 'c', exceptionEvent: { 'exception.type': 'E' } },
    ],
  };
  const parseJson = (json: string) => parseOtlp(Buffer.from(json), 'json');

  test('gives the same as protobuf', async () => {
    expect(await parseJson(otlpJson(group))).toEqual(await parseSpans(group));
  });
  test('accepts times as numbers and enums as names, and ignores unknown fields', async () => {
    const json = JSON.parse(otlpJson({ spans: [{ status: 'error' }] }));
    const [span] = json.resourceSpans[0].scopeSpans[0].spans;
    span.endTimeUnixNano = Number(START_NS + 1_000_000_000n);
    span.status = { code: 'STATUS_CODE_ERROR' };
    span.isNew = { deep: [1] };
    span.links = [{ traceId: 'not hex' }];
    const [execution] = executionsOf(await parseJson(JSON.stringify(json)));
    expect(execution).toMatchObject({ status: 'failed', durationSeconds: 1 });
  });
  test('an id that is not hex only refuses its row', async () => {
    const upload = await parseJson(otlpJson({ spans: [{ traceId: 'W47/95gDgQPSabYzgT/GDA==' }, {}] }));
    expect(executionsOf(upload)).toHaveLength(1);
    expect(upload.rejections).toMatchObject([{ count: 1 }]);
  });
  test.each([
    ['text', 'hello'],
    ['an array', '[]'],
    ['cut short', '{"resourceSpans":[{"sco'],
    ['spans that are no array', '{"resourceSpans":[{"scopeSpans":{}}]}'],
    ['a span of the wrong type', '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":5}]}]}]}'],
    ['a time of the wrong type', '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"t","endTimeUnixNano":"x"}]}]}]}'],
  ])('%s is refused with a sentence', async (_, json) => {
    await expect(parseJson(json)).rejects.toThrow(
      /^The body is not an OTLP ExportTraceServiceRequest in JSON \(.+\)\.$/,
    );
  });
  test('values nested a million deep are refused', async () => {
    await expect(parseJson(`{"x":${'['.repeat(1_000_000)}`)).rejects.toThrow('nests values more than 100 deep');
  });
  test('many values in few bytes are refused before they are allocated', async () => {
    const spans = (list: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${list}]}]}]}`;
    const upload = await parseJson(spans(`{"x":[${'[],'.repeat(1_000_000)}[]]},{"name":"t"}`));
    expect(upload.rejections).toMatchObject([
      { reason: expect.stringContaining('more than 10000 JSON values'), count: 1 },
    ]);
    await expect(parseJson(spans(`{"x":[${'[],'.repeat(4_000)}[]]},`.repeat(2_000)))).rejects.toThrow(UploadTooLarge);
    await expect(parseJson(spans('{},'.repeat(300_000)))).rejects.toThrow(UploadTooLarge);
  });
  test('a resource or scope may come after its spans', async () => {
    const json = JSON.parse(otlpJson(group, { ...group, resource: {} }));
    for (const resourceSpans of json.resourceSpans) {
      const { resource, scopeSpans } = resourceSpans;
      delete resourceSpans.resource;
      resourceSpans.resource = resource;
      for (const one of scopeSpans) {
        const { scope } = one;
        delete one.scope;
        one.scope = scope;
      }
    }
    const expected = await parseSpans(group, { ...group, resource: {} });
    const found = await parseJson(JSON.stringify(json));
    expect(found.runs.map(({ run }) => run)).toEqual(expected.runs.map(({ run }) => run));
    expect(executionsOf(found)).toEqual(executionsOf(expected));
  });
});

describe('protobuf that is small as sent and large in memory', () => {
  const caseSpan = (...fields: Buffer[]): Buffer =>
    wrap(
      2,
      Buffer.concat([wrap(5, Buffer.from('t')), wrap(1, Buffer.alloc(16, 1)), wrap(2, Buffer.alloc(8, 1)), ...fields]),
    );
  const exportOf = (...spans: Buffer[]): Buffer => wrap(1, wrap(2, Buffer.concat(spans)));
  const scope = wrap(9, Buffer.concat([wrap(1, Buffer.from('test.scope')), wrap(2, wrap(1, Buffer.from('case')))]));
  const empty = (field: number, count: number): Buffer => Buffer.alloc(2 * count, wrap(field, Buffer.alloc(0)));

  test.each([
    ['attributes', 9],
    ['events', 11],
    ['links', 13],
  ])('a span with more than 1,000 %s is refused, and the others are kept', async (_, field) => {
    const upload = await parseOtlp(
      exportOf(caseSpan(scope, empty(field, 1_000)), caseSpan(scope, empty(field, 999))),
      'protobuf',
    );
    expect(executionsOf(upload)).toHaveLength(1);
    expect(upload.rejections).toEqual([
      { reason: 'a span has more than 1000 attributes, events and links', count: 1, examples: [] },
    ]);
  });
  test('attributes of events count too', async () => {
    const upload = await parseOtlp(exportOf(caseSpan(scope, wrap(11, empty(3, 1_000)))), 'protobuf');
    expect(upload.rejections).toMatchObject([{ reason: expect.stringContaining('more than 1000'), count: 1 }]);
  });
  test('a list in an attribute is measured, not read', async () => {
    const key = wrap(1, Buffer.from('test.framework'));
    const list = wrap(9, Buffer.concat([key, wrap(2, wrap(5, empty(1, 500_000)))]));
    const upload = await parseOtlp(exportOf(caseSpan(scope, list)), 'protobuf');
    expect(upload.runs[0]?.run.framework).toBeNull();
    expect(executionsOf(upload)).toHaveLength(1);
  });
  test('a resource with more than 1,000 attributes refuses the request', async () => {
    const body = wrap(1, Buffer.concat([wrap(1, empty(1, 1_001)), wrap(2, caseSpan(scope))]));
    await expect(parseOtlp(body, 'protobuf')).rejects.toThrow('a resource with more than 1000 attributes');
  });
  test('more fields than an export can need are refused', async () => {
    const body = exportOf(...Array<Buffer>(13).fill(caseSpan(empty(14, 1_000_000))));
    await expect(parseOtlp(body, 'protobuf')).rejects.toThrow(UploadTooLarge);
  });
});

describe('bad protobuf', () => {
  test.each([
    ['garbage', Buffer.from('this is not protobuf, whatever its header says')],
    ['JSON', Buffer.from('{"resourceSpans":[]}')],
    ['cut short', otlpProtobuf({ spans: [{}, {}] }).subarray(0, -5)],
    [
      'a name that is not UTF-8',
      Buffer.from(
        otlpProtobuf({ spans: [{ name: 'abcd' }] })
          .toHex()
          .replace('61626364', 'ff626364'),
        'hex',
      ),
    ],
  ])('%s is refused with a sentence', async (_, body) => {
    await expect(parseOtlp(body, 'protobuf')).rejects.toThrow(InvalidUpload);
  });
  test('millions of empty spans in few bytes are refused before they are allocated', async () => {
    // resource_spans { scope_spans { spans: {} × 4,000,000 } }
    const spans = Buffer.alloc(8_000_000, Buffer.from([0x12, 0x00]));
    const wrapped = [1, 2].reduce((inner, field) => wrap(field === 1 ? 2 : 1, inner), spans as Buffer);
    await expect(parseOtlp(wrapped, 'protobuf')).rejects.toThrow(UploadTooLarge);
  });
});

/** A length-delimited field. */
function wrap(field: number, inner: Buffer): Buffer {
  const head = [(field << 3) | 2];
  let length = inner.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), inner]);
}

describe('NUL and halves of surrogate pairs', () => {
  test('in a test name refuse that test', async () => {
    const nul = await parseSpans({ spans: [{ name: 'a\0b' }, { name: 'fine' }] });
    expect(nul.rejections).toEqual([
      { reason: 'the test name holds a NUL character', count: 1, examples: ['a\uFFFDb'] },
    ]);
    expect(executionsOf(nul).map(({ name }) => name)).toEqual(['fine']);
    const json = otlpJson({ spans: [{ name: 'a\ud800b' }, { name: 'fine' }] });
    const half = await parseOtlp(Buffer.from(json), 'json');
    expect(half.rejections).toMatchObject([{ reason: 'the test name holds half of a surrogate pair', count: 1 }]);
    expect(executionsOf(half).map(({ name }) => name)).toEqual(['fine']);
  });
  test('in what names the run refuse its tests', async () => {
    const upload = await parseSpans({ resource: { 'cicd.pipeline.name': 'C\0I' }, spans: [{}, {}] });
    expect(upload.rejections).toMatchObject([{ reason: 'the pipeline name holds a NUL character', count: 2 }]);
  });
  test('in a message are replaced', async () => {
    const attributes = { 'test.case.result.status': 'failed', 'exception.message': 'a\0b' };
    expect((await executionOfSpan({ attributes })).failures[0]?.message).toBe('a\uFFFDb');
    const json = otlpJson({ spans: [{ attributes: { ...attributes, 'exception.message': 'a\ud800b' } }] });
    const [execution] = executionsOf(await parseOtlp(Buffer.from(json), 'json'));
    expect(execution?.failures[0]?.message).toBe('a\uFFFDb');
  });
});

test('an upload with too many executions is refused as a whole', async () => {
  const spans = Array.from({ length: 11 }, (_, i) => ({ name: `t${i}` }));
  await expect(parseOtlp(otlpProtobuf({ spans }), 'protobuf', { executionsMax: 10 })).rejects.toThrow(UploadTooLarge);
});

test('long messages and stacks are cut between code points and marked', async () => {
  const attributes = {
    'test.case.result.status': 'failed',
    'exception.message': '🍎'.repeat(20_000),
    'exception.stacktrace': 'é'.repeat(200_000),
  };
  const [failure] = (await executionOfSpan({ attributes })).failures;
  expect(failure?.message).toEndWith('🍎… [cut, 80000 bytes in all]');
  expect(failure?.stacktrace).toEndWith('é… [cut, 400000 bytes in all]');
  expect(Buffer.byteLength(failure?.message ?? '')).toBeLessThanOrEqual(65_536);
  expect(Buffer.byteLength(failure?.stacktrace ?? '')).toBeLessThanOrEqual(262_144);
});
