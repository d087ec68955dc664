/**
 * How much likelier a change breaks the tests near it, learned from what changes of a repository have broken on its default
 * branch. Pure.
 *
 * Each break counts as one, shared out among its victims, because what one change broke goes together. Where nearness means
 * nothing, the share of a kind among victims is that among all tests. The factor of a kind is what was seen of it, divided by
 * what that expects: a rate, whose posterior mean with a Gamma prior is a quotient of sums. The prior has the same shape for each
 * kind: victims in the file of a change are seldom expected, those far from it nearly always, so with one weight in expected
 * breaks the factors of the far would fall long before those of the near rise.
 *
 * In the end, all are scaled to 1 on average over all tests: nearness says which tests a change breaks, and not how often a
 * change breaks any.
 */
import { FACTORS_BEFORE, NEARNESS_KINDS, type NearnessFactors, type NearnessKind, nearestOf } from './nearness.ts';

export interface Break {
  /** Files of the tests that it broke; at least one. */
  victims: readonly string[];
  /** From the root of the repository; at least one. */
  changed: readonly string[];
}

/** The prior weighs as much as so many breaks that were seen of a kind. */
const PRIOR_BREAKS = 4;
const FACTOR_MIN = 0.1;
const FACTOR_MAX = 50;

/**
 * @param breaks each with the files that its commit changed
 * @param others files of tests that stand for all of the repository
 */
export function factorsFrom(breaks: readonly Break[], others: readonly string[]): NearnessFactors {
  const seen = { file: 0, name: 0, folder: 0, far: 0 };
  const expected = { file: 0, name: 0, folder: 0, far: 0 };
  for (const { victims, changed } of others.length === 0 ? [] : breaks) {
    addShares(seen, victims, changed);
    addShares(expected, others, changed);
  }
  const total = sumOf((kind) => expected[kind]);
  if (total === 0) return FACTORS_BEFORE;
  const factor = (kind: NearnessKind): number =>
    (PRIOR_BREAKS + seen[kind]) / (PRIOR_BREAKS / FACTORS_BEFORE[kind] + expected[kind]);
  const average = sumOf((kind) => factor(kind) * expected[kind]) / total;
  const bounded = (kind: NearnessKind): number => Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, factor(kind) / average));
  return { file: bounded('file'), name: bounded('name'), folder: bounded('folder'), far: bounded('far') };
}

const sumOf = (part: (kind: NearnessKind) => number): number =>
  NEARNESS_KINDS.reduce((sum, kind) => sum + part(kind), 0);

/** Adds the share that each kind has among the tests. The shares add up to one, if the files of the change are known. */
function addShares(sum: Record<NearnessKind, number>, tests: readonly string[], changed: readonly string[]): void {
  const kinds = tests.flatMap((file) => nearestOf(file, changed)?.kind ?? []);
  for (const kind of NEARNESS_KINDS) {
    const count = kinds.filter((one) => one === kind).length;
    if (count > 0) sum[kind] += count / kinds.length;
  }
}
