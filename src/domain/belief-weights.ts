/** The weights of a belief (belief.ts): healthy, flaky at each rate, broken; and what clean passes do to them. */
import { DAY_MS } from './time.ts';

/** How often a flaky test fails. Real rates lie around and between them (FlakeFlagger's 811 tests). */
export const FLAKY_RATES = [0.003, 0.01, 0.05, 0.2, 0.5, 0.85] as const;
/** Shares of flaky tests that fail at each of these rates. */
export const RATE_SHARES = [0.44, 0.19, 0.12, 0.1, 0.1, 0.05] as const;

/** How many of the tests never seen before are flaky, of those that ever pass; and for each of these, how many never do. */
const NEW_FLAKY = 0.0605;
const NEW_BROKEN = 0.032;
/** How likely a healthy test becomes flaky from one execution to the next. */
const BECOMES_FLAKY = 2e-5;
/** How likely a flaky test is fixed in a day: people fix tests by the day, however often they run. */
const FIXED_BY_DAY = 0.01;
/** How likely from one execution to the next, at most: one that hardly ever runs is not forgotten between two of them. */
const FIXED_BY_EXECUTION = 2e-3;
/** For each fix of a flaky test, how often one comes to fail at another rate instead, which looks like a fix at first. */
const CHANGES_PER_FIX = 0.1;

/** The place of broken. */
export const BROKEN = FLAKY_RATES.length + 1;

export const newWeights = (): number[] =>
  normalised([1 - NEW_FLAKY, ...RATE_SHARES.map((share) => share * NEW_FLAKY), NEW_BROKEN]);

/** Shares that are nearer than this are the same. */
const SAME = 1e-12;

interface Passes {
  /** How many. */
  count: number;
  /** From what came before them to the last of them, in milliseconds; infinite where it is not known. */
  lasted: number;
  /** Whether a flaky test may have come to fail at another rate meanwhile. */
  mayChange: boolean;
}

/**
 * The weights after clean passes of a test that is not broken, as sums of geometric series. What is fixed or changes is not
 * followed through a second change of its rate, which makes no difference that shows.
 */
export function afterPasses(weights: readonly number[], { count, lasted, mayChange }: Passes): readonly number[] {
  if (count === 0) return weights;
  const fixed = Math.min(FIXED_BY_EXECUTION, 1 - (1 - FIXED_BY_DAY) ** (lasted / DAY_MS / count));
  const changed = mayChange ? fixed * CHANGES_PER_FIX : 0;
  const stays = FLAKY_RATES.map((rate) => (1 - rate) * (1 - fixed) * (1 - changed));
  const left = stays.map((share) => share ** count);
  const flaky = (i: number): number => weights[i + 1] ?? 0;
  // By rate: how much is fixed if the passes never end.
  const fixes = stays.map((share, i) => (flaky(i) * fixed) / (1 - share));
  const everHealthy = (weights[0] ?? 0) + sum(fixes);
  // By rate: how much becomes flaky at some rate for it with the first pass; it fades as that rate does.
  const begins = fixes.map((share, i) => flaky(i) * (1 - fixed) * changed - share * BECOMES_FLAKY);
  const result = [everHealthy - sum(fixes.map((share, i) => share * (left[i] ?? 0)))];
  for (const [i, rate] of FLAKY_RATES.entries()) {
    const passed = (1 - rate) ** count;
    let begun = (everHealthy * BECOMES_FLAKY * (1 - passed)) / rate;
    for (const [j, share] of stays.entries()) {
      const apart = 1 - rate - share;
      const isSame = Math.abs(apart) < SAME;
      begun += (begins[j] ?? 0) * (isSame ? (count * passed) / (1 - rate) : (passed - (left[j] ?? 0)) / apart);
    }
    result.push(flaky(i) * (left[i] ?? 0) + Math.max(0, begun) * (1 - rate) * (RATE_SHARES[i] ?? 0));
  }
  return normalised([...result, weights[BROKEN] ?? 0]);
}

/** The rate at which a flaky test with these weights fails. */
export function rateOf(weights: readonly number[]): number {
  const flaky = flakyOf(weights);
  if (flaky === 0) return 0;
  let total = 0;
  for (let i = 0; i < FLAKY_RATES.length; i++) total += (FLAKY_RATES[i] ?? 0) * (weights[i + 1] ?? 0);
  return total / flaky;
}

/**
 * Shares of the rates at which a test was flaky before so many failures in a row: each made the higher rates likelier, but
 * if a break explains them, they say nothing of the rate.
 */
export function ratesBefore(weights: readonly number[], failures: number): readonly number[] {
  const before = FLAKY_RATES.map((rate, i) => (weights[i + 1] ?? 0) / rate ** failures);
  const total = sum(before);
  return total > 0 ? before.map((weight) => weight / total) : RATE_SHARES;
}

/** The weight of flaky, at whatever rate. */
export function flakyOf(weights: readonly number[]): number {
  let total = 0;
  for (let i = 1; i < BROKEN; i++) total += weights[i] ?? 0;
  return total;
}

export function sum(values: readonly number[]): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] ?? 0;
  return total;
}

export function normalised(weights: readonly number[]): number[] {
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}
