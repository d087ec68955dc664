/** Sets of legs, by their numbers, in words of 32 bits: what an explanation compares, it counts many thousand times. */
export type LegSet = Uint32Array;

const WORD = 32;

export function legSetOf(size: number, members: Iterable<number>): LegSet {
  const set = new Uint32Array(Math.ceil(size / WORD));
  for (const leg of members) set[leg >>> 5] = (set[leg >>> 5] ?? 0) | (1 << (leg & 31));
  return set;
}

export const hasLeg = (set: LegSet, leg: number): boolean => (((set[leg >>> 5] ?? 0) >>> (leg & 31)) & 1) === 1;

export const either = (one: LegSet, other: LegSet): LegSet => one.map((word, i) => word | (other[i] ?? 0));
export const both = (one: LegSet, other: LegSet): LegSet => one.map((word, i) => word & (other[i] ?? 0));

/** How many legs are in both. */
export function countBoth(one: LegSet, other: LegSet): number {
  let count = 0;
  for (let i = 0; i < one.length; i++) count += bitsOf((one[i] ?? 0) & (other[i] ?? 0));
  return count;
}

/** The usual way to add up the bits of a word in parallel (Hacker's Delight, 5-1). */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
