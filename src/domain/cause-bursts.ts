/** Bursts: many tests fail in one run with one kind of message, or in one frame, as none had shown before. */
import type { Node } from './cause-node.ts';
import type { Components } from './components.ts';
import { DAY_MS, HOUR_MS } from './time.ts';

/** Nodes that began longer before the run are not new in it. */
const YOUNG_MS = 3 * HOUR_MS;
/** The usual number is counted over these days, but for the last: that one may be the burst itself. */
const USUAL_MS = 14 * DAY_MS;
const UNCOUNTED_MS = DAY_MS;
const TESTS_MIN = 5;
const TIMES_USUAL = 3;
/** A node that alone hits so many tests of a run needs no others. */
const ALONE_TESTS = 5;

/** A kind in a run: its young nodes, each with the tests that it hit there. */
interface Outbreak {
  at: number;
  nodes: Map<number, Set<string>>;
}

/**
 * Joins the young nodes of a kind that fail in more tests of a run than usual.
 *
 * @param since runs before say nothing: everything is new then
 */
export function joinBursts(
  nodes: readonly Node[],
  runs: ReadonlyMap<string, { at: number }>,
  { components, since }: { components: Components; since: number },
): void {
  const runTimes = Float64Array.from([...runs.values()].map(({ at }) => at)).sort();
  for (const [kind, ofKind] of outbreaksOf(nodes, runs)) {
    const isSkeleton = kind.startsWith('s');
    const ordered = [...ofKind.values()].map((outbreak) => withTests(outbreak, isSkeleton)).sort((a, b) => a.at - b.at);
    const sums = [0];
    for (const { tests } of ordered) sums.push((sums.at(-1) ?? 0) + tests);
    const times = Float64Array.from(ordered.map(({ at }) => at));
    for (const { at, tests, joined } of ordered) {
      if (at < since || tests < TESTS_MIN || joined.length < 2) continue;
      const runsThen = before(runTimes, at - UNCOUNTED_MS) - before(runTimes, at - USUAL_MS);
      const [to, from] = [before(times, at - UNCOUNTED_MS), before(times, at - USUAL_MS)];
      const usual = runsThen === 0 ? 0 : ((sums[to] ?? 0) - (sums[from] ?? 0)) / runsThen;
      if (tests < TESTS_MIN + TIMES_USUAL * usual) continue;
      const [first = 0] = joined;
      for (const index of joined) components.join(first, index);
    }
  }
}

/** By kind (`s` and a skeleton, or `f` and a frame), then by run. */
function outbreaksOf(
  nodes: readonly Node[],
  runs: ReadonlyMap<string, { at: number }>,
): Map<string, Map<string, Outbreak>> {
  const kinds = new Map<string, Map<string, Outbreak>>();
  const add = (kind: string, run: string, at: number, index: number, testId: string): void => {
    const ofKind = kinds.get(kind) ?? new Map<string, Outbreak>();
    kinds.set(kind, ofKind);
    const outbreak = ofKind.get(run) ?? { at, nodes: new Map<number, Set<string>>() };
    ofKind.set(run, outbreak);
    outbreak.nodes.set(index, (outbreak.nodes.get(index) ?? new Set()).add(testId));
  };
  nodes.forEach(({ signature, firstAt, failures }, index) => {
    for (const { run, testId, frames } of failures) {
      const at = runs.get(run)?.at ?? 0;
      if (at - firstAt >= YOUNG_MS) continue;
      if (signature.skeleton !== null) add(`s${signature.skeleton}`, run, at, index, testId);
      for (const frame of frames) add(`f${frame}`, run, at, index, testId);
    }
  });
  return kinds;
}

function withTests({ at, nodes }: Outbreak, isSkeleton: boolean): { at: number; tests: number; joined: number[] } {
  const kept = isSkeleton ? [...nodes].filter(([, { size }]) => size < ALONE_TESTS) : [...nodes];
  const tests = new Set(kept.flatMap(([, ofNode]) => [...ofNode])).size;
  return { at, tests, joined: kept.map(([index]) => index) };
}

/** How many of some sorted numbers are below a limit. */
function before(sorted: Float64Array, limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
