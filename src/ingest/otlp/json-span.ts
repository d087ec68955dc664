/** Spans, resources and scopes from OTLP/JSON, with the names of JSON and those of protobuf. */
import { SPAN_ATTRIBUTES_MAX, SPAN_BYTES_MAX } from '../../domain/limits.ts';
import type { AttributeTexts } from './attributes.ts';
import { tooManyOfResource } from './decode.ts';
import {
  keepAttribute,
  type RefusedSpan,
  type Span,
  type SpanGroup,
  sharedTexts,
  TOO_LARGE,
  TOO_MANY,
} from './span.ts';

type JsonObject = Record<string, unknown>;

/** JSON that is not an export; the message says why. */
export class WrongJson extends Error {}

const isObject = (json: unknown): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

export function spanOfJson(json: unknown): Span | RefusedSpan {
  const span = objectOf(json, 'a span');
  const attributes = listOf(span.attributes, 'attributes');
  const events = listOf(span.events, 'events');
  const parts = attributes.length + listOf(span.links, 'links').length;
  const eventParts = events.reduce((sum, event) => sum + 1 + listOf(event.attributes, 'attributes').length, 0);
  if (parts + eventParts > SPAN_ATTRIBUTES_MAX) return TOO_MANY;
  if (isTooLarge(attributes)) return TOO_LARGE;
  const exception = events.find(({ name }) => name === 'exception');
  return {
    traceId: idOf(span.traceId ?? span.trace_id),
    spanId: idOf(span.spanId ?? span.span_id),
    name: textOf(span.name, 'the name of a span'),
    startNs: nanosecondsOf(span.startTimeUnixNano ?? span.start_time_unix_nano),
    endNs: nanosecondsOf(span.endTimeUnixNano ?? span.end_time_unix_nano),
    status: statusOf(span.status),
    attributes: attributesOf(attributes),
    exception: exception ? attributesOf(listOf(exception.attributes, 'attributes')) : null,
  };
}

export function resourceOfJson(json: unknown): AttributeTexts {
  const attributes = isNull(json) ? [] : listOf(objectOf(json, 'a resource').attributes, 'attributes');
  if (attributes.length > SPAN_ATTRIBUTES_MAX) throw tooManyOfResource();
  return sharedTexts(attributesOf(attributes));
}

export function scopeOfJson(json: unknown): SpanGroup['scope'] {
  if (isNull(json)) return undefined;
  const { name, version } = objectOf(json, 'a scope');
  return { name: textOf(name, 'the name of a scope'), version: textOf(version, 'the version of a scope') };
}

/** A lower bound of the size in protobuf, from the texts of the attributes. */
function isTooLarge(attributes: readonly JsonObject[]): boolean {
  let length = attributes.length * 8;
  for (const { value } of attributes) {
    const text = isObject(value) ? (value.stringValue ?? value.string_value) : null;
    if (typeof text === 'string') length += text.length;
  }
  return length > SPAN_BYTES_MAX;
}

function attributesOf(list: readonly JsonObject[]): AttributeTexts {
  const attributes = new Map<string, string>();
  for (const { key, value } of list) if (typeof key === 'string') keepAttribute(attributes, key, textOfValue(value));
  return attributes;
}

/** Lists, maps and bytes say nothing about a test. */
function textOfValue(json: unknown): string {
  if (!isObject(json)) return '';
  const value =
    json.stringValue ??
    json.string_value ??
    json.boolValue ??
    json.bool_value ??
    json.intValue ??
    json.int_value ??
    json.doubleValue ??
    json.double_value;
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? String(value) : '';
}

function statusOf(json: unknown): Span['status'] {
  const code = isObject(json) ? json.code : undefined;
  if (code === 2 || code === 'STATUS_CODE_ERROR') return 'error';
  return code === 1 || code === 'STATUS_CODE_OK' ? 'ok' : 'unset';
}

/** Hex, as the specification wants it. What is not hex becomes empty, so that only its row is refused. */
const idOf = (json: unknown): string =>
  typeof json === 'string' && /^[0-9a-f]+$/i.test(json) ? json.toLowerCase() : '';

/** `fixed64`: from 0 to 2^64 - 1. */
function nanosecondsOf(json: unknown): bigint {
  if (isNull(json)) return 0n;
  const digits = typeof json === 'number' && Number.isInteger(json) ? BigInt(json).toString() : json;
  if (typeof digits === 'string' && /^\d{1,20}$/.test(digits)) {
    const nanoseconds = BigInt(digits);
    if (nanoseconds < 1n << 64n) return nanoseconds;
  }
  throw new WrongJson('a time is not a whole number of nanoseconds');
}

function textOf(json: unknown, what: string): string {
  if (isNull(json)) return '';
  if (typeof json !== 'string') throw new WrongJson(`${what} is not a text`);
  return json;
}

function objectOf(json: unknown, what: string): JsonObject {
  if (!isObject(json)) throw new WrongJson(`${what} is not an object`);
  return json;
}

function listOf(json: unknown, name: string): JsonObject[] {
  if (isNull(json)) return [];
  if (!Array.isArray(json) || !json.every(isObject)) throw new WrongJson(`${name} is not an array of objects`);
  return json;
}

const isNull = (json: unknown): json is null | undefined => json === null || json === undefined;
