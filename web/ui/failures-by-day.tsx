/** Failed executions of the last days as bars, the current one last. */
import { Bars } from './bars.tsx';
import { formatCount, formatCounted } from './format.ts';
import { formatUtcDay } from './utc.ts';

const DAY_MS = 86_400_000;

interface FailuresByDayProps {
  days: readonly number[];
  /** Their size. */
  className: string;
}

export function FailuresByDay({ days, className }: FailuresByDayProps) {
  const today = Date.now();
  const bars = days.map((count, i) => ({
    count,
    title: `${formatUtcDay(today - (days.length - 1 - i) * DAY_MS)} (UTC): ${formatCount(count)}`,
  }));
  const total = days.reduce((sum, count) => sum + count, 0);
  return (
    <Bars
      bars={bars}
      label={`${formatCounted(total, 'failed execution')} in ${days.length} days`}
      className={`text-broken ${className}`}
    />
  );
}
