/**
 * How often real flaky tests fail. Every fifth percentile of 811 flaky tests of 24 Java projects, each run about 10,000
 * times on one commit: FlakeFlagger (Alshammari et al., ICSE 2021), data under the BSD 3-Clause licence.
 */
const QUANTILES = [
  0.0001, 0.0001, 0.0001, 0.00025, 0.0003, 0.0004, 0.0007, 0.0015, 0.0043, 0.0065, 0.0071, 0.0123, 0.0145, 0.0151,
  0.0245, 0.166, 0.201, 0.32, 0.554, 0.554, 0.885,
];

/** The rate at a share of the tests, from 0 to 1; between two percentiles on the logarithmic scale. */
export function flakyRate(share: number): number {
  const place = share * (QUANTILES.length - 1);
  const [below, above] = [QUANTILES[Math.floor(place)] ?? 0, QUANTILES[Math.ceil(place)] ?? 0];
  return below * (above / below) ** (place % 1);
}
