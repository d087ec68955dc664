/**
 * Reads spans, resources and scopes from protobuf's wire format, counting every field: what a message is made of is
 * known before anything is allocated for it. A general decoder makes an object of hundreds of bytes out of an empty
 * attribute, which is two bytes on the wire and next to nothing after gzip.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { EXPORT_FIELDS_MAX, SPAN_ATTRIBUTES_MAX } from '../../domain/limits.ts';
import { UploadTooLarge } from '../errors.ts';
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
import { ATTRIBUTE_LENGTH_MAX, keepAttribute, type RefusedSpan, type Span, type SpanGroup, TOO_MANY } from './span.ts';

const SPAN = SpanSchema.field;
const EVENT = Span_EventSchema.field;
const KEY_VALUE = KeyValueSchema.field;
const VALUE = AnyValueSchema.field;
const SCOPE = InstrumentationScopeSchema.field;
const { LengthDelimited, Varint, Bit64 } = WireType;

/** Counts the fields of an export over all its messages. */
export class FieldBudget {
  #left = EXPORT_FIELDS_MAX;

  take(): void {
    if (--this.#left < 0)
      throw new UploadTooLarge(
        `The export holds more than ${EXPORT_FIELDS_MAX} attributes and other fields. Send it in several requests.`,
      );
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
    this.#fields(reader.len, (field, wireType) => {
      if (wireType === Bit64) {
        if (field === SPAN.startTimeUnixNano.number) span.startNs = BigInt(reader.fixed64());
        else if (field === SPAN.endTimeUnixNano.number) span.endNs = BigInt(reader.fixed64());
        else return false;
        return true;
      }
      if (wireType !== LengthDelimited) return false;
      if (field === SPAN.attributes.number) this.#part(() => this.#attribute(attributes));
      else if (field === SPAN.events.number) this.#part(() => this.#event(span));
      else if (field === SPAN.links.number) this.#part(() => this.#skip());
      else if (field === SPAN.name.number) span.name = reader.string(true);
      else if (field === SPAN.traceId.number) span.traceId = reader.bytes().toHex();
      else if (field === SPAN.spanId.number) span.spanId = reader.bytes().toHex();
      else if (field === SPAN.status.number) span.status = this.#status();
      else return false;
      return true;
    });
    return this.#partsLeft < 0 ? TOO_MANY : span;
  }

  /** Null if there are too many. */
  resource(): SpanGroup['resource'] | null {
    const attributes = new Map<string, string>();
    this.#fields(this.#reader.len, (field, wireType) => {
      if (field !== ResourceSchema.field.attributes.number || wireType !== LengthDelimited) return false;
      this.#part(() => this.#attribute(attributes));
      return true;
    });
    return this.#partsLeft < 0 ? null : attributes;
  }

  scope(): NonNullable<SpanGroup['scope']> {
    const scope = { name: '', version: '' };
    this.#fields(this.#reader.len, (field, wireType) => {
      if (wireType !== LengthDelimited) return false;
      if (field === SCOPE.name.number) scope.name = this.#reader.string(true);
      else if (field === SCOPE.version.number) scope.version = this.#reader.string(true);
      else return false;
      return true;
    });
    return scope;
  }

  /** Reads a part unless there were too many; then it is only measured. */
  #part(read: () => void): void {
    if (--this.#partsLeft >= 0) read();
    else this.#skip();
  }

  /** The fields up to `end`; those that `read` leaves are skipped. */
  #fields(end: number, read: (field: number, wireType: WireType) => boolean): void {
    const reader = this.#reader;
    while (reader.pos < end) {
      this.#budget.take();
      const [field, wireType] = reader.tag();
      if (read(field, wireType)) continue;
      if (wireType === LengthDelimited) this.#skip();
      else reader.skip(wireType, field);
    }
    if (reader.pos !== end) throw new RangeError('a message is longer than the field around it');
  }

  /** Past a length-delimited value, without the view that the reader's own skip() makes of it. */
  #skip(): void {
    const length = this.#reader.uint32();
    this.#reader.pos += length;
  }

  /** The end of the message that begins here. */
  #end(): number {
    const length = this.#reader.uint32();
    const end = this.#reader.pos + length;
    if (end > this.#reader.len) throw new RangeError('premature end');
    return end;
  }

  #attribute(into: Map<string, string>): void {
    let key: string | null = null;
    let value = '';
    this.#fields(this.#end(), (field, wireType) => {
      if (wireType !== LengthDelimited) return false;
      if (field === KEY_VALUE.key.number) key = this.#key();
      else if (field === KEY_VALUE.value.number) value = this.#value();
      else return false;
      return true;
    });
    if (key !== null) keepAttribute(into, key, value);
  }

  /** Null if it is longer than all that matter. */
  #key(): string | null {
    const start = this.#reader.pos;
    const end = this.#end();
    if (end - this.#reader.pos > ATTRIBUTE_LENGTH_MAX) {
      this.#reader.pos = end;
      return null;
    }
    this.#reader.pos = start;
    return this.#reader.string(true);
  }

  #value(): string {
    const reader = this.#reader;
    let value = '';
    this.#fields(this.#end(), (field, wireType) => {
      if (field === VALUE.stringValue.number && wireType === LengthDelimited) value = reader.string(true);
      else if (field === VALUE.boolValue.number && wireType === Varint) value = String(reader.bool());
      else if (field === VALUE.intValue.number && wireType === Varint) value = String(reader.int64());
      else if (field === VALUE.doubleValue.number && wireType === Bit64) value = String(reader.double());
      else {
        // Lists, maps and bytes say nothing about a test.
        value = '';
        return false;
      }
      return true;
    });
    return value;
  }

  #event(span: Span): void {
    const attributes = new Map<string, string>();
    let name = '';
    this.#fields(this.#end(), (field, wireType) => {
      if (wireType !== LengthDelimited) return false;
      if (field === EVENT.name.number) name = this.#reader.string(true);
      else if (field === EVENT.attributes.number) this.#part(() => this.#attribute(attributes));
      else return false;
      return true;
    });
    if (name === 'exception') span.exception ??= attributes;
  }

  #status(): Span['status'] {
    let status: Span['status'] = 'unset';
    this.#fields(this.#end(), (field, wireType) => {
      if (field !== StatusSchema.field.code.number || wireType !== Varint) return false;
      const code = this.#reader.int32();
      status = code === Status_StatusCode.ERROR ? 'error' : code === Status_StatusCode.OK ? 'ok' : 'unset';
      return true;
    });
    return status;
  }
}
