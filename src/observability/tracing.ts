/**
 * Spans, when somebody collects them. Without an endpoint nothing of OpenTelemetry is loaded, and a span costs a comparison.
 *
 * A trace follows an upload from its request through the queue to the worker that stores it: {@link carrier} is kept with the job.
 */
import type { ActiveSpan, SpanOptions, Tracer, TracingOptions } from './span.ts';

let tracer: Tracer | undefined;

/** Loads the SDK and begins. Returns what flushes and ends it, which never takes long and never throws. */
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

/** Runs in a span, a child of the one that runs now. */
export function inSpan<T>(name: string, options: SpanOptions, run: (span: ActiveSpan) => Promise<T>): Promise<T> {
  return tracer === undefined ? run(UNTRACED) : tracer.run(name, options, run);
}

/** The same within a span that runs, and without one otherwise: what looks around by itself every second is no trace. */
export const inChildSpan = <T>(name: string, options: SpanOptions, run: () => Promise<T>): Promise<T> =>
  tracer?.traceId() === undefined ? run() : tracer.run(name, options, run);

/** `traceparent` of the running span, for whoever goes on with the work elsewhere. */
export const carrier = (): string | undefined => tracer?.traceparent();

/** The id of the running trace, for log lines. */
export const traceId = (): string | undefined => tracer?.traceId();
