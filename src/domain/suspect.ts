/**
 * A *suspect*: an identity that has failed, passed only after failed attempts, or been contradicted. All others are a number
 * of passes (only-passed.ts). A suspect carries the executions of its last day in order, with what was believed before them
 * and after them, so that executions that arrive late find their place without a look at the history. Pure.
 *
 *     … ──► before ──► recent, in order, of one day and at most 200 ──► after
 *
 * `after` is always folded from `before`. What is too old for `recent` is folded into `before`. An execution that belongs
 * there is *too late*: the caller judges the suspect again from the stored executions.
 */
import type { BeliefAt } from './belief.ts';
import { type BeliefCourse, type CourseStart, undecided } from './belief-course.ts';
import { comparePositions, isTrouble, type JudgedExecution, type Position } from './execution.ts';
import { hasOnlyPassed, passedOnly } from './only-passed.ts';
import { DAY_MS } from './time.ts';

/** How long executions stay in `recent`. Jobs of one commit arrive within hours of each other. */
const RECENT_MS = DAY_MS;
/** With 50, some 20 suspects in a million executions are judged again; 1,000 make rows five times as slow to write. */
const RECENT_MAX = 200;

export interface Suspect {
  before: BeliefAt;
  /** Passed and failed, in order. */
  recent: readonly JudgedExecution[];
  after: BeliefAt;
  /** Ids of executions that count as flaky, of those of which that may still change: {@link openExecutions}. */
  flaky: ReadonlySet<string>;
  /** Ids of executions from before `recent`, of those of which that may still change: see `BeliefCourse`. */
  flakyForGood: ReadonlySet<string>;
}

/** An identity with nothing but passes behind it. */
export interface CountedPasses {
  passes: number;
  /** The last of them; null without passes. */
  at: Position | null;
  /** The commit of the last one. */
  commit: string;
}

/** The belief about an identity that has done nothing but pass. */
export const beliefOfPasses = ({ passes, at, commit }: CountedPasses): BeliefAt | undefined =>
  passes === 0 || at === null ? undefined : { at, belief: passedOnly(passes, commit) };

/** The suspect before anything is folded. */
export const newSuspect = (
  { at, belief, flakyForGood = new Set() }: CourseStart,
  recent: readonly JudgedExecution[] = [],
): Suspect => ({
  before: { at, belief },
  recent: recent.toSorted(comparePositions),
  after: { at, belief },
  flaky: new Set(),
  flakyForGood,
});

/**
 * Puts executions in their places.
 *
 * @param added passed and failed, in any order
 * @returns `tooLate`: those that belong before `recent`. Passes are only counted while nothing but passes came before.
 */
export function withExecutions(
  { before, recent, ...rest }: Suspect,
  added: readonly JudgedExecution[],
): { suspect: Suspect; tooLate: JudgedExecution[] } {
  const tooLate: JudgedExecution[] = [];
  const placed: JudgedExecution[] = [];
  let passes = 0;
  for (const execution of added)
    if (before.at === null || comparePositions(execution, before.at) > 0) placed.push(execution);
    else if (!isTrouble(execution) && hasOnlyPassed(before.belief)) passes++;
    else tooLate.push(execution);
  const counted = { ...before, belief: { ...before.belief, passes: before.belief.passes + passes } };
  const suspect = {
    ...rest,
    before: passes === 0 ? before : counted,
    recent: placed.length === 0 ? recent : [...recent, ...placed].sort(comparePositions),
  };
  return { suspect, tooLate };
}

/** Whether what was healthy at a moment follows from the suspect: its `before` is from earlier. */
export const reachesBackTo = ({ before }: Pick<Suspect, 'before'>, moment: number): boolean =>
  before.at === null || before.at.finishedAt < moment;

/** When the executions finished of which it may change whether they count as flaky; by id, in milliseconds since the epoch. */
export function openExecutions({ before, recent }: Pick<Suspect, 'before' | 'recent'>): Map<string, number> {
  const open = new Map(undecided(before.belief).map(({ executionId, finishedAt }) => [executionId, finishedAt]));
  for (const execution of recent)
    if (isTrouble(execution)) open.set(String(execution.executionId), execution.finishedAt);
  return open;
}

/** How many of these are too old for `recent`, or too many: they move into `before`. */
function leaving(recent: readonly JudgedExecution[]): number {
  const oldest = (recent.at(-1)?.finishedAt ?? 0) - RECENT_MS;
  let cut = Math.max(0, recent.length - RECENT_MAX);
  while (cut < recent.length && (recent[cut]?.finishedAt ?? 0) < oldest) cut++;
  return cut;
}

/** A suspect as its course begins: from `before`, kept where the next `before` will be. */
export const startOf = ({ before, recent, flakyForGood }: Suspect) => ({
  ...before,
  executions: recent,
  flakyForGood,
  keptAt: recent[leaving(recent) - 1],
});

/**
 * The suspect once its course is known: what is too old for `recent` moves into `before`.
 *
 * @param course from {@link startOf} to the end
 */
export function afterCourse({ before, recent, flakyForGood }: Suspect, course: BeliefCourse): Suspect {
  const cut = leaving(recent);
  const start = cut === 0 ? { ...before, flakyForGood } : course.kept;
  const kept = { before: { at: start.at, belief: start.belief }, recent: recent.slice(cut) };
  return {
    ...kept,
    after: { at: course.at, belief: course.belief },
    flaky: openIn(kept, course.flaky),
    flakyForGood: start.flakyForGood ?? new Set(),
  };
}

const openIn = (suspect: Pick<Suspect, 'before' | 'recent'>, flaky: ReadonlySet<string>): Set<string> =>
  new Set([...openExecutions(suspect).keys()].filter((id) => flaky.has(id)));

/** An execution that began or ceased to count as flaky. */
export interface FlakyChange {
  executionId: string;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  isFlaky: boolean;
}

/**
 * Which executions count as flaky now and did not, and the other way round.
 *
 * @param suspect as it was folded: before {@link afterCourse}, with what counted before in `flaky`
 * @param flaky ids of those that count now
 */
export function flakyChanges(suspect: Suspect, flaky: ReadonlySet<string>): FlakyChange[] {
  return [...openExecutions(suspect)].flatMap(([executionId, finishedAt]) => {
    const isFlaky = flaky.has(executionId);
    return isFlaky === suspect.flaky.has(executionId) ? [] : [{ executionId, finishedAt, isFlaky }];
  });
}
