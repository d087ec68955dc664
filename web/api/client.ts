/** Requests to the public API of the service that delivered this page. The browser adds the session's cookie. */

/** The path of the service's public address, without a trailing slash. */
export const BASE = document.querySelector<HTMLMetaElement>('meta[name="ci-insights-base"]')?.content ?? '';

/** The host of the identity provider; undefined: people sign in with application keys only. */
export const PROVIDER = document.querySelector<HTMLMetaElement>('meta[name="ci-insights-provider"]')?.content;

/** A refusal of the service, or that it did not answer. `message` says what to do. */
export class Problem extends Error {
  override name = 'Problem';
  constructor(
    /** 0: no answer came. */
    readonly status: number,
    readonly title: string,
    detail: string,
    /** Under which the service's log has the request. */
    readonly requestId: string | undefined,
  ) {
    super(detail);
  }
}

export type Query = Record<string, string | number | boolean | readonly (string | number)[] | undefined>;

interface Options {
  query?: Query | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export interface Answer<T> {
  body: T;
  /** The cursor of the page after this one; undefined if it is the last. */
  next: string | undefined;
}

/** The address that says who is signed in, below `/v1`. */
export const SESSION = '/session';

let lead: (() => void) | undefined;
let looking: Promise<boolean> | undefined;

/** Says what leads to signing in and back, for every request that finds that the session has ended. */
export function onLostSession(way: () => void): void {
  lead = way;
}

/** A refusal does not say whether the session has ended or may not do this. Requests that are refused together ask once. */
function isNobodySignedIn(): Promise<boolean> {
  looking ??= send(`${BASE}/v1${SESSION}`, {})
    .then(
      ({ status }) => status === 403,
      () => false,
    )
    .finally(() => {
      looking = undefined;
    });
  return looking;
}

/** Sends a request below `/v1` and returns what it answers. Throws a {@link Problem}. */
export async function ask<T>(method: string, path: string, { query, body, signal }: Options = {}): Promise<Answer<T>> {
  const response = await send(`${BASE}/v1${path}${searchOf(query)}`, {
    method,
    ...(signal && { signal }),
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (response.status === 403 && path !== SESSION && (await isNobodySignedIn())) {
    lead?.();
    // The page that asked is being left: it shows neither an answer nor a refusal.
    return new Promise<never>(() => {});
  }
  if (!response.ok) throw await problemOf(response);
  const answer = response.status === 204 ? undefined : await response.json();
  return { body: answer as T, next: nextCursorOf(response) };
}

/** The answer of a read. */
export const get = async <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  (await ask<T>('GET', path, { query, signal })).body;

/** A path of the API, with each part escaped. */
export const pathOf = (strings: TemplateStringsArray, ...parts: string[]): string =>
  strings.reduce((path, string, i) => path + string + (i < parts.length ? encodeURIComponent(parts[i] ?? '') : ''), '');

function searchOf(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value])
      search.append(name, String(one));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, credentials: 'same-origin' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem(0, 'No answer', 'The service does not answer. Check your connection, then try again.', undefined);
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const problem = await response.json().catch(() => ({}));
  const title = typeof problem.title === 'string' ? problem.title : `Status ${response.status}`;
  const detail = typeof problem.detail === 'string' ? problem.detail : 'The service answered something unexpected.';
  return new Problem(response.status, title, detail, requestId);
}

function nextCursorOf(response: Response): string | undefined {
  const address = /<([^<>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  return (address && URL.parse(address)?.searchParams.get('cursor')) || undefined;
}
