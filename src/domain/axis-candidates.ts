/** The sets of legs that an explanation may name. Pure. */
import type { Axes } from './axes.ts';
import { both, countBoth, either, type LegSet, legSetOf } from './leg-set.ts';

/** Values of axes that all hold: of one axis, one of several values. */
export type AxisTerm = readonly { readonly axis: string; readonly values: readonly string[] }[];

/** From the simplest: an explanation names the first that describes a set of legs. */
const CANDIDATE_KINDS = ['value', 'either', 'pair', 'leg'] as const;
export type CandidateKind = (typeof CANDIDATE_KINDS)[number];

export interface Candidate {
  readonly kind: CandidateKind;
  readonly legs: LegSet;
  /** All that describe just this set, of its kind and of later ones: axes that always agree cannot be told apart. */
  readonly terms: readonly AxisTerm[];
}

/** More sets would take too long, and hardly any could be named. */
const CANDIDATES_MAX = 4_000;
/** With more legs, or more values of all axes together, even the pairs take seconds: an axis may be the name of a run. */
const LEGS_MAX = 200;
const VALUES_MAX = 250;

/**
 * Every value of an axis, every two values of an axis, every two values of two axes, and every leg alone: each set of legs
 * once, and never all legs or none.
 *
 * @returns none if there are too many
 */
export function candidatesOf(legs: readonly Axes[]): Candidate[] {
  if (legs.length > LEGS_MAX) return [];
  const values = singleValues(legs);
  if (values.length > VALUES_MAX) return [];
  const byLegs = new Map<string, { kind: CandidateKind; legs: LegSet; terms: AxisTerm[] }>();
  const add = (kind: CandidateKind, set: LegSet, term: AxisTerm): void => {
    const size = countBoth(set, set);
    if (size === 0 || size === legs.length) return;
    const key = set.join();
    const known = byLegs.get(key);
    if (!known) byLegs.set(key, { kind, legs: set, terms: [term] });
    // A longer description of a set says no more than a shorter one.
    else if (known.kind === kind) known.terms.push(term);
  };
  for (const { axis, value, set } of values) add('value', set, [{ axis, values: [value] }]);
  for (const [i, one] of values.entries())
    for (const other of values.slice(i + 1)) {
      if (byLegs.size > CANDIDATES_MAX) return [];
      if (one.axis === other.axis)
        add('either', either(one.set, other.set), [{ axis: one.axis, values: [one.value, other.value] }]);
    }
  for (const [i, one] of values.entries())
    for (const other of values.slice(i + 1)) {
      if (byLegs.size > CANDIDATES_MAX) return [];
      if (one.axis !== other.axis) add('pair', both(one.set, other.set), termOf(one, other));
    }
  for (const [i, leg] of legs.entries()) {
    const term = Object.entries(leg).map(([axis, value]) => ({ axis, values: [value] }));
    add('leg', legSetOf(legs.length, [i]), term);
  }
  return byLegs.size > CANDIDATES_MAX ? [] : [...byLegs.values()];
}

/** The set with one more value added, in every way that makes another set. */
export function narrowerSets({ legs }: Candidate, all: readonly Axes[]): LegSet[] {
  const size = countBoth(legs, legs);
  return singleValues(all)
    .map(({ set }) => both(legs, set))
    .filter((set) => countBoth(set, set) > 0 && countBoth(set, set) < size);
}

interface SingleValue {
  axis: string;
  value: string;
  set: LegSet;
}

/** In one order, whatever the order of the legs. */
function singleValues(legs: readonly Axes[]): SingleValue[] {
  const found = new Map<string, { axis: string; value: string; members: number[] }>();
  for (const [i, leg] of legs.entries())
    for (const [axis, value] of Object.entries(leg)) {
      const key = `${axis}\0${value}`;
      const known = found.get(key);
      if (known) known.members.push(i);
      else found.set(key, { axis, value, members: [i] });
    }
  return [...found.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { axis, value, members }]) => ({ axis, value, set: legSetOf(legs.length, members) }));
}

const termOf = (...values: readonly SingleValue[]): AxisTerm =>
  values.map(({ axis, value }) => ({ axis, values: [value] }));
