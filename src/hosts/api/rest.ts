/**
 * The REST API of a repository host, with a token of the service or of a job: within a total time, and no faster than the host
 * asks for. Redirects are followed within its origin, so the token is sent nowhere else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { version } from '../../../package.json' with { type: 'json' };
import { jsonOf } from '../../domain/json.ts';
import type { HttpAnswer, HttpRequest } from '../../http-request.ts';
import { HostError } from './host-error.ts';

export interface HostAccess {
  /** For messages, such as GitHub. */
  name: string;
  /** Address of its API, without a trailing slash. */
  url: string;
  token: string;
  /** The word before the token; by default `Bearer`. */
  scheme?: string;
  headers?: Readonly<Record<string, string>>;
  /** A sentence that says what to do if the token lacks the right. */
  hint: string;
}

interface Asked {
  method?: HttpRequest['method'];
  json?: unknown;
  /** Also a question that is asked with POST. */
  isRepeatable?: boolean;
}

interface Answered<T> {
  body: T;
  headers: HttpAnswer['headers'];
}

/** Tries of one request, the first included. */
const HOST_ATTEMPTS_MAX = 4;
/** All requests together: people wait for the job. */
const TOTAL_MS = 60_000;
const REQUEST_TIMEOUT_MS = 15_000;
const BACKOFF_FIRST_MS = 500;
/** GitHub: so long to wait after a secondary limit that does not say how long. */
const LIMITED_MS = 60_000;
const REASON_LENGTH_MAX = 200;
/** A repository may have been renamed more than once. */
const REDIRECTS_MAX = 3;
const REDIRECTS: readonly number[] = [301, 302, 307, 308];

export class HostRest {
  readonly #until: number;
  readonly #requestMs: number;

  constructor(
    private readonly access: HostAccess,
    { totalMs = TOTAL_MS, requestMs = REQUEST_TIMEOUT_MS } = {},
  ) {
    this.#until = performance.now() + totalMs;
    this.#requestMs = requestMs;
  }

  /** @param path from the address of the API, or a whole address. Throws {@link HostError}. */
  async ask<T>(path: string, schema: z.ZodType<T>, asked: Asked = {}): Promise<T> {
    return (await this.askPage(path, schema, asked)).body;
  }

  async askPage<T>(path: string, schema: z.ZodType<T>, asked: Asked = {}): Promise<Answered<T>> {
    const { status, text, headers } = await this.#answer(path, asked);
    const parsed = schema.safeParse(text === '' ? undefined : jsonOf(text));
    if (!parsed.success)
      throw new HostError(`${this.access.name} answered with something else than its API does`, status, false);
    return { body: parsed.data, headers };
  }

  /** A file as it is. */
  async askText(path: string): Promise<string> {
    return (await this.#answer(path, {})).text;
  }

  async #answer(path: string, asked: Asked): Promise<HttpAnswer> {
    const { method = 'GET', isRepeatable = method !== 'POST' } = asked;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send(path, asked);
      if (!(answer instanceof HostError) && answer.status >= 200 && answer.status < 300) return answer;
      const limitedMs = answer instanceof HostError ? undefined : limitedFor(answer);
      const error = answer instanceof HostError ? answer : this.#refusal(answer, limitedMs);
      // If the answer to a creation was lost, look for the comment; do not create it again.
      const mayTry = limitedMs !== undefined || (error.isUncertain && isRepeatable);
      const pauseMs = limitedMs ?? BACKOFF_FIRST_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      if (!mayTry || attempt >= HOST_ATTEMPTS_MAX || pauseMs >= this.#remainingMs) throw error;
      await sleep(pauseMs);
    }
  }

  get #remainingMs(): number {
    return this.#until - performance.now();
  }

  async #send(path: string, asked: Asked): Promise<HttpAnswer | HostError> {
    let address = path.startsWith('/') ? `${this.access.url}${path}` : path;
    for (let i = 0; ; i++) {
      const answer = await this.#sendTo(address, asked);
      if (answer instanceof HostError || !isRedirect(answer, asked)) return answer;
      const next = URL.parse(answer.headers.location ?? '', address);
      if (i === REDIRECTS_MAX || next?.origin !== new URL(this.access.url).origin)
        return new HostError(`${this.access.name} redirects too often, or elsewhere`, answer.status, false);
      address = next.href;
    }
  }

  async #sendTo(address: string, { method = 'GET', json }: Asked): Promise<HttpAnswer | HostError> {
    const { name, token, scheme = 'Bearer', headers } = this.access;
    const timeoutMs = Math.min(this.#requestMs, this.#remainingMs);
    if (timeoutMs <= 0) return new HostError(`there was no time left to ask ${name}`, undefined, true);
    try {
      const { sendRequest } = await import('../../http-request.ts');
      return await sendRequest(new URL(address), {
        method,
        headers: {
          accept: 'application/json',
          ...headers,
          authorization: `${scheme} ${token}`,
          'user-agent': `ci-insights/${version}`,
          ...(json !== undefined && { 'content-type': 'application/json' }),
        },
        body: json === undefined ? undefined : Buffer.from(JSON.stringify(json)),
        timeoutMs,
      });
    } catch (error) {
      return new HostError(`${name} cannot be reached: ${String(error).slice(0, REASON_LENGTH_MAX)}`, undefined, true);
    }
  }

  #refusal({ status, text }: HttpAnswer, limitedMs: number | undefined): HostError {
    const { name, hint } = this.access;
    if (limitedMs !== undefined)
      return new HostError(`${name} takes no more requests for now (${status})`, status, false, limitedMs);
    const reason = reasonOf(text);
    const said = reason === undefined ? '' : `: ${reason}`;
    const isForbidden = status === 401 || status === 403 || status === 404;
    return new HostError(`${name} refused (${status}${said})${isForbidden ? `. ${hint}` : ''}`, status, status >= 500);
  }
}

/** Only requests with GET are sent twice. */
const isRedirect = ({ status }: HttpAnswer, { method = 'GET' }: Asked): boolean =>
  method === 'GET' && REDIRECTS.includes(status);

const messageSchema = z.object({ message: z.string() });
/** As GitHub, GitLab and Gitea say it, as Bitbucket Cloud does, and as Bitbucket Data Center does. */
const reasonSchema = z.union([
  messageSchema,
  z.object({ error: messageSchema }).transform(({ error }) => error),
  z.object({ errors: z.tuple([messageSchema], z.unknown()) }).transform(({ errors }) => errors[0]),
]);

function reasonOf(text: string): string | undefined {
  const parsed = reasonSchema.safeParse(jsonOf(text));
  return parsed.success ? parsed.data.message.slice(0, REASON_LENGTH_MAX).replace(/\.$/, '') : undefined;
}

/**
 * How long to wait after a refusal that is about the number of requests; undefined for any other answer. GitHub refuses with
 * 403 as well as with 429: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
function limitedFor({ status, headers, text }: HttpAnswer): number | undefined {
  const after = headers['retry-after'];
  const isSpent = headers['x-ratelimit-remaining'] === '0';
  const isAboutIt = after !== undefined || isSpent || /rate limit/i.test(reasonOf(text) ?? '');
  if (status !== 429 && !(status === 403 && isAboutIt)) return undefined;
  if (after !== undefined) return msUntil(Number(after), Date.parse(after));
  const reset = isSpent ? headers['x-ratelimit-reset'] : undefined;
  return reset === undefined ? LIMITED_MS : msUntil(Number.NaN, Number(reset) * 1_000);
}

/** Seconds, else a moment. */
function msUntil(seconds: number, at: number): number {
  const waitMs = Number.isFinite(seconds) ? seconds * 1_000 : at - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : LIMITED_MS;
}
