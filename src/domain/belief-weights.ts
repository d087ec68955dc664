/** The weights of a belief (belief.ts): healthy, flaky at each rate, broken; and what clean passes do to them. */

/** How often a flaky test fails. Real rates lie around and between them (FlakeFlagger's 811 tests). */
export const FLAKY_RATES = [0.003, 0.01, 0.05, 0.2, 0.5, 0.85] as const;
/** Shares of flaky tests that fail at each of these rates. */
export const RATE_SHARES = [0.44, 0.19, 0.12, 0.1, 0.1, 0.05] as const;

/** How many of the tests never seen before are flaky, of those that ever pass; and for each of these, how many never do. */
const NEW_FLAKY = 0.0605;
const NEW_BROKEN = 0.032;
/** How likely a healthy test becomes flaky, and a flaky one is fixed, from one execution to the next. */
const BECOMES_FLAKY = 2e-5;
const STOPS_BEING_FLAKY = 2e-3;

/** The place of broken. */
export const BROKEN = FLAKY_RATES.length + 1;

export const newWeights = (): number[] =>
  normalised([1 - NEW_FLAKY, ...RATE_SHARES.map((share) => share * NEW_FLAKY), NEW_BROKEN]);

const STAYS = FLAKY_RATES.map((rate) => (1 - rate) * (1 - STOPS_BEING_FLAKY));

/** The weights after n clean passes of a test that is not broken: a sum of geometric series. */
export function afterPasses(weights: readonly number[], n: number): readonly number[] {
  if (n === 0) return weights;
  const healthy = weights[0] ?? 0;
  let after = healthy;
  const result = [...weights];
  for (let i = 0; i < FLAKY_RATES.length; i++) {
    const rate = FLAKY_RATES[i] ?? 0;
    const stays = STAYS[i] ?? 0;
    const stayed = stays ** n;
    const flaky = weights[i + 1] ?? 0;
    after += (flaky * STOPS_BEING_FLAKY * (1 - stayed)) / (1 - stays);
    const begun = (healthy * BECOMES_FLAKY * (RATE_SHARES[i] ?? 0) * (1 - rate) * (1 - (1 - rate) ** n)) / rate;
    result[i + 1] = flaky * stayed + begun;
  }
  result[0] = after;
  return normalised(result);
}

/** The rate at which a flaky test with these weights fails. */
export function rateOf(weights: readonly number[]): number {
  const flaky = flakyOf(weights);
  if (flaky === 0) return 0;
  let total = 0;
  for (let i = 0; i < FLAKY_RATES.length; i++) total += (FLAKY_RATES[i] ?? 0) * (weights[i + 1] ?? 0);
  return total / flaky;
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
