/** Trials: every set of rules, and the worlds of a seed. */
import { CauseRule, FilterWithoutRun, SameCommitRule, SixLinesRule, ThresholdRule } from './baselines.ts';
import type { Rules } from './history.ts';
import { addScores, noScores, play, type Scores } from './score.ts';
import { type Legs, ServiceRules } from './service-rules.ts';
import { makeWorld } from './world.ts';
import { CHANGING, KINDS, LARGE, MASS, SMALL, SMALL_COUNT } from './worlds.ts';

/** @param legs see `ServiceRules` */
type MakeRules = (legs?: Legs) => Rules;

export const RULES: readonly MakeRules[] = [
  (legs) => new ServiceRules({ legs }),
  (legs) => new ServiceRules({ legs, countsPullRequests: false }),
  () => new SameCommitRule(),
  () => new SixLinesRule(),
  () => new ThresholdRule(),
  () => new FilterWithoutRun(),
];

/** The rules with other levels, and flaky without hysteresis: `--curve`. */
export const CURVE: readonly MakeRules[] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95].map((from) => (legs) => {
  const levels = { flakyFrom: from, flakyUntil: from, brokenFrom: from, brokenUntil: (from * 2) / 3 };
  return new ServiceRules({ legs, levels });
});

export const WORLD_NAMES: readonly string[] = [...KINDS, SMALL, ...CHANGING, ...MASS, LARGE].map(({ name }) => name);

export interface Trial {
  world: string;
  seed: number;
  /** Part of their name. */
  rules: string;
  isCurve: boolean;
}

/** Scores by the name of the rules, on the world of that name and seed. */
export function tryRules({ world, seed, rules, isCurve }: Trial): Map<string, Scores> {
  const kind = [...KINDS, ...CHANGING, ...MASS, LARGE].find(({ name }) => name === world);
  const options = kind
    ? [{ ...kind, seed }]
    : Array.from({ length: SMALL_COUNT }, (_, i) => ({ ...SMALL, seed: seed * 1_000 + i }));
  const tried = isCurve ? [...CURVE, () => new CauseRule()] : RULES;
  return new Map(
    tried.flatMap((make) => {
      if (!make().name.includes(rules)) return [];
      const scores = options.map((one) => play(makeWorld(one), make())).reduce(addScores, noScores());
      return [[make().name, scores] as const];
    }),
  );
}
