/**
 * Whether a test takes longer than it did, since when, and between which commits. Pure.
 *
 * The medians of the days before and after each possible day are compared by the rank test of Mann and Whitney (1947), whose
 * distribution is known exactly: no assumption about durations is made. It looks at one test in one leg.
 */

/** What a test took in a leg on one UTC day on which it passed there. */
export interface DurationDay {
  /** Days since the epoch. */
  day: number;
  /** Median, in seconds. */
  seconds: number;
  /** The same as a multiple of what the usual execution of the leg took that day: a slow day is slow for all tests. */
  relative: number;
  /** Of the first and the last execution; empty if unknown. */
  firstCommit: string;
  lastCommit: string;
}

export interface Growth {
  /** The first day on which it took longer, and until which commit it had not, and from which it did. */
  day: number;
  lastCommitBefore: string;
  firstCommitAfter: string;
  /** Medians of the days before and after, in seconds. */
  before: number;
  after: number;
}

/** UTC days that durations are of, the newest one included. */
export const DURATION_DAYS = 28;
/** So many days are needed on either side. */
export const GROWTH_DAYS_MIN = 5;
/** Less is no reason to look at a test. */
export const GROWTH_TIMES_MIN = 1.3;
export const GROWTH_SECONDS_MIN = 0.1;
/** Of tests whose durations do not change, at most one in a thousand is said to have grown. */
export const GROWTH_CHANCE_MAX = 0.001;

/** @param days in order */
export function growthOf(days: readonly DurationDay[]): Growth | null {
  const splits = days.length - 2 * GROWTH_DAYS_MIN + 1;
  if (splits < 1) return null;
  let best: { at: number; chance: number } | null = null;
  for (let at = GROWTH_DAYS_MIN; at <= days.length - GROWTH_DAYS_MIN; at++) {
    const chance = Math.max(
      chanceOfRanks(
        days.map(({ seconds }) => seconds),
        at,
      ),
      chanceOfRanks(
        days.map(({ relative }) => relative),
        at,
      ),
    );
    if (best === null || chance < best.chance) best = { at, chance };
  }
  const [first, last] = [days[best?.at ?? 0], days[(best?.at ?? 0) - 1]];
  if (best === null || !first || !last || best.chance * splits > GROWTH_CHANCE_MAX) return null;
  const sides = [days.slice(0, best.at), days.slice(best.at)] as const;
  const [before, after] = [
    median(sides[0].map(({ seconds }) => seconds)),
    median(sides[1].map(({ seconds }) => seconds)),
  ];
  const times = median(sides[1].map(({ relative }) => relative)) / median(sides[0].map(({ relative }) => relative));
  if (after < GROWTH_TIMES_MIN * before || after < before + GROWTH_SECONDS_MIN || !(times >= GROWTH_TIMES_MIN))
    return null;
  return { day: first.day, lastCommitBefore: last.lastCommit, firstCommitAfter: first.firstCommit, before, after };
}

/** How likely the values from `at` on are so much greater than those before by chance. Ties count as not greater. */
function chanceOfRanks(values: readonly number[], at: number): number {
  let greater = 0;
  for (const after of values.slice(at)) for (const before of values.slice(0, at)) if (after > before) greater++;
  return tailOf(at, values.length - at)[greater] ?? 0;
}

const tails = new Map<string, readonly number[]>();

/** For each U, how likely as many pairs or more are greater, of `m` values and `n` others of one kind. */
function tailOf(m: number, n: number): readonly number[] {
  const key = `${m} ${n}`;
  const known = tails.get(key);
  if (known) return known;
  // ways[i][u]: choices of i of the values so far whose pairs add up to u.
  const ways: number[][] = Array.from({ length: n + 1 }, () => new Array<number>(m * n + 1).fill(0));
  const none = ways[0];
  if (none) none[0] = 1;
  for (let place = 0; place < m + n; place++)
    for (let i = Math.min(place + 1, n); i >= 1; i--) {
      const below = place - (i - 1);
      if (below > m) continue;
      for (let u = m * n; u >= below; u--) {
        const row = ways[i];
        if (row) row[u] = (row[u] ?? 0) + (ways[i - 1]?.[u - below] ?? 0);
      }
    }
  const counts = ways[n] ?? [];
  const all = counts.reduce((sum, one) => sum + one, 0);
  let sum = 0;
  const tail = new Array<number>(counts.length).fill(0);
  for (let u = counts.length - 1; u >= 0; u--) {
    sum += counts[u] ?? 0;
    tail[u] = sum / all;
  }
  tails.set(key, tail);
  return tail;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
