/** How many more clean passes a test needs until it is surely healthy. Pure. */
import { type Belief, isSurelyHealthy, SURE_FROM } from './belief.ts';
import { afterCleanPasses, foldBelief, isPassCounted } from './belief-fold.ts';
import { DAY_MS } from './time.ts';

/** {@link passesUntilHealthy} looks no further. */
export const PASSES_MAX = 10_000;

/** When the last execution finished, and how long it takes from one to the next; in milliseconds. */
export interface Pace {
  finishedAt: number;
  every: number;
}

/** A pace follows from so many executions. */
const PACE_EXECUTIONS = 100;

/** The pace of executions that finished at these moments, oldest first. What is foretold assumes that it stays. */
export function paceOf(moments: readonly number[]): Pace {
  const lately = moments.slice(-PACE_EXECUTIONS);
  const [first, finishedAt] = [lately[0] ?? 0, lately.at(-1) ?? 0];
  return { finishedAt, every: lately.length > 1 ? (finishedAt - first) / (lately.length - 1) : DAY_MS };
}

/**
 * How many more clean passes in a row, each on a new commit and at that pace, make a test surely healthy; 0 if it is. Null:
 * more than {@link PASSES_MAX}.
 *
 * @param confidence how likely it must be healthy.
 */
export function passesUntilHealthy(belief: Belief, pace: Pace, confidence = SURE_FROM): number | null {
  let after = belief;
  for (let passes = 0; passes <= PASSES_MAX; passes++) {
    if (isSurelyHealthy(after, { confidence })) return passes;
    const at = pace.finishedAt + passes * pace.every;
    if (isPassCounted(after)) {
      const more = countedUntilHealthy(after, { finishedAt: at, every: pace.every }, confidence);
      return passes + more > PASSES_MAX ? null : passes + more;
    }
    const pass = { executionId: '', result: 'passed', finishedAt: at + pace.every, commit: `\0${passes}` } as const;
    after = foldBelief(after, pass);
  }
  return null;
}

/** The same where passes are only counted: the more, the likelier it is healthy. Infinite: too many. */
function countedUntilHealthy(belief: Belief, { finishedAt, every }: Pace, confidence: number): number {
  const isEnough = (passes: number): boolean =>
    isSurelyHealthy(afterCleanPasses(belief, passes, finishedAt + passes * every), { confidence });
  let [tooFew, enough] = [0, PASSES_MAX];
  if (!isEnough(enough)) return Number.POSITIVE_INFINITY;
  while (enough - tooFew > 1) {
    const passes = Math.floor((tooFew + enough) / 2);
    if (isEnough(passes)) enough = passes;
    else tooFew = passes;
  }
  return enough;
}
