/**
 * Spans, if an endpoint collects them. Without one, OpenTelemetry is not loaded and a span costs one comparison.
 *
 * A trace follows an upload from its request through the queue to the worker that stores it: the job keeps {@link
 * carrier}.
 */
import type { ActiveSpan, SpanOptions, Tracer, TracingOptions } from './span.ts';

let tracer: Tracer | undefined;

/** Loads the SDK and starts tracing. Returns a function that flushes and stops it, quickly and without throwing. */
export async function startTracing(options: TracingOptions): Promise<() => Promise<void>> {
  const { startTracer } = await import('./tracer.ts');
  const started = startTracer(options);
  tracer = started;
  return async () => {
    if (tracer === started) tracer = undefined;
    await started.stop();
  };
}

export const isTracing = (): boolean => tracer !== undefined;

const UNTRACED: ActiveSpan = { set: () => {}, fail: () => {} };

/** Runs in a span, a child of the running one. */
export function inSpan<T>(name: string, options: SpanOptions, run: (span: ActiveSpan) => Promise<T>): Promise<T> {
  return tracer === undefined ? run(UNTRACED) : tracer.run(name, options, run);
}

/** The same, but only inside a running span: background polling every second must not make traces. */
export const inChildSpan = <T>(name: string, options: SpanOptions, run: () => Promise<T>): Promise<T> =>
  tracer?.traceId() === undefined ? run() : tracer.run(name, options, run);

/** `traceparent` of the running span, for work that continues elsewhere. */
export const carrier = (): string | undefined => tracer?.traceparent();

/** The id of the running trace, for log lines. */
export const traceId = (): string | undefined => tracer?.traceId();
