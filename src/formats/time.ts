/** Times as reports write them. */

const ISO = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
/** `Sat, 03 Dec 2022 23:10:07 GMT` and `Sat Dec 03 2022 23:10:07 GMT+0000 (UTC)`: the zone is always there. */
const WORDY = /^[A-Z][a-z]{2},? .*\d{4}.*(?:GMT|UTC|[+-]\d{4})/;

/** Longer ones are no times, and the expressions above would take long to find that out. */
const LENGTH_MAX = 100;

/** A `timestamp` → milliseconds since the epoch, or null. Without a zone it is UTC. */
export function parseTimestamp(text: string | undefined): number | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed.length > LENGTH_MAX) return null;
  const iso = ISO.exec(trimmed);
  const at = iso ? Date.parse(isoOf(iso)) : WORDY.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function isoOf([, date, minutes, seconds = '00', fraction = '', zone = 'Z']: RegExpExecArray): string {
  const millis = fraction.slice(0, 3).padEnd(3, '0');
  if (/^[GU]/i.test(zone)) return `${date}T${minutes}:${seconds}.${millis}Z`;
  const offset = zone.length === 3 ? `${zone}:00` : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  return `${date}T${minutes}:${seconds}.${millis}${offset.toUpperCase()}`;
}

/** `P1DT2H1M1.5S`, as ISO 8601 writes a duration. */
const ISO_DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i;
/** `00:00:01.5`, `01:30` of minutes and seconds, and with days `1.02:03:04`. */
const CLOCK = /^(?:(?:(\d+)[.:])?(\d+):)?(\d+):(\d+(?:[.,]\d+)?)$/;
/** `1,234.5`, `1.234,5`, `1.234.567`, `1 234,5`: thousands, perhaps with a fraction. `1.234` is a fraction. */
const THOUSANDS = /^\d{1,3}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+,\d*|(?:\.\d{3}){2,}|(?:[\s'’]\d{3})+(?:[.,]\d*)?)$/;
/** `0,25`, `.5`, `0.`, `1e-05`. */
const NUMBER = /^(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d{1,3})?$/i;
/** A number and its unit: `350 us`, `1,234.5ms`, `3 Sek.` */
const AMOUNT =
  /\s*([\d.,'’](?:[\d.,'’\s]*[\d.])?(?:e[+-]?\d{1,3})?)\s*([a-z\u00b5\u03bc]+)\.?(?:\s*(?:,|and|und)(?=\s))?/iy;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** In seconds. `m` is minutes, as Go and most runners have it. */
const UNITS: ReadonlyMap<string, number> = new Map(
  (
    [
      [1e-9, 'ns nsec nanos nanosecond nanoseconds'],
      [1e-6, 'us \u00b5s \u03bcs usec \u00b5sec \u03bcsec micros microsecond microseconds'],
      [1e-3, 'ms msec msecs millis millisecond milliseconds'],
      [1, 's sec secs second seconds sek sekunde sekunden'],
      [MINUTE, 'm min mins minute minutes minuten'],
      [HOUR, 'h hr hrs hour hours std stunde stunden'],
      [DAY, 'd day days tag tage'],
    ] as const
  ).flatMap(([seconds, names]) => names.split(' ').map((name) => [name, seconds] as const)),
);

/**
 * A `time` → seconds: a number with a point or a comma, with thousands, with units (`15 ms`, `1m 3s`), or a duration as
 * above. 0 if it says nothing, or has a unit that is not known: no figure is better than a wrong one.
 */
export function parseSeconds(text: string | undefined): number {
  const trimmed = text?.trim() ?? '';
  if (trimmed.length > LENGTH_MAX) return 0;
  const [, days, hours, minutes, rest] = ISO_DURATION.exec(trimmed) ?? CLOCK.exec(trimmed) ?? [];
  const isParts = [days, hours, minutes, rest].some((part) => part !== undefined);
  const seconds = isParts
    ? numberOf(days) * DAY + numberOf(hours) * HOUR + numberOf(minutes) * MINUTE + numberOf(rest)
    : (plainNumber(trimmed) ?? sumOfAmounts(trimmed));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

const numberOf = (text = '0'): number => Number(text.replace(',', '.'));

function plainNumber(text: string): number | undefined {
  if (THOUSANDS.test(text)) return Number(withoutThousands(text));
  return NUMBER.test(text) ? Number(text.replace(',', '.')) : undefined;
}

/** `1m 3s`; 0 unless all of the text is numbers with units that are known. */
function sumOfAmounts(text: string): number {
  let sum = 0;
  AMOUNT.lastIndex = 0;
  for (let at = 0; at < text.length; at = AMOUNT.lastIndex) {
    const [, number = '', unit = ''] = AMOUNT.exec(text) ?? [];
    const amount = plainNumber(number.trim());
    const seconds = UNITS.get(unit.toLowerCase());
    if (amount === undefined || seconds === undefined) return 0;
    sum += amount * seconds;
  }
  return sum;
}

/** The last mark is the decimal one if it is another than those before it, or comes after blanks. */
function withoutThousands(text: string): string {
  const marks = text.match(/[.,\s'’]/g) ?? [];
  const last = marks.at(-1) ?? '';
  const isFraction = /[.,]/.test(last) && marks[0] !== last;
  const end = isFraction ? text.lastIndexOf(last) : text.length;
  return `${text.slice(0, end).replace(/[^\d]/g, '')}.${text.slice(end + 1)}`;
}
