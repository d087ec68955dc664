/** A moment: how long ago it was, with the reader's time and UTC as a hint. */
import { useContext, useSyncExternalStore } from 'react';
import { formatAgo, formatBoth, formatLocal } from './format.ts';
import { HintReach } from './hint.tsx';

const REFRESH_MS = 20_000;

const shown = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all moments on a page, while there are any. */
function onTick(listener: () => void): () => void {
  shown.add(listener);
  timer ??= setInterval(() => {
    for (const tell of shown) tell();
  }, REFRESH_MS);
  return () => {
    shown.delete(listener);
    if (shown.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** @param isWhole with date and time instead of how long ago */
export function Time({ at, isWhole = false }: { at: string; isWhole?: boolean }) {
  const text = useSyncExternalStore(onTick, () => (isWhole ? formatLocal(at) : formatAgo(at)));
  return (
    <time dateTime={at} data-hint={formatBoth(at)} tabIndex={useContext(HintReach)} className="hint whitespace-nowrap">
      {text}
    </time>
  );
}
