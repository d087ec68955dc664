/** The keys of tables: up and down between rows, left and right within one, `x` chooses a row. */
import { type KeyboardEvent, type RefObject, useEffect } from 'react';

const REACHED = 'a[href], button:not(:disabled), input, [tabindex]';
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
const SIDES: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

const hasModifier = (event: Pick<globalThis.KeyboardEvent, 'ctrlKey' | 'metaKey' | 'altKey'>): boolean =>
  event.ctrlKey || event.metaKey || event.altKey;

const rowOf = (table: HTMLElement | null, index: number): HTMLElement | null =>
  table?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null;

/** What a row is about: its link, else the first thing in it. */
const focusRow = (row: HTMLElement | null): void =>
  (row?.querySelector<HTMLElement>('a[href]') ?? row?.querySelector<HTMLElement>(REACHED))?.focus();

interface TableKeys {
  table: RefObject<HTMLTableElement | null>;
  count: number;
  /** Brings a row into the document, if it is not. */
  onReach: (index: number) => void;
}

/** @returns the handler of keys in the rows. From anywhere on the page, `j` leads to the first row. */
export function useTableKeys({ table, count, onReach }: TableKeys): (event: KeyboardEvent<HTMLElement>) => void {
  useEffect(() => {
    const enter = (event: globalThis.KeyboardEvent) => {
      const isElsewhere =
        event.target instanceof Element &&
        !event.target.closest('input, textarea, select, [role=dialog], [role=menu], tbody');
      if (event.key !== 'j' || hasModifier(event) || !isElsewhere) return;
      if (document.querySelector('tbody [data-index]')?.closest('table') !== table.current) return;
      event.preventDefault();
      focusRow(table.current?.querySelector<HTMLElement>('[data-index]') ?? null);
    };
    document.addEventListener('keydown', enter);
    return () => document.removeEventListener('keydown', enter);
  }, [table]);
  return (event) => {
    if (hasModifier(event) || !(event.target instanceof HTMLElement)) return;
    const row = event.target.closest<HTMLElement>('[data-index]');
    if (!row) return;
    const step = STEPS[event.key];
    const side = SIDES[event.key];
    if (step !== undefined) {
      const index = Number(row.dataset.index) + step;
      if (index < 0 || index >= count) return;
      event.preventDefault();
      onReach(index);
      requestAnimationFrame(() => focusRow(rowOf(table.current, index)));
    } else if (side !== undefined) {
      const reached = [...row.querySelectorAll<HTMLElement>(REACHED)].filter((one) => one.offsetParent !== null);
      const next = reached[reached.indexOf(event.target) + side];
      if (!next) return;
      event.preventDefault();
      next.focus();
    } else if (event.key === 'x') row.querySelector<HTMLElement>('input[type=checkbox]')?.click();
  };
}
