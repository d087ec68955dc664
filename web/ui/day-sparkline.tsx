/** Failures on each UTC day of a window, as bars in a row. */
import { formatCount, formatCounted } from './format.ts';
import { Sparkline } from './sparkline.tsx';
import { daysUpTo, formatUtcDay } from './utc.ts';

const DAY_MS = 86_400_000;

interface DaySparklineProps {
  /** One for each day of the window. */
  counts: readonly number[];
  /** Where the last day ends; milliseconds since the epoch. Absent: it is the current one. */
  end?: number;
  /** What is counted, one of it. */
  what: string;
  /** Their size. */
  className: string;
}

export function DaySparkline({ counts, end = daysUpTo(Date.now(), 1).end, what, className }: DaySparklineProps) {
  const bars = counts.map((count, i) => ({
    count,
    title: `${formatUtcDay(end - (counts.length - i) * DAY_MS)} (UTC): ${formatCount(count)}`,
  }));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return (
    <Sparkline
      bars={bars}
      label={`${formatCounted(total, what)} in ${formatCounted(counts.length, 'day')}`}
      className={`text-broken ${className}`}
    />
  );
}

interface Window {
  start: number;
  end: number;
}

/** Where each UTC day of a window begins. */
export const dayStarts = ({ start, end }: Window): number[] =>
  Array.from({ length: Math.round((end - start) / DAY_MS) }, (_, i) => start + i * DAY_MS);

/** Failures on each UTC day of a window, of a list of the days with some. */
export function failuresByDay(days: readonly { day: string; failure_count: number }[], window: Window): number[] {
  const counts = new Map(days.map(({ day, failure_count: count }) => [Date.parse(day), count]));
  return dayStarts(window).map((at) => counts.get(at) ?? 0);
}
