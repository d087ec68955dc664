/** Failures of a cause on each UTC day of a window, as bars. */
import { Bars } from './bars.tsx';
import { formatCount, formatCounted } from './format.ts';
import { formatUtcDay } from './utc.ts';

const DAY_MS = 86_400_000;

interface CauseDaysProps {
  /** Those with failures. */
  days: readonly { day: string; failure_count: number }[];
  /** Whole UTC days; milliseconds since the epoch. */
  window: { start: number; end: number };
  /** Their size. */
  className: string;
}

export function CauseDays({ days, window: { start, end }, className }: CauseDaysProps) {
  const counts = new Map(days.map(({ day, failure_count: count }) => [Date.parse(day), count]));
  const bars = Array.from({ length: Math.round((end - start) / DAY_MS) }, (_, i) => {
    const at = start + i * DAY_MS;
    const count = counts.get(at) ?? 0;
    return { count, title: `${formatUtcDay(at)} (UTC): ${formatCount(count)}` };
  });
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  return (
    <Bars
      bars={bars}
      label={`${formatCounted(total, 'failure')} in ${formatCounted(bars.length, 'day')}`}
      className={`text-broken ${className}`}
    />
  );
}
