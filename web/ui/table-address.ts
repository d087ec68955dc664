/** What the address says of a table: its order and its columns. So every view can be linked, and saved as a view. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { Column, Direction } from './table-columns.ts';

/** Absent: as the page has it. */
interface TableSearch {
  /** The id of a column. */
  sort?: string | undefined;
  direction?: Direction | undefined;
  /** Ids of columns, with commas between them. */
  columns?: string | undefined;
}

export interface Order {
  id: string;
  direction: Direction;
}

interface AddressedTable<Row> {
  columns: readonly Column<Row>[];
  /** Undefined: in the order that the page has. */
  order: Order | undefined;
  shown: ReadonlySet<string>;
  onSort: (order: Order) => void;
  onShow: (ids: readonly string[]) => void;
}

const NOTHING: TableSearch = {};

/**
 * @param first the order that an address without one means; the same from render to render
 * @param isPlain whether the address is about another table
 */
export function useTableAddress<Row>(
  columns: readonly Column<Row>[],
  first: Order | undefined,
  isPlain: boolean,
): AddressedTable<Row> {
  const found: TableSearch = useSearch({ strict: false });
  const search = isPlain ? NOTHING : found;
  const navigate = useNavigate();
  const change = useCallback(
    (changes: TableSearch) =>
      void navigate({ to: '.', search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false }),
    [navigate],
  );
  const order = useMemo(() => {
    const sorted = columns.find(({ id, sorts }) => id === search.sort && sorts);
    const [natural = 'asc'] = sorted?.sorts ?? [];
    return sorted ? { id: sorted.id, direction: search.direction ?? natural } : first;
  }, [columns, first, search.sort, search.direction]);
  const shown = useMemo(() => {
    const asked = search.columns?.split(',');
    const isShown = ({ id, isExtra = false }: Column<Row>) =>
      asked ? asked.includes(id) : !isExtra || id === order?.id;
    return new Set(columns.filter(isShown).map(({ id }) => id));
  }, [columns, order, search.columns]);
  return {
    columns,
    order,
    shown,
    onSort: ({ id, direction }) => {
      const isFirst = id === first?.id && direction === first.direction;
      const isNatural = columns.find((one) => one.id === id)?.sorts?.[0] === direction;
      change({ sort: isFirst ? undefined : id, direction: isFirst || isNatural ? undefined : direction });
    },
    onShow: (ids) => {
      const isUsual = columns.every(({ id, isExtra = false }) => ids.includes(id) !== isExtra);
      change({ columns: isUsual ? undefined : columns.flatMap(({ id }) => (ids.includes(id) ? [id] : [])).join(',') });
    },
  };
}
