/**
 * Reads OTLP/JSON, which is protobuf's JSON with a few differences: trace and span ids are hex (protobuf's JSON has
 * base64), enum values may be numbers or names, 64-bit integers strings or numbers; unknown fields are ignored.
 *
 * Spans are read one at a time. Those that come before the resource or scope of their group wait for it.
 */
import { EXPORT_JSON_VALUES_MAX, SPAN_JSON_VALUES_MAX } from '../../domain/limits.ts';
import { InvalidUpload } from '../../formats/errors.ts';
import { type JsonKind, type JsonPath, type JsonVisit, type JsonVisitor, readJson } from '../../formats/json.ts';
import type { AttributeTexts } from './attributes.ts';
import { SpanBudget, tooManyOfResource } from './decode.ts';
import { resourceOfJson, scopeOfJson, spanOfJson, WrongJson } from './json-span.ts';
import { type RefusedSpan, type Span, type SpanGroup, TOO_LARGE, TOO_MANY_VALUES } from './span.ts';

type OnSpan = (span: Span | RefusedSpan, group: SpanGroup) => void;

const JSON_LIMITS = { what: 'export', valuesMax: SPAN_JSON_VALUES_MAX, valuesTotalMax: EXPORT_JSON_VALUES_MAX };

/** Calls `onSpan` for each span. Throws InvalidUpload, also after some of them. */
export async function decodeJson(body: Uint8Array, onSpan: OnSpan): Promise<void> {
  if (!/^\s*\{/.test(Buffer.from(body.subarray(0, 1_000)).toString('latin1'))) throw notAnExport('it is not an object');
  const visitor = new ExportVisitor(onSpan);
  try {
    const breakage = await readJson(body, visitor, JSON_LIMITS);
    if (breakage !== null) throw new WrongJson(`it ${breakage}`);
  } catch (error) {
    if (error instanceof WrongJson) throw notAnExport(error.message);
    throw error;
  }
  visitor.finish();
}

const notAnExport = (why: string): InvalidUpload =>
  new InvalidUpload(`The body is not an OTLP ExportTraceServiceRequest in JSON (${why}).`);

/** The names of the lists at each depth, also as protobuf writes them. */
const LISTS: readonly ReadonlySet<unknown>[] = [
  new Set(['resourceSpans', 'resource_spans']),
  new Set(['scopeSpans', 'scope_spans']),
  new Set(['spans']),
];

class ExportVisitor implements JsonVisitor {
  readonly #budget = new SpanBudget();
  #resource: AttributeTexts | null = null;
  #hasScope = false;
  #group: SpanGroup = { resource: NONE, scope: undefined };
  /** Spans of the open resource whose resource or scope has not come yet. */
  #waiting: [Span | RefusedSpan, SpanGroup][] = [];

  constructor(private readonly onSpan: OnSpan) {}

  /** `resourceSpans`, its items, their `scopeSpans`, their items, their `spans`, and these. */
  visit(path: JsonPath, kind: JsonKind): JsonVisit {
    const last = path.at(-1);
    const depth = (path.length - 1) >> 1;
    if (path.length % 2 === 0) return this.#visitItem(path, kind);
    if (LISTS[depth]?.has(last)) return kind === 'array' ? 'parts' : 'read';
    return (depth === 1 && last === 'resource') || (depth === 2 && last === 'scope') ? 'read' : 'skip';
  }

  #visitItem(path: JsonPath, kind: JsonKind): JsonVisit {
    if (kind !== 'object') throw new WrongJson(`${String(path.at(-2))} is not an array of objects`);
    this.#budget.take();
    if (path.length === 6) return 'read';
    if (path.length === 2) this.#beginResource();
    this.#group = { resource: this.#resource ?? NONE, scope: undefined };
    this.#hasScope = false;
    return 'parts';
  }

  #beginResource(): void {
    const resource = this.#resource ?? NONE;
    for (const [span, group] of this.#waiting) {
      group.resource = resource;
      this.onSpan(span, group);
    }
    this.#waiting = [];
    this.#resource = null;
  }

  value(path: JsonPath, value: unknown): void {
    const last = path.at(-1);
    if (path.length === 6) this.#add(spanOfJson(value));
    else if (last === 'resource') {
      this.#resource = resourceOfJson(value);
      this.#group.resource = this.#resource;
    } else if (last === 'scope') {
      this.#group.scope = scopeOfJson(value);
      this.#hasScope = true;
    } else if (value !== null) throw new WrongJson(`${String(last)} is not an array of objects`);
  }

  tooLarge(path: JsonPath, isByBytes: boolean): void {
    if (path.length !== 6) throw tooManyOfResource();
    this.#add(isByBytes ? TOO_LARGE : TOO_MANY_VALUES);
  }

  #add(span: Span | RefusedSpan): void {
    if (this.#resource !== null && this.#hasScope) this.onSpan(span, this.#group);
    else this.#waiting.push([span, this.#group]);
  }

  finish(): void {
    this.#beginResource();
  }
}

const NONE: AttributeTexts = new Map();
