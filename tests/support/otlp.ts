/** Makes OTLP exports for tests, in protobuf and in JSON. */
import { create, toBinary } from '@bufbuild/protobuf';
import { ExportTraceServiceRequestSchema } from '../../src/ingest/otlp/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { Status_StatusCode } from '../../src/ingest/otlp/gen/opentelemetry/proto/trace/v1/trace_pb.ts';

type AttributeValue = string | number | boolean;
export type AttributeValues = Record<string, AttributeValue | undefined>;

export interface SpanInput {
  name?: string;
  /** Hex; made up from the place in the export when absent. */
  traceId?: string;
  spanId?: string;
  status?: 'unset' | 'ok' | 'error';
  startNs?: bigint;
  endNs?: bigint;
  attributes?: AttributeValues;
  /** Attributes of an exception event. */
  exceptionEvent?: AttributeValues;
}

export interface ExportInput {
  resource?: AttributeValues;
  scope?: { name: string; version?: string };
  spans: SpanInput[];
}

export const TRACE_ID = '5b8efff798038103d269b633813fc60c';
/** 2026-11-21T09:30:00Z */
export const START_NS = 1_795_253_400_000_000_000n;

const CODES = { unset: Status_StatusCode.UNSET, ok: Status_StatusCode.OK, error: Status_StatusCode.ERROR };

const keyValues = (values: AttributeValues) =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: { value: anyValue(value) } }],
  );

function anyValue(value: AttributeValue) {
  if (typeof value === 'string') return { case: 'stringValue' as const, value };
  if (typeof value === 'boolean') return { case: 'boolValue' as const, value };
  return { case: 'intValue' as const, value: BigInt(value) };
}

const settled = (span: SpanInput, index: number) => ({
  name: 'a test',
  traceId: TRACE_ID,
  spanId: (index + 1).toString(16).padStart(16, '0'),
  status: 'unset' as const,
  startNs: START_NS,
  endNs: START_NS + 12_000_000n,
  ...span,
  attributes: { 'test.scope': 'case', ...span.attributes },
});

export function otlpProtobuf(...groups: ExportInput[]): Uint8Array<ArrayBuffer> {
  const request = create(ExportTraceServiceRequestSchema, {
    resourceSpans: groups.map(({ resource = {}, scope, spans }) => ({
      resource: { attributes: keyValues(resource) },
      scopeSpans: [
        {
          ...(scope ? { scope } : {}),
          spans: spans.map(settled).map((span) => ({
            name: span.name,
            traceId: Uint8Array.fromHex(span.traceId),
            spanId: Uint8Array.fromHex(span.spanId),
            status: { code: CODES[span.status] },
            startTimeUnixNano: span.startNs,
            endTimeUnixNano: span.endNs,
            attributes: keyValues(span.attributes),
            events: span.exceptionEvent ? [{ name: 'exception', attributes: keyValues(span.exceptionEvent) }] : [],
          })),
        },
      ],
    })),
  });
  return toBinary(ExportTraceServiceRequestSchema, request);
}

const jsonKeyValues = (values: AttributeValues) =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [
          {
            key,
            value:
              typeof value === 'string'
                ? { stringValue: value }
                : typeof value === 'boolean'
                  ? { boolValue: value }
                  : { intValue: String(value) },
          },
        ],
  );

export const otlpJson = (...groups: ExportInput[]): string =>
  JSON.stringify({
    resourceSpans: groups.map(({ resource = {}, scope, spans }) => ({
      resource: { attributes: jsonKeyValues(resource) },
      scopeSpans: [
        {
          ...(scope ? { scope } : {}),
          spans: spans.map(settled).map((span) => ({
            name: span.name,
            traceId: span.traceId,
            spanId: span.spanId,
            status: { code: CODES[span.status] },
            startTimeUnixNano: String(span.startNs),
            endTimeUnixNano: String(span.endNs),
            attributes: jsonKeyValues(span.attributes),
            ...(span.exceptionEvent
              ? { events: [{ name: 'exception', attributes: jsonKeyValues(span.exceptionEvent) }] }
              : {}),
          })),
        },
      ],
    })),
  });
