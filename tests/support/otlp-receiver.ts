/** A receiver of OTLP/HTTP traces on this machine that keeps the spans. */
import { fromBinary } from '@bufbuild/protobuf';
import { ExportTraceServiceRequestSchema } from '../../src/ingest/otlp/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { type Span, Span_SpanKind } from '../../src/ingest/otlp/gen/opentelemetry/proto/trace/v1/trace_pb.ts';

interface ReceivedSpan {
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  attributes: Record<string, string | number | boolean | undefined>;
  isError: boolean;
}

export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** Attributes of the resource, by name. */
  resource: Record<string, string | number | boolean | undefined>;
  headers: Headers | undefined;
  stop(): Promise<void>;
}

export function startOtlpReceiver(): OtlpReceiver {
  const spans: ReceivedSpan[] = [];
  const receiver: OtlpReceiver = { url: '', spans, resource: {}, headers: undefined, stop: async () => {} };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname !== '/v1/traces') return new Response(null, { status: 404 });
      receiver.headers = request.headers;
      const { resourceSpans } = fromBinary(ExportTraceServiceRequestSchema, await request.bytes());
      for (const { resource, scopeSpans } of resourceSpans) {
        receiver.resource = attributesOf(resource?.attributes ?? []);
        for (const scope of scopeSpans) spans.push(...scope.spans.map(readSpan));
      }
      return new Response(null, { headers: { 'content-type': 'application/x-protobuf' } });
    },
  });
  receiver.url = `http://127.0.0.1:${server.port}`;
  receiver.stop = () => server.stop(true);
  return receiver;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const STATUS_ERROR = 2;

const readSpan = (span: Span): ReceivedSpan => ({
  name: span.name,
  kind: Span_SpanKind[span.kind],
  traceId: hex(span.traceId),
  spanId: hex(span.spanId),
  parentId: hex(span.parentSpanId),
  attributes: attributesOf(span.attributes),
  isError: span.status?.code === STATUS_ERROR,
});

function attributesOf(pairs: Span['attributes']): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const held = value?.value;
      if (held?.case === 'stringValue' || held?.case === 'boolValue' || held?.case === 'doubleValue')
        return [key, held.value];
      return [key, held?.case === 'intValue' ? Number(held.value) : undefined];
    }),
  );
}
