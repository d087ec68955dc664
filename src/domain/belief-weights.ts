/** The weights of a belief (belief.ts): healthy, flaky at each rate, broken; and what clean passes do to them. */

/** How often a flaky test fails. Real rates lie around and between them (FlakeFlagger's 811 tests). */
export const FLAKY_RATES = [0.003, 0.01, 0.05, 0.2, 0.5, 0.85] as const;
/** Of flaky tests, how many fail at which of these rates. */
export const RATE_SHARES = [0.44, 0.19, 0.12, 0.1, 0.1, 0.05] as const;

/** Of a test never seen before. */
const NEW_FLAKY = 0.06;
const NEW_BROKEN = 0.005;
/** How likely a healthy test becomes flaky, and a flaky one is fixed, from one execution to the next. */
const BECOMES_FLAKY = 2e-5;
const STOPS_BEING_FLAKY = 2e-3;

/** The place of broken. */
export const BROKEN = FLAKY_RATES.length + 1;

export const newWeights = (): number[] => [
  1 - NEW_FLAKY - NEW_BROKEN,
  ...RATE_SHARES.map((share) => share * NEW_FLAKY),
  NEW_BROKEN,
];

/** The weights after n clean passes of a test that is not broken: a sum of geometric series. */
export function afterPasses(weights: readonly number[], n: number): readonly number[] {
  if (n === 0) return weights;
  const healthy = weights[0] ?? 0;
  let after = healthy;
  const result = [...weights];
  for (const [i, rate] of FLAKY_RATES.entries()) {
    const stays = (1 - rate) * (1 - STOPS_BEING_FLAKY);
    const flaky = weights[i + 1] ?? 0;
    after += (flaky * STOPS_BEING_FLAKY * (1 - stays ** n)) / (1 - stays);
    const begun = (healthy * BECOMES_FLAKY * (RATE_SHARES[i] ?? 0) * (1 - rate) * (1 - (1 - rate) ** n)) / rate;
    result[i + 1] = flaky * stays ** n + begun;
  }
  result[0] = after;
  return normalised(result);
}

/** The rate at which a flaky test with these weights fails. */
export function rateOf(weights: readonly number[]): number {
  const flaky = sum(weights.slice(1, BROKEN));
  return flaky === 0 ? 0 : FLAKY_RATES.reduce((total, rate, i) => total + rate * (weights[i + 1] ?? 0), 0) / flaky;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function normalised(weights: readonly number[]): number[] {
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}
