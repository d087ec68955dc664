/**
 * Lists in pages: from the cursor of a request to its rows, and to the `Link` header (RFC 8288) that leads to the other
 * pages.
 */
import type { z } from 'zod';
import type { Window } from '../domain/window.ts';
import { type Cursor, type CursorKey, decodeCursor, encodeCursor, hashFilters } from './cursor.ts';
import { PER_PAGE_DEFAULT } from './parameters.ts';

/** A list that is read in pages. `K` is what its rows are ordered by. */
export interface PagedList<Row, K extends CursorKey> {
  /** Keeps its cursors apart from those of other lists. */
  name: string;
  keySchema: z.ZodType<K>;
  keyOf(row: Row): K;
}

/** The page that a request asks for. */
interface AskedPage<W extends Window | null> {
  path: Readonly<Record<string, string>>;
  query: { cursor: string | undefined; per_page: number | undefined };
  /** Everything that selects or orders rows: a cursor holds only for the same filters. */
  filters: Readonly<Record<string, unknown>>;
  /**
   * The window of this page. `first` is the one that the first page resolved: it stays, so that a default of "now" does
   * not move between pages.
   */
  window(first: Window | undefined): W;
  /** The request's address as clients see it. */
  url: URL;
}

/** The parameters of a store's read of a page. */
export interface PageRequest<K extends CursorKey, W extends Window | null = null> {
  perPage: number;
  direction: 'next' | 'previous';
  /** Its longer texts are shortened, as cursors hold them: `wholeKey` gives them back. */
  key: K | null;
  window: W;
}

export interface Page<Row> {
  /** In the order of the list, whichever way the page was reached. */
  items: Row[];
  hasNext: boolean;
  hasPrevious: boolean;
}

/** A page with its links. */
interface LinkedPage<Row> extends Page<Row> {
  perPage: number;
  headers: Record<string, string>;
}

/** For lists without a window. */
export const noWindow = (): null => null;

/**
 * Reads one page of a list. Throws 422 for a cursor that belongs to another list.
 *
 * @param find returns up to `perPage` + 1 rows beyond the key, nearest first
 * @example
 * const page = await readPage(testsByName, { path, query, filters: { filters }, window: noWindow, url }, (request) =>
 *   searchTests(clickhouse, repository.id, filters, request, signal));
 * return pageReply(page, 'tests', testOut);
 */
export async function readPage<Row, K extends CursorKey, W extends Window | null>(
  list: PagedList<Row, K>,
  asked: AskedPage<W>,
  find: (request: PageRequest<K, W>) => Promise<readonly Row[]>,
): Promise<LinkedPage<Row>> {
  const hash = hashFilters({ list: list.name, path: pathKey(asked.path), ...asked.filters });
  const cursor = decodeCursor(asked.query.cursor, hash, list.keySchema);
  const request = {
    perPage: asked.query.per_page ?? cursor?.perPage ?? PER_PAGE_DEFAULT,
    direction: cursor?.direction ?? 'next',
    key: cursor?.key ?? null,
    window: asked.window(cursor?.window ?? undefined),
  };
  const page = pageOf(request, await find(request));
  return { ...page, perPage: request.perPage, headers: linkHeaders(list, page, request, hash, asked.url) };
}

/** The answer that carries a page. */
export const pageReply = <Row>(
  { items, perPage, headers }: LinkedPage<Row>,
  name: string,
  toJson: (row: Row) => unknown,
) => ({
  body: { size: items.length, per_page: perPage, [name]: items.map(toJson) },
  headers,
});

/** Paths are compared without case. */
const pathKey = (path: Readonly<Record<string, string>>): string => Object.values(path).join('/').toLowerCase();

/**
 * Makes a page of what a store returned: up to `perPage` + 1 rows beyond the key, nearest first. The extra row says
 * that there are more in that direction; a key says that there is a row in the other one, from which it was taken.
 */
export function pageOf<Row>(
  { perPage, direction, key }: Pick<PageRequest<CursorKey>, 'perPage' | 'direction' | 'key'>,
  fetched: readonly Row[],
): Page<Row> {
  const items = fetched.slice(0, perPage);
  const hasMore = fetched.length > perPage;
  const hasOther = key !== null;
  return direction === 'next'
    ? { items, hasNext: hasMore, hasPrevious: hasOther }
    : { items: items.reverse(), hasNext: hasOther, hasPrevious: hasMore };
}

/**
 * Clients refuse longer headers: Node from 16 KiB for all headers together, proxies from 8 KiB for one. Only filters of
 * thousands of characters come near it, because every link repeats them.
 */
const LINK_BYTES_MAX = 8 * 1024;

/**
 * `first`, `prev`, `next`, `last`: absolute addresses that keep all filters; `prev` and `next` only if there is such a
 * page. If all four would make the header too long for clients, `last` is left out, then `first`. If even the others would,
 * because the request's own address is so long, their cursors come alone: the client knows the address.
 */
function linkHeaders<Row, K extends CursorKey>(
  { keyOf }: PagedList<Row, K>,
  page: Page<Row>,
  { perPage, window }: PageRequest<K, Window | null>,
  filtersHash: string,
  url: URL,
): Record<string, string> {
  const cursorTo = (direction: Cursor<K>['direction'], key: K | null): string =>
    encodeCursor({ direction, key, window, perPage }, filtersHash);
  const link = (rel: string, cursor: string): string => {
    const target = new URL(url);
    target.searchParams.delete('cursor');
    target.searchParams.set('cursor', cursor);
    return `<${target.href}>; rel="${rel}"`;
  };
  const [first, last] = [page.items[0], page.items.at(-1)];
  const previous = page.hasPrevious && first !== undefined ? cursorTo('previous', keyOf(first)) : undefined;
  const next = page.hasNext && last !== undefined ? cursorTo('next', keyOf(last)) : undefined;
  const around = [
    ...(previous === undefined ? [] : [link('prev', previous)]),
    ...(next === undefined ? [] : [link('next', next)]),
  ];
  const ends = [link('first', cursorTo('next', null)), link('last', cursorTo('previous', null))] as const;
  const choices = [[ends[0], ...around, ends[1]], [ends[0], ...around], around];
  const header = choices.map((links) => links.join(', ')).find((candidate) => candidate.length <= LINK_BYTES_MAX);
  if (header !== undefined) return header === '' ? {} : { link: header };
  return {
    ...(previous !== undefined && { 'x-previous-cursor': previous }),
    ...(next !== undefined && { 'x-next-cursor': next }),
  };
}

/** The request's address below the public one, if that is set. */
export function publicUrlOf(publicUrl: string | undefined, url: URL): URL {
  return publicUrl === undefined ? url : new URL(`${publicUrl}${url.pathname}${url.search}`);
}

const cursorHeader = (page: string) => ({
  description: `Only if the address of the request is so long that \`Link\` would exceed 8 KiB: the \`cursor\` of the ${page} page, for the same address.`,
  schema: { type: 'string' },
});

/** The headers in the OpenAPI document. */
export const LINK = {
  'x-next-cursor': cursorHeader('next'),
  'x-previous-cursor': cursorHeader('previous'),
  link: {
    description:
      'RFC 8288 links: `first`, `prev`, `next`, `last`; `prev` and `next` only if there is such a page. At most 8 KiB.',
    schema: {
      type: 'string',
      example: '<https://ci.example.com/v1/ci/acme/repositories/shop/search/tests?test_name=*&cursor=WzEs>; rel="next"',
    },
  },
};
