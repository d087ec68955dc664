/** What is kept for how long: whole months leave together, raw and totals alike (design §5). */
import { DAY_MS } from './time.ts';

/** The first moment of the month after the one that holds `at`; both in milliseconds since the epoch, UTC. */
export function endOfMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Whether executions of the month that holds `at` are still kept at `now`: until its last day is `days` old. */
export function isRetained(at: number, now: number, days: number): boolean {
  return endOfMonth(at) + days * DAY_MS > now;
}

/** More than this ahead of its receipt, an execution's time is not believed. */
const AHEAD_MS_MAX = 10 * 60_000;
const EARLIEST = Date.UTC(2000, 0, 1);

/** The time that counts for an execution: its own, unless that is missing, in the future or before 2000. */
export function effectiveTime(reported: number | null, receivedAt: number): { at: number; isReplaced: boolean } {
  if (reported === null) return { at: receivedAt, isReplaced: false };
  const isBelievable = reported >= EARLIEST && reported <= receivedAt + AHEAD_MS_MAX;
  return isBelievable ? { at: Math.floor(reported), isReplaced: false } : { at: receivedAt, isReplaced: true };
}
