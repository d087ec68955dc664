/**
 * Reads an OTLP ExportTraceServiceRequest one span at a time (protobuf here, JSON in `decode-json.ts`), so that a body
 * costs no more memory than its bytes and one span. Decoding the whole message first would cost far more: an empty span
 * is two bytes on the wire, and gzip makes a thousandth of them, but it is an object of hundreds of bytes in memory.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { decoded, InvalidUpload, UploadTooLarge } from '../errors.ts';
import { ExportTraceServiceRequestSchema } from './gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import {
  type InstrumentationScope,
  InstrumentationScopeSchema,
} from './gen/opentelemetry/proto/common/v1/common_pb.ts';
import { type Resource, ResourceSchema } from './gen/opentelemetry/proto/resource/v1/resource_pb.ts';
import {
  ResourceSpansSchema,
  ScopeSpansSchema,
  type Span,
  SpanSchema,
} from './gen/opentelemetry/proto/trace/v1/trace_pb.ts';

/** The spans of one resource and scope. `spans` is lazy and can be read once. */
export interface SpanGroup {
  resource: Resource | undefined;
  scope: InstrumentationScope | undefined;
  /** `null` for a span that is too large to be read. */
  spans: Iterable<Span | null>;
}

/** A span is one test. Its texts are cut at 64 and 256 KiB, so this is generous. */
export const SPAN_BYTES_MAX = 2 * 1024 * 1024;
/** For a resource or scope; those of the clients take about 1 KiB. */
const HEAD_BYTES_MAX = 1024 * 1024;
/** Resources, scopes and spans of one request: twice the tests that an upload may contain. */
const SPANS_MAX = 200_000;

/** Counts what is read, and refuses a request with more than any test run contains. */
export class SpanBudget {
  #left = SPANS_MAX;

  take(): void {
    if (--this.#left < 0)
      throw new UploadTooLarge(`The export holds more than ${SPANS_MAX} spans. Send it in several requests.`);
  }
}

/** The spans of a protobuf body. Throws InvalidUpload, also while they are being read. */
export function* decodeProtobuf(body: Uint8Array): Generator<SpanGroup> {
  const budget = new SpanBudget();
  for (const resourceSpans of fieldsOf(body, ExportTraceServiceRequestSchema.field.resourceSpans.number)) {
    budget.take();
    const resource = headOf(ResourceSchema, resourceSpans, ResourceSpansSchema.field.resource.number);
    for (const scopeSpans of fieldsOf(resourceSpans, ResourceSpansSchema.field.scopeSpans.number)) {
      budget.take();
      const scope = headOf(InstrumentationScopeSchema, scopeSpans, ScopeSpansSchema.field.scope.number);
      yield { resource, scope, spans: decodeSpans(scopeSpans, budget) };
    }
  }
}

function* decodeSpans(scopeSpans: Uint8Array, budget: SpanBudget): Generator<Span | null> {
  for (const span of fieldsOf(scopeSpans, ScopeSpansSchema.field.spans.number)) {
    budget.take();
    yield span.length > SPAN_BYTES_MAX ? null : decoded(() => fromBinary(SpanSchema, span, READ_OPTIONS), notAnExport);
  }
}

const READ_OPTIONS = { readUnknownFields: false };

/** The message in this field. If there are several, the last one counts. */
function headOf<S extends typeof ResourceSchema | typeof InstrumentationScopeSchema>(
  schema: S,
  message: Uint8Array,
  fieldNumber: number,
) {
  let head: Uint8Array | undefined;
  for (const value of fieldsOf(message, fieldNumber)) head = value;
  if (head && head.length > HEAD_BYTES_MAX)
    throw new InvalidUpload('The export describes a resource or scope with more than 1 MiB of attributes.');
  const bytes = head;
  return bytes && decoded(() => fromBinary(schema, bytes, READ_OPTIONS), notAnExport);
}

/** The values of a length-delimited field of a message, without copying them; other fields are skipped. */
function* fieldsOf(message: Uint8Array, fieldNumber: number): Generator<Uint8Array> {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const value = decoded(() => {
      const [field, wireType] = reader.tag();
      if (field === fieldNumber && wireType === WireType.LengthDelimited) return reader.bytes();
      reader.skip(wireType, field);
      return undefined;
    }, notAnExport);
    if (value) yield value;
  }
}

const notAnExport = (cause: string): string =>
  `The body is not an OTLP ExportTraceServiceRequest in protobuf (${cause}). Was it cut short, or is it JSON sent as protobuf?`;
