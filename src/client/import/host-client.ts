/**
 * The REST API of a repository host, as an import reads it: thousands of requests, none of them urgent. It asks again only for
 * what has changed, leaves a part of the budget to others, and waits for as long as the host says.
 */
import { createWriteStream, statSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { version } from '../../../package.json' with { type: 'json' };
import { jsonOf } from '../../domain/json.ts';
import { openAnswer, sendRequest } from '../../http-request.ts';
import type { AnswerCache } from './answer-cache.ts';

export interface HostAddress {
  /** For messages, such as GitHub. */
  name: string;
  /** Address of its API, without a trailing slash. */
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** The host does not give this. The message is a sentence without its full stop; `status` is undefined if it is away. */
export class HostRefusal extends Error {
  override name = 'HostRefusal';
  constructor(
    message: string,
    readonly status: number | undefined,
  ) {
    super(message);
  }
}

export interface HostPatience {
  /** How long it may be away, or refuse for its limits, before the import gives up. */
  patienceMs: number;
  cache: AnswerCache;
  /** Called before a pause of some length. */
  onWait(reason: string): void;
  signal: AbortSignal;
  /** For tests. */
  pauseFirstMs?: number;
}

const REQUEST_TIMEOUT_MS = 60_000;
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
/** GitHub: so long to wait after a secondary limit that does not say how long. */
const LIMITED_MS = 60_000;
/** A tenth of the budget of requests is left to others who use the token. */
const RESERVE = 0.1;
const REDIRECTS_MAX = 3;
const REASON_LENGTH_MAX = 200;

interface Answer<Body> {
  status: number;
  headers: IncomingHttpHeaders;
  body: Body;
}

export interface HostPage<T> {
  body: T;
  /** The address of the next page, if there is one. */
  next: string | undefined;
}

export class HostClient {
  /** Until then, nothing is asked. */
  #freeAt = 0;

  constructor(
    private readonly host: HostAddress,
    private readonly patience: HostPatience,
  ) {}

  /** @param path from the address of the API, or a whole address of it. Throws {@link HostRefusal}. */
  async ask<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return (await this.askPage(path, schema)).body;
  }

  async askPage<T>(path: string, schema: z.ZodType<T>): Promise<HostPage<T>> {
    const url = this.#urlOf(path);
    const known = this.patience.cache.find(url.href);
    const { status, headers, body } = await this.#patiently(async () => {
      const asked = { ...this.#headers, ...(known && { 'if-none-match': known.etag }) };
      const answer = await sendRequest(url, { method: 'GET', headers: asked, timeoutMs: REQUEST_TIMEOUT_MS });
      return { ...answer, body: answer.text };
    });
    const isKnown = status === 304 && known !== undefined;
    const text = isKnown ? known.text : body;
    const link = isKnown ? known.link : [headers.link].flat().join(',');
    if (!isKnown && typeof headers.etag === 'string')
      this.patience.cache.keep(url.href, { etag: headers.etag, link, text });
    return { body: this.#parsed(text, schema, status), next: nextOf(link) };
  }

  /** All pages of a list, one after the other. */
  async *pages<T>(path: string, schema: z.ZodType<T>): AsyncGenerator<T> {
    for (let next: string | undefined = path; next !== undefined; ) {
      const page: HostPage<T> = await this.askPage(next, schema);
      yield page.body;
      next = page.next;
    }
  }

  /** Text, such as a file of the repository or a log; of one that is larger, the beginning. */
  async text(path: string, accept: string, bytesMax: number): Promise<{ text: string; isWhole: boolean }> {
    let size = 0;
    const { body } = await this.#patiently(async () => {
      const answer = await this.#open(this.#urlOf(path), { accept });
      const parts: Buffer[] = [];
      size = 0;
      for await (const part of answer) {
        size += Buffer.byteLength(part);
        if (size > bytesMax) break;
        parts.push(Buffer.from(part));
      }
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString('utf8') };
    });
    return { text: body, isWhole: size <= bytesMax };
  }

  /**
   * Downloads a file to the disk. What is there already is the beginning of it, which is not asked for again where the host
   * gives parts.
   */
  async download(path: string, file: string): Promise<void> {
    await this.#patiently(async () => {
      const have = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      const answer = await this.#open(this.#urlOf(path), have > 0 ? { range: `bytes=${have}-` } : {});
      const status = answer.statusCode ?? 0;
      // The whole of it is here already.
      const isWhole = status === 416;
      if (status >= 300 || isWhole) {
        const body = await textOf(answer);
        return { status: isWhole ? 200 : status, headers: answer.headers, body };
      }
      await pipeline(answer, createWriteStream(file, { flags: status === 206 ? 'a' : 'w' }));
      return { status, headers: answer.headers, body: '' };
    });
  }

  get #headers(): Record<string, string> {
    return { accept: 'application/json', 'user-agent': `ci-insights/${version}`, ...this.host.headers };
  }

  #urlOf(path: string): URL {
    return new URL(path.startsWith('/') ? `${this.host.url}${path}` : path);
  }

  /** Follows redirects, to another machine without the token. */
  async #open(url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    let at = url;
    for (let redirects = 0; ; redirects++) {
      const isHost = at.origin === url.origin;
      const sent = isHost ? { ...this.#headers, ...headers } : { 'user-agent': `ci-insights/${version}`, ...headers };
      const answer = await openAnswer(at, { method: 'GET', headers: sent, timeoutMs: REQUEST_TIMEOUT_MS });
      const { location } = answer.headers;
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) && location !== undefined;
      if (!isRedirect || redirects === REDIRECTS_MAX) return answer;
      answer.destroy();
      at = new URL(location, at);
    }
  }

  async #patiently<Body extends string>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
    const { patienceMs, signal, onWait, pauseFirstMs = PAUSE_FIRST_MS } = this.patience;
    const until = performance.now() + patienceMs;
    for (let pause = pauseFirstMs; ; pause = Math.min(2 * pause, PAUSE_MS_MAX)) {
      await this.#untilFree();
      const answer = await ask().catch((error: unknown) => this.#away(error));
      if (!(answer instanceof HostRefusal)) this.#spend(answer.headers);
      if (!(answer instanceof HostRefusal) && (answer.status < 300 || answer.status === 304)) return answer;
      const limitedMs = answer instanceof HostRefusal ? undefined : limitedFor(answer);
      const refusal = answer instanceof HostRefusal ? answer : this.#refusal(answer);
      const mayTry = limitedMs !== undefined || refusal.status === undefined || refusal.status >= 500;
      const pauseMs = limitedMs ?? pause * (0.5 + Math.random() / 2);
      if (!mayTry || signal.aborted || performance.now() + pauseMs > until) throw refusal;
      onWait(
        limitedMs === undefined
          ? refusal.message
          : `${this.host.name} asks to wait for ${Math.ceil(pauseMs / 1_000)} s`,
      );
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #untilFree(): Promise<void> {
    const waitMs = this.#freeAt - Date.now();
    if (waitMs <= 0) return;
    this.patience.onWait(
      `${this.host.name}'s budget of requests is used up; there is a new one in ${Math.ceil(waitMs / 1_000)} s`,
    );
    await sleep(waitMs, undefined, { signal: this.patience.signal }).catch(() => {});
  }

  /** What is left of the budget, as the host says. */
  #spend(headers: IncomingHttpHeaders): void {
    const { limit, remaining, reset } = budgetOf(headers);
    if (remaining < limit * RESERVE && Number.isFinite(reset)) this.#freeAt = reset * 1_000;
  }

  #away(error: unknown): HostRefusal {
    const message = error instanceof Error ? error.message : String(error);
    return new HostRefusal(`${this.host.name} cannot be reached: ${message.slice(0, REASON_LENGTH_MAX)}`, undefined);
  }

  #refusal({ status, body }: Answer<string>): HostRefusal {
    const reason = reasonOf(body);
    return new HostRefusal(`${this.host.name} refused (${status}${reason === undefined ? '' : `: ${reason}`})`, status);
  }

  #parsed<T>(text: string, schema: z.ZodType<T>, status: number): T {
    const parsed = schema.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    throw new HostRefusal(`${this.host.name} answered with something else than its API does`, status);
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of answer) if (text.length < 10_000) text += String(part);
  return text;
}

const nextOf = (link: string): string | undefined => /<([^<>]+)>;\s*rel="?next"?/.exec(link)?.[1];

const word = z.string().optional().catch(undefined);
const reasonSchema = z.object({ message: word, error_description: word, error: word });

function reasonOf(text: string): string | undefined {
  const { message, error_description: description, error } = reasonSchema.safeParse(jsonOf(text)).data ?? {};
  return (message ?? description ?? error)?.slice(0, REASON_LENGTH_MAX).replace(/\.$/, '');
}

/** How much a token may still ask. `reset` is the second of the next budget; NaN for what the host does not say. */
function budgetOf(headers: IncomingHttpHeaders): Record<'limit' | 'remaining' | 'reset', number> {
  // GitHub begins the names with `x-`, GitLab does not.
  const numberOf = (name: string): number =>
    Number([headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`]].flat()[0] ?? Number.NaN);
  return { limit: numberOf('limit'), remaining: numberOf('remaining'), reset: numberOf('reset') };
}

/**
 * How long to wait after a refusal that is about the number of requests; undefined for any other answer. GitHub refuses with
 * 403 as well as with 429: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
function limitedFor({ status, headers, body }: Answer<string>): number | undefined {
  const after = headers['retry-after'];
  const { remaining, reset } = budgetOf(headers);
  const isSpent = remaining === 0;
  const isAboutIt = after !== undefined || isSpent || /rate limit/i.test(reasonOf(body) ?? '');
  if (status === 503 && after !== undefined) return msUntil(after);
  if (status !== 429 && !(status === 403 && isAboutIt)) return undefined;
  if (after !== undefined) return msUntil(after);
  return isSpent && Number.isFinite(reset) ? Math.max(0, reset * 1_000 - Date.now()) : LIMITED_MS;
}

/** Seconds, or a date. */
function msUntil(text: string): number {
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : LIMITED_MS;
}
