/** Times as TRX writes them. */
import { parseTimestamp } from '../time.ts';

/** Null for the first day of the year 1, which means that the time was not set. */
export const parseTime = (text: string | undefined): number | null =>
  text?.startsWith('0001-01-01') ? null : parseTimestamp(text);
