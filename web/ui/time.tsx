/** A moment: how long ago it was, with the reader's time and UTC on hover. */
import { useSyncExternalStore } from 'react';
import { formatAgo, formatBoth, formatLocal } from './format.ts';

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
    <time dateTime={at} title={formatBoth(at)} className="whitespace-nowrap">
      {text}
    </time>
  );
}
