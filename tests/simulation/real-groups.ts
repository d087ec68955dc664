/** The failure groups of a real history, as the rules of the fingerprint make them. */
import { normaliseMessage } from '../../src/domain/fingerprint.ts';
import type { RealHistory } from './real-history.ts';

export interface Groups {
  all: number;
  /** Groups of one failure. */
  single: number;
}

export function groupsOf({ runs, identities }: RealHistory): Groups {
  const groups = new Map<string, number>();
  for (const run of runs)
    for (const [identity, { message }] of run.troubles) {
      const group = `${identities[identity]?.test}\0${normaliseMessage(message)}`;
      groups.set(group, (groups.get(group) ?? 0) + 1);
    }
  return countGroups([...groups.values()]);
}

/** @param failures of each group */
export const countGroups = (failures: readonly number[]): Groups => ({
  all: failures.length,
  single: failures.filter((count) => count === 1).length,
});
