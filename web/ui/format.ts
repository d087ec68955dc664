/** Numbers and dates as people read them, in the zone that the reader chose. Words are English, as everywhere on the pages. */
import { chosenZone } from './display.ts';

const NUMBER = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const RELATIVE = new Intl.RelativeTimeFormat('en');
const ZONE = chosenZone();
const LOCAL = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  ...(ZONE && { timeZone: ZONE }),
});

/** The smallest share that is not shown as 0%. */
const SHARE_MIN = 0.001;

export const formatCount = (value: number): string => NUMBER.format(value);

const SUM = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
/** A sum of shares, such as 4.25. */
export const formatShares = (value: number): string => SUM.format(value);

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

/** Such as "56 times" and "1.6 times". */
export const formatTimes = (value: number): string =>
  `${NUMBER.format(value < 10 ? toTenths(value) : Math.round(value))} times`;

export const formatLocal = (at: string): string => LOCAL.format(new Date(at));
const formatUtc = (at: string): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
/** For the hint at a moment: the reader's zone, and UTC below. */
export const formatBoth = (at: string): string => `${formatLocal(at)}\n${formatUtc(at)}`;

/** Each unit with its seconds, and from how many on the next one is told instead: 31 days are a month. */
const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number, end: number])[] = [
  ['minute', 60, 60],
  ['hour', 3_600, 24],
  ['day', 86_400, 31],
  ['month', 2_629_800, 12],
  ['year', 31_557_600, Number.POSITIVE_INFINITY],
];

/** Such as "3 hours ago", to the nearest unit: what ends in 14 days still does a second later. */
export function formatAgo(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1_000;
  if (Math.abs(seconds) < 60) return 'just now';
  for (const [unit, size, end] of UNITS) {
    const count = Math.round(Math.abs(seconds) / size);
    if (count < end) return RELATIVE.format(Math.sign(seconds) * count, unit);
  }
  return formatLocal(at);
}

/** A duration given in seconds: each unit from what it shows as a number that is not longer than in the one before. */
export function formatSeconds(seconds: number): string {
  if (seconds === 0) return '0 s';
  const milliseconds = Math.round(seconds * 1_000);
  if (milliseconds === 0) return 'less than 1 ms';
  if (milliseconds < 1_000) return `${NUMBER.format(milliseconds)} ms`;
  if (toTenths(seconds) < 120) return `${NUMBER.format(toTenths(seconds))} s`;
  if (toTenths(seconds / 60) < 120) return `${NUMBER.format(toTenths(seconds / 60))} min`;
  if (toTenths(seconds / 3_600) < 48) return `${NUMBER.format(toTenths(seconds / 3_600))} h`;
  return `${NUMBER.format(toTenths(seconds / 86_400))} days`;
}

const toTenths = (value: number): number => Math.round(value * 10) / 10;
