/** What is kept for how long: whole months leave together, executions and totals alike. */
import { DAY_MS } from './time.ts';

/** The first moment of the month after that of `at`; both in milliseconds since the epoch, UTC. */
export function endOfMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Whether executions of the month of `at` are still kept at `now`: until the month's last day is `days` old. */
export function isRetained(at: number, now: number, days: number): boolean {
  return endOfMonth(at) + days * DAY_MS > now;
}

/** An execution's time is not believed if it is further ahead of its receipt than this. */
const AHEAD_MS_MAX = 10 * 60_000;
const EARLIEST = Date.UTC(2000, 0, 1);

/** The time that counts for an execution: as reported, unless that is missing, in the future or before 2000. */
export function effectiveTime(reported: number | null, receivedAt: number): { at: number; isReplaced: boolean } {
  if (reported === null) return { at: receivedAt, isReplaced: false };
  const isBelievable = reported >= EARLIEST && reported <= receivedAt + AHEAD_MS_MAX;
  return isBelievable ? { at: Math.floor(reported), isReplaced: false } : { at: receivedAt, isReplaced: true };
}
