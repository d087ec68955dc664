/** Quantiles of measurements. */

/** The value that this share of the values is not above. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export interface Latency {
  perSecond: number;
  /** Milliseconds. */
  median: number;
  p99: number;
}

export const latencyOf = (milliseconds: readonly number[], seconds: number): Latency => ({
  perSecond: milliseconds.length / seconds,
  median: quantile(milliseconds, 0.5),
  p99: quantile(milliseconds, 0.99),
});
