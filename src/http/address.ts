/** What a request's address says to an operation: path and query parameters, read as the operation describes them. */
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { type QueryOf, type QueryShape, type Read, readPath, readQuery } from './parameters.ts';

/** Shared by requests of the same address: nobody changes it. */
export interface Address<P, Q extends QueryShape> {
  readonly url: URL;
  readonly params: Read<P>;
  readonly query: Read<QueryOf<Q>>;
}

/** Clients ask the same few addresses again and again, and reading one takes 2 µs of the 15 that a read from memory takes. */
const REMEMBERED_MAX = 1_000;
const REMEMBERED_LENGTH_MAX = 1_000;

/** Reads addresses of one operation. */
export class AddressReader<P, Q extends QueryShape> {
  readonly #names: readonly (string | undefined)[];
  readonly #remembered = new LRUCache<string, Address<P, Q>>({ max: REMEMBERED_MAX });

  /**
   * @param path with `:name` for parameters
   * @param params absent: the operation looks at none
   */
  constructor(
    path: string,
    private readonly params: z.ZodType<P> | undefined,
    private readonly query: Q | undefined,
  ) {
    this.#names = path.split('/').map((part) => (part.startsWith(':') ? part.slice(1) : undefined));
  }

  of(request: Request): Address<P, Q> {
    const sent = request.url;
    const known = this.#remembered.get(sent);
    if (known) return known;
    const address = this.#read(new URL(sent));
    if (sent.length <= REMEMBERED_LENGTH_MAX) this.#remembered.set(sent, address);
    return address;
  }

  #read(url: URL): Address<P, Q> {
    const params: Read<P> = this.params
      ? readPath(this.params, this.#rawParams(url.pathname))
      : { value: undefined as P, errors: [] };
    return { url, params, query: readQuery(this.query ?? ({} as Q), url.search.slice(1)) };
  }

  #rawParams(pathname: string): Record<string, string> {
    const parts = pathname.split('/');
    const raw: Record<string, string> = {};
    this.#names.forEach((name, i) => {
      if (name !== undefined) raw[name] = parts[i] ?? '';
    });
    return raw;
  }
}
