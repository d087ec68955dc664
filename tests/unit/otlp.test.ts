import { describe, expect, test } from 'bun:test';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { type ExportInput, type SpanInput, START_NS, TRACE_ID } from '../support/otlp.ts';
import { executionOfSpan, executionsOf, fixtureBytes, parseSpans, statusesOf } from '../support/parsing.ts';

const fixture = async (name: string): Promise<ParsedUpload> =>
  parseOtlp(Bun.gunzipSync(await fixtureBytes(`otlp/${name}.pb.gz`)), 'protobuf');

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
  ])('%s contains its five tests with their statuses', async (name, expected) => {
    const upload = await fixture(name);
    expect(statusesOf(upload)).toEqual(expected as Record<string, 'passed'>);
    expect(upload.rejections).toEqual([]);
  });

  test('vitest: the run is complete', async () => {
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

  test('vitest: a run for a pull request has its base branch', async () => {
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

  test('pytest: failures that a quarantine hides are stored as failures, including errors in setup', async () => {
    const name = (test: string) => `test_q.py::test_${test}`;
    expect(statusesOf(await fixture('pytest-mergify-2026.9.24.1-quarantined'))).toEqual({
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

  test('pytest-opentelemetry: its spans of tests are read, those of set-ups, calls and fixtures are not', async () => {
    const upload = await fixture('pytest-opentelemetry-1.1.0');
    const name = (test: string) => `test_cart.py::${test}`;
    expect(statusesOf(upload)).toEqual({
      [name('test_works')]: 'passed',
      [name('TestCart::test_works')]: 'passed',
      [name('test_ships')]: 'failed',
      [name('test_later')]: 'skipped',
      [name('test_rows[1]')]: 'passed',
      [name('test_rows[2]')]: 'failed',
      [name('test_needs_it')]: 'failed',
      [name('test_teardown')]: 'failed',
      // Its span is OK in both cases, and says no more.
      [name('test_skips')]: 'passed',
      [name('test_xfail')]: 'passed',
    });
    expect([upload.rejections, upload.warnings]).toEqual([[], []]);
    const ships = executionsOf(upload).find((execution) => execution.name === name('test_ships'));
    expect(ships).toMatchObject({ filepath: 'test_cart.py', function: 'test_ships' });
    expect(ships?.failures[0]?.message).toContain('assert 1 == 2');
    expect(upload.runs[0]?.run).toMatchObject({ pipeline_name: 'CI', job_name: 'unit', run_id: '7', branch: 'main' });
    expect(upload.runs[0]?.run.axes).toEqual({ db: 'postgres', python: '3.11' });
  });

  test('mergify-cli: durations, which it sends ten times too long, are corrected', async () => {
    const executions = executionsOf(await fixture('mergify-cli-2026.10.3-junit-process'));
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
  ] as const)('%s, %s: %s, quarantined %s', async (framework, cell, plain, quarantined) => {
    const stored = (isQuarantined?: boolean) => {
      const span = spans[cell];
      return executionOfSpan(
        { ...span, attributes: { ...span.attributes, 'cicd.test.quarantined': isQuarantined } },
        { resource: { 'test.framework': framework } },
      );
    };
    expect(await stored()).toMatchObject({ status: plain, isQuarantined: false });
    expect(await stored(false)).toMatchObject({ status: plain, isQuarantined: false });
    expect(await stored(true)).toMatchObject({ status: quarantined, isQuarantined: true });
  });

  test.each([
    ['pass', 'passed'],
    ['PASS', 'passed'],
    ['fail', 'failed'],
    ['success', 'passed'],
    ['failure', 'failed'],
    ['timed_out', 'failed'],
    ['skip', 'skipped'],
  ] as const)('OpenTelemetry calls it %s: %s', async (given, expected) => {
    const upload = await parseSpans({ spans: [{ name: 't', attributes: { 'test.case.result.status': given } }] });
    expect([statusesOf(upload), upload.warnings]).toEqual([{ t: expected }, []]);
  });

  test('a span that is OK passed, also without the attribute', async () => {
    expect((await executionOfSpan({ status: 'ok' })).status).toBe('passed');
  });

  test.each([
    ['ok', 'passed'],
    ['error', 'failed'],
    ['unset', 'skipped'],
  ] as const)(
    'with an unknown word the status of the span decides (%s: %s), with a warning',
    async (status, expected) => {
      const span: SpanInput = { name: 't', status, attributes: { 'test.case.result.status': 'gloomy' } };
      const upload = await parseSpans({ spans: [span, { ...span, name: 'u' }] });
      expect(statusesOf(upload)).toEqual({ t: expected, u: expected });
      expect(upload.warnings).toEqual([expect.stringContaining('none of passed, failed and skipped')]);
    },
  );

  test('an exception event alone means failed and is the failure', async () => {
    const execution = await executionOfSpan({
      exceptionEvent: { 'exception.type': 'Boom', 'exception.message': 'why' },
    });
    expect(execution.status).toBe('failed');
    expect(execution.failures).toEqual([{ attempt: 1, type: 'Boom', message: 'why', stacktrace: null }]);
  });

  test('a failure without an exception is one failure of nulls', async () => {
    const { failures } = await executionOfSpan({ attributes: { 'test.case.result.status': 'failed' } });
    expect(failures).toEqual([{ attempt: 1, type: null, message: null, stacktrace: null }]);
  });

  test('a pass has no failures', async () => {
    expect((await executionOfSpan(spans.passed)).failures).toEqual([]);
  });
});

describe('flaky within the run', () => {
  const passed = { 'test.case.result.status': 'passed' };
  test('a pass after retries is flaky', async () => {
    expect(await executionOfSpan({ attributes: { ...passed, 'cicd.test.retry_count': '2' } })).toMatchObject({
      isFlaky: true,
      isRetried: true,
    });
  });
  test('a pass after reruns that all passed is not flaky: new tests are rerun to find out', async () => {
    const attributes = { ...passed, 'cicd.test.rerun_count': 5, 'cicd.test.flaky': false };
    expect(await executionOfSpan({ attributes })).toMatchObject({ isFlaky: false, isRetried: true });
  });
  test('an execution that its source calls flaky is flaky, however it ended', async () => {
    expect((await executionOfSpan({ attributes: { ...passed, 'cicd.test.flaky': true } })).isFlaky).toBe(true);
    expect(
      (await executionOfSpan({ attributes: { 'test.case.result.status': 'failed', 'cicd.test.flaky': true } })).isFlaky,
    ).toBe(true);
  });
  test('a flaky pass keeps the exception of its failed attempt', async () => {
    const { failures } = await executionOfSpan({
      attributes: { ...passed, 'cicd.test.flaky': true, 'exception.type': 'E' },
    });
    expect(failures).toEqual([{ attempt: 1, type: 'E', message: null, stacktrace: null }]);
  });
  test.each([
    ['rerun', { 'cicd.test.rerun_count': 1 }],
    ['retry', { 'cicd.test.rerun_count': 1, 'cicd.test.auto_retry': true }],
  ])('pytest: a test that fails and then passes at its %s passed and is flaky, with its failure', async (_, counts) => {
    const failed = { 'test.case.result.status': 'failed', 'exception.type': 'E', 'exception.message': 'why' };
    const execution = await executionOfSpan(
      { status: 'error', attributes: { ...failed, 'cicd.test.flaky': true, ...counts } },
      { resource: { 'test.framework': 'pytest' } },
    );
    expect(execution).toMatchObject({ status: 'passed', isFlaky: true, isRetried: true });
    expect(execution.failures).toEqual([{ attempt: 1, type: 'E', message: 'why', stacktrace: null }]);
  });
  test('pytest: a test that fails at every rerun failed', async () => {
    const attributes = { 'test.case.result.status': 'failed', 'cicd.test.rerun_count': 3 };
    expect(await executionOfSpan({ attributes })).toMatchObject({ status: 'failed', isFlaky: false, isRetried: true });
  });
  test('a failure after retries is retried, not flaky', async () => {
    const attributes = { 'test.case.result.status': 'failed', 'cicd.test.retry_count': 2 };
    expect(await executionOfSpan({ attributes })).toMatchObject({ isFlaky: false, isRetried: true });
  });
});

describe('runs', () => {
  const runOf = async (resource: ExportInput['resource'], attributes: SpanInput['attributes'] = {}) =>
    (await parseSpans({ resource: resource ?? {}, spans: [{ attributes }] })).runs[0]?.run;

  test('numbers count whether they are sent as int or as string', async () => {
    const expected = { run_id: '1001', run_attempt: 2 };
    expect(await runOf({ 'cicd.pipeline.run.id': 1001, 'cicd.pipeline.run.attempt': 2 })).toMatchObject(expected);
    expect(await runOf({ 'cicd.pipeline.run.id': '1001', 'cicd.pipeline.run.attempt': '2' })).toMatchObject(expected);
  });
  test('without names pipeline and job are unknown, and the run is the test run, else the trace', async () => {
    expect(await runOf({})).toMatchObject({
      pipeline_name: 'unknown',
      job_name: 'unknown',
      run_id: TRACE_ID,
      run_attempt: 1,
    });
    expect((await runOf({ 'test.run.id': 'abc' }))?.run_id).toBe('abc');
  });
  test('mergify.test.job.name overrides the job', async () => {
    expect((await runOf({ 'cicd.pipeline.task.name': 'unit', 'mergify.test.job.name': 'unit (3.12)' }))?.job_name).toBe(
      'unit (3.12)',
    );
  });
  test('an attribute of a span overrides that of its resource', async () => {
    expect((await runOf({ 'vcs.ref.head.name': 'main' }, { 'vcs.ref.head.name': 'feat' }))?.branch).toBe('feat');
  });
  test('spans of different runs are told apart', async () => {
    const { runs } = await parseSpans({
      resource: { 'cicd.pipeline.task.name': 'unit' },
      spans: [{}, { attributes: { 'mergify.test.job.name': 'other' } }, {}],
    });
    expect(runs.map(({ run, executions }) => [run.job_name, executions.length])).toEqual([
      ['unit', 2],
      ['other', 1],
    ]);
  });
  test('branches lose refs/heads/, tags are no branch, refs/pull/7/merge is pull request 7', async () => {
    expect((await runOf({ 'vcs.ref.head.name': 'refs/heads/main' }))?.branch).toBe('main');
    expect((await runOf({ 'vcs.ref.head.name': 'v1', 'vcs.ref.head.type': 'tag' }))?.branch).toBeNull();
    expect((await runOf({ 'vcs.ref.head.name': 'refs/pull/7/merge' }))?.pull_request).toBe(7);
  });
  test('only web addresses become links', async () => {
    expect((await runOf({ 'cicd.pipeline.run.url': 'https://ci.example.com/1' }))?.job_url).toBe(
      'https://ci.example.com/1',
    );
    expect((await runOf({ 'cicd.pipeline.run.url': 'javascript:alert(1)' }))?.job_url).toBeNull();
  });
});

describe('times', () => {
  test('a test finished when its span ended, and took as long as the span', async () => {
    const execution = await executionOfSpan({ endNs: START_NS + 1_500_000_000n });
    expect(execution).toMatchObject({ durationSeconds: 1.5, finishedAtMs: Date.parse('2026-11-21T09:30:01.500Z') });
  });
  test('a span that ends before it starts took no time', async () => {
    expect((await executionOfSpan({ endNs: START_NS - 1n })).durationSeconds).toBe(0);
  });
  test.each([
    ['mergify-cli', '2025.1.1', 1],
    ['mergify-cli', '2026.10.3', 1],
    ['mergify-cli', '0.0.0', 1],
    ['mergify-cli', undefined, 1],
    ['mergify-cli', '2027.1.1', 10],
    ['pytest-mergify', '2025.1.1', 10],
  ])('ten seconds of %s %s are %d', async (name, version, seconds) => {
    const scope = version === undefined ? { name } : { name, version };
    expect((await executionOfSpan({ endNs: START_NS + 10_000_000_000n }, { scope })).durationSeconds).toBe(seconds);
  });
});

test.each([
  ['of the Python CLI, which names no scope', { 'telemetry.sdk.language': 'python', 'test.run.id': 'b067d18c' }, 1],
  ['of the Python SDK, from others', { 'telemetry.sdk.language': 'python' }, 10],
  ['of another language', { 'telemetry.sdk.language': 'nodejs', 'test.run.id': 'b067d18c' }, 10],
])('ten seconds of a span without a scope, %s, are %d', async (_, resource, seconds) => {
  const execution = await executionOfSpan({ endNs: START_NS + 10_000_000_000n }, { resource, scope: { name: '' } });
  expect(execution.durationSeconds).toBe(seconds);
});

describe('spans that are no tests', () => {
  const session: SpanInput = { attributes: { 'test.scope': 'session' } };
  const other: SpanInput = { attributes: { 'test.scope': undefined } };
  test('are ignored without a word beside tests', async () => {
    const upload = await parseSpans({ spans: [session, other, { name: 't' }] });
    expect(executionsOf(upload).map(({ name }) => name)).toEqual(['t']);
    expect([upload.rejections, upload.warnings]).toEqual([[], []]);
  });
  test('alone they are a warning that says what a test is', async () => {
    const upload = await parseSpans({ spans: [session, other] });
    expect([upload.runs, upload.rejections]).toEqual([[], []]);
    expect(upload.warnings).toEqual([
      'No span is a test, so nothing was stored: a test is a span with the attribute test.scope=case, or with test.case.name, or one of pytest-opentelemetry',
    ]);
  });
  test('a refused test is not called no test', async () => {
    const upload = await parseSpans({ spans: [{ name: '' }] });
    expect([upload.rejections.length, upload.warnings]).toEqual([1, []]);
  });
  test('an empty export holds nothing', async () => {
    const nothing: ParsedUpload = { runs: [], rejections: [], warnings: [] };
    expect(await parseOtlp(new Uint8Array(), 'protobuf')).toEqual(nothing);
    expect(await parseOtlp(Buffer.from('{}'), 'json')).toEqual(nothing);
    expect(await parseOtlp(Buffer.from('{"resourceSpans":[]}'), 'json')).toEqual(nothing);
  });
});

describe("spans of OpenTelemetry's own conventions", () => {
  const plain = { 'test.scope': undefined };
  test('are tests by test.case.name, without anything of ours', async () => {
    const upload = await parseSpans({
      resource: { 'service.name': 'shop' },
      spans: [
        { name: 'run', attributes: { ...plain, 'test.run.id': '7' } },
        { name: 'suite', attributes: { ...plain, 'test.suite.name': 'cart', 'test.suite.run.status': 'failure' } },
        {
          name: 'test adds',
          attributes: {
            ...plain,
            'test.case.name': 'shop.Cart.adds',
            'test.suite.name': 'cart',
            'test.case.result.status': 'pass',
          },
        },
        {
          name: 'test sums',
          status: 'error',
          attributes: { ...plain, 'test.case.name': 'shop.Cart.sums', 'test.case.result.status': 'fail' },
          exceptionEvent: { 'exception.type': 'AssertionError', 'exception.message': 'no sum' },
        },
      ],
    });
    expect(statusesOf(upload)).toEqual({ 'shop.Cart.adds': 'passed', 'shop.Cart.sums': 'failed' });
    expect(executionsOf(upload)[1]?.failures).toMatchObject([{ type: 'AssertionError', message: 'no sum' }]);
    expect(upload.rejections).toEqual([]);
  });
  test('are no tests if another scope says so, and are named by their span if it is case', async () => {
    const named = (scope: string) => ({ 'test.scope': scope, 'test.case.name': 'shop.Cart.adds' });
    expect(await executionOfSpan({ name: 'adds', attributes: named('case') })).toMatchObject({ name: 'adds' });
    expect(executionsOf(await parseSpans({ spans: [{ attributes: named('session') }] }))).toEqual([]);
  });
});
