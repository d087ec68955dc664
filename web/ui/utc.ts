/**
 * UTC days. The service counts by them, so everything that is counted by day says which UTC day it is: a day of the
 * reader would have other counts.
 */
const DAY_MS = 86_400_000;
const UTC = { timeZone: 'UTC' } as const;
const DAY = new Intl.DateTimeFormat(undefined, { ...UTC, day: 'numeric', month: 'short' });
const DATE = new Intl.DateTimeFormat(undefined, { ...UTC, dateStyle: 'medium' });
const TIME = new Intl.DateTimeFormat(undefined, { ...UTC, hour: '2-digit', minute: '2-digit' });
const MOMENT = new Intl.DateTimeFormat(undefined, { ...UTC, dateStyle: 'medium', timeStyle: 'short' });

/** Said beside whatever is counted by day. */
export const UTC_HINT = 'Days and times are UTC.';

/** So many UTC days, the current one included: as the service counts shares. Milliseconds since the epoch. */
export function daysUpTo(now: number, days: number): { start: number; end: number } {
  const end = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  return { start: end - days * DAY_MS, end };
}

const isMidnight = (at: number): boolean => at % DAY_MS === 0;

/** Such as "8 Nov". */
export const formatUtcDay = (at: number): string => DAY.format(at);

/** Below a line of a grid: the day, or the time within a day. */
export const formatUtcTick = (at: number, isWholeDay: boolean): string =>
  (isWholeDay || isMidnight(at) ? DAY : TIME).format(at);

/** A span in words: whole days by their names, the last one included; else its moments. */
export function formatUtcSpan(start: number, end: number): string {
  if (!isMidnight(start) || !isMidnight(end)) return `${MOMENT.format(start)} – ${MOMENT.format(end)} UTC`;
  return end - start === DAY_MS
    ? `${DATE.format(start)} UTC`
    : `${DATE.format(start)} – ${DATE.format(end - DAY_MS)} UTC`;
}
