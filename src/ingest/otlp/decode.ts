/**
 * Reads an OTLP ExportTraceServiceRequest one span at a time (protobuf here, JSON in `decode-json.ts`), so that a body
 * costs no more memory than its bytes and one span.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { RESOURCE_BYTES_MAX, SPAN_BYTES_MAX, SPANS_MAX } from '../../domain/limits.ts';
import { decoded, InvalidUpload, UploadTooLarge } from '../../formats/errors.ts';
import { ExportTraceServiceRequestSchema } from './gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { ResourceSpansSchema, ScopeSpansSchema } from './gen/opentelemetry/proto/trace/v1/trace_pb.ts';
import { type RefusedSpan, type Span, type SpanGroup, TOO_LARGE } from './span.ts';
import { FieldBudget, WireReader } from './wire.ts';

/** Counts what is read, and refuses a request with more than any test run contains. */
export class SpanBudget {
  #left = SPANS_MAX;

  take(): void {
    if (--this.#left < 0) throw new UploadTooLarge(UPLOAD_LIMITS.SPANS_MAX.sentence());
  }
}

export type GroupedSpan = [span: Span | RefusedSpan, group: SpanGroup];

/** The spans of a protobuf body; those of a group follow each other. Throws InvalidUpload, also while they are read. */
export function* decodeProtobuf(body: Uint8Array): Generator<GroupedSpan> {
  const spans = new SpanBudget();
  const fields = new FieldBudget();
  for (const resourceSpans of fieldsOf(body, ExportTraceServiceRequestSchema.field.resourceSpans.number, fields)) {
    spans.take();
    const resource = resourceOf(resourceSpans, fields);
    for (const scopeSpans of fieldsOf(resourceSpans, ResourceSpansSchema.field.scopeSpans.number, fields)) {
      spans.take();
      const group = { resource, scope: scopeOf(scopeSpans, fields) };
      for (const span of fieldsOf(scopeSpans, ScopeSpansSchema.field.spans.number, fields)) {
        spans.take();
        yield [spanOf(span, fields), group];
      }
    }
  }
}

const spanOf = (bytes: Uint8Array, fields: FieldBudget): Span | RefusedSpan =>
  bytes.length > SPAN_BYTES_MAX ? TOO_LARGE : decoded(() => new WireReader(bytes, fields).span(), notAnExport);

function resourceOf(resourceSpans: Uint8Array, fields: FieldBudget): SpanGroup['resource'] {
  const bytes = headOf(resourceSpans, ResourceSpansSchema.field.resource.number, fields);
  const resource = bytes
    ? decoded(() => new WireReader(bytes, fields).resource(), notAnExport)
    : new Map<string, string>();
  if (resource === null) throw tooManyOfResource();
  return resource;
}

export const tooManyOfResource = (): InvalidUpload =>
  new InvalidUpload(UPLOAD_LIMITS.SPAN_ATTRIBUTES_MAX.sentence('a resource'));

function scopeOf(scopeSpans: Uint8Array, fields: FieldBudget): SpanGroup['scope'] {
  const bytes = headOf(scopeSpans, ScopeSpansSchema.field.scope.number, fields);
  return bytes && decoded(() => new WireReader(bytes, fields).scope(), notAnExport);
}

/** The message in this field. If there are several, the last one counts. */
function headOf(message: Uint8Array, fieldNumber: number, fields: FieldBudget): Uint8Array | undefined {
  let head: Uint8Array | undefined;
  for (const value of fieldsOf(message, fieldNumber, fields)) head = value;
  if (head && head.length > RESOURCE_BYTES_MAX) throw new InvalidUpload(UPLOAD_LIMITS.RESOURCE_BYTES_MAX.sentence());
  return head;
}

/** The values of a length-delimited field of a message, without copying them; other fields are skipped. */
function* fieldsOf(message: Uint8Array, fieldNumber: number, fields: FieldBudget): Generator<Uint8Array> {
  const reader = new BinaryReader(message);
  const next = (): Uint8Array | undefined => {
    const [field, wireType] = reader.tag();
    if (field === fieldNumber && wireType === WireType.LengthDelimited) return reader.bytes();
    reader.skip(wireType, field);
    return undefined;
  };
  while (reader.pos < reader.len) {
    fields.take();
    const value = decoded(next, notAnExport);
    if (value) yield value;
  }
}

const notAnExport = (cause: string): string =>
  `The body is not an OTLP ExportTraceServiceRequest in protobuf (${cause}). Was it cut short, or is it JSON sent as protobuf?`;
