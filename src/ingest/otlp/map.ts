/**
 * From an OTLP export to executions: a test is a span with `test.scope=case`, named by the span's name; sessions and
 * suites are skipped, and a warning says so if there is no test at all. The source of an execution is its trace, and its
 * key is its span.
 */
import type { Status } from '../../domain/status.ts';
import { UploadCollector } from '../collect.ts';
import { TimeSlice } from '../time-slice.ts';
import type { ParsedExecution, ParsedFailure, ParsedRun, ParsedUpload } from '../upload.ts';
import { Attributes } from './attributes.ts';
import { decodeProtobuf, SPAN_BYTES_MAX, type SpanGroup } from './decode.ts';
import { decodeJson } from './decode-json.ts';
import { durationSecondsOf } from './duration.ts';
import type { Span } from './gen/opentelemetry/proto/trace/v1/trace_pb.ts';
import type { OtlpEncoding } from './response.ts';
import { RUN_ATTRIBUTES, runOf } from './run.ts';
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
  const collector = new UploadCollector(executionsMax);
  const slice = new TimeSlice();
  let spanCount = 0;
  let hasTest = false;
  for (const group of encoding === 'json' ? decodeJson(body) : decodeProtobuf(body)) {
    const collect = collectorOf(collector, group);
    for (const span of group.spans) {
      if (collect(span)) hasTest = true;
      if (++spanCount % SPANS_PER_CLOCK_READING === 0 && slice.isUsedUp()) await slice.yieldToOthers();
    }
  }
  if (spanCount > 0 && !hasTest) collector.warn(NO_TEST);
  return collector.finish();
}

const NO_TEST = 'No span is a test, so nothing was stored: a test is a span with the attribute test.scope=case';

/** Collects the spans of a group one by one; false for a span that is not a test. */
function collectorOf(collector: UploadCollector, { resource, scope }: SpanGroup): (span: Span | null) => boolean {
  const resourceAttributes = resource?.attributes ?? [];
  // Most spans say nothing about their run themselves, so it is put together once per trace.
  const runByTrace = new Map<string, ParsedRun>();
  const runOfSpan = (span: Span, attributes: Attributes, traceId: string): ParsedRun => {
    if (span.attributes.some(({ key }) => RUN_ATTRIBUTES.has(key))) return collector.run(runOf(attributes, traceId));
    const run = runByTrace.get(traceId) ?? collector.run(runOf(attributes, traceId));
    runByTrace.set(traceId, run);
    return run;
  };
  return (span) => {
    if (!span) {
      collector.reject(`a span is larger than ${SPAN_BYTES_MAX / 1024 / 1024} MiB`, '');
      return true;
    }
    const attributes = new Attributes(span.attributes, resourceAttributes);
    if (attributes.text('test.scope') !== 'case') return false;
    const ids = idsOf(span);
    if (span.name === '') collector.reject('the span has no name, so the test has none', '');
    else if (!ids) collector.reject('the span has no valid trace id and span id', span.name);
    else {
      if (hasUnknownStatus(attributes)) collector.warn(UNKNOWN_STATUS);
      const run = runOfSpan(span, attributes, ids.traceId);
      const duration = durationSecondsOf(span, scope, attributes);
      collector.add(run, executionOf(span, attributes, ids, run.run.framework, duration));
    }
    return true;
  };
}

const UNKNOWN_STATUS =
  "A test.case.result.status is none of passed, failed and skipped, nor OpenTelemetry's pass and fail: the status of the span decided instead";

interface Ids {
  traceId: string;
  spanId: string;
}

/** As hex; null for a wrong length, and for all zeros, which OTLP calls invalid. */
function idsOf({ traceId, spanId }: Span): Ids | null {
  const isValid = (id: Uint8Array, length: number) => id.length === length && id.some((byte) => byte !== 0);
  if (!isValid(traceId, TRACE_ID_BYTES) || !isValid(spanId, SPAN_ID_BYTES)) return null;
  return { traceId: traceId.toHex(), spanId: spanId.toHex() };
}

function executionOf(
  span: Span,
  attributes: Attributes,
  { traceId, spanId }: Ids,
  framework: string | null,
  durationSeconds: number,
): ParsedExecution {
  const status = statusOf(span, attributes, framework);
  const retries = attributes.count('cicd.test.retry_count') ?? 0;
  // A retry follows a failure. A rerun may also follow a pass (flaky detection runs new tests many times), so a rerun
  // alone says nothing: what the reruns showed is in cicd.test.flaky.
  const isFlaky = attributes.isTrue('cicd.test.flaky') || (retries > 0 && status === 'passed');
  return {
    source: traceId,
    key: spanId,
    name: span.name,
    status,
    durationSeconds,
    finishedAtMs: span.endTimeUnixNano === 0n ? null : Number(span.endTimeUnixNano / NANOSECONDS_PER_MS),
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
  const event = span.events.find(({ name }) => name === 'exception');
  const found = new Attributes(span.attributes, event?.attributes ?? []);
  const type = found.text('exception.type');
  const message = found.text('exception.message');
  const stacktrace = found.text('exception.stacktrace');
  const hasException = type !== null || message !== null || stacktrace !== null;
  const isFailure = status === 'failed' || (isFlaky && hasException);
  return isFailure ? [{ attempt: 1, type, message, stacktrace }] : [];
}
