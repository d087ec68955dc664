/**
 * Splits names into groups that take equal time. The same names with the same times give the same groups, in whatever order
 * they come, and small changes of the times move few names. Pure.
 */

export interface TimedName {
  name: string;
  /** A whole number of milliseconds, so that sums do not depend on their order. */
  ms: number;
}

/** Groups of one split. GitHub Actions runs at most 256 jobs of a matrix. */
export const SPLIT_TOTAL_MAX = 500;

/** By so much a group may take longer than their mean for the sake of names that stay where they were. */
const SLACK = 0.02;

/**
 * The group of each name, from 0 on. The longest name comes first, into the group that its hash likes best of those that
 * still have room; if none has, into the one that takes the least time. The lightest one for every name would be a little
 * more even, but there a change of one time moves most names of the list.
 *
 * @param names each once
 */
export function groupsOf(names: readonly TimedName[], total: number): Map<string, number> {
  const sorted = names.toSorted((a, b) => b.ms - a.ms || (a.name < b.name ? -1 : 1));
  const room = (sorted.reduce((sum, { ms }) => sum + ms, 0) / total) * (1 + SLACK);
  const loads = new Float64Array(total);
  const sizes = new Uint32Array(total);
  const groups = new Map<string, number>();
  for (const { name, ms } of sorted) {
    const group = likedGroup(loads, room - ms, hashOf(name)) ?? lightestGroup(loads, sizes);
    loads[group] = (loads[group] ?? 0) + ms;
    sizes[group] = (sizes[group] ?? 0) + 1;
    groups.set(name, group);
  }
  return groups;
}

/** The group with the highest score for the name, among those that take no longer than this yet; undefined if there is none. */
function likedGroup(loads: Float64Array, most: number, hash: number): number | undefined {
  let liked: number | undefined;
  let best = -1;
  for (let group = 0; group < loads.length; group++) {
    if ((loads[group] ?? 0) > most) continue;
    const score = mixed(hash ^ Math.imul(group + 1, 0x9e3779b1));
    if (score > best) [liked, best] = [group, score];
  }
  return liked;
}

/** If several are: the one with the fewest names, then the first. */
function lightestGroup(loads: Float64Array, sizes: Uint32Array): number {
  let lightest = 0;
  for (let group = 1; group < loads.length; group++) {
    const less = (loads[group] ?? 0) - (loads[lightest] ?? 0);
    if (less < 0 || (less === 0 && (sizes[group] ?? 0) < (sizes[lightest] ?? 0))) lightest = group;
  }
  return lightest;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

/** Spreads every bit over all, as MurmurHash ends. */
function mixed(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
