/** The columns of tables: what pages say of them, and what TanStack Table makes of it. */
import {
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
} from '@tanstack/react-table';
import type { ReactNode } from 'react';
import type { CsvValue } from './csv.ts';

export type Direction = 'asc' | 'desc';

export interface Column<Row> {
  /** In addresses; by this name the service sorts, where it does. */
  id: string;
  head: string;
  /** Explains the column. */
  hint?: string;
  /** Words are on the left, figures on the right. */
  isText?: boolean;
  /** Classes of the head: how wide it is, and from which width of the page on it is shown. */
  width?: string;
  /** The orders that a head offers, the first one first; absent: none. */
  sorts?: readonly Direction[];
  /** Shown only if one chooses it, or sorts by it. */
  isExtra?: boolean;
  /** What it holds, for files and for tables that are sorted here. */
  value: (row: Row) => CsvValue;
  /** How it looks; absent: its value. */
  cell?: (row: Row) => ReactNode;
}

export const FEATURES = tableFeatures({
  columnVisibilityFeature,
  rowSelectionFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

/** Text as people order it; nothing comes last (`sortUndefined`). */
function compare(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other));
}

/** The columns as TanStack Table wants them. */
export function definitionsOf<Row extends object>(columns: readonly Column<Row>[]) {
  const helper = createColumnHelper<typeof FEATURES, Row>();
  return helper.columns(
    columns.map(({ id, head, sorts, value }) =>
      helper.accessor((row) => value(row) ?? undefined, {
        id,
        header: head,
        enableSorting: sorts !== undefined,
        sortUndefined: 'last',
        sortFn: (one, other, columnId) => compare(one.getValue(columnId), other.getValue(columnId)),
      }),
    ),
  );
}

/** The order after a click on a head: its first one, then the others in turn. */
export function nextDirection(sorts: readonly Direction[], now: Direction | undefined): Direction {
  const [first = 'asc'] = sorts;
  return now === undefined ? first : (sorts[(sorts.indexOf(now) + 1) % sorts.length] ?? first);
}
