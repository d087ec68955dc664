/** Pages of a list: which rows to ask for, and the `Link` header (RFC 8288, once 5988) that leads to the others. */
import { type Cursor, type CursorKey, encodeCursor } from './cursor.ts';

export const PER_PAGE_DEFAULT = 10;

/** What a store needs to know to fetch a page. */
export interface PageRequest {
  perPage: number;
  direction: 'next' | 'previous';
  key: CursorKey | null;
}

export interface Page<T> {
  /** In the list's order, whichever way the page was reached. */
  items: T[];
  hasNext: boolean;
  hasPrevious: boolean;
}

export const pageRequest = (cursor: Cursor | null, perPage: number | undefined): PageRequest => ({
  perPage: perPage ?? cursor?.perPage ?? PER_PAGE_DEFAULT,
  direction: cursor?.direction ?? 'next',
  key: cursor?.key ?? null,
});

/**
 * The page out of what a store returned: up to `perPage` + 1 rows from the key on, nearest first. The one too many says that
 * there are more that way; a key says that there is a row the other way, the one it was taken from.
 */
export function pageOf<T>(request: PageRequest, fetched: readonly T[]): Page<T> {
  const items = fetched.slice(0, request.perPage);
  const hasMore = fetched.length > request.perPage;
  const hasOther = request.key !== null;
  return request.direction === 'next'
    ? { items, hasNext: hasMore, hasPrevious: hasOther }
    : { items: items.reverse(), hasNext: hasOther, hasPrevious: hasMore };
}

export interface LinkOptions<T> {
  /** The request's address as clients see it, without a cursor. */
  url: URL;
  page: Page<T>;
  keyOf(item: T): CursorKey;
  window: [from: number, to: number] | null;
  perPage: number;
  filters: string;
}

/**
 * Clients refuse longer headers: Node from 16 KiB of all headers together, others from 64 KiB of one. Only filters of
 * thousands of characters come near it, because every link repeats them.
 */
const LINK_BYTES_MAX = 12 * 1024;

/**
 * `first`, `prev`, `next`, `last`: absolute addresses that keep all filters; `prev` and `next` only where there is such a page.
 * Where all four would make the header too long for clients, `last` is left out, then `first`.
 */
export function linkHeaders<T>({ url, page, keyOf, window, perPage, filters }: LinkOptions<T>): Record<string, string> {
  const link = (rel: string, direction: Cursor['direction'], key: CursorKey | null): string => {
    const target = new URL(url);
    target.searchParams.delete('cursor');
    target.searchParams.set('cursor', encodeCursor({ direction, key, window, perPage }, filters));
    return `<${target.href}>; rel="${rel}"`;
  };
  const first = page.items[0];
  const last = page.items.at(-1);
  const around: string[] = [];
  if (page.hasPrevious && first !== undefined) around.push(link('prev', 'previous', keyOf(first)));
  if (page.hasNext && last !== undefined) around.push(link('next', 'next', keyOf(last)));
  const ends = [link('first', 'next', null), link('last', 'previous', null)] as const;
  const choices = [[ends[0], ...around, ends[1]], [ends[0], ...around], around];
  const headers = choices.map((links) => links.join(', '));
  const header = headers.find((candidate) => candidate.length <= LINK_BYTES_MAX) ?? headers[2];
  return header ? { link: header } : {};
}

/** The request's address under the public one, where that is set. */
export function publicUrlOf(publicUrl: string | undefined, url: URL): URL {
  return publicUrl === undefined ? url : new URL(`${publicUrl}${url.pathname}${url.search}`);
}

/** How the header stands in the OpenAPI document. */
export const LINK = {
  link: {
    description: 'RFC 8288 links: `first`, `prev`, `next`, `last`; `prev` and `next` only where there is such a page.',
    schema: {
      type: 'string',
      example: '<https://ci.example.com/v1/ci/acme/repositories/shop/search/tests?test_name=*&cursor=WzEs>; rel="next"',
    },
  },
};
