/**
 * The part of the host's REST API that says what a token may do. Plain `fetch`: `@octokit/request` has neither
 * time-outs nor checked answers, and leaves redirects to `fetch`, while they must be followed by hand here.
 */
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import type { HostAnswer, Unavailable } from './host-answer.ts';

const REQUEST_MS_MAX = 5_000;
/** A renamed repository answers 301; it may have been renamed more than once. */
const REDIRECTS_MAX = 3;
const REDIRECTS: readonly number[] = [301, 302, 307, 308];
/** How soon the same question is asked again after a failure, and after a rate limit that names no time. */
const FAILURE_MS = 5_000;
const RATE_LIMIT_MS = 30_000;
const RATE_LIMIT_MS_MAX = 60_000;

/** A repository, and the rights of a token in it. */
export interface HostRepository {
  pull: boolean;
  push: boolean;
  defaultBranch: string | null;
}

const userSchema = z.object({ login: z.string().min(1).max(NAME_LENGTH_MAX) });
const repositorySchema = z.object({
  private: z.boolean().optional(),
  default_branch: z.string().min(1).max(NAME_LENGTH_MAX).nullish(),
  permissions: z.object({ pull: z.boolean(), push: z.boolean() }),
});
const messageSchema = z.object({ message: z.string() });

interface GitHubClientOptions {
  clock: Clock;
  /** Such as `https://api.github.com` or `https://host/api/v3`, without a trailing slash. */
  apiUrl: string;
  /** For one question, including redirects. */
  requestMsMax?: number;
}

export class GitHubClient {
  readonly #apiUrl: string;
  readonly #clock: Clock;
  readonly #requestMsMax: number;

  constructor({ clock, apiUrl, requestMsMax = REQUEST_MS_MAX }: GitHubClientOptions) {
    this.#clock = clock;
    this.#apiUrl = apiUrl;
    this.#requestMsMax = requestMsMax;
  }

  /**
   * The user of the token. Missing: the address is not that of a REST API, or a proxy lets only a part of it through.
   */
  user(token: string): Promise<HostAnswer<{ login: string }>> {
    return this.#get('/user', token, (body) => userSchema.parse(body));
  }

  /** Whether the host accepts the token at all. Does not count against its rate limit. */
  async accepts(token: string): Promise<HostAnswer<unknown>> {
    const answer = await this.#get('/rate_limit', token, (body) => body);
    // An enterprise host without rate limits answers 404 to every token it accepts.
    return answer.kind === 'missing' ? { kind: 'found', value: undefined } : answer;
  }

  /** The repository as the token sees it. */
  repository(token: string, owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    // A URL resolves these as steps in the path, so the question would be a different one.
    if (name === '.' || name === '..') return Promise.resolve({ kind: 'missing' });
    const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
    return this.#get(path, token, (body, headers) => {
      const { permissions, default_branch, ...found } = repositorySchema.parse(body);
      const push = permissions.push && mayWrite(headers.get('x-oauth-scopes'), found.private ?? true);
      return { pull: permissions.pull, push, defaultBranch: default_branch ?? null };
    });
  }

  async #get<T>(path: string, token: string, decode: (body: unknown, headers: Headers) => T): Promise<HostAnswer<T>> {
    try {
      const response = await this.#fetch(`${this.#apiUrl}${path}`, token);
      if (!(response instanceof Response)) return response;
      if (response.status !== 200) return await this.#readRefusal(response);
      return { kind: 'found', value: decode(await response.json(), response.headers) };
    } catch (error) {
      return failure(reasonOf(error));
    }
  }

  /** Follows redirects within the same origin only: the token is sent nowhere else. */
  async #fetch(address: string, token: string): Promise<Response | Unavailable> {
    const signal = AbortSignal.timeout(this.#requestMsMax);
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'ci-insights',
      'x-github-api-version': '2022-11-28',
    };
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
    const resetS = secondsOf(headers.get('x-ratelimit-reset'));
    const asked =
      retryAfterS !== undefined
        ? retryAfterS * 1_000
        : resetS !== undefined
          ? resetS * 1_000 - this.#clock.now()
          : RATE_LIMIT_MS;
    return Math.min(Math.max(asked, FAILURE_MS), RATE_LIMIT_MS_MAX);
  }
}

/**
 * `permissions` are those of the user. A classic token may do less, as its scopes say; other tokens send no scopes.
 */
function mayWrite(scopes: string | null, isPrivate: boolean): boolean {
  if (scopes === null) return true;
  const listed = scopes.split(',').map((scope) => scope.trim());
  return listed.includes('repo') || (!isPrivate && listed.includes('public_repo'));
}

/** The host answers 403 both to forbidden requests and to too many of them. */
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
