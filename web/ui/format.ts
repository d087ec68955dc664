/** Numbers and dates as people read them, in the reader's zone. Words are English, as everywhere on the pages. */
const NUMBER = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const RELATIVE = new Intl.RelativeTimeFormat('en');
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The smallest share that is not shown as 0%. */
const SHARE_MIN = 0.001;

export const formatCount = (value: number): string => NUMBER.format(value);

/** A share between 0 and 1. Only 0 is shown as 0%, and only 1 as 100%. */
export function formatShare(value: number): string {
  if (value > 0 && value < SHARE_MIN) return `less than ${PERCENT.format(SHARE_MIN)}`;
  if (value < 1 && value > 1 - SHARE_MIN) return `more than ${PERCENT.format(1 - SHARE_MIN)}`;
  return PERCENT.format(value);
}

/** A probability between 0 and 1. One that the service has rounded to 1 is not certain. */
export const formatProbability = (value: number): string => formatShare(Math.min(value, 1 - SHARE_MIN / 2));

/** Such as "1 commit" and "1,200 commits". */
export const formatCounted = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

export const formatLocal = (at: string): string => LOCAL.format(new Date(at));
const formatUtc = (at: string): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
/** For the hint at a moment: the reader's zone, and UTC below. */
export const formatBoth = (at: string): string => `${formatLocal(at)}\n${formatUtc(at)}`;

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Such as "3 hours ago". */
export function formatAgo(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1_000;
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  return 'just now';
}

/** A duration given in seconds. */
export function formatSeconds(seconds: number): string {
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${NUMBER.format(Math.round(seconds * 1_000))} ms`;
  if (seconds < 120) return `${NUMBER.format(Math.round(seconds * 10) / 10)} s`;
  return `${NUMBER.format(Math.round(seconds / 6) / 10)} min`;
}
