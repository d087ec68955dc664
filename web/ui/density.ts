/** How high the rows of tables are, as the reader chose it. */
import { useSyncExternalStore } from 'react';
import { chosenDensity, DENSITY_KEY, type Density, keep } from './display.ts';

let density = chosenDensity();
const listeners = new Set<() => void>();

export function chooseDensity(chosen: Density): void {
  density = chosen;
  keep(DENSITY_KEY, chosen === 'dense' ? chosen : undefined);
  for (const listener of listeners) listener();
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useDensity = (): Density => useSyncExternalStore(onChange, () => density);
