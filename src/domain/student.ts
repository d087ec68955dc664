/**
 * The tail of Student's distribution: how likely a mean lies so far above 0 if nothing but chance moves it. Pure. From the
 * incomplete beta function, by its continued fraction (Press and others, Numerical Recipes, 3rd edition, 6.4 and 6.14).
 */

/** P(T ≥ t) with this many degrees of freedom (at least 1). */
export function studentTail(t: number, freedom: number): number {
  if (t === Number.POSITIVE_INFINITY) return 0;
  if (t === Number.NEGATIVE_INFINITY) return 1;
  const half = incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t >= 0 ? half : 1 - half;
}

/** The regularised incomplete beta function at x from 0 to 1. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

const STEPS_MAX = 300;
const PRECISION = 1e-14;
const TINY = 1e-300;

/** Lentz's method. */
function fraction(x: number, a: number, b: number): number {
  const safe = (value: number): number => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / safe(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= STEPS_MAX; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / safe(1 + even * d);
    c = safe(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / safe(1 + odd * d);
    c = safe(1 + odd / c);
    const step = d * c;
    result *= step;
    if (Math.abs(step - 1) < PRECISION) break;
  }
  return result;
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
];

/** For values above 0 (Lanczos). */
function logGamma(value: number): number {
  if (value < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * value)) - logGamma(1 - value);
  const x = value - 1;
  const sum = LANCZOS.reduce((total, one, i) => total + one / (x + i + 1), 0.9999999999998099);
  const t = x + LANCZOS.length - 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
}
