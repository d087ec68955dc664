/** The rows of a long table. Only those in view exist, so a hundred thousand scroll like ten. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useState } from 'react';

export interface RowsInView {
  /** The indexes of the rows that exist. */
  indexes: readonly number[];
  /** The heights of those before and after them. */
  beforePx: number;
  afterPx: number;
  reach: (index: number) => void;
  /** Given to each row, so that its true height counts. */
  measure: (row: HTMLElement | null) => void;
}

interface RowsInViewOptions {
  table: RefObject<HTMLElement | null>;
  count: number;
  /** Height of a row that has not been measured. */
  rowPx: number;
  /** Called with the last row in view. */
  onSeen: ((last: number) => void) | undefined;
}

export function useRowsInView({ table, count, rowPx, onSeen }: RowsInViewOptions): RowsInView {
  const [offset, setOffset] = useState(0);
  // After each: what stands above may have got another line.
  useLayoutEffect(() => setOffset(Math.round((table.current?.getBoundingClientRect().top ?? 0) + window.scrollY)));
  const rows = useWindowVirtualizer({ count, estimateSize: () => rowPx, overscan: 10, scrollMargin: offset });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the reason to measure again
  useLayoutEffect(() => rows.measure(), [rows, rowPx]);
  const items = rows.getVirtualItems();
  const [first] = items;
  const last = items.at(-1);
  useEffect(() => onSeen?.(last?.index ?? 0));
  return {
    indexes: items.map(({ index }) => index),
    beforePx: first ? first.start - offset : 0,
    afterPx: last ? rows.getTotalSize() - (last.end - offset) : 0,
    reach: (index) => rows.scrollToIndex(index, { align: 'auto' }),
    measure: rows.measureElement,
  };
}

/** Stands for rows that do not exist, beside the body of those that do. */
export const Gap = ({ px }: { px: number }): ReactNode =>
  px > 0 && (
    <tbody aria-hidden="true">
      <tr>
        <td style={{ height: px }} />
      </tr>
    </tbody>
  );
