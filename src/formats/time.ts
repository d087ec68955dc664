/** Times as reports write them. */

const ISO = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;
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
  const offset = zone.length === 3 ? `${zone}:00` : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  return `${date}T${minutes}:${seconds}.${millis}${offset.toUpperCase()}`;
}

/** `PT1M1.5S`, as ISO 8601 writes a duration. */
const ISO_DURATION = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?$/i;
/** `00:00:01.5`, or `01:30` of minutes and seconds. */
const CLOCK = /^(?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)$/;
/** `1,234.5`, `1.234,5`, `1.234.567`, `1 234,5`: thousands, perhaps with a fraction. `1.234` is a fraction. */
const THOUSANDS = /^\d{1,3}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+,\d*|(?:\.\d{3}){2,}|(?:[\s'’]\d{3})+(?:[.,]\d*)?)$/;

/**
 * A `time` → seconds: also `0,25` (decimal comma), `.5`, `0.`, `1e-05`, `15 ms`, and durations as above; 0 when it says
 * nothing.
 */
export function parseSeconds(text: string | undefined): number {
  const trimmed = text?.trim() ?? '';
  if (trimmed.length > LENGTH_MAX) return 0;
  const [, hours, minutes, rest] = ISO_DURATION.exec(trimmed) ?? CLOCK.exec(trimmed) ?? [];
  const seconds =
    (minutes ?? rest) === undefined && hours === undefined
      ? Number.parseFloat(THOUSANDS.test(trimmed) ? withoutThousands(trimmed) : trimmed.replace(',', '.')) /
        (/\dm(?:illi)?s(?:ec\w*)?$/i.test(trimmed.replaceAll(' ', '')) ? 1_000 : 1)
      : (numberOf(hours) * 60 + numberOf(minutes)) * 60 + numberOf(rest);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

const numberOf = (text = '0'): number => Number(text.replace(',', '.'));

/** The last mark is the decimal one if it is another than those before it, or comes after blanks. */
function withoutThousands(text: string): string {
  const marks = text.match(/[.,\s'’]/g) ?? [];
  const last = marks.at(-1) ?? '';
  const isFraction = /[.,]/.test(last) && marks[0] !== last;
  const end = isFraction ? text.lastIndexOf(last) : text.length;
  return `${text.slice(0, end).replace(/[^\d]/g, '')}.${text.slice(end + 1)}`;
}
