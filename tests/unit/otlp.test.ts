import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/ingest/errors.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import type { ParsedExecution, ParsedUpload } from '../../src/ingest/upload.ts';
import { type ExportInput, otlpJson, otlpProtobuf, type SpanInput, START_NS, TRACE_ID } from '../support/otlp.ts';

const fixture = async (name: string): Promise<ParsedUpload> => {
  const file = Bun.file(new URL(`../fixtures/otlp/${name}.pb.gz`, import.meta.url));
  return parseOtlp(Bun.gunzipSync(await file.bytes()), 'protobuf');
};
const executionsOf = (upload: ParsedUpload): ParsedExecution[] => upload.runs.flatMap((run) => run.executions);
const statuses = (upload: ParsedUpload) =>
  Object.fromEntries(executionsOf(upload).map(({ name, status }) => [name, status]));
const parse = (...groups: ExportInput[]): ParsedUpload => parseOtlp(otlpProtobuf(...groups), 'protobuf');
const one = (span: SpanInput, group: Omit<ExportInput, 'spans'> = {}): ParsedExecution => {
  const [execution] = executionsOf(parse({ ...group, spans: [span] }));
  if (!execution) throw new Error('no execution');
  return execution;
};

describe('uploads recorded from the unmodified clients', () => {
  const ADDS = 'Cart > adds an item';
  const SUMS = 'Cart > totals > sums [a, b] with 10% tax';
  const REJECTS = 'Cart > totals > rejects *negative* amounts?';
  const PRINTS = 'Cart > prints a receipt';
  const ROOT = 'root level works';
  const allPassed = { [ADDS]: 'passed', [SUMS]: 'passed', [REJECTS]: 'passed', [PRINTS]: 'skipped', [ROOT]: 'passed' };

  test.each([
    ['main-run1001-attempt1', { ...allPassed, [SUMS]: 'failed' }],
    ['main-run1001-attempt2', allPassed],
    ['main-run1002', { ...allPassed, [REJECTS]: 'failed' }],
    ['pull7-run1003', { ...allPassed, [ADDS]: 'failed', [ROOT]: 'failed' }],
  ])('%s holds its five tests with their statuses', async (name, expected) => {
    const upload = await fixture(name);
    expect(statuses(upload)).toEqual(expected as Record<string, 'passed'>);
    expect(upload.rejections).toEqual([]);
  });

  test('vitest: the run is told whole', async () => {
    const [run] = (await fixture('main-run1001-attempt2')).runs;
    expect(run?.run).toMatchObject({
      pipeline_name: 'CI',
      job_name: 'unit',
      run_id: '1001',
      run_attempt: 2,
      commit: '1'.repeat(40),
      branch: 'main',
      base_ref: null,
      framework: 'vitest',
    });
  });

  test('vitest: a run of a pull request has its base branch', async () => {
    expect((await fixture('pull7-run1003')).runs[0]?.run).toMatchObject({ branch: 'feat', base_ref: 'main' });
  });

  test('vitest: a failure has its exception, file and function', async () => {
    const sums = executionsOf(await fixture('main-run1001-attempt1')).find(({ name }) => name === SUMS);
    expect(sums).toMatchObject({ filepath: 'tests/cart.test.mjs', function: 'sums [a, b] with 10% tax' });
    expect(sums?.failures).toHaveLength(1);
    expect(sums?.failures[0]).toMatchObject({
      attempt: 1,
      type: 'AssertionError',
      message: 'expected 41 to be 42 // Object.is equality',
    });
    expect(sums?.failures[0]?.stacktrace).toContain('/builds/acme/shop/tests/cart.test.mjs:11:42');
  });

  test('pytest: failures that a quarantine hides are stored as failures, set-up errors included', async () => {
    const name = (test: string) => `test_q.py::test_${test}`;
    expect(statuses(await fixture('pytest-mergify-2026.9.24.1-quarantined'))).toEqual({
      [name('pass')]: 'passed',
      [name('fail')]: 'failed',
      [name('skip')]: 'skipped',
      [name('markskip')]: 'skipped',
      [name('setup')]: 'failed',
      [name('q_pass')]: 'passed',
      [name('q_fail')]: 'failed',
      [name('q_skip')]: 'failed',
      [name('q_setup')]: 'failed',
      [name('q_markskip')]: 'skipped',
    });
  });

  test('mergify-cli: durations, which it sends ten times too long, are right', async () => {
    const executions = executionsOf(await fixture('mergify-cli-2026.10.9-junit-process'));
    expect(executions.map(({ name, durationSeconds }) => [name, durationSeconds])).toEqual([
      ['a.B.t1', 2.5],
      ['a.B.t2', 1],
    ]);
  });
});

describe('the stored status', () => {
  type Cell = 'passed' | 'failed' | 'skipped' | 'set-up error' | 'no status';
  const spans: Record<Cell, SpanInput> = {
    passed: { status: 'ok', attributes: { 'test.case.result.status': 'passed' } },
    failed: { status: 'error', attributes: { 'test.case.result.status': 'failed', 'exception.type': 'E' } },
    skipped: { status: 'ok', attributes: { 'test.case.result.status': 'skipped' } },
    'set-up error': { status: 'error', attributes: { 'exception.type': 'E' } },
    'no status': {},
  };
  test.each([
    // framework, reported, not quarantined, quarantined
    ['pytest', 'passed', 'passed', 'passed'],
    ['pytest', 'failed', 'failed', 'failed'],
    ['pytest', 'skipped', 'skipped', 'failed'],
    ['pytest', 'set-up error', 'failed', 'failed'],
    ['pytest', 'no status', 'skipped', 'failed'],
    ['vitest', 'passed', 'passed', 'failed'],
    ['vitest', 'failed', 'failed', 'failed'],
    ['vitest', 'skipped', 'skipped', 'failed'],
    ['vitest', 'set-up error', 'failed', 'failed'],
    ['vitest', 'no status', 'skipped', 'failed'],
  ] as const)('%s, %s: %s, quarantined %s', (framework, cell, plain, quarantined) => {
    const stored = (isQuarantined?: boolean) => {
      const span = spans[cell];
      return one(
        { ...span, attributes: { ...span.attributes, 'cicd.test.quarantined': isQuarantined } },
        { resource: { 'test.framework': framework } },
      );
    };
    expect(stored()).toMatchObject({ status: plain, isQuarantined: false });
    expect(stored(false)).toMatchObject({ status: plain, isQuarantined: false });
    expect(stored(true)).toMatchObject({ status: quarantined, isQuarantined: true });
  });

  test('an exception event alone means failed, and is the failure', () => {
    const execution = one({ exceptionEvent: { 'exception.type': 'Boom', 'exception.message': 'why' } });
    expect(execution.status).toBe('failed');
    expect(execution.failures).toEqual([{ attempt: 1, type: 'Boom', message: 'why', stacktrace: null }]);
  });

  test('a failure without an exception is one failure of nulls', () => {
    const { failures } = one({ attributes: { 'test.case.result.status': 'failed' } });
    expect(failures).toEqual([{ attempt: 1, type: null, message: null, stacktrace: null }]);
  });

  test('a pass has no failures', () => {
    expect(one(spans.passed).failures).toEqual([]);
  });
});

describe('flaky within the run', () => {
  const passed = { 'test.case.result.status': 'passed' };
  test('a pass after retries is flaky', () => {
    expect(one({ attributes: { ...passed, 'cicd.test.retry_count': '2' } })).toMatchObject({
      isFlaky: true,
      isRetried: true,
    });
  });
  test('a pass after reruns that all passed is not: new tests are rerun to find out', () => {
    const attributes = { ...passed, 'cicd.test.rerun_count': 5, 'cicd.test.flaky': false };
    expect(one({ attributes })).toMatchObject({ isFlaky: false, isRetried: true });
  });
  test('what the source flags is flaky, whichever way it ended', () => {
    expect(one({ attributes: { ...passed, 'cicd.test.flaky': true } }).isFlaky).toBe(true);
    expect(one({ attributes: { 'test.case.result.status': 'failed', 'cicd.test.flaky': true } }).isFlaky).toBe(true);
  });
  test('a flaky pass keeps the exception of its failed attempt', () => {
    const { failures } = one({ attributes: { ...passed, 'cicd.test.flaky': true, 'exception.type': 'E' } });
    expect(failures).toEqual([{ attempt: 1, type: 'E', message: null, stacktrace: null }]);
  });
  test('a failure after retries is retried, not flaky', () => {
    const attributes = { 'test.case.result.status': 'failed', 'cicd.test.retry_count': 2 };
    expect(one({ attributes })).toMatchObject({ isFlaky: false, isRetried: true });
  });
});

describe('runs', () => {
  const runOf = (resource: ExportInput['resource'], attributes: SpanInput['attributes'] = {}) =>
    parse({ resource: resource ?? {}, spans: [{ attributes }] }).runs[0]?.run;

  test('numbers count whether they are sent as int or as string', () => {
    const expected = { run_id: '1001', run_attempt: 2 };
    expect(runOf({ 'cicd.pipeline.run.id': 1001, 'cicd.pipeline.run.attempt': 2 })).toMatchObject(expected);
    expect(runOf({ 'cicd.pipeline.run.id': '1001', 'cicd.pipeline.run.attempt': '2' })).toMatchObject(expected);
  });
  test('without names pipeline and job are unknown, and the run is the test run, else the trace', () => {
    expect(runOf({})).toMatchObject({
      pipeline_name: 'unknown',
      job_name: 'unknown',
      run_id: TRACE_ID,
      run_attempt: 1,
    });
    expect(runOf({ 'test.run.id': 'abc' })?.run_id).toBe('abc');
  });
  test('mergify.test.job.name overrides the job', () => {
    expect(runOf({ 'cicd.pipeline.task.name': 'unit', 'mergify.test.job.name': 'unit (3.12)' })?.job_name).toBe(
      'unit (3.12)',
    );
  });
  test('an attribute of a span overrides that of its resource', () => {
    expect(runOf({ 'vcs.ref.head.name': 'main' }, { 'vcs.ref.head.name': 'feat' })?.branch).toBe('feat');
  });
  test('spans of different runs are told apart', () => {
    const { runs } = parse({
      resource: { 'cicd.pipeline.task.name': 'unit' },
      spans: [{}, { attributes: { 'mergify.test.job.name': 'other' } }, {}],
    });
    expect(runs.map(({ run, executions }) => [run.job_name, executions.length])).toEqual([
      ['unit', 2],
      ['other', 1],
    ]);
  });
  test('branches lose refs/heads/, tags are no branch, refs/pull/7/merge is pull request 7', () => {
    expect(runOf({ 'vcs.ref.head.name': 'refs/heads/main' })?.branch).toBe('main');
    expect(runOf({ 'vcs.ref.head.name': 'v1', 'vcs.ref.head.type': 'tag' })?.branch).toBeNull();
    expect(runOf({ 'vcs.ref.head.name': 'refs/pull/7/merge' })?.pull_request).toBe(7);
  });
  test('only web addresses become links', () => {
    expect(runOf({ 'cicd.pipeline.run.url': 'https://ci.example.com/1' })?.job_url).toBe('https://ci.example.com/1');
    expect(runOf({ 'cicd.pipeline.run.url': 'javascript:alert(1)' })?.job_url).toBeNull();
  });
});

describe('times', () => {
  test('a test finished when its span ended, and took as long as the span', () => {
    const execution = one({ endNs: START_NS + 1_500_000_000n });
    expect(execution).toMatchObject({ durationSeconds: 1.5, finishedAtMs: Date.parse('2026-11-21T09:30:01.500Z') });
  });
  test('a span that ends before it starts took no time', () => {
    expect(one({ endNs: START_NS - 1n }).durationSeconds).toBe(0);
  });
  test.each([
    ['mergify-cli', '2025.1.1', 1],
    ['mergify-cli', '2026.10.9', 1],
    ['mergify-cli', undefined, 1],
    ['mergify-cli', '2027.1.1', 10],
    ['pytest-mergify', '2025.1.1', 10],
  ])('ten seconds of %s %s are %d', (name, version, seconds) => {
    const scope = version === undefined ? { name } : { name, version };
    expect(one({ endNs: START_NS + 10_000_000_000n }, { scope }).durationSeconds).toBe(seconds);
  });
});

describe('spans that are no tests', () => {
  test('are ignored without a word', () => {
    const upload = parse({
      spans: [{ attributes: { 'test.scope': 'session' } }, { attributes: { 'test.scope': undefined } }],
    });
    expect(upload).toEqual({ runs: [], rejections: [], warnings: [] });
  });
  test('an empty export holds nothing', () => {
    const nothing: ParsedUpload = { runs: [], rejections: [], warnings: [] };
    expect(parseOtlp(new Uint8Array(), 'protobuf')).toEqual(nothing);
    expect(parseOtlp(Buffer.from('{}'), 'json')).toEqual(nothing);
    expect(parseOtlp(Buffer.from('{"resourceSpans":[]}'), 'json')).toEqual(nothing);
  });
});

describe('rows that cannot be stored are counted with a reason, the others stay', () => {
  const fine = { name: 'fine' };
  test.each([
    ['an empty name', { name: '' }, 'the span has no name, so the test has none'],
    ['no trace id', { traceId: '' }, 'the span has no valid trace id and span id'],
    ['a trace id of zeros', { traceId: '0'.repeat(32) }, 'the span has no valid trace id and span id'],
    ['a short span id', { spanId: 'ab' }, 'the span has no valid trace id and span id'],
    ['a name of 10,001 characters', { name: '🍎'.repeat(10_001) }, 'the test name is longer than 10000 characters'],
    ['a span of 3 MiB', { name: 'x'.repeat(3 << 20) }, 'a span is larger than 2 MiB'],
  ])('%s', (_, span, reason) => {
    const upload = parse({ spans: [fine, span, fine] });
    expect(executionsOf(upload)).toHaveLength(2);
    expect(upload.rejections).toMatchObject([{ reason, count: 1 }]);
  });
  test('a name of 10,000 characters is whole', () => {
    expect(one({ name: '🍎'.repeat(10_000) }).name).toBe('🍎'.repeat(10_000));
  });
  test('a commit that is too long', () => {
    const upload = parse({ resource: { 'vcs.ref.head.revision': 'c'.repeat(256) }, spans: [{}] });
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

  test('says the same as protobuf', () => {
    expect(parseJson(otlpJson(group))).toEqual(parse(group));
  });
  test('takes times as numbers, enums as names, and ignores unknown fields', () => {
    const json = JSON.parse(otlpJson({ spans: [{ status: 'error' }] }));
    const [span] = json.resourceSpans[0].scopeSpans[0].spans;
    span.endTimeUnixNano = Number(START_NS + 1_000_000_000n);
    span.status = { code: 'STATUS_CODE_ERROR' };
    span.isNew = { deep: [1] };
    span.links = [{ traceId: 'not hex' }];
    const [execution] = executionsOf(parseJson(JSON.stringify(json)));
    expect(execution).toMatchObject({ status: 'failed', durationSeconds: 1 });
  });
  test('an id that is not hex refuses its row only', () => {
    const upload = parseJson(otlpJson({ spans: [{ traceId: 'W47/95gDgQPSabYzgT/GDA==' }, {}] }));
    expect(executionsOf(upload)).toHaveLength(1);
    expect(upload.rejections).toMatchObject([{ count: 1 }]);
  });
  test.each([
    ['text', 'hello'],
    ['an array', '[]'],
    ['cut short', '{"resourceSpans":[{"sco'],
    ['spans that are no array', '{"resourceSpans":[{"scopeSpans":{}}]}'],
    ['a span of the wrong type', '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":5}]}]}]}'],
    ['nested a million deep', '['.repeat(1_000_000)],
  ])('%s is refused with a sentence', (_, json) => {
    expect(() => parseJson(json)).toThrow(/^The body is not an OTLP ExportTraceServiceRequest in JSON \(.+\)\.$/);
  });
  test('many values in few bytes are refused before they are made', () => {
    expect(() => parseJson(`[${'[],'.repeat(5_000_000)}[]]`)).toThrow(UploadTooLarge);
  });
});

describe('bad protobuf', () => {
  test.each([
    ['garbage', Buffer.from('this is no protobuf, whatever its header says')],
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
  ])('%s is refused with a sentence', (_, body) => {
    expect(() => parseOtlp(body, 'protobuf')).toThrow(InvalidUpload);
  });
  test('millions of empty spans in few bytes are refused before they are made', () => {
    // resource_spans { scope_spans { spans: {} × 4,000,000 } }
    const spans = Buffer.alloc(8_000_000, Buffer.from([0x12, 0x00]));
    const wrapped = [1, 2].reduce((inner, field) => wrap(field === 1 ? 2 : 1, inner), spans as Buffer);
    expect(() => parseOtlp(wrapped, 'protobuf')).toThrow(UploadTooLarge);
  });
});

/** A length-delimited field. */
function wrap(field: number, inner: Buffer): Buffer {
  const head = [(field << 3) | 2];
  let length = inner.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), inner]);
}

describe('NUL and half surrogate pairs', () => {
  test('in a test name refuse the request', () => {
    expect(() => parse({ spans: [{ name: 'a\0b' }] })).toThrow('A test name holds a NUL character.');
    expect(() => parseOtlp(Buffer.from(otlpJson({ spans: [{ name: 'a\ud800b' }] })), 'json')).toThrow(
      'A test name holds half of a surrogate pair.',
    );
  });
  test('in a message are replaced', () => {
    const attributes = { 'test.case.result.status': 'failed', 'exception.message': 'a\0b' };
    expect(one({ attributes }).failures[0]?.message).toBe('a\uFFFDb');
    const json = otlpJson({ spans: [{ attributes: { ...attributes, 'exception.message': 'a\ud800b' } }] });
    const [execution] = executionsOf(parseOtlp(Buffer.from(json), 'json'));
    expect(execution?.failures[0]?.message).toBe('a\uFFFDb');
  });
});

test('more executions than an upload may hold are refused whole', () => {
  const spans = Array.from({ length: 11 }, (_, i) => ({ name: `t${i}` }));
  expect(() => parseOtlp(otlpProtobuf({ spans }), 'protobuf', { executionsMax: 10 })).toThrow(UploadTooLarge);
});

test('long messages and stacks are cut on a code point, and marked', () => {
  const attributes = {
    'test.case.result.status': 'failed',
    'exception.message': '🍎'.repeat(20_000),
    'exception.stacktrace': 'é'.repeat(200_000),
  };
  const [failure] = one({ attributes }).failures;
  expect(failure?.message).toEndWith('🍎… [cut, 80000 bytes in all]');
  expect(failure?.stacktrace).toEndWith('é… [cut, 400000 bytes in all]');
  expect(Buffer.byteLength(failure?.message ?? '')).toBeLessThanOrEqual(65_536);
  expect(Buffer.byteLength(failure?.stacktrace ?? '')).toBeLessThanOrEqual(262_144);
});
