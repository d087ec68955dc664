/** The parameters in the address of a request, read as the operation describes them. */
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { type QueryOf, type QueryShape, type Read, readPath, readQuery } from './parameters.ts';

/** Shared by requests with the same address, so immutable. */
export interface Address<P, Q extends QueryShape> {
  readonly url: URL;
  readonly params: Read<P>;
  readonly query: Read<QueryOf<Q>>;
}

/**
 * Clients ask for the same few addresses again and again, and parsing one takes 2 µs of the 15 that a read from memory
 * takes.
 */
const CACHED_MAX = 1_000;
const CACHED_LENGTH_MAX = 1_000;

/** Reads the addresses of one operation. */
export class AddressReader<P, Q extends QueryShape> {
  readonly #names: readonly (string | undefined)[];
  readonly #cache = new LRUCache<string, Address<P, Q>>({ max: CACHED_MAX });

  /**
   * @param path with `:name` for parameters
   * @param params absent: the operation has none
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
    const known = this.#cache.get(sent);
    if (known) return known;
    const address = this.#read(new URL(sent));
    if (sent.length <= CACHED_LENGTH_MAX) this.#cache.set(sent, address);
    return address;
  }

  #read(url: URL): Address<P, Q> {
    const params: Read<P> = this.params
      ? readPath(this.params, this.#rawParams(url.pathname))
      : { value: undefined as P };
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
