/** The shape of a tracer and its spans, apart from the SDK that fills it. */

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
