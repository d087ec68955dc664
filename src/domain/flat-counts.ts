/**
 * Counts by month and by day, each as one flat list, as they are stored: every run reads and writes them for each of its
 * tests, and an object for each day would be most of what that takes in memory. Pure.
 */

/** A month (YYYYMM), its count, the next month, its count, and so on. */
export type MonthCounts = readonly number[];

/**
 * The first day (days since the epoch), then passed and failed of that day and of each one after it. Empty without days;
 * otherwise something happened on the first and on the last one.
 */
export type DayCounts = readonly number[];

export const NO_COUNTS: readonly number[] = [];

/** Adds to the count of a month. */
export function addToMonth(months: number[], month: number, count: number): void {
  for (let i = 0; i < months.length; i += 2)
    if (months[i] === month) {
      months[i + 1] = (months[i + 1] ?? 0) + count;
      return;
    }
  let at = months.length;
  while (at > 0 && (months[at - 2] ?? 0) > month) at -= 2;
  months.splice(at, 0, month, count);
}

/** Adds up all months. */
export function totalOf(months: MonthCounts): number {
  let total = 0;
  for (let i = 1; i < months.length; i += 2) total += months[i] ?? 0;
  return total;
}

/** The day after the last one; undefined without days. */
export const endOfDays = (days: DayCounts): number | undefined =>
  days.length === 0 ? undefined : (days[0] ?? 0) + (days.length - 1) / 2;

/** Visits the days on which something happened, in order. */
export function forEachDay(days: DayCounts, visit: (day: number, passed: number, failed: number) => void): void {
  let day = days[0] ?? 0;
  for (let i = 1; i < days.length; i += 2, day++) {
    const passed = days[i] ?? 0;
    const failed = days[i + 1] ?? 0;
    if (passed > 0 || failed > 0) visit(day, passed, failed);
  }
}

/** Whether something happened on the same days, with as many failures on each. */
export function areAlike(one: DayCounts, other: DayCounts): boolean {
  if (one.length !== other.length || one[0] !== other[0]) return false;
  for (let i = 1; i < one.length; i += 2) {
    if (one[i + 1] !== other[i + 1]) return false;
    if (one[i + 1] === 0 && (one[i] === 0) !== (other[i] === 0)) return false;
  }
  return true;
}

/** Adds to the counts of a day. */
export function addToDay(days: number[], day: number, passed: number, failed: number): void {
  if (days.length === 0) days.push(day);
  let first = days[0] ?? day;
  if (day < first) {
    days.splice(1, 0, ...new Array<number>(2 * (first - day)).fill(0));
    days[0] = first = day;
  }
  const i = 1 + 2 * (day - first);
  while (days.length <= i) days.push(0, 0);
  days[i] = (days[i] ?? 0) + passed;
  days[i + 1] = (days[i + 1] ?? 0) + failed;
}

/** The newest of the days of both: so many up to the last one. */
export function newestOfBoth(one: DayCounts, other: DayCounts, count: number): DayCounts {
  if (one.length === 0) return newestDays(other, count);
  const sum = [...one];
  forEachDay(other, (day, passed, failed) => addToDay(sum, day, passed, failed));
  return newestDays(sum, count);
}

/** So many days up to the last one. */
export const newestDays = (days: DayCounts, count: number): DayCounts => daysFrom(days, (endOfDays(days) ?? 0) - count);

/** The days from one on. */
export function daysFrom(days: DayCounts, first: number): DayCounts {
  const begun = days[0] ?? first;
  if (begun >= first) return days;
  let i = 1 + 2 * (first - begun);
  while (i < days.length && days[i] === 0 && days[i + 1] === 0) i += 2;
  return i < days.length ? [begun + (i - 1) / 2, ...days.slice(i)] : NO_COUNTS;
}
