/** The service, as a CI job asks it: with a key, with retries, and within a total time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { version } from '../../package.json' with { type: 'json' };
import { jsonOf } from '../domain/json.ts';
import type { HttpAnswer, HttpRequest } from '../http-request.ts';
import { ServiceError } from './service-error.ts';

export interface Connection {
  /** Without a trailing slash. */
  url: string;
  /** The key, or what gets one when it is needed first. */
  token: string | KeySource;
}

/** Returns a key that works now. Throws {@link ServiceError}. */
export type KeySource = (timeoutMs: number) => Promise<string>;

export interface Patience {
  /** How long all requests together may take, with their retries. */
  totalMs: number;
  /** The command that asks, where the service should know it. */
  command?: 'gate';
  /** For tests. */
  backoffFirstMs?: number;
}

export const ATTEMPTS_MAX = 6;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MS_MAX = 30_000;
/** A service that asks for a longer wait will not be back within a CI job. */
const RETRY_AFTER_MS_MAX = 60_000;
const REQUEST_TIMEOUT_MS = 60_000;

export interface ServiceRequest {
  method?: HttpRequest['method'];
  /** Sent as JSON. */
  json?: unknown;
  body?: Uint8Array;
  headers?: Record<string, string>;
}

/** These may succeed later. */
const isTransient = (status: number): boolean => status === 408 || status === 429 || status >= 500;

export class Service {
  readonly url: string;
  readonly #token: string | KeySource;
  readonly #backoffFirstMs: number;
  readonly #command: string | undefined;
  readonly #until: number;
  /** When all attempts of one request have failed, each of a hundred others must not wait as long: it gets one. */
  #attemptsMax = ATTEMPTS_MAX;

  constructor({ url, token }: Connection, { totalMs, command, backoffFirstMs = BACKOFF_FIRST_MS }: Patience) {
    this.url = url;
    this.#token = token;
    this.#backoffFirstMs = backoffFirstMs;
    this.#command = command;
    this.#until = performance.now() + totalMs;
  }

  get remainingMs(): number {
    return Math.max(0, this.#until - performance.now());
  }

  get attemptsMax(): number {
    return this.#attemptsMax;
  }

  /** A page for people or programs about this path. */
  address(path: string): string {
    return `${this.url}${path}`;
  }

  /** Retries what may succeed later. Throws {@link ServiceError}. */
  async ask<T>(path: string, schema: z.ZodType<T>, request: ServiceRequest = {}): Promise<T> {
    return bodyOf(await this.#answer(path, request), schema);
  }

  /** Like {@link ask}, for a list: with the cursor of its next page. */
  async askPage<T>(path: string, schema: z.ZodType<T>): Promise<{ body: T; nextCursor: string | undefined }> {
    const answer = await this.#answer(path, {});
    return { body: bodyOf(answer, schema), nextCursor: nextCursorOf(answer.headers.link) };
  }

  async #answer(path: string, request: ServiceRequest): Promise<HttpAnswer> {
    let last: ServiceError | undefined;
    for (let attempt = 1; ; attempt++) {
      const sent = await this.#send(path, request);
      // The error before the time ran out says more.
      const answer = sent instanceof OutOfTime ? (last ?? sent) : sent;
      if (!(answer instanceof ServiceError)) {
        this.#attemptsMax = ATTEMPTS_MAX;
        return answer.http;
      }
      if (answer.isRefusal) {
        this.#attemptsMax = ATTEMPTS_MAX;
        throw answer;
      }
      const pauseMs = retryAfterMs(answer) ?? this.#backoffMs(attempt);
      if (attempt >= this.#attemptsMax || pauseMs >= this.remainingMs) {
        this.#attemptsMax = 1;
        throw answer;
      }
      last = answer;
      await sleep(pauseMs);
    }
  }

  /** Doubled each time, with jitter so that the jobs of a pipeline do not retry at once. */
  #backoffMs(attempt: number): number {
    return Math.min(BACKOFF_MS_MAX, this.#backoffFirstMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  }

  async #send(path: string, { method = 'GET', json, body, headers }: ServiceRequest): Promise<Sent | ServiceError> {
    const timeoutMs = Math.min(REQUEST_TIMEOUT_MS, this.remainingMs);
    if (timeoutMs <= 0) return new OutOfTime(`there was no time left to ask ${this.url}`, false);
    try {
      // Node takes 20 ms to load what it has for HTTP and TLS, which a command that asks nothing does not need.
      const { sendRequest } = await import('../http-request.ts');
      const token = typeof this.#token === 'string' ? this.#token : await this.#token(timeoutMs);
      const http = await sendRequest(new URL(this.address(path)), {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          'user-agent': [`ci-insights/${version}`, this.#command].filter(Boolean).join(' '),
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: json === undefined ? body : Buffer.from(JSON.stringify(json)),
        timeoutMs,
      });
      return http.status >= 200 && http.status < 300 ? { http } : refusalOf(this.url, http);
    } catch (error) {
      if (error instanceof ServiceError) return error;
      const Reason = isTimeout(error) && timeoutMs < REQUEST_TIMEOUT_MS ? OutOfTime : ServiceError;
      return new Reason(unreachable(this.url, error, timeoutMs), false, undefined, error);
    }
  }
}

function bodyOf<T>({ status, text }: HttpAnswer, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(text === '' ? undefined : jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new ServiceError('the answer is not from ci-insights: check the address', true, status);
}

/** Only the cursor of the link counts: its host may be one that only the service knows. */
function nextCursorOf(link: string | string[] | undefined): string | undefined {
  const next = /<([^<>]+)>;\s*rel="?next"?/.exec([link].flat().join(', '))?.[1];
  return next === undefined ? undefined : (new URL(next, 'http://localhost').searchParams.get('cursor') ?? undefined);
}

interface Sent {
  http: HttpAnswer;
}

/** Its total time is up. */
class OutOfTime extends ServiceError {}

/** An answer that is not a success. */
export class Refusal extends ServiceError {
  constructor(
    message: string,
    isRefusal: boolean,
    status: number,
    readonly retryAfter: string | undefined,
    /** The body of the answer. */
    readonly text = '',
  ) {
    super(message, isRefusal, status);
  }
}

const problemSchema = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  errors: z.array(z.object({ msg: z.string() })).default([]),
});

/** The error that an answer without success is. */
export function refusalOf(url: string, { status, headers, text }: HttpAnswer): ServiceError {
  // Following it could send the key, or an upload without its body, elsewhere.
  if (status >= 300 && status < 400)
    return new Refusal(
      `${url} redirects to ${headers.location ?? 'another address'}: use that address`,
      true,
      status,
      undefined,
    );
  const parsed = problemSchema.safeParse(jsonOf(text));
  const { title, detail, errors } = parsed.success ? parsed.data : { title: undefined, detail: undefined, errors: [] };
  const reasons = errors.map((error) => error.msg).filter((message) => !detail?.includes(message));
  const sentence = [detail ?? title, ...reasons].filter(Boolean).join(' ') || 'the service refused the request';
  return new Refusal(`${sentence} (${status})`, !isTransient(status), status, headers['retry-after'], text);
}

/** Time to wait as the service asks: seconds, or a date. */
function retryAfterMs(error: ServiceError): number | undefined {
  if (!(error instanceof Refusal) || error.retryAfter === undefined) return undefined;
  const seconds = Number(error.retryAfter);
  const waitMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(error.retryAfter) - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, waitMs));
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'RequestTimeout';

function unreachable(url: string, error: unknown, timeoutMs: number): string {
  if (isTimeout(error)) return `${url} did not answer within ${Math.round(timeoutMs / 1_000)} s`;
  // Node gives one error for each address that it tried.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : String(first);
  return `${url} cannot be reached: ${message.split('\n')[0]}`;
}
