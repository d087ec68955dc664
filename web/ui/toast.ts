/** Says what was done, for some seconds and on whatever page one goes to, and offers to undo it. */
import { useSyncExternalStore } from 'react';

export interface Notice {
  /** Such as `Released 3 quarantines.` */
  text: string;
  /** What went wrong with some of them. */
  problems?: readonly string[];
  undo?: () => Promise<unknown>;
}

type Add = (notice: Notice) => void;

let add: Add | undefined;
let early: Notice[] = [];
const listeners = new Set<() => void>();

export function tell(notice: Notice): void {
  if (add) add(notice);
  else early = [...early, notice];
  for (const listener of listeners) listener();
}

/** Called by the region of toasts, once it is loaded. */
export function onTold(way: Add): void {
  add = way;
  for (const notice of early) way(notice);
  early = [];
}

/** Whether anything was ever told: until then, a page does without the region. */
export const useHasTold = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => early.length > 0 || add !== undefined,
  );
