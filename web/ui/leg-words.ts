/** Legs of a CI job in words. */
type Axes = Readonly<Record<string, string>>;

/** The axis of legs without names, as the service has it. */
const UNNAMED_LEG_AXIS = 'unnamed_leg';

/** `os=linux`, or `leg 2 (unnamed)`. */
export const axisInWords = (name: string, value: string): string =>
  name === UNNAMED_LEG_AXIS ? `leg ${value} (unnamed)` : `${name}=${value}`;

/** `os=windows, python=3.13`; `leg 2 (unnamed)` for one without a name. */
export const axesWords = (axes: Axes, separator = ', '): string =>
  Object.entries(axes)
    .map(([name, value]) => axisInWords(name, value))
    .join(separator);

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
