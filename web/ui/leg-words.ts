/** Legs of a CI job in words, as `src/domain/axes-in-words.ts` has them: pages run nothing of the service. */
type Axes = Readonly<Record<string, string>>;

/** The axis of legs without names. */
const UNNAMED_LEG_AXIS = 'unnamed_leg';

/** `os=windows`, `os=linux or windows`, `leg 2 (unnamed)`. A value that could be read as more than one is in quotes. */
export function axisInWords(name: string, ...values: readonly string[]): string {
  const words = values.map((value) => (/[\s,"=]/u.test(value) ? JSON.stringify(value) : value)).join(' or ');
  return name === UNNAMED_LEG_AXIS ? `leg ${words} (unnamed)` : `${name}=${words}`;
}

/** `os=windows, python=3.13` */
export const axesWords = (axes: Axes, separator = ', '): string =>
  Object.entries(axes)
    .map(([name, value]) => axisInWords(name, value))
    .join(separator);

/** `os=linux or windows, python=3.13` */
export const axisScopeWords = (scope: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(scope)
    .map(([name, values]) => axisInWords(name, ...values))
    .join(', ');

/** A filter as a search has it: `os:windows`. A value may hold colons, a name cannot. */
export function axisFilterInWords(filter: string): string {
  const colon = filter.indexOf(':');
  return colon < 0 ? filter : axisInWords(filter.slice(0, colon), filter.slice(colon + 1));
}

/** `unit` without axes, else `unit (os=windows, python=3.13)`. */
export function legWords(job: string, axes: Axes): string {
  const words = axesWords(axes);
  return words === '' ? job : `${job} (${words})`;
}

const LEGS_SHOWN_MAX = 3;

/** The legs in which a test failed: the job alone if none has axes, at most three by name. */
export function legsWords(job: string, legs: readonly { axes: Axes }[]): string {
  const words = legs.map(({ axes }) => axesWords(axes));
  if (words.every((one) => one === '')) return job;
  const shown = words.slice(0, LEGS_SHOWN_MAX).map((one) => `(${one === '' ? 'no axes' : one})`);
  const more = words.length > shown.length ? ` and ${words.length - shown.length} more` : '';
  return `${job} ${shown.join(' ')}${more}`;
}
