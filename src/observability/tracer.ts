/**
 * The OpenTelemetry SDK behind {@link Tracer}. Imported only when an endpoint is configured; registers nothing
 * globally.
 */
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import { spansLost } from './metrics.ts';
import type { ActiveSpan, SpanOptions, Tracer, TracingOptions } from './span.ts';

const PROPAGATOR = new W3CTraceContextPropagator();
const EXPORT_TIMEOUT_MS = 5_000;
const EXPORT_EVERY_MS = 2_000;
/** Stopping must not wait for an endpoint that is down. */
const STOP_MS_MAX = 2_000;
const LOSS_REPORT_MS = 60_000;
const ATTRIBUTE_LENGTH_MAX = 500;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

export function startTracer({ endpoint, headers, serviceName, version, ratio, onLost }: TracingOptions): Tracer {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH_MAX },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: counting(exporter, onLost),
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const spans = provider.getTracer('ci-insights', version);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const current = () => trace.getSpan(contexts.active())?.spanContext();

  return {
    run: <T>(name: string, options: SpanOptions, run: (span: ActiveSpan) => Promise<T>): Promise<T> => {
      const parent = parentOf(options.parent, contexts.active());
      const { kind = 'internal', attributes = {} } = options;
      const span = spans.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } }, parent);
      const fail = (message: string): void => void span.setStatus({ code: SpanStatusCode.ERROR, message });
      const active: ActiveSpan = { set: (more) => void span.setAttributes({ ...more }), fail };
      return contexts.with(trace.setSpan(parent, span), async () => {
        try {
          return await run(active);
        } catch (error) {
          // Only the type: messages of drivers quote their input.
          const type = error instanceof Error ? error.name : typeof error;
          span.setAttribute('error.type', type);
          fail(type);
          throw error;
        } finally {
          span.end();
        }
      });
    },
    traceparent: () => {
      const carrier: Record<string, string> = {};
      PROPAGATOR.inject(contexts.active(), carrier, defaultTextMapSetter);
      return carrier.traceparent;
    },
    traceId: () => current()?.traceId,
    stop: async () => {
      await pTimeout(provider.shutdown(), { milliseconds: STOP_MS_MAX, message: false }).catch(() => {});
      contexts.disable();
    },
  };
}

/** An invalid parent is ignored. */
function parentOf(traceparent: string | null | undefined, active: Context): Context {
  if (traceparent === undefined) return active;
  return PROPAGATOR.extract(ROOT_CONTEXT, { traceparent: traceparent ?? undefined }, defaultTextMapGetter);
}

/** The exporter, with a count of the spans that the endpoint did not accept. */
function counting(exporter: SpanExporter, onLost: TracingOptions['onLost']): SpanExporter {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    export: (batch: ReadableSpan[], done: (result: ExportResult) => void) =>
      exporter.export(batch, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) {
          spansLost.inc(batch.length);
          if (performance.now() - reportedAt >= LOSS_REPORT_MS) {
            reportedAt = performance.now();
            onLost(result.error);
          }
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
