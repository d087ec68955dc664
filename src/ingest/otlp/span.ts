/**
 * A span as far as tests need it. Both decoders read only these fields and these attributes: what else a span carries
 * costs no memory, and next to no time.
 */
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { DETAIL_BYTES_MAX } from '../../domain/limits.ts';
import { cutText } from '../../domain/text.ts';
import type { AttributeTexts } from './attributes.ts';
import { isOfRun, RUN_ATTRIBUTE_BYTES_MAX } from './run.ts';

/** Shared by the spans of a group. */
export interface SpanGroup {
  resource: AttributeTexts;
  scope: { name: string; version: string } | undefined;
}

export interface Span {
  /** Hex; empty if it is not an id. */
  traceId: string;
  spanId: string;
  name: string;
  startNs: bigint;
  endNs: bigint;
  status: 'unset' | 'ok' | 'error';
  attributes: AttributeTexts;
  /** The attributes of the first event named `exception`. */
  exception: AttributeTexts | null;
}

/** A span that takes too much to be read, with the reason. */
export interface RefusedSpan {
  refused: string;
}

export const TOO_LARGE: RefusedSpan = { refused: UPLOAD_LIMITS.SPAN_BYTES_MAX.sentence() };
export const TOO_MANY: RefusedSpan = { refused: UPLOAD_LIMITS.SPAN_ATTRIBUTES_MAX.sentence() };
export const TOO_MANY_VALUES: RefusedSpan = { refused: UPLOAD_LIMITS.SPAN_JSON_VALUES_MAX.sentence() };

/** The attributes that say something about a test, besides those of its run. Others are not kept. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'cicd.test.flaky',
  'cicd.test.quarantined',
  'cicd.test.rerun_count',
  'cicd.test.retry_count',
  'code.file.path',
  'code.filepath',
  'code.function',
  'code.function.name',
  'exception.message',
  'exception.stacktrace',
  'exception.type',
  'pytest.nodeid',
  'test.case.result.status',
  'test.case.name',
  'test.scope',
]);

/** Length of the longest one. */
export const ATTRIBUTE_BYTES_MAX = RUN_ATTRIBUTE_BYTES_MAX;

/** Cuts once what all spans of a resource share, and not for each of them. */
export function sharedTexts(attributes: ReadonlyMap<string, string>): AttributeTexts {
  return new Map(
    [...attributes].map(([key, value]) => [
      key,
      value.length > DETAIL_BYTES_MAX ? cutText(value, DETAIL_BYTES_MAX) : value,
    ]),
  );
}

/** The first value of a key counts. */
export function keepAttribute(into: Map<string, string>, key: string, value: string): void {
  if ((ATTRIBUTES.has(key) || isOfRun(key)) && !into.has(key)) into.set(key, value);
}
