/** The order of lists that are sorted by a count or by names. */
import type { CursorKey } from '../http/cursor.ts';
import type { PageRequest } from '../http/pages.ts';
import { enumParameter } from '../http/parameters.ts';

type Direction = 'asc' | 'desc';

export interface Order<S extends string> {
  sort: S;
  direction: Direction;
}

export const directionParameter = () =>
  enumParameter(['asc', 'desc'], { description: '`asc` by default when sorting by name, otherwise `desc`.' });

/** Numbers descend and names ascend unless the request says otherwise. */
export function orderOf<S extends string>(
  query: { sort: S | undefined; direction: Direction | undefined },
  isNumber: (sort: NoInfer<S> | 'executions_count') => boolean = (sort) => sort === 'executions_count',
): Order<S | 'executions_count'> {
  const sort = query.sort ?? 'executions_count';
  return { sort, direction: query.direction ?? (isNumber(sort) ? 'desc' : 'asc') };
}

/**
 * How a page is read. The statements order by one ascending tuple. By count, `sign` negates the count itself for "most
 * first", so that ties stay in alphabetical order; names in descending order are read backward.
 */
export function readingOf(order: Order<string>, { direction }: Pick<PageRequest<CursorKey>, 'direction'>) {
  const isReversed = order.sort !== 'executions_count' && order.direction === 'desc';
  return { isForward: (direction === 'next') !== isReversed, sign: order.direction === 'desc' ? -1 : 1 };
}
