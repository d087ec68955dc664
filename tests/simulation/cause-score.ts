/** How rightly rules put the failures of worlds together, by pairs of failures. */
import type { FailedInRun } from '../../src/domain/cause-node.ts';
import { findCauses } from '../../src/domain/causes.ts';
import { type PlantedFailure, REPOSITORY } from './cause-worlds.ts';

/** The group of each failure. */
type Rule = (failures: readonly PlantedFailure[]) => ReadonlyMap<FailedInRun, string>;
const labelled = (failures: readonly PlantedFailure[], label: (failure: PlantedFailure) => string) =>
  new Map(failures.map((failure) => [failure, label(failure)]));
const byRule: Rule = (failures) =>
  new Map(
    findCauses(REPOSITORY, failures).nodes.flatMap((node) => node.failures.map((failure) => [failure, node.causeId])),
  );
export const RULES: Readonly<Record<string, { hasStacks: boolean; rule: Rule }>> = {
  'test and message': {
    hasStacks: true,
    rule: (failures) => labelled(failures, ({ signature, testId }) => `${signature.id}\0${testId}`),
  },
  'type and message': {
    hasStacks: true,
    rule: (failures) =>
      labelled(failures, ({ signature: { exceptionType, message } }) => `${exceptionType}\0${message}`),
  },
  causes: { hasStacks: true, rule: byRule },
  'causes, without stacks': { hasStacks: false, rule: byRule },
};

const pairsOf = (counts: Iterable<number>): number => [...counts].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
const countBy = <T>(items: readonly T[], key: (item: T) => string): number[] =>
  [...Map.groupBy(items, key).values()].map(({ length }) => length);

export function score(failures: readonly PlantedFailure[], rule: Rule) {
  const groups = rule(failures);
  const group = (failure: PlantedFailure): string => groups.get(failure) ?? '';
  return {
    both: pairsOf(countBy(failures, (failure) => `${failure.cause}\0${group(failure)}`)),
    named: pairsOf(countBy(failures, group)),
    planted: pairsOf(countBy(failures, ({ cause }) => String(cause))),
    groups: new Set(groups.values()).size,
    causes: new Set(failures.map(({ cause }) => cause)).size,
  };
}
