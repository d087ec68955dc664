/**
 * How the tools ask the API: with requests of this process to its own operations, under the credential of the caller. So
 * access, limits, the trail and errors are those of the operations.
 */
import { z } from 'zod';

export type Handle = (request: Request) => Promise<Response>;

/** The API refused what a tool asked. */
export class RestRefusal extends Error {
  override name = 'RestRefusal';
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    /** In seconds, as the API said. */
    readonly retryAfter: number | undefined,
  ) {
    super(detail);
  }
}

export interface RestAnswer {
  body: Readonly<Record<string, unknown>>;
  /** Cursor of the next page; undefined on the last one. */
  nextCursor: string | undefined;
}

/** Values of a parameter; undefined: left out. */
export type RestQuery = Readonly<Record<string, string | number | readonly string[] | undefined>>;

const problemSchema = z.object({ title: z.string(), detail: z.string() });
const bodySchema = z.record(z.string(), z.unknown());

/** Headers of the caller's request that say who asks, and for whom. */
const FORWARDED = ['authorization', 'cookie', 'host', 'origin', 'sec-fetch-site', 'traceparent'];

export class Rest {
  constructor(
    private readonly handle: Handle,
    private readonly caller: Request,
    private readonly requestId: string,
  ) {}

  get(path: string, query: RestQuery = {}): Promise<RestAnswer> {
    return this.#send('GET', `${path}${searchOf(query)}`);
  }

  post(path: string, body: unknown): Promise<RestAnswer> {
    return this.#send('POST', path, body);
  }

  delete(path: string): Promise<RestAnswer> {
    return this.#send('DELETE', path);
  }

  async #send(method: string, path: string, body?: unknown): Promise<RestAnswer> {
    const headers = new Headers({ 'x-request-id': this.requestId });
    for (const name of FORWARDED) {
      const value = this.caller.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    if (body !== undefined) headers.set('content-type', 'application/json');
    const address = `${new URL(this.caller.url).origin}${path}`;
    const { signal } = this.caller;
    const sent = new Request(address, {
      method,
      headers,
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await this.handle(sent);
    const text = await response.text();
    if (!response.ok) throw refusalOf(response, text);
    return { body: text === '' ? {} : bodySchema.parse(JSON.parse(text)), nextCursor: nextCursorOf(response.headers) };
  }
}

function refusalOf({ status, headers }: Response, text: string): RestRefusal {
  const { data } = problemSchema.safeParse(parsed(text));
  const retryAfter = headers.get('retry-after');
  return new RestRefusal(
    status,
    data?.title ?? 'Refused',
    data?.detail ?? 'The service gave no reason.',
    retryAfter === null ? undefined : Number(retryAfter),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function searchOf(query: RestQuery): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) search.append(name, String(one));
  return search.size === 0 ? '' : `?${search}`;
}

/** The cursor of the address of the next page, or of the header in its place when that would be too long. */
function nextCursorOf(headers: Headers): string | undefined {
  const alone = headers.get('x-next-cursor');
  if (alone !== null) return alone;
  const [, address] = /<([^<>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return (address && URL.parse(address)?.searchParams.get('cursor')) || undefined;
}
