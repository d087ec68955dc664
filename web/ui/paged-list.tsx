/** A list that is read page by page, the newest first: its rows, what leads to older ones, and what it shows without any. */
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed, Loading } from './states.tsx';

type Found = Pick<
  UseInfiniteQueryResult,
  | 'isPending'
  | 'isSuccess'
  | 'error'
  | 'refetch'
  | 'hasNextPage'
  | 'isFetching'
  | 'isFetchingNextPage'
  | 'fetchNextPage'
>;

interface PagedProps {
  found: Found;
  /** Number of the rows that are loaded. */
  count: number;
  /** The name of older rows on their button. */
  older: string;
  /** Shown if there is no row. */
  empty: ReactNode;
  /** Shown if there are some. */
  children: ReactNode;
}

export function Paged({ found, count, older, empty, children }: PagedProps) {
  return (
    <>
      {found.isPending && <Loading rows={10} />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {found.isSuccess && count === 0 && empty}
      {count > 0 && children}
      {found.hasNextPage && (
        <div className="flex justify-center border-t border-line p-3">
          <button
            type="button"
            className="button"
            disabled={found.isFetching}
            onClick={() => void found.fetchNextPage()}
          >
            {found.isFetchingNextPage ? 'Loading …' : older}
          </button>
        </div>
      )}
    </>
  );
}

interface PagedListProps<Row> extends Omit<PagedProps, 'count' | 'children'> {
  rows: readonly Row[];
  children: (row: Row) => ReactNode;
}

export const PagedList = <Row,>({ rows, children, ...props }: PagedListProps<Row>) => (
  <Paged {...props} count={rows.length}>
    <ol>{rows.map(children)}</ol>
  </Paged>
);
