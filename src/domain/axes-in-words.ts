/** Axes as people read them, here and in the page. Their names and values are foreign text. Pure. */

/** The axis of legs without names (`unnamed-leg.ts`). The first of them lacks it. */
export const UNNAMED_LEG_AXIS = 'unnamed_leg';

/**
 * `os=windows`; `leg 2 (unnamed)` for one without a name. Of several values any: `os=linux or windows`. A value that could be
 * read as more than one is in quotes.
 */
export function axisInWords(name: string, ...values: readonly string[]): string {
  const words = values.map((value) => (/[\s,"=]/u.test(value) ? JSON.stringify(value) : value)).join(' or ');
  return name === UNNAMED_LEG_AXIS ? `leg ${words} (unnamed)` : `${name}=${words}`;
}

/** `os=windows, python=3.13` */
export const axesWords = (axes: Readonly<Record<string, string>>, separator = ', '): string =>
  Object.entries(axes)
    .map(([name, value]) => axisInWords(name, value))
    .join(separator);

/** `os=linux or windows, python=3.13` */
export const axisScopeWords = (scope: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(scope)
    .map(([name, values]) => axisInWords(name, ...values))
    .join(', ');
