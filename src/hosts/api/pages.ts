/** Lists that a host gives in pages. */
import type { z } from 'zod';
import { HostError } from './host-error.ts';
import type { HostRest } from './rest.ts';

export interface Page<T> {
  items: readonly T[];
  /** Where the next page is; undefined: this is the last. */
  next: string | undefined;
}

export interface Listed<T> {
  items: T[];
  /** False: there are more pages than were read. */
  isWhole: boolean;
}

const PER_PAGE = 100;
/** GitHub lists 3,000 files of a change, which is as many as are stored. */
const PAGES_MAX = 30;

/** @param read one page, from where the one before said */
export async function listPages<T>(
  first: string,
  read: (at: string) => Promise<Page<T>>,
  pagesMax = PAGES_MAX,
): Promise<Listed<T>> {
  const items: T[] = [];
  let at: string | undefined = first;
  for (let i = 0; i < pagesMax && at !== undefined; i++) {
    const page: Page<T> = await read(at);
    items.push(...page.items);
    at = page.next;
  }
  return { items, isWhole: at === undefined };
}

/**
 * Pages with numbers, and a `Link` to the next one.
 *
 * @param path with or without a query
 * @param schema of a page
 * @param sizeName of the parameter that says how much a page holds
 */
export const listNumbered = <T>(
  rest: HostRest,
  path: string,
  schema: z.ZodType<T[]>,
  { sizeName = 'per_page', pagesMax = PAGES_MAX } = {},
): Promise<Listed<T>> =>
  listPages(
    '1',
    async (at) => {
      const query = `${sizeName}=${PER_PAGE}&page=${at}`;
      const { body, headers } = await rest.askPage(`${path}${path.includes('?') ? '&' : '?'}${query}`, schema);
      const hasNext = /rel="?next"?/.test([headers.link].flat().join(','));
      return { items: body, next: hasNext ? String(Number(at) + 1) : undefined };
    },
    pagesMax,
  );

/** A comment that is not found must not be written twice. Throws a {@link HostError} if the list is longer than was read. */
export function wholeList<T>({ items, isWhole }: Listed<T>, subject: string): T[] {
  if (isWhole) return items;
  throw new HostError(`${subject} has more comments than are read (${items.length})`, undefined, false);
}
