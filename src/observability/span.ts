/** The interface of a tracer and its spans, without the SDK behind it. */

/**
 * Attributes of a span. Repositories and routes are fine; parameters of statements, names of tests and secrets are not.
 */
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  attributes?: Attributes;
  /** `traceparent` of a caller outside this process. */
  parent?: string | null | undefined;
}

/** The running span. */
export interface ActiveSpan {
  set(attributes: Attributes): void;
  /** Marks the span as failed; an exception does so automatically. */
  fail(reason: string): void;
}

/** Implemented by the SDK, once it is loaded. */
export interface Tracer {
  run<T>(name: string, options: SpanOptions, run: (span: ActiveSpan) => Promise<T>): Promise<T>;
  traceparent(): string | undefined;
  traceId(): string | undefined;
  stop(): Promise<void>;
}

export interface TracingOptions {
  /** Address of an OTLP/HTTP receiver, without `/v1/traces`. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  /**
   * The share, 0 to 1, of traces started here that are kept. For a trace that comes with a request, its sender decides.
   */
  ratio: number;
  /** Called when spans were lost, at most once a minute. */
  onLost(error: Error | undefined): void;
}
