/** Numbers and times as people read them, in the reader's language and zone. */
const NUMBER = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'always', style: 'short' });
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export const formatCount = (value: number): string => NUMBER.format(value);
export const formatShare = (value: number): string => PERCENT.format(value);
export const formatLocal = (at: string | number): string => LOCAL.format(new Date(at));
export const formatUtc = (at: string): string => `${at.replace('T', ' ').replace(/\.\d+Z$|Z$/, '')} UTC`;

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Such as "3 hr. ago". */
export function formatAgo(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1_000;
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  return 'now';
}

/** A duration given in seconds. */
export function formatSeconds(seconds: number): string {
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${NUMBER.format(Math.round(seconds * 1_000))} ms`;
  if (seconds < 120) return `${NUMBER.format(Math.round(seconds * 10) / 10)} s`;
  return `${NUMBER.format(Math.round(seconds / 6) / 10)} min`;
}
