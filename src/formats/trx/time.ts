/** Times as TRX writes them. */
import { parseTimestamp } from '../time.ts';

/** `00:00:01.2345678`, or `1.02:00:00` with days → seconds; 0 if it cannot be read. */
export function parseDuration(text: string | undefined): number {
  const [, days = 0, hours, minutes, seconds] =
    /^(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)$/.exec(text?.trim() ?? '') ?? [];
  if (hours === undefined) return 0;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** Null for the first day of the year 1, which means that the time was not set. */
export const parseTime = (text: string | undefined): number | null =>
  text?.startsWith('0001-01-01') ? null : parseTimestamp(text);
