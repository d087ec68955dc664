/** The legs that an explanation names, and the usual rule to compare it with. */
import { type Axes, axesText } from '../../src/domain/axes.ts';
import { candidatesOf } from '../../src/domain/axis-candidates.ts';
import type { AxisExplanation, LegResult } from '../../src/domain/axis-explanation.ts';
import { hasLeg, type LegSet } from '../../src/domain/leg-set.ts';

export function legsNamed(explanation: AxisExplanation, legs: readonly Axes[]): boolean[] | undefined {
  if (!('terms' in explanation)) return undefined;
  const [term] = explanation.terms;
  return legs.map((leg) => term?.every(({ axis, values }) => values.includes(leg[axis] ?? '')) ?? false);
}

/** Fisher's exact test of each set on the counts of all commits together, one-sided, 1 % with Bonferroni's correction. */
export function byFisher(results: readonly LegResult[], legs: readonly Axes[]): boolean[] | undefined {
  const numbers = new Map(legs.map((leg, i) => [axesText(leg), i]));
  const failed = legs.map(() => 0);
  const ran = legs.map(() => 0);
  for (const { leg, isFailed } of results) {
    const i = numbers.get(leg) ?? 0;
    ran[i] = (ran[i] ?? 0) + 1;
    if (isFailed) failed[i] = (failed[i] ?? 0) + 1;
  }
  const all = candidatesOf(legs);
  const sumOf = (counts: readonly number[], set?: LegSet): number =>
    counts.reduce((sum, count, i) => sum + (set ? Number(hasLeg(set, i)) * count : count), 0);
  const n = sumOf(ran);
  const k = sumOf(failed);
  let best: { p: number; legs: LegSet } | undefined;
  for (const { legs: set } of all) {
    const p = atLeast({ n, k, m: sumOf(ran, set), x: sumOf(failed, set) });
    if (!best || p < best.p) best = { p, legs: set };
  }
  if (!best || best.p * all.length >= 0.01) return undefined;
  const { legs: named } = best;
  return legs.map((_, i) => hasLeg(named, i));
}

/** The probability that x or more of m failed, if k of n did by chance. */
function atLeast({ n, k, m, x }: Record<'n' | 'k' | 'm' | 'x', number>): number {
  let sum = 0;
  for (let i = x; i <= Math.min(m, k); i++)
    if (k - i <= n - m) sum += Math.exp(logChoose(m, i) + logChoose(n - m, k - i) - logChoose(n, k));
  return Math.min(1, sum);
}

const logs = [0];
function logFactorial(n: number): number {
  for (let i = logs.length; i <= n; i++) logs.push((logs[i - 1] ?? 0) + Math.log(i));
  return logs[n] ?? 0;
}
const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);
