/** What rules of owners would do to the tests of a repository: looked at before they are saved. */
import type { OwnedTest, Ownership } from './test-owners.ts';

/** Tests with new owners that a preview lists; it counts all of them. */
export const OWNER_CHANGES_LISTED_MAX = 100;

export interface PreviewedTest extends OwnedTest {
  testId: string;
}

interface RuleReach {
  /** Tests that the rule matches. */
  matches: number;
  /** Of these, those whose owners it says: no later rule matches them. */
  tests: number;
}

interface OwnerChange {
  testId: string;
  name: string;
  /** In the order in which they are named; empty: no owner. */
  before: readonly string[];
  after: readonly string[];
}

export interface OwnersPreview {
  tests: number;
  /** One for each rule, in their order. */
  rules: RuleReach[];
  changed: number;
  /** The first of them by name. */
  changes: OwnerChange[];
}

/**
 * Compares the owners of all tests by two sets of rules, with the same CODEOWNERS. Yields between tests.
 *
 * @param before the rules that count now
 * @param after those that would count, `count` of them
 */
export function* previewOwners(
  tests: readonly PreviewedTest[],
  { before, after, count }: { before: Ownership; after: Ownership; count: number },
): Generator<undefined, OwnersPreview> {
  const rules = Array.from({ length: count }, (): RuleReach => ({ matches: 0, tests: 0 }));
  const changes: OwnerChange[] = [];
  for (const test of tests) {
    const matching = after.rulesOf(test).flatMap((i) => rules[i] ?? []);
    for (const rule of matching) rule.matches++;
    const last = matching.at(-1);
    if (last) last.tests++;
    const change = { testId: test.testId, name: test.name, before: before.ownersOf(test).owners };
    const owners = after.ownersOf(test).owners;
    if (!isSame(change.before, owners)) changes.push({ ...change, after: owners });
    yield;
  }
  const byName = changes.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  return { tests: tests.length, rules, changed: changes.length, changes: byName.slice(0, OWNER_CHANGES_LISTED_MAX) };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((owner, i) => owner === other[i]);
