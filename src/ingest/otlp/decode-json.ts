/**
 * Reads OTLP/JSON, which is protobuf's JSON with a few differences: trace and span ids are hex (protobuf's JSON has
 * base64), enum values may be numbers or names, 64-bit integers strings or numbers; unknown fields are ignored.
 */
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { malformedReason } from '../../domain/text.ts';
import { decoded, InvalidUpload, UploadTooLarge } from '../errors.ts';
import { SPAN_BYTES_MAX, SpanBudget, type SpanGroup } from './decode.ts';
import { InstrumentationScopeSchema } from './gen/opentelemetry/proto/common/v1/common_pb.ts';
import { ResourceSchema } from './gen/opentelemetry/proto/resource/v1/resource_pb.ts';
import { type Span, SpanSchema } from './gen/opentelemetry/proto/trace/v1/trace_pb.ts';

/**
 * Values (objects, arrays, items) a body may hold: 100,000 tests with 18 attributes have about five million. Each `[`
 * of `[[[…` takes a byte on the wire but a hundred in memory, so they are counted before parsing.
 */
const JSON_VALUES_MAX = 8_000_000;
/** Deeper than any OTLP attribute; the parser recurses. */
const JSON_DEPTH_MAX = 100;

type JsonObject = { [key: string]: JsonValue };

/** The spans of a JSON body. Throws InvalidUpload, also while they are being read. */
export function* decodeJson(body: Uint8Array): Generator<SpanGroup> {
  const budget = new SpanBudget();
  const request = parse(body);
  for (const resourceSpans of objectsOf(request, 'resourceSpans', 'resource_spans')) {
    budget.take();
    const resource = optional(resourceSpans.resource, (json) => fromJson(ResourceSchema, json, READ_OPTIONS));
    for (const scopeSpans of objectsOf(resourceSpans, 'scopeSpans', 'scope_spans')) {
      budget.take();
      const scope = optional(scopeSpans.scope, (json) => fromJson(InstrumentationScopeSchema, json, READ_OPTIONS));
      yield { resource, scope, spans: decodeSpans(scopeSpans, budget) };
    }
  }
}

const READ_OPTIONS = { ignoreUnknownFields: true };

function* decodeSpans(scopeSpans: JsonObject, budget: SpanBudget): Generator<Span | null> {
  for (const json of objectsOf(scopeSpans, 'spans', 'spans')) {
    budget.take();
    yield isTooLarge(json) ? null : decoded(() => fromJson(SpanSchema, protobufJson(json), READ_OPTIONS), sentenceOf);
  }
}

/**
 * A lower bound of the span's size, from the texts at the top of its attributes: enough to apply the limit for
 * protobuf.
 */
function isTooLarge(span: JsonObject): boolean {
  const attributes = Array.isArray(span.attributes) ? span.attributes : [];
  let length = attributes.length * 8;
  for (const attribute of attributes) {
    const value = isObject(attribute) ? attribute.value : null;
    const text = isObject(value) ? value.stringValue : null;
    if (typeof text === 'string') length += text.length;
  }
  return length > SPAN_BYTES_MAX;
}

/** The span as protobuf's JSON: hex ids as base64, integers beyond 2^53 that came as numbers as text. */
function protobufJson(span: JsonObject): JsonObject {
  const converted: JsonObject = { ...span };
  for (const name of ['traceId', 'trace_id', 'spanId', 'span_id', 'parentSpanId', 'parent_span_id'])
    if (typeof span[name] === 'string') converted[name] = base64OfHex(span[name]);
  for (const name of ['startTimeUnixNano', 'start_time_unix_nano', 'endTimeUnixNano', 'end_time_unix_nano'])
    if (typeof span[name] === 'number' && Number.isInteger(span[name])) converted[name] = String(BigInt(span[name]));
  // Links name other spans; no test needs them.
  delete converted.links;
  return converted;
}

/** Ids that are not hex become empty, so that only their row is refused, with a reason. */
const base64OfHex = (hex: string): string =>
  /^(?:[0-9a-f]{2})*$/i.test(hex) ? Buffer.from(hex, 'hex').toString('base64') : '';

function parse(body: Uint8Array): JsonObject {
  assertBounded(body);
  const json = decoded(
    (): JsonValue => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body), reviverOf(body)),
    sentenceOf,
  );
  if (!isObject(json)) throw notAnExport('it is not an object');
  return json;
}

/**
 * Protobuf accepts no half of a surrogate pair, which JSON can contain as an escape. They are replaced, except in
 * names, where that would make a different test.
 */
function reviverOf(body: Uint8Array): ((key: string, value: unknown) => unknown) | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!bytes.includes('\\ud') && !bytes.includes('\\uD')) return undefined;
  return (key, value) => {
    if (typeof value !== 'string' || value.isWellFormed()) return value;
    if (key === 'name')
      throw new InvalidUpload(
        `A test name ${malformedReason(value)}. Nothing was stored. Correct the name and send the upload again.`,
      );
    return value.toWellFormed();
  };
}

/** Counts the values outside strings and measures their nesting. */
function assertBounded(body: Uint8Array): void {
  let values = 0;
  let depth = 0;
  let isText = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (isText) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) isText = false;
    } else if (byte === 0x22) isText = true;
    else if (byte === 0x7b || byte === 0x5b) {
      values++;
      if (++depth > JSON_DEPTH_MAX) throw notAnExport(`it is nested deeper than ${JSON_DEPTH_MAX}`);
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === 0x2c) values++;
    if (values > JSON_VALUES_MAX)
      throw new UploadTooLarge(
        `The export holds more than ${JSON_VALUES_MAX} JSON values. Send it in several requests.`,
      );
  }
}

const isObject = (json: JsonValue | undefined): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

function objectsOf(parent: JsonObject, name: string, protoName: string): JsonObject[] {
  const list = parent[name] ?? parent[protoName] ?? [];
  if (!Array.isArray(list) || !list.every(isObject)) throw notAnExport(`${name} is not an array of objects`);
  return list;
}

const optional = <T>(json: JsonValue | undefined, read: (json: JsonValue) => T): T | undefined =>
  json === undefined || json === null ? undefined : decoded(() => read(json), sentenceOf);

const sentenceOf = (why: string): string => `The body is not an OTLP ExportTraceServiceRequest in JSON (${why}).`;
const notAnExport = (why: string): InvalidUpload => new InvalidUpload(sentenceOf(why));
