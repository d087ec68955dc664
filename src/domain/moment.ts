/** Dates of the interface (design §4 "dates in", "dates out"). Moments are milliseconds since the epoch. */

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,30}))?)?(?:[Zz]|([+\- ])(\d{2}):?(\d{2}))$/;

/**
 * The moment an ISO 8601 date-time names, or undefined when it is none. A zone is required (`Z`, `±hh:mm`, `±hhmm`), seconds
 * are not. A space in place of the sign is a `+` that form decoding took away. What is finer than a millisecond is rounded up:
 * rows lie on whole milliseconds, so "from" and "before" that moment then mean the same rows.
 *
 * @example parseMoment('2026-11-21T10:00+0100') // 1795251600000
 * @example parseMoment('2026-11-21') // undefined: a bare date
 */
export function parseMoment(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  const [y, mo, d, h, mi, s, zh, zm] = [year, month, day, hour, minute, second, zoneHour, zoneMinute].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (y < 1 || h > 23 || mi > 59 || s > 59 || zh > 23 || zm > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  // setUTCFullYear carries the 31st of a shorter month over into the next.
  if (date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return undefined;
  const zoneMinutes = (sign === '-' ? -1 : 1) * (zh * 60 + zm);
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3)) + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0);
  return date.getTime() + ((h * 60 + mi - zoneMinutes) * 60 + s) * 1_000 + milliseconds;
}

/** UTC, `Z`, milliseconds. */
export const formatMoment = (at: number): string => new Date(at).toISOString();
