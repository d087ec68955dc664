/** Times as Robot Framework writes them: those of the machine, without a zone. */
import { parseSeconds, parseTimestamp } from '../time.ts';
import type { XmlAttributes } from '../xml.ts';

/** `20261121 09:30:00.123`, until version 6. */
const OLD = /^(\d{4})(\d{2})(\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)$/;

const parseTime = (text: string | undefined): number | null =>
  parseTimestamp(text === undefined || text.length > 30 ? undefined : text.replace(OLD, '$1-$2-$3T$4'));

export interface Timing {
  startedAtMs: number | null;
  durationSeconds: number;
}

/** The times of a `<status>`: with start and end until version 6, then with start and duration. */
export function timingOf({ start, elapsed, starttime, endtime }: XmlAttributes): Timing {
  const startedAtMs = parseTime(start ?? starttime);
  if (elapsed !== undefined) return { startedAtMs, durationSeconds: parseSeconds(elapsed) };
  const endedAtMs = parseTime(endtime);
  const isKnown = startedAtMs !== null && endedAtMs !== null;
  return { startedAtMs, durationSeconds: isKnown ? Math.max(0, endedAtMs - startedAtMs) / 1000 : 0 };
}
