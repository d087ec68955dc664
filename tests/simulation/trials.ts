/** What is tried on what: every set of rules, and the worlds of a seed. */
import { FilterWithoutRun, SameCommitRule, ThresholdRule } from './baselines.ts';
import type { Rules } from './history.ts';
import { addScores, noScores, play, type Scores } from './score.ts';
import { ServiceRules } from './service-rules.ts';
import { makeWorld } from './world.ts';
import { KINDS, SMALL, SMALL_COUNT } from './worlds.ts';

export const RULES: readonly (() => Rules)[] = [
  () => new ServiceRules(),
  () => new ServiceRules({ countsPullRequests: false }),
  () => new SameCommitRule(),
  () => new ThresholdRule(),
  () => new FilterWithoutRun(),
];

export const WORLD_NAMES: readonly string[] = [...KINDS.map(({ name }) => name), SMALL.name];

/** Scores by the name of the rules, on the world of that name and seed. */
export function tryRules(worldName: string, seed: number): Map<string, Scores> {
  const kind = KINDS.find(({ name }) => name === worldName);
  const options = kind
    ? [{ ...kind, seed }]
    : Array.from({ length: SMALL_COUNT }, (_, i) => ({ ...SMALL, seed: seed * 1_000 + i }));
  return new Map(
    RULES.map((make) => {
      const scores = options.map((one) => play(makeWorld(one), make())).reduce(addScores, noScores());
      return [make().name, scores];
    }),
  );
}
