/** The window of pages that look at many days. */
import { useMemo } from 'react';
import type { TimeWindow } from '../api/queries.ts';
import { daysUpTo } from './utc.ts';

const HOUR_MS = 3_600_000;

/** So many UTC days up to now. To the hour, so that the same view asks for the same window. */
export function useDaysUpToNow(days: string): TimeWindow {
  const hour = Math.ceil(Date.now() / HOUR_MS);
  return useMemo(() => {
    const { start, end } = daysUpTo(hour * HOUR_MS - 1, Number(days));
    return { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
  }, [days, hour]);
}
