/**
 * Spans, when somebody collects them. Without an endpoint nothing of OpenTelemetry is loaded, and a span costs a comparison.
 *
 * A trace follows an upload from its request through the queue to the worker that stores it: {@link carrier} is kept with the job.
 */

/** Values of attributes. Names of repositories and routes are fine; parameters of statements, names of tests and secrets are not. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  attributes?: Attributes;
  /** `traceparent` of the caller, where it comes from outside of this process. */
  parent?: string | null | undefined;
}

/** The span that runs. */
export interface ActiveSpan {
  set(attributes: Attributes): void;
  /** It did not do what it was to do; exceptions say so by themselves. */
  fail(reason: string): void;
}

/** What the loaded SDK does. */
export interface Tracer {
  run<T>(name: string, options: SpanOptions, run: (span: ActiveSpan) => Promise<T>): Promise<T>;
  traceparent(): string | undefined;
  traceId(): string | undefined;
  stop(): Promise<void>;
}

export interface TracingOptions {
  /** Of an OTLP/HTTP receiver, without `/v1/traces`. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  /** The share of traces that begin here and are kept, 0 to 1; one that comes with a request is kept as its sender decided. */
  ratio: number;
  /** Hears, at most once a minute, that spans were lost. */
  onLost(error: Error | undefined): void;
}

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
