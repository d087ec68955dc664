// biome-ignore-all lint/a11y/useSemanticElements: rows that come and go cannot be those of a table
// biome-ignore-all lint/a11y/useFocusableInteractive: the links in the rows are
/** The rows of a long table. Only those in view exist, so a hundred thousand scroll like ten. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface VirtualRowsProps {
  label: string;
  /** The names of the columns, each with the classes of its place. */
  columns: readonly (readonly [name: string, className: string])[];
  /** The classes that lay out a row. */
  grid: string;
  rowPx: number;
  count: number;
  /** With those that are not loaded yet; `count` unless given. */
  total?: number;
  /** The rows of the question before, while those of this one are on their way. */
  isStale?: boolean;
  keyOf: (index: number) => string;
  /** Called with the last row in view. */
  onSeen?: (last: number) => void;
  /** The cells of a row. */
  children: (index: number) => ReactNode;
}

export function VirtualRows({ label, columns, grid, rowPx, count, total = count, ...props }: VirtualRowsProps) {
  const { isStale = false, keyOf, onSeen, children } = props;
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  // After each: what stands above may have got another line.
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0));
  const rows = useWindowVirtualizer({ count, estimateSize: () => rowPx, overscan: 10, scrollMargin: offset });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the reason to measure again
  useLayoutEffect(() => rows.measure(), [rows, rowPx]);
  const items = rows.getVirtualItems();
  useEffect(() => onSeen?.(items.at(-1)?.index ?? 0));

  /** Up and down move from row to row. */
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target instanceof Element ? event.target.closest('[data-index]') : null;
    const index = Number(row?.getAttribute('data-index')) + step;
    if (!row || index < 0 || index >= count) return;
    event.preventDefault();
    rows.scrollToIndex(index, { align: 'auto' });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus());
  };

  return (
    <div role="table" aria-label={label} aria-rowcount={total + 1}>
      <div role="row" aria-rowindex={1} className={`${grid} h-9 border-b border-line text-xs font-medium text-soft`}>
        {columns.map(([name, className]) => (
          <div key={name} role="columnheader" className={className}>
            {name}
          </div>
        ))}
      </div>
      <div
        ref={list}
        role="rowgroup"
        className={`relative ${isStale ? 'opacity-60' : ''}`}
        style={{ height: rows.getTotalSize() }}
        onKeyDown={move}
      >
        {items.map(({ index, start }) => (
          <div
            key={keyOf(index)}
            role="row"
            aria-rowindex={index + 2}
            data-index={index}
            className={`${grid} absolute inset-x-0 content-center border-b border-line last:border-0 focus-within:bg-raised hover:bg-raised`}
            style={{ height: rowPx, transform: `translateY(${start - rows.options.scrollMargin}px)` }}
          >
            {children(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
