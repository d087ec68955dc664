/**
 * How much likelier a change breaks the tests near it, learned from what changes of a repository have broken on its default
 * branch. Pure.
 *
 * Each break counts as one, shared out among its victims, because what one change broke goes together. Where nearness means
 * nothing, the share of a kind among victims is that among all tests. The factor of a kind is what was seen of it, divided by
 * what that expects: a rate, whose posterior mean with a Gamma prior is a quotient of sums.
 */
import { FACTORS_BEFORE, NEARNESS_KINDS, type NearnessFactors, type NearnessKind, nearestOf } from './nearness.ts';

export interface Break {
  /** Files of the tests that it broke; at least one. */
  victims: readonly string[];
  /** From the root of the repository; at least one. */
  changed: readonly string[];
}

/** The prior weighs as much as what would expect one break of a kind. */
const PRIOR_BREAKS = 1;
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
  const factor = (kind: NearnessKind): number =>
    (PRIOR_BREAKS * FACTORS_BEFORE[kind] + seen[kind]) / (PRIOR_BREAKS + expected[kind]);
  const bounded = (kind: NearnessKind): number => Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, factor(kind)));
  return { file: bounded('file'), name: bounded('name'), folder: bounded('folder'), far: bounded('far') };
}

/** Adds the share that each kind has among the tests. The shares add up to one, if the files of the change are known. */
function addShares(sum: Record<NearnessKind, number>, tests: readonly string[], changed: readonly string[]): void {
  const kinds = tests.flatMap((file) => nearestOf(file, changed)?.kind ?? []);
  for (const kind of NEARNESS_KINDS) {
    const count = kinds.filter((one) => one === kind).length;
    if (count > 0) sum[kind] += count / kinds.length;
  }
}
