/**
 * Reads spans, resources and scopes from protobuf's wire format, counting every field: what a message is made of is
 * known before anything is allocated for it. A general decoder makes an object of hundreds of bytes out of an empty
 * attribute, which is two bytes on the wire and next to nothing after gzip.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { EXPORT_FIELDS_MAX, SPAN_ATTRIBUTES_MAX } from '../../domain/limits.ts';
import { UploadTooLarge } from '../../formats/errors.ts';
import {
  AnyValueSchema,
  InstrumentationScopeSchema,
  KeyValueSchema,
} from './gen/opentelemetry/proto/common/v1/common_pb.ts';
import { ResourceSchema } from './gen/opentelemetry/proto/resource/v1/resource_pb.ts';
import {
  Span_EventSchema,
  SpanSchema,
  Status_StatusCode,
  StatusSchema,
} from './gen/opentelemetry/proto/trace/v1/trace_pb.ts';
import {
  ATTRIBUTE_BYTES_MAX,
  keepAttribute,
  type RefusedSpan,
  type Span,
  type SpanGroup,
  sharedTexts,
  TOO_MANY,
} from './span.ts';

const { LengthDelimited, Varint, Bit64 } = WireType;

const tagOf = ({ number }: { number: number }, wireType: WireType): number => (number << 3) | wireType;
/** The fields that are read, as they are on the wire. */
const TAG = {
  traceId: tagOf(SpanSchema.field.traceId, LengthDelimited),
  spanId: tagOf(SpanSchema.field.spanId, LengthDelimited),
  name: tagOf(SpanSchema.field.name, LengthDelimited),
  start: tagOf(SpanSchema.field.startTimeUnixNano, Bit64),
  end: tagOf(SpanSchema.field.endTimeUnixNano, Bit64),
  attribute: tagOf(SpanSchema.field.attributes, LengthDelimited),
  event: tagOf(SpanSchema.field.events, LengthDelimited),
  link: tagOf(SpanSchema.field.links, LengthDelimited),
  status: tagOf(SpanSchema.field.status, LengthDelimited),
  code: tagOf(StatusSchema.field.code, Varint),
  eventName: tagOf(Span_EventSchema.field.name, LengthDelimited),
  eventAttribute: tagOf(Span_EventSchema.field.attributes, LengthDelimited),
  resourceAttribute: tagOf(ResourceSchema.field.attributes, LengthDelimited),
  scopeName: tagOf(InstrumentationScopeSchema.field.name, LengthDelimited),
  scopeVersion: tagOf(InstrumentationScopeSchema.field.version, LengthDelimited),
  key: tagOf(KeyValueSchema.field.key, LengthDelimited),
  value: tagOf(KeyValueSchema.field.value, LengthDelimited),
  string: tagOf(AnyValueSchema.field.stringValue, LengthDelimited),
  bool: tagOf(AnyValueSchema.field.boolValue, Varint),
  int: tagOf(AnyValueSchema.field.intValue, Varint),
  double: tagOf(AnyValueSchema.field.doubleValue, Bit64),
} as const;

/** Counts the fields of an export over all its messages. */
export class FieldBudget {
  #left = EXPORT_FIELDS_MAX;

  take(): void {
    if (--this.#left < 0) throw new UploadTooLarge(UPLOAD_LIMITS.EXPORT_FIELDS_MAX.sentence());
  }
}

/** Throws an Error for what is not protobuf. */
export class WireReader {
  readonly #reader: BinaryReader;
  readonly #budget: FieldBudget;
  #partsLeft = SPAN_ATTRIBUTES_MAX;

  constructor(message: Uint8Array, budget: FieldBudget) {
    this.#reader = new BinaryReader(message);
    this.#budget = budget;
  }

  span(): Span | RefusedSpan {
    const reader = this.#reader;
    const attributes = new Map<string, string>();
    const span: Span = {
      traceId: '',
      spanId: '',
      name: '',
      startNs: 0n,
      endNs: 0n,
      status: 'unset',
      attributes,
      exception: null,
    };
    while (this.#isBefore(reader.len)) {
      const tag = this.#tag();
      if (tag === TAG.attribute) this.#attribute(attributes);
      else if (tag === TAG.event) this.#event(span);
      else if (tag === TAG.link) this.#link();
      else if (tag === TAG.name) span.name = reader.string(true);
      else if (tag === TAG.traceId) span.traceId = reader.bytes().toHex();
      else if (tag === TAG.spanId) span.spanId = reader.bytes().toHex();
      else if (tag === TAG.start) span.startNs = BigInt(reader.fixed64());
      else if (tag === TAG.end) span.endNs = BigInt(reader.fixed64());
      else if (tag === TAG.status) span.status = this.#status();
      else this.#skip(tag);
    }
    return this.#partsLeft < 0 ? TOO_MANY : span;
  }

  /** Null if there are too many attributes. */
  resource(): SpanGroup['resource'] | null {
    const attributes = new Map<string, string>();
    while (this.#isBefore(this.#reader.len)) {
      const tag = this.#tag();
      if (tag === TAG.resourceAttribute) this.#attribute(attributes);
      else this.#skip(tag);
    }
    return this.#partsLeft < 0 ? null : sharedTexts(attributes);
  }

  scope(): NonNullable<SpanGroup['scope']> {
    const scope = { name: '', version: '' };
    while (this.#isBefore(this.#reader.len)) {
      const tag = this.#tag();
      if (tag === TAG.scopeName) scope.name = this.#reader.string(true);
      else if (tag === TAG.scopeVersion) scope.version = this.#reader.string(true);
      else this.#skip(tag);
    }
    return scope;
  }

  /** Whether there is more of a message, and not too much was read already. */
  #isBefore(end: number): boolean {
    if (this.#reader.pos < end) return this.#partsLeft >= 0;
    if (this.#reader.pos > end) throw new RangeError('a field is longer than the message around it');
    return false;
  }

  /** Field number and wire type of the next field. */
  #tag(): number {
    this.#budget.take();
    const tag = this.#reader.uint32();
    if (tag < 8) throw new RangeError('a field has the number 0');
    return tag;
  }

  #skip(tag: number): void {
    // The reader's own skip() makes a view of what it skips.
    if ((tag & 7) === LengthDelimited) this.#reader.pos = this.#end();
    else this.#reader.skip(tag & 7, tag >>> 3);
  }

  /** The end of the message that begins here. */
  #end(): number {
    const length = this.#reader.uint32();
    const end = this.#reader.pos + length;
    if (end > this.#reader.len) throw new RangeError('premature end');
    return end;
  }

  #link(): void {
    this.#partsLeft--;
    this.#reader.pos = this.#end();
  }

  #attribute(into: Map<string, string>): void {
    if (--this.#partsLeft < 0) return;
    let key: string | null = null;
    let value = '';
    const end = this.#end();
    while (this.#isBefore(end)) {
      const tag = this.#tag();
      if (tag === TAG.key) key = this.#key();
      else if (tag === TAG.value) value = this.#value();
      else this.#skip(tag);
    }
    if (key !== null) keepAttribute(into, key, value);
  }

  /** Null if it is longer than all that matter. */
  #key(): string | null {
    const start = this.#reader.pos;
    const end = this.#end();
    const isLong = end - this.#reader.pos > ATTRIBUTE_BYTES_MAX;
    this.#reader.pos = isLong ? end : start;
    return isLong ? null : this.#reader.string(true);
  }

  /** Lists, maps and bytes are skipped: they say nothing about a test. */
  #value(): string {
    const reader = this.#reader;
    let value = '';
    const end = this.#end();
    while (this.#isBefore(end)) {
      const tag = this.#tag();
      if (tag === TAG.string) value = reader.string(true);
      else if (tag === TAG.bool) value = String(reader.bool());
      else if (tag === TAG.int) value = String(reader.int64());
      else if (tag === TAG.double) value = String(reader.double());
      else {
        value = '';
        this.#skip(tag);
      }
    }
    return value;
  }

  #event(span: Span): void {
    if (--this.#partsLeft < 0) return;
    const attributes = new Map<string, string>();
    let name = '';
    const end = this.#end();
    while (this.#isBefore(end)) {
      const tag = this.#tag();
      if (tag === TAG.eventName) name = this.#reader.string(true);
      else if (tag === TAG.eventAttribute) this.#attribute(attributes);
      else this.#skip(tag);
    }
    if (name === 'exception') span.exception ??= attributes;
  }

  #status(): Span['status'] {
    let code = 0;
    const end = this.#end();
    while (this.#isBefore(end)) {
      const tag = this.#tag();
      if (tag === TAG.code) code = this.#reader.int32();
      else this.#skip(tag);
    }
    return code === Status_StatusCode.ERROR ? 'error' : code === Status_StatusCode.OK ? 'ok' : 'unset';
  }
}
