/**
 * A table whose heads sort it, with a choice of columns, rows that can be chosen, keys, and a file of what it shows. Its
 * order and its columns are in the address. On a narrow screen it scrolls sideways within its card.
 */
import { type RowData, type RowSelectionState, useTable } from '@tanstack/react-table';
import { type ReactNode, useMemo, useRef } from 'react';
import { useDensity } from './density.ts';
import { formatCount, formatCounted } from './format.ts';
import { HintReach } from './hint.tsx';
import { useIsWide } from './media.ts';
import { type Order, useTableAddress } from './table-address.ts';
import { TableBar } from './table-bar.tsx';
import { type Column, definitionsOf, FEATURES, nextDirection } from './table-columns.ts';
import { useTableKeys } from './table-keys.ts';
import { Gap, useRowsInView } from './virtual-rows.tsx';

export type { Column } from './table-columns.ts';

interface Selection {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
}

interface TableProps<Row extends RowData> {
  /** Says what the table shows, for those who do not see it; and names its file. */
  label: string;
  /** One row, such as `test`; and several, unless an s makes them. */
  noun: string;
  nouns?: string;
  /** The same from render to render. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** What a row is called where it can be chosen. */
  nameOf?: (row: Row) => string;
  /** The order that an address without one means; the same from render to render. */
  first?: Order;
  /** Whether all rows are here, so that they are sorted here; else the service has sorted them. */
  isWhole?: boolean;
  /** With those that are not loaded yet; the number of rows unless given. */
  total?: number | undefined;
  /** Whether there are more rows than are loaded, where their number is not known. */
  isMore?: boolean;
  /** The rows of the question before, while those of this one are on their way. */
  isStale?: boolean;
  /** Whether only the rows in view exist: those of a long table, all of one height. Called with the last one in view. */
  onSeen?: (last: number) => void;
  selection?: Selection | undefined;
  /** Whether it is as it is, beside a table that has the address: nothing is chosen of it. */
  isPlain?: boolean;
  /** In the bar above the heads, such as what can be done with the chosen rows. */
  children?: ReactNode;
}

/** A row of a long table; on a phone it has a second line. */
const ROW_PX = { roomy: 44, dense: 32 } as const;
const LINE_PX = 16;
const PADDING = { roomy: 'py-2', dense: 'py-0.5' } as const;

export function Table<Row extends object>(props: TableProps<Row>) {
  const {
    label,
    noun,
    nouns,
    columns,
    rows,
    keyOf,
    nameOf,
    first,
    isWhole = false,
    isStale = false,
    selection,
  } = props;
  const { total = rows.length, isMore = false, isPlain = false, onSeen, children } = props;
  const address = useTableAddress(columns, first, isPlain);
  const density = useDensity();
  const byId = useMemo(() => new Map(columns.map((one) => [one.id, one])), [columns]);
  const definitions = useMemo(() => definitionsOf(columns), [columns]);
  const { order, shown } = address;
  // Each part of the state keeps its identity while it stays as it is: a new one is a change to TanStack Table.
  const sorting = useMemo(() => (order ? [{ id: order.id, desc: order.direction === 'desc' }] : []), [order]);
  const columnVisibility = useMemo(
    () => Object.fromEntries(columns.map(({ id }) => [id, shown.has(id)])),
    [columns, shown],
  );
  const chosen = selection?.ids;
  const rowSelection = useMemo(() => {
    const rows: RowSelectionState = {};
    for (const id of chosen ?? []) rows[id] = true;
    return rows;
  }, [chosen]);
  const table = useTable({
    features: FEATURES,
    columns: definitions,
    data: rows,
    getRowId: keyOf,
    manualSorting: !isWhole,
    enableMultiSort: false,
    state: { sorting, columnVisibility, rowSelection },
    onRowSelectionChange: (updated) =>
      selection?.onChange(new Set(Object.keys(typeof updated === 'function' ? updated(rowSelection) : updated))),
  });
  const shownColumns = columns.filter(({ id }) => shown.has(id));
  const ordered = table.getRowModel().rows;
  const element = useRef<HTMLTableElement>(null);
  const isLong = onSeen !== undefined;
  const rowPx = ROW_PX[density] + (useIsWide() ? 0 : LINE_PX);
  const inView = useRowsInView({ table: element, count: isLong ? ordered.length : 0, rowPx, onSeen });
  const onKeyDown = useTableKeys({ table: element, count: ordered.length, onReach: isLong ? inView.reach : () => {} });
  const existing = isLong ? inView.indexes.flatMap((index) => ordered[index] ?? []) : ordered;
  const padding = PADDING[density];
  return (
    <>
      {!isPlain && (
        <TableBar
          label={label}
          columns={columns}
          shown={shown}
          onShow={address.onShow}
          rows={(selection && selection.ids.size > 0 ? table.getSelectedRowModel() : table.getRowModel()).rows.map(
            ({ original }) => original,
          )}
        >
          <span className="text-soft">
            {formatCounted(total, noun, nouns)}
            {isMore && ' and more'}
            {rows.length < total && `, ${formatCount(rows.length)} loaded`}
            {selection && selection.ids.size > 0 && `, ${formatCount(selection.ids.size)} chosen`}
          </span>
          {children}
        </TableBar>
      )}
      <div className="overflow-x-auto">
        <table
          ref={element}
          aria-label={label}
          aria-rowcount={isLong ? total + 1 : undefined}
          className={`w-full border-collapse ${isLong ? 'table-fixed' : ''}`}
        >
          <thead>
            <tr aria-rowindex={isLong ? 1 : undefined} className="border-b border-line text-xs text-soft">
              {selection && (
                <th scope="col" className="w-10 py-2 pl-4 text-left">
                  <Choose
                    label={`Choose every ${noun}`}
                    isChosen={table.getIsAllRowsSelected()}
                    isPartly={table.getIsSomeRowsSelected()}
                    onChange={table.getToggleAllRowsSelectedHandler()}
                  />
                </th>
              )}
              {shownColumns.map((column) => (
                <Head key={column.id} column={column} order={order} onSort={address.onSort} />
              ))}
            </tr>
          </thead>
          <HintReach value={-1}>
            <Gap px={isLong ? inView.beforePx : 0} />
            <tbody aria-busy={isStale} className={isStale ? 'opacity-60' : ''} onKeyDown={onKeyDown}>
              {existing.map((row) => (
                <tr
                  key={row.id}
                  ref={isLong ? inView.measure : undefined}
                  data-index={row.getDisplayIndex()}
                  aria-rowindex={isLong ? row.getDisplayIndex() + 2 : undefined}
                  aria-selected={selection ? row.getIsSelected() : undefined}
                  className="border-b border-line last:border-0 focus-within:bg-raised hover:bg-raised aria-selected:bg-raised"
                  style={isLong ? { height: rowPx } : undefined}
                >
                  {selection && (
                    <td className={`pl-4 ${padding}`}>
                      <Choose
                        label={`Choose ${nameOf?.(row.original) ?? noun}`}
                        isChosen={row.getIsSelected()}
                        onChange={row.getToggleSelectedHandler()}
                      />
                    </td>
                  )}
                  {row.getVisibleCells().map(({ id, column }) => (
                    <Cell key={id} column={byId.get(column.id)} row={row.original} padding={isLong ? '' : padding} />
                  ))}
                </tr>
              ))}
            </tbody>
            <Gap px={isLong ? inView.afterPx : 0} />
          </HintReach>
        </table>
      </div>
    </>
  );
}

interface HeadProps<Row> {
  column: Column<Row>;
  order: Order | undefined;
  onSort: (order: Order) => void;
}

const ARROWS = { asc: '↑', desc: '↓' } as const;
const SPOKEN = { asc: 'ascending', desc: 'descending' } as const;

function Head<Row>({ column: { id, head, hint, sorts, width = '', isText = false }, order, onSort }: HeadProps<Row>) {
  const direction = order?.id === id ? order.direction : undefined;
  return (
    <th
      scope="col"
      aria-sort={direction && SPOKEN[direction]}
      className={`px-2 py-2 align-bottom font-normal first:pl-4 last:pr-4 ${width} ${isText ? 'text-left' : 'text-right'}`}
    >
      {sorts ? (
        <button
          type="button"
          data-hint={hint}
          className={`cursor-pointer hover:text-ink ${isText ? 'text-left' : 'text-right'}`}
          onClick={() => onSort({ id, direction: nextDirection(sorts, direction) })}
        >
          {head}
          {direction && <span aria-hidden="true">{`\u00A0${ARROWS[direction]}`}</span>}
        </button>
      ) : hint === undefined ? (
        head
      ) : (
        <button type="button" className="hint" data-hint={hint}>
          {head}
        </button>
      )}
    </th>
  );
}

interface CellProps<Row> {
  column: Column<Row> | undefined;
  row: Row;
  padding: string;
}

function Cell<Row>({ column, row, padding }: CellProps<Row>) {
  if (!column) return null;
  const { isText = false, width = '', cell, value } = column;
  return (
    <td
      className={`px-2 first:pl-4 last:pr-4 ${padding} ${width} ${isText ? 'text-left' : 'text-right whitespace-nowrap tabular-nums'}`}
    >
      {cell ? cell(row) : value(row)}
    </td>
  );
}

interface ChooseProps {
  label: string;
  isChosen: boolean;
  isPartly?: boolean;
  onChange: (event: unknown) => void;
}

const Choose = ({ label, isChosen, isPartly = false, onChange }: ChooseProps) => (
  <input
    type="checkbox"
    className="block size-4 accent-accent"
    aria-label={label}
    checked={isChosen}
    ref={(box) => {
      if (box) box.indeterminate = isPartly && !isChosen;
    }}
    onChange={onChange}
  />
);
