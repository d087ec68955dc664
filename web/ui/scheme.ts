/** The scheme of colours on the page. */
import { chosenScheme, keep, SCHEME_KEY, type Scheme } from './display.ts';

const listeners = new Set<() => void>();

/** Calls back when the scheme changes, by the reader or by the system: what is drawn must be drawn again. */
export function onScheme(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  listeners.add(listener);
  system.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener('change', listener);
  };
}

export function applyScheme(scheme = chosenScheme()): void {
  document.documentElement.style.colorScheme = scheme ?? '';
  for (const tell of listeners) tell();
}

export function chooseScheme(scheme: Scheme | undefined): void {
  keep(SCHEME_KEY, scheme);
  applyScheme(scheme);
}
