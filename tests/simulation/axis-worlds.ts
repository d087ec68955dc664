/** Histories of one test in a matrix, with a cause that is known, or none. */
import { type Axes, axesText } from '../../src/domain/axes.ts';
import type { LegResult } from '../../src/domain/axis-explanation.ts';
import { randomFrom } from '../support/random.ts';

export const CAUSES = ['value', 'value by whole runs', 'pair', 'either'] as const;
export const NO_CAUSES = ['flaky', 'commits that drag', 'one bad run', 'a value ill for two runs'] as const;
export type AxisWorldKind = (typeof CAUSES)[number] | (typeof NO_CAUSES)[number];

export interface AxisWorld {
  legs: readonly Axes[];
  /** The legs that are hit; null without a cause. */
  hit: readonly boolean[] | null;
  /** How often they fail. */
  share: number;
  results: readonly LegResult[];
}

const LEGS_MIN = 4;
const LEGS_MAX = 60;
/** How often a test fails in the legs that are hit. */
export const SHARES = [0.1, 0.3, 0.6, 1] as const;

/** A random part of the product of 2 to 6 axes of 2 to 5 values; up to a fifth of the legs is missing in each run. */
export function makeAxisWorld(kind: AxisWorldKind, seed: number, runs: number): AxisWorld {
  const random = randomFrom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  for (;;) {
    const sizes = Array.from({ length: 2 + below(5) }, () => 2 + below(4));
    const legs = partOfProduct(sizes, below);
    const hit = hitBy(kind, legs, pick);
    const hits = hit?.filter(Boolean).length ?? 1;
    if (legs.length < LEGS_MIN || hits === 0 || hits === legs.length) continue;
    const share = pick(SHARES);
    const elsewhere = random() * 0.05;
    const missing = random() * 0.2;
    const badRun = below(runs);
    const flaky = 0.02 + random() * 0.3;
    const ill = kind === 'a value ill for two runs' ? hitBy('value', legs, pick) : null;
    const texts = legs.map(axesText);
    const results: LegResult[] = [];
    for (let run = 0; run < runs; run++) {
      const isBad = random() < 0.15;
      const isHitNow = kind !== 'value by whole runs' || random() < share;
      for (const [i, leg] of texts.entries()) {
        if (random() < missing) continue;
        let chance = elsewhere;
        if (hit?.[i]) chance = kind === 'value by whole runs' ? Number(isHitNow) : share;
        if (kind === 'flaky') chance = flaky;
        if (kind === 'commits that drag') chance = isBad ? 0.7 : elsewhere;
        if (kind === 'one bad run' && run === badRun) chance = 0.8;
        if (ill?.[i] && (run === badRun || run === badRun + 1)) chance = 1;
        results.push({ commit: `commit ${run}`, day: run, leg, isFailed: random() < chance });
      }
    }
    return { legs, hit: NO_CAUSES.some((none) => none === kind) ? null : hit, share, results };
  }
}

function partOfProduct(sizes: readonly number[], below: (n: number) => number): Axes[] {
  const product = sizes.reduce((all, size) => all * size, 1);
  const wanted = LEGS_MIN + below(Math.min(product, LEGS_MAX) - LEGS_MIN + 1);
  const chosen = new Set<number>();
  while (chosen.size < wanted) chosen.add(below(product));
  return [...chosen].map((number) => {
    let rest = number;
    return Object.fromEntries(
      sizes.map((size, axis) => {
        const value = rest % size;
        rest = Math.floor(rest / size);
        return [`axis ${axis}`, `v${value}`];
      }),
    );
  });
}

function hitBy(kind: AxisWorldKind, legs: readonly Axes[], pick: <T>(from: readonly T[]) => T): boolean[] | null {
  const [axis, value] = pick(Object.entries(pick(legs)));
  const [secondAxis, secondValue] = pick(Object.entries(pick(legs)));
  if (kind === 'value' || kind === 'value by whole runs') return legs.map((leg) => leg[axis] === value);
  if (kind === 'pair')
    return axis === secondAxis
      ? legs.map(() => false)
      : legs.map((leg) => leg[axis] === value && leg[secondAxis] === secondValue);
  if (kind === 'either') {
    const other = pick(legs)[axis];
    return other === value ? legs.map(() => false) : legs.map((leg) => leg[axis] === value || leg[axis] === other);
  }
  return null;
}
