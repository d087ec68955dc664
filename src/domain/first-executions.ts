/** When a test first ran in each month: months leave as a whole, so what is left says since when it is known to run. Pure. */
import { endOfMonth, monthOf, startOfMonth } from './retention.ts';

/**
 * The first moment of each month, in order; all in milliseconds since the epoch.
 *
 * @param known in order, one of each month; returned itself if nothing is earlier.
 * @param times in any order.
 */
export function firstOfMonths(known: readonly number[], times: Iterable<number>): readonly number[] {
  let firsts = known;
  // Nearly always, all are of one month.
  let [from, to, first] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const at of times)
    if (at < from || at >= to) {
      firsts = withFirst(firsts, first);
      [from, to, first] = [startOfMonth(monthOf(at)), endOfMonth(at), at];
    } else if (at < first) first = at;
  return withFirst(firsts, first);
}

function withFirst(firsts: readonly number[], at: number): readonly number[] {
  if (at === Number.POSITIVE_INFINITY) return firsts;
  const known = firsts.find((one) => monthOf(one) === monthOf(at));
  if (known !== undefined && known <= at) return firsts;
  return [...firsts.filter((one) => one !== known), at].sort((one, other) => one - other);
}

/** Without those of a month that leaves, and of every month before it. */
export const withoutFirstsOf = (firsts: readonly number[], month: number): number[] =>
  firsts.filter((at) => monthOf(at) > month);
