/**
 * From an OTLP export to executions: a test is a span with `test.scope=case`, named by the span's name, one of
 * OpenTelemetry's own conventions, with `test.case.name`, or one of pytest-opentelemetry. Sessions and suites are skipped,
 * and a warning says so if there is no test at all. The source of an execution is its trace, and its key is its span.
 */
import type { Status } from '../../domain/status.ts';
import { UploadCollector } from '../../formats/collect.ts';
import { TimeSlice } from '../../formats/time-slice.ts';
import type { ParsedExecution, ParsedFailure, ParsedRun, ParsedUpload } from '../../formats/upload.ts';
import { Attributes } from './attributes.ts';
import { decodeProtobuf } from './decode.ts';
import { decodeJson } from './decode-json.ts';
import { durationSecondsOf } from './duration.ts';
import type { OtlpEncoding } from './response.ts';
import { isOfRun, runOf } from './run.ts';
import type { RefusedSpan, Span, SpanGroup } from './span.ts';
import { hasUnknownStatus, isRetried, statusOf } from './status.ts';

const NANOSECONDS_PER_MS = 1_000_000n;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

export interface OtlpLimits {
  executionsMax?: number;
}

/** Reading the clock for every span would cost more than the span. */
const SPANS_PER_CLOCK_READING = 64;

/** The executions in a request body, after decompression. Throws InvalidUpload and UploadTooLarge. */
export async function parseOtlp(
  body: Uint8Array,
  encoding: OtlpEncoding,
  { executionsMax }: OtlpLimits = {},
): Promise<ParsedUpload> {
  const tests = new TestSpans(new UploadCollector(executionsMax));
  if (encoding === 'json') await decodeJson(body, (span, group) => tests.add(span, group));
  else await decodeAllProtobuf(body, tests);
  return tests.finish();
}

async function decodeAllProtobuf(body: Uint8Array, tests: TestSpans): Promise<void> {
  const slice = new TimeSlice();
  let spanCount = 0;
  for (const [span, group] of decodeProtobuf(body)) {
    tests.add(span, group);
    if (++spanCount % SPANS_PER_CLOCK_READING === 0 && slice.isUsedUp()) await slice.yieldToOthers();
  }
}

const NO_TEST =
  'No span is a test, so nothing was stored: a test is a span with the attribute test.scope=case, or with test.case.name, or one of pytest-opentelemetry';

/** Collects the tests among the spans. */
class TestSpans {
  readonly #collector: UploadCollector;
  #hasSpan = false;
  #hasTest = false;
  #group: SpanGroup | null = null;
  /** Runs of the group by trace: most spans say nothing about their run themselves, so it is put together once per trace. */
  readonly #runByTrace = new Map<string, ParsedRun>();

  constructor(collector: UploadCollector) {
    this.#collector = collector;
  }

  add(span: Span | RefusedSpan, group: SpanGroup): void {
    this.#hasSpan = true;
    if ('refused' in span) {
      this.#hasTest = true;
      this.#collector.reject(span.refused, '');
      return;
    }
    const attributes = new Attributes(span.attributes, group.resource);
    const name = testNameOf(span, attributes);
    if (name === null) return;
    this.#hasTest = true;
    if (name === '') this.#collector.reject('the span has no name, so the test has none', '');
    else if (!hasIds(span)) this.#collector.reject('the span has no valid trace id and span id', name);
    else {
      if (hasUnknownStatus(attributes)) this.#collector.warn(UNKNOWN_STATUS);
      const run = this.#runOf(span, attributes, group);
      const duration = durationSecondsOf(span, group.scope, attributes);
      this.#collector.add(run, executionOf(span, name, attributes, run.run.framework, duration));
    }
  }

  #runOf(span: Span, attributes: Attributes, group: SpanGroup): ParsedRun {
    if (group !== this.#group) {
      this.#group = group;
      this.#runByTrace.clear();
    }
    for (const key of span.attributes.keys())
      if (isOfRun(key)) return this.#collector.run(runOf(attributes, span.traceId));
    const run = this.#runByTrace.get(span.traceId) ?? this.#collector.run(runOf(attributes, span.traceId));
    this.#runByTrace.set(span.traceId, run);
    return run;
  }

  finish(): ParsedUpload {
    if (this.#hasSpan && !this.#hasTest) this.#collector.warn(NO_TEST);
    return this.#collector.finish();
  }
}

/**
 * Null for any other span. Spans of OpenTelemetry's conventions are named as their runner likes, and have the
 * qualified name of the test in an attribute; suites and runs do not have it. pytest-opentelemetry names the test in the
 * spans of its set-up, call and teardown, too, but only the span of the whole has that name itself.
 */
function testNameOf(span: Span, attributes: Attributes): string | null {
  const scope = attributes.text('test.scope');
  if (scope !== null) return scope === 'case' ? span.name : null;
  return (
    span.attributes.get('test.case.name') ?? (span.name === span.attributes.get('pytest.nodeid') ? span.name : null)
  );
}

const UNKNOWN_STATUS =
  "A test.case.result.status is none of passed, failed and skipped, nor OpenTelemetry's pass and fail: the status of the span decided instead";

/** Wrong lengths are refused, and all zeros, which OTLP calls invalid. */
function hasIds({ traceId, spanId }: Span): boolean {
  const isValid = (id: string, bytes: number) => id.length === 2 * bytes && /[^0]/.test(id);
  return isValid(traceId, TRACE_ID_BYTES) && isValid(spanId, SPAN_ID_BYTES);
}

function executionOf(
  span: Span,
  name: string,
  attributes: Attributes,
  framework: string | null,
  durationSeconds: number,
): ParsedExecution {
  const status = statusOf(span, attributes, framework);
  const retries = attributes.count('cicd.test.retry_count') ?? 0;
  // A retry follows a failure. A rerun may also follow a pass (flaky detection runs new tests many times), so a rerun
  // alone says nothing: what the reruns showed is in cicd.test.flaky.
  const isFlaky = attributes.isTrue('cicd.test.flaky') || (retries > 0 && status === 'passed');
  return {
    source: span.traceId,
    key: span.spanId,
    name,
    status,
    durationSeconds,
    finishedAtMs: span.endNs === 0n ? null : Number(span.endNs / NANOSECONDS_PER_MS),
    filepath: attributes.firstText('code.filepath', 'code.file.path'),
    function: attributes.firstText('code.function', 'code.function.name'),
    isFlaky,
    isQuarantined: attributes.isTrue('cicd.test.quarantined'),
    isRetried: isRetried(attributes),
    failures: failuresOf(span, status, isFlaky),
  };
}

/**
 * The exception is in attributes, where the clients put it, or in an event, as OpenTelemetry's SDKs do. A failed
 * execution has a failure even without an exception; a flaky one that passed keeps the failure of its failed attempt.
 */
function failuresOf(span: Span, status: Status, isFlaky: boolean): ParsedFailure[] {
  const found = new Attributes(span.attributes, span.exception ?? undefined);
  const type = found.text('exception.type');
  const message = found.text('exception.message');
  const stacktrace = found.text('exception.stacktrace');
  const hasException = type !== null || message !== null || stacktrace !== null;
  const isFailure = status === 'failed' || (isFlaky && hasException);
  return isFailure ? [{ attempt: 1, type, message, stacktrace }] : [];
}
