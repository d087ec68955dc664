/** What servers that answer as the REST API of a repository host have in common: pages, ETags, ranges, trouble on request. */

/** Of GitHub; GitLab's is 20, and clients ask for 100. */
const PER_PAGE_DEFAULT = 30;

export abstract class FakeHistory {
  /** Answers to the next requests whose path has a part, before the usual ones. */
  readonly trouble: { part: string; answer: () => Response }[] = [];
  readonly asked: { path: string; status: number; range: string | null }[] = [];
  readonly #server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', fetch: (request) => this.answer(request) },
    // A test may hold an answer back.
    idleTimeout: 0,
  });

  protected abstract usual(request: Request, url: URL): Response;

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** How often a path with this part was asked for, and answered with this status. */
  count(part: string, status: number): number {
    return this.asked.filter((one) => one.path.includes(part) && one.status === status).length;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const answer = this.#troubled(url) ?? this.usual(request, url);
    const etag = answer.headers.get('etag');
    const isKnown = etag !== null && request.headers.get('if-none-match') === etag;
    const sent = isKnown ? new Response(null, { status: 304, headers: { etag } }) : answer;
    this.asked.push({ path: url.pathname + url.search, status: sent.status, range: request.headers.get('range') });
    return sent;
  }

  #troubled({ pathname }: URL): Response | undefined {
    const at = this.trouble.findIndex(({ part }) => pathname.includes(part));
    return at < 0 ? undefined : this.trouble.splice(at, 1)[0]?.answer();
  }
}

export const moment = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** The rest of a file, if only that is asked for. */
export function partOf(bytes: Uint8Array, request: Request): Response {
  const from = /^bytes=(\d+)-$/.exec(request.headers.get('range') ?? '')?.[1];
  if (from === undefined) return new Response(Buffer.from(bytes));
  return new Response(Buffer.from(bytes.subarray(Number(from))), { status: 206 });
}

export const notFound = (): Response => Response.json({ message: 'Not Found' }, { status: 404 });
export const redirect = (location: string): Response => new Response(null, { status: 302, headers: { location } });

export function json(value: unknown, headers: Record<string, string> = {}): Response {
  const text = JSON.stringify(value);
  const etag = `"${Bun.hash(text).toString(16)}"`;
  return new Response(text, { headers: { 'content-type': 'application/json', etag, ...headers } });
}

export function paged(url: URL, items: readonly unknown[], name?: string): Response {
  const page = Number(url.searchParams.get('page') ?? 1);
  const size = Number(url.searchParams.get('per_page') ?? PER_PAGE_DEFAULT);
  const own = items.slice((page - 1) * size, page * size);
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  const link = page * size < items.length ? { link: `<${next.href}>; rel="next"` } : {};
  return json(name === undefined ? own : { total_count: items.length, [name]: own }, link);
}
