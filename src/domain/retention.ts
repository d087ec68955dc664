/** Says what is kept for how long: whole months leave together, executions and totals alike. */
import { DAY_MS } from './time.ts';

/** The month that was asked for last: of the executions of a job, all are nearly always of one month. */
let last = { month: 0, from: 0, end: 0 };

function lookUp(at: number): typeof last {
  if (at >= last.from && at < last.end) return last;
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const found = { month: year * 100 + month + 1, from: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
  // `Date.UTC` takes the years 0 to 99 for those of the last century.
  if (year >= 100) last = found;
  return found;
}

/** The first moment of the month after that of `at`; both in milliseconds since the epoch, UTC. */
export const endOfMonth = (at: number): number => lookUp(at).end;

/** Whether executions of the month of `at` are still kept at `now`: until the month's last day is `days` old. */
export function isRetained(at: number, now: number, days: number): boolean {
  return endOfMonth(at) + days * DAY_MS > now;
}

/** The extent of what is kept of a repository: so many days, but nothing of months that have left already. */
export interface Kept {
  /** The days of the repository, or of the installation if these are fewer. */
  retentionDays: number;
  /** The first month that has not left, such as 202611; none has unless given. */
  keptSince?: number;
}

/**
 * Says what is kept of a repository. It may keep executions for less time than the installation, never for longer.
 */
export const keptOf = (
  installationDays: number,
  {
    executionRetentionDays: own,
    executionsSince: keptSince,
  }: { executionRetentionDays: number | null; executionsSince: number },
): Kept => ({ retentionDays: own === null ? installationDays : Math.min(own, installationDays), keptSince });

/** Whether executions of the month of `at` are taken at `now`. What has left does not come back if the days are raised. */
export const isKept = (at: number, now: number, { retentionDays, keptSince = 0 }: Kept): boolean =>
  isRetained(at, now, retentionDays) && monthOf(at) >= keptSince;

/** Months as numbers, such as 202611: they sort, and partitions are named by them. */
export const monthOf = (at: number): number => lookUp(at).month;

/** A month as people read it, such as `2026-11`. */
export const monthInWords = (month: number): string =>
  `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`;

export const startOfMonth = (month: number): number => Date.UTC(Math.floor(month / 100), (month % 100) - 1, 1);

/** Executions of earlier months are refused. */
export function oldestRetainedMonth(now: number, days: number): number {
  const kept = now - days * DAY_MS;
  // A month that ends at that very moment is not kept.
  return isRetained(kept, now, days) ? monthOf(kept) : monthOf(endOfMonth(kept));
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
