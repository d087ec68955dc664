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

/** A `time` → seconds: `1,234.5` (thousands), `0,25` (decimal comma), `.5`, `0.`, `1e-05`; 0 when it says nothing. */
export function parseSeconds(text: string | undefined): number {
  const trimmed = text?.trim() ?? '';
  const plain = /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(trimmed) ? trimmed.replaceAll(',', '') : trimmed.replace(',', '.');
  const seconds = Number.parseFloat(plain);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}
