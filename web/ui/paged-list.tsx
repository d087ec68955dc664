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

interface PagedListProps<Row> {
  found: Found;
  rows: readonly Row[];
  /** The name of older rows on their button. */
  older: string;
  /** Shown if there is no row. */
  empty: ReactNode;
  children: (row: Row) => ReactNode;
}

export function PagedList<Row>({ found, rows, older, empty, children }: PagedListProps<Row>) {
  return (
    <>
      {found.isPending && <Loading rows={10} />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {found.isSuccess && rows.length === 0 && empty}
      <ol>{rows.map(children)}</ol>
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
