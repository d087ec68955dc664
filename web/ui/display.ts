/**
 * How a reader wants the pages: light or dark, times of which zone, and how high rows are. The browser keeps it; without it,
 * the system says.
 */

const SCHEMES = ['light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];
/** Times of days that are counted are UTC whatever is chosen (utc.ts). */
export type Zone = 'UTC';
export type Density = 'roomy' | 'dense';

export const SCHEME_KEY = 'ci-insights-scheme';
export const ZONE_KEY = 'ci-insights-zone';
export const DENSITY_KEY = 'ci-insights-density';

const kept = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

export function keep(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing follows the system at the next visit.
  }
}

/** Undefined: as the system has it. */
export const chosenScheme = (): Scheme | undefined => SCHEMES.find((one) => one === kept(SCHEME_KEY));

/** Undefined: that of the reader. */
export const chosenZone = (): Zone | undefined => (kept(ZONE_KEY) === 'UTC' ? 'UTC' : undefined);

export const chosenDensity = (): Density => (kept(DENSITY_KEY) === 'dense' ? 'dense' : 'roomy');
