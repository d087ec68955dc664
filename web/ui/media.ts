/** Tells whether a media query matches now, for what a style sheet cannot decide alone. */
import { useSyncExternalStore } from 'react';

/** From Tailwind's `md` on. */
const WIDE = matchMedia('(min-width: 48rem)');

function onChange(listener: () => void): () => void {
  WIDE.addEventListener('change', listener);
  return () => WIDE.removeEventListener('change', listener);
}

export const useIsWide = (): boolean => useSyncExternalStore(onChange, () => WIDE.matches);
