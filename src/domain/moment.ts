/** Dates of the API. A moment is in milliseconds since the epoch. */
/** The first and the last moment with a year of four digits: others have no form that all stores and clients read. */
export const MOMENT_MIN = -62_135_596_800_000;
export const MOMENT_MAX = 253_402_300_799_999;

export const DATE_TIME = new RegExp(
  [
    /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})/.source,
    /[Tt](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,30}))?)?/.source,
    /(?:[Zz]|(?<sign>[+\- ])(?<zoneHour>\d{2}):?(?<zoneMinute>\d{2}))$/.source,
  ].join(''),
);

/**
 * The moment of an ISO 8601 date-time, or undefined if it is not one, or not in the years 1 to 9999. A zone is required (`Z`, `±hh:mm`, `±hhmm`),
 * seconds are not. A space in place of the sign is a `+` that form decoding removed. Fractions of a millisecond are
 * rounded up: rows lie on whole milliseconds, so "from" and "before" such a moment mean the same rows as without
 * rounding.
 *
 * @example parseMoment('2026-11-21T10:00+0100') // 1795251600000
 * @example parseMoment('2026-11-21') // undefined: a bare date
 */
export function parseMoment(text: string): number | undefined {
  const parts = DATE_TIME.exec(text)?.groups;
  if (!parts) return undefined;
  const number = (part: string): number => Number(parts[part] ?? 0);
  const date = dateOf(number('year'), number('month'), number('day'));
  const [hour, minute, second] = [number('hour'), number('minute'), number('second')] as const;
  const [zoneHour, zoneMinute] = [number('zoneHour'), number('zoneMinute')] as const;
  if (date === undefined || hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59)
    return undefined;
  const zoneMinutes = (parts.sign === '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  const fraction = parts.fraction ?? '';
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3)) + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0);
  const at = date + ((hour * 60 + minute - zoneMinutes) * 60 + second) * 1_000 + milliseconds;
  return isMoment(at) ? at : undefined;
}

/** Whether so many milliseconds lie in the years 1 to 9999. */
export const isMoment = (at: number): boolean => at >= MOMENT_MIN && at <= MOMENT_MAX;

/** Midnight of a date in UTC, or undefined if there is no such date. */
function dateOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // setUTCFullYear carries the 31st of a shorter month over into the next.
  const isDate = year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDate ? date.getTime() : undefined;
}

/** UTC, `Z`, milliseconds. A bucket at an end of time may reach beyond it, and is shown to end there. */
export const formatMoment = (at: number): string =>
  new Date(Math.min(Math.max(at, MOMENT_MIN), MOMENT_MAX)).toISOString();
