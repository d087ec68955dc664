/**
 * Requests to the REST API of a repository host, with the token of the caller. Plain `fetch`: clients of single hosts have
 * neither time-outs nor checked answers, and leave redirects to `fetch`, while they must be followed by hand here.
 */
import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import type { HostAnswer, Unavailable } from './answer.ts';

const REQUEST_MS_MAX = 5_000;
/** A renamed repository answers 301; it may have been renamed more than once. */
const REDIRECTS_MAX = 3;
const REDIRECTS: readonly number[] = [301, 302, 307, 308];
/** How soon the same question is asked again after a failure, and after a rate limit that names no time. */
const FAILURE_MS = 5_000;
const RATE_LIMIT_MS = 30_000;
const RATE_LIMIT_MS_MAX = 60_000;

const messageSchema = z.object({ message: z.string() });

export interface TokenQuestionsOptions {
  clock: Clock;
  /** Without a trailing slash. */
  apiUrl: string;
  /** For one question, including redirects. */
  requestMsMax?: number | undefined;
  /** The headers of a request with this token. */
  headersOf(token: string): Record<string, string>;
}

/** What comes back of an answer with 200: its JSON, and its headers. Throws a ZodError for another shape. */
export type Decode<T> = (body: unknown, headers: Headers) => T;

export class TokenQuestions {
  constructor(private readonly options: TokenQuestionsOptions) {}

  /** @param path from the address of the API, with its query */
  async get<T>(path: string, token: string, decode: Decode<T>): Promise<HostAnswer<T>> {
    try {
      const response = await this.#fetch(`${this.options.apiUrl}${path}`, token);
      if (!(response instanceof Response)) return response;
      if (response.status !== 200) return await this.#readRefusal(response);
      return { kind: 'found', value: decode(await response.json(), response.headers) };
    } catch (error) {
      return failure(reasonOf(error));
    }
  }

  /** Follows redirects within the same origin only: the token is sent nowhere else. */
  async #fetch(address: string, token: string): Promise<Response | Unavailable> {
    const signal = AbortSignal.timeout(this.options.requestMsMax ?? REQUEST_MS_MAX);
    const headers = { 'user-agent': 'ci-insights', ...this.options.headersOf(token) };
    const { origin } = new URL(address);
    let url = address;
    for (let i = 0; i <= REDIRECTS_MAX; i++) {
      const response = await fetch(url, { headers, signal, redirect: 'manual' });
      if (!REDIRECTS.includes(response.status)) return response;
      await response.body?.cancel();
      const next = URL.parse(response.headers.get('location') ?? '', url);
      if (next?.origin !== origin) return failure('redirected to another origin');
      url = next.href;
    }
    return failure('redirected too often');
  }

  async #readRefusal(response: Response): Promise<Exclude<HostAnswer<never>, { kind: 'found' }>> {
    const { status, headers } = response;
    const message = messageSchema.safeParse(await response.json().catch(() => undefined)).data?.message ?? '';
    if (status === 429 || (status === 403 && isRateLimit(headers, message)))
      return {
        kind: 'unavailable',
        reason: `rate limit (${status})`,
        retryAfterMs: this.#rateLimitMs(headers),
        isHostDown: false,
      };
    if (status === 401 || status === 403) return { kind: 'refused' };
    if (status === 404 || status === 410 || status === 451) return { kind: 'missing' };
    return failure(`status ${status}`);
  }

  /** How long the host asks to wait, within bounds: an hour would outlast the cause of the limit. */
  #rateLimitMs(headers: Headers): number {
    const retryAfterS = secondsOf(headers.get('retry-after'));
    const resetS = secondsOf(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset'));
    const asked =
      retryAfterS !== undefined
        ? retryAfterS * 1_000
        : resetS !== undefined
          ? resetS * 1_000 - this.options.clock.now()
          : RATE_LIMIT_MS;
    return Math.min(Math.max(asked, FAILURE_MS), RATE_LIMIT_MS_MAX);
  }
}

/** GitHub answers 403 both to forbidden requests and to too many of them; the other hosts answer 429. */
const isRateLimit = (headers: Headers, message: string): boolean =>
  headers.has('retry-after') ||
  headers.get('x-ratelimit-remaining') === '0' ||
  /rate limit|abuse detection|login attempts/i.test(message);

const secondsOf = (value: string | null): number | undefined =>
  value !== null && /^\d{1,12}$/.test(value) ? Number(value) : undefined;

const failure = (reason: string): Unavailable => ({
  kind: 'unavailable',
  reason,
  retryAfterMs: FAILURE_MS,
  isHostDown: true,
});

/** Only the kind of error: messages may quote what was received. */
function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'the answer is unreadable';
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
