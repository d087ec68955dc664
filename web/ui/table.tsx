/** A table of figures whose heads sort it. On a narrow screen it scrolls sideways within its card. */
import type { ReactNode } from 'react';

export interface Column<Row, Sort extends string> {
  head: string;
  /** Explains the column. */
  hint?: string;
  /** Undefined: nothing is sorted by it. */
  sort?: Sort;
  /** Words are on the left, figures on the right. */
  isText?: boolean;
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row, Sort extends string> {
  /** Says what the table shows, for those who do not see it. */
  label: string;
  columns: readonly Column<Row, Sort>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
}

export function Table<Row, Sort extends string>({ label, columns, rows, keyOf, sort, onSort }: TableProps<Row, Sort>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse">
        <thead>
          <tr className="border-b border-line text-xs text-soft">
            {columns.map(({ head, hint, sort: by, isText = false }) => (
              <th
                key={head}
                scope="col"
                title={hint}
                aria-sort={by !== undefined && by === sort ? 'descending' : undefined}
                className={`px-3 py-2 font-normal whitespace-nowrap first:pl-4 last:pr-4 ${isText ? 'text-left' : 'text-right'}`}
              >
                {by === undefined || !onSort ? (
                  head
                ) : (
                  <button type="button" className="cursor-pointer hover:text-ink" onClick={() => onSort(by)}>
                    {head}
                    {by === sort && ' ↓'}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-0 hover:bg-raised">
              {columns.map(({ head, isText = false, cell }) => (
                <td
                  key={head}
                  className={`px-3 py-2 first:pl-4 last:pr-4 ${isText ? 'max-w-96 min-w-40 text-left' : 'text-right whitespace-nowrap tabular-nums'}`}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
